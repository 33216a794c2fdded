"""Small studies of one question each, with partial results.

Each is a generator of (done, of, what is known so far), the last of them None before there is anything; stop iterating
to stop it. Nothing here measures time except `temperatures`, which times trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..acceptance.in_traces import DepthAcceptance, depth_acceptance
from ..acceptance.on_text import acceptance_vector, own_texts
from ..acceptance.text_units import Written
from ..acceptance.vectors import expected_tokens, find_acceptance
from ..builders import BUILDERS
from ..builders.base import TreeBuilder
from ..compatibility import suited
from ..config import RunConfig
from ..decode import run
from ..models.base import Pair
from ..planning.cost_table import CostTable
from ..trace import Trace
from ..verifiers import VERIFIERS
from .agreement import tokens_with_room
from .predictions import SpeedupPrediction, predictor, speedup_predictions, trees_of

Kinds = Mapping[str, Sequence[str]]  # kind of text -> prompts
POLICIES = {"constant 5": BUILDERS["chain"](depth=5), "heuristic": BUILDERS["heuristic"](), "SVIP": BUILDERS["svip"]()}
TOP_P = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
TOP_P_RULES = ("sequoia", "specinfer", "target-match")


def prepared(config: RunConfig, builder: TreeBuilder, prompt: str, turn: int) -> RunConfig:
    """A run of `config` with a builder, the first rule that suits it, a prompt, and a seed of its own."""
    config = replace(config, builder=builder, prompt=prompt, seed=config.seed + turn)
    return replace(config, verifier=VERIFIERS[suited(config)]())


def levels(
    pair: Pair, config: RunConfig, prompts: Sequence[str], size: int = 24, depth: int = 6
) -> Iterator[tuple[int, int, DepthAcceptance | None]]:
    """How often each child is accepted, level by level, while the pair decodes with one of Sequoia's trees.

    Args:
        pair: the models.
        config: what to run, its builder and rule are not used.
        prompts: texts to continue.
        size, depth: nodes of the trees with the root, and levels.

    >>> [done for done, of, _ in levels(specviz.toy_pair(), specviz.RunConfig(max_new_tokens=8), ["ab", "ba"])]
    [1, 2]
    """
    builder, traces = BUILDERS["sequoia"](size=size, depth=depth), []
    for turn, prompt in enumerate(prompts):
        traces.append(run(pair, prepared(config, builder, prompt, turn)))
        yield turn + 1, len(prompts), depth_acceptance(traces)


def policies(
    pair: Pair, config: RunConfig, kinds: Kinds
) -> Iterator[tuple[int, int, dict[tuple[str, str], list[Trace]]]]:
    """Chains whose length follows each policy, on each kind of text (SVIP, figure 5)."""
    found: dict[tuple[str, str], list[Trace]] = {(name, kind): [] for kind in kinds for name in POLICIES}
    done, of = 0, len(POLICIES) * sum(map(len, kinds.values()))
    for turn in range(max(map(len, kinds.values()))):
        for kind, prompts in kinds.items():
            for name, builder in POLICIES.items():
                if turn < len(prompts):
                    found[name, kind].append(run(pair, prepared(config, builder, prompts[turn], turn)))
                    done += 1
                    yield done, of, found


@dataclass(frozen=True)
class TopP:
    """One fixed tree under several rules while top-p cuts the rows (Sequoia, table 8).

    Args:
        values: top-p.
        tokens: rule -> tokens per pass of the tree for each value, expected from the rule's vector there.
        nodes, positions, temperature: of the tree, and what was read.
    """

    values: tuple[float, ...]
    tokens: dict[str, tuple[float, ...]]
    nodes: int
    positions: int
    temperature: float


def top_p(
    pair: Pair, config: RunConfig, prompts: Sequence[str], values: Sequence[float] = TOP_P
) -> Iterator[tuple[int, int, TopP | None]]:
    """Cut both models' rows at each value and see what every rule still accepts, on the target's text at that value."""
    shape = BUILDERS["sequoia"](size=16, depth=6, acceptance=find_acceptance("sequoia", config.temperature)).shape
    width, rules = min(16, pair.vocab_size), TOP_P_RULES if config.temperature > 0 else ("exact-match",)
    tokens: dict[str, list[float]] = {rule: [] for rule in rules}
    of = len(values) * (len(prompts) + len(rules))
    done, positions, found = 0, 0, None
    for value in values:
        cut = replace(config, top_p=value)
        texts: list[Written] = []
        for text in own_texts(pair, prompts, cut):
            texts.append(text)
            done += 1
            yield done, of, found
        for rule in rules:
            vector = acceptance_vector(pair, VERIFIERS[rule](), texts, cut, width)
            tokens[rule].append(expected_tokens(shape, vector.plan))
            positions, done = vector.positions, done + 1
            yield done, of, found
        columns = {rule: tuple(column) for rule, column in tokens.items()}
        found = TopP(tuple(values[: len(tokens[rules[0]])]), columns, len(shape), positions, config.temperature)
        yield done, of, found


@dataclass(frozen=True)
class Transfer:
    """A tree planned for one kind of text and run on another: tokens per pass predicted by its vector and measured."""

    planned_for: str
    run_on: str
    predicted: float
    measured: float
    margin: float | None


def transfer(
    pair: Pair, config: RunConfig, kinds: Kinds, size: int = 16, depth: int = 6
) -> Iterator[tuple[int, int, tuple[Transfer, ...]]]:
    """Calibrate on the first half of each kind's prompts, and run each kind's tree on the second halves of all."""
    sides = {kind: (prompts[: len(prompts) // 2], prompts[len(prompts) // 2 :]) for kind, prompts in kinds.items()}
    of = sum(len(first) for first, _ in sides.values()) + len(kinds) * sum(len(last) for _, last in sides.values())
    done, vectors = 0, {}
    rule = VERIFIERS[suited(replace(config, builder=BUILDERS["sequoia"]()))]()
    for kind, (first, _) in sides.items():
        texts: list[Written] = []
        for text in own_texts(pair, first, config):
            texts.append(text)
            done += 1
            yield done, of, ()
        vectors[kind] = acceptance_vector(pair, rule, texts, config, min(16, pair.vocab_size)).plan
    rows: list[Transfer] = []
    for on, (_, last) in sides.items():
        for kind, vector in vectors.items():
            builder, traces = BUILDERS["sequoia"](size=size, depth=depth, acceptance=vector), []
            for turn, prompt in enumerate(last):
                traces.append(run(pair, prepared(config, builder, prompt, 100 + turn)))
                done += 1
                yield done, of, tuple(rows)
            measured, margin, _ = tokens_with_room(traces, int(builder.shape.depth.max()))
            rows.append(Transfer(kind, on, expected_tokens(builder.shape, vector), measured, margin))
    yield done, of, tuple(rows)


def strip(pair: Pair, config: RunConfig, prompt: str) -> Iterator[tuple[int, int, Trace]]:
    """One run with DySpec's tree, which grows until its next node is not worth it (DySpec, figure 5)."""
    yield 1, 1, run(pair, prepared(config, BUILDERS["dyspec-threshold"](size=128), prompt, 0))


def temperatures(
    pair: Pair, config: RunConfig, cost: CostTable, prompts: Sequence[str], values: Sequence[float], size: int = 12
) -> Iterator[tuple[int, int, dict[float, SpeedupPrediction]]]:
    """Predict and time the best tree of one size at each temperature (Sequoia, figure 4): this measures time.

    Args:
        cost: measured on this machine with this pair.
        prompts: the first half is calibrated on, the second is timed.
    """
    half = len(prompts) // 2
    found: dict[float, SpeedupPrediction] = {}
    each = half + 2 * (len(prompts) - half)
    for place, value in enumerate(values):
        asked = replace(config, temperature=value)
        rule = VERIFIERS[suited(replace(asked, builder=BUILDERS["sequoia"]()))]()
        for read in predictor(pair, rule, asked, prompts[:half]):
            yield place * each + read.done, len(values) * each, dict(found)
        trees = trees_of([size], read.known, cost)
        for done, _, rows in speedup_predictions(pair, trees, rule, asked, read.known, cost, prompts[half:]):
            if rows:
                found[value] = rows[0]
            yield place * each + half + done, len(values) * each, dict(found)
