"""The speed of the engine with models of a given shape and random weights.

Measured are the target's pass over n nodes, beside the same pass bare; the draft's passes; what the rest of a step
costs; and tokens per second beside transformers' own generation. Random models agree on nothing, so how much they
accept, and with it every number of tokens, says nothing about trained models of that shape. A projection takes tokens
per pass from an acceptance vector recorded elsewhere and costs from here; it is kept apart from all that is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from statistics import median
from typing import Any

from ..acceptance.progress import SoFar
from ..acceptance.vectors import find_acceptance
from ..builders.base import TreeBuilder
from ..builders.sequoia import best_tree
from ..config import RunConfig
from ..models.pair import HuggingFacePair
from ..passes.bare_pass import bare_pass
from ..passes.huggingface import HuggingFaceModel
from ..planning.cost_table import CostTable
from ..planning.forecast import forecast
from ..tree import TokenTree
from ..verifiers.base import Verifier
from .against_transformers import bench
from .alternating_rounds import paired, seconds_of
from .measure_cost import SIZES, measure_cost
from .trials import Trial

RANDOM = (
    "The weights are random, so acceptance, tokens per pass and tokens per second are meaningless for trained models."
)


@dataclass(frozen=True)
class PassTime:
    """The target's pass over a tree, medians over the rounds.

    Args:
        nodes: of the tree, root included.
        engine_s: seconds from the tree to its first row on the host, as in the loop.
        bare_s: seconds of the same pass on inputs that are ready, logits left where they are; None where the model
            has no direct pass.
    """

    nodes: int
    engine_s: float
    bare_s: float | None

    @property
    def ratio(self) -> float | None:
        """Engine over bare."""
        return None if self.bare_s is None else self.engine_s / self.bare_s


@dataclass(frozen=True)
class StepShare:
    """A step with Sequoia's tree of a size: seconds by part, and `share`, that of all but the passes."""

    nodes: int
    parts: dict[str, float]
    share: float


@dataclass(frozen=True)
class ShapeReport:
    """What was measured around two shapes.

    Args:
        pair: what it was measured with, plain JSON data.
        context: tokens of text before the trees whose passes were timed.
        passes, steps: columns as described in their classes.
        methods: transformers, plain decoding and builders, as `bench` has them.
        table: the costs, the draft's passes among them, for `optimize --cost`; None where they were not measured yet.
    """

    pair: dict[str, Any]
    context: int
    passes: tuple[PassTime, ...] = ()
    steps: tuple[StepShare, ...] = ()
    methods: tuple[Trial, ...] = ()
    table: CostTable | None = None


def bench_shape(
    pair: HuggingFacePair,
    config: RunConfig,
    builders: Sequence[TreeBuilder],
    context: int = 128,
    sizes: Sequence[int] = SIZES,
    rounds: int = 3,
    seconds: float = 60.0,
) -> Iterator[SoFar[ShapeReport]]:
    """Measure a pair of random models: the target's passes, whole steps, then tokens per second.

    Args:
        pair: what `random_pair` made.
        config: temperature, seed, rule and length of the generated texts.
        builders: what to time beside transformers and plain decoding.
        context: tokens of text before the trees whose passes are timed.
        sizes: nodes of those trees; those that do not fit behind the context are left out.
        rounds: how often everything is timed.
        seconds: about how long the costs of whole steps may be measured.

    Returns:
        Pieces done, of how many in what has begun, and the report so far.

    Raises:
        ValueError: if not even one node fits behind the context.
    """
    fit = [size for size in sizes if context + size <= pair.max_positions]
    if not fit or context < 1:
        raise ValueError(
            f"context must be from 1 to {pair.max_positions - 1} tokens, the shapes' limit less a node; got {context}."
        )
    report = ShapeReport(pair.info, context)
    for done, one in enumerate(time_passes(pair.target, _prompt(context, pair.vocab_size), fit, rounds), 1):
        report = replace(report, passes=(*report.passes, one))
        yield SoFar(done, len(fit), report)
    rule = config.verifier
    around = RunConfig(_prompt(min(context, pair.max_positions // 2), pair.vocab_size), verifier=rule,
                       temperature=config.temperature)  # fmt: skip
    begun = len(fit)
    for news in measure_cost(pair, around, fit, rounds, seconds=seconds):
        if news.known is not None:
            report = _with_costs(report, news.known, rule, config.temperature)
        yield SoFar(begun + news.done, begun + news.of, report)
    begun += news.done
    for timed in bench(pair, builders, rule, ["x" * context], config, rounds):
        report = replace(report, methods=timed.known)
        yield SoFar(begun + timed.done, begun + timed.of, report)


def _with_costs(report: ShapeReport, table: CostTable, rule: Verifier, temperature: float) -> ShapeReport:
    steps = tuple(_share(size, table, rule, temperature) for size in table.sizes if size > 1)
    return replace(report, steps=steps, table=table)


def time_passes(
    model: HuggingFaceModel, context: Sequence[int], sizes: Sequence[int], rounds: int = 3, burst: int = 4
) -> Iterator[PassTime]:
    """Time the pass over trees of several sizes behind one text, in turns with the same pass bare.

    Args:
        model: the target.
        context: the text.
        sizes: nodes of the trees.
        rounds: how often each size is timed; medians are reported.
        burst: passes of one kind in a row; their median counts, and one before them does not.
    """
    session = model.open(context)
    session.forward(TokenTree(context[-1], start=len(context) - 1), [0])[0]  # the text is read
    for size in sizes:
        tree = _tree(size, context, model.vocab_size)
        nodes = range(size)

        def read(tree=tree, nodes=nodes):
            session.forward(tree, nodes)[0]  # pulls a row, so the pass is over

        for _ in range(3):
            read()
        ready = bare_pass(session, tree)
        calls = {"engine": read} if ready is None else {"engine": read, "bare": ready}
        ways = {name: partial(_burst, call, burst) for name, call in calls.items()}
        took: dict[str, list[float]] = {name: [] for name in ways}
        for _, name, seconds in paired(ways, rounds):
            took[name].append(seconds)
        yield PassTime(size, median(took["engine"]), median(took["bare"]) if "bare" in took else None)


def _burst(call: Callable[[], Any], count: int, turn: int) -> float:
    call()
    return median(seconds_of(call) for _ in range(count))


def _prompt(length: int, vocab_size: int) -> list[int]:
    return [(7919 * i + 11) % vocab_size for i in range(length)]


def _tree(size: int, context: Sequence[int], vocab_size: int) -> TokenTree:
    """Sequoia's tree for the stored vector, filled with tokens."""
    shape, _ = best_tree(find_acceptance("sequoia", 0.8), size, max(1, min(size - 1, 16)), 32)
    tree = TokenTree(context[-1], start=len(context) - 1)
    for node, parent in enumerate(shape.parents[1:], 1):
        tree.add(parent, (31 * node) % vocab_size)
    return tree


def _share(size: int, table: CostTable, rule: Verifier, temperature: float) -> StepShare:
    acceptance = find_acceptance(rule.name, temperature)
    parts = table.parts(best_tree(acceptance, size, max(1, min(size - 1, 16)), 32)[0])
    return StepShare(size, parts, parts["overhead"] / sum(parts.values()))


def project(report: ShapeReport, acceptance: tuple) -> dict[str, Any]:
    """What the best tree would bring with an acceptance vector recorded elsewhere: a projection, nothing measured.

    Args:
        report: the costs.
        acceptance: P[k], or one vector per level.

    Raises:
        ValueError: if the report has no costs yet.
    """
    if report.table is None:
        raise ValueError("report must have costs for a projection, but it was stopped early. Run it to the end.")
    best = forecast(acceptance, report.table).best
    return {
        "note": "Projection: tokens per pass from the recorded acceptance vector, costs measured with random weights "
        "of these shapes.",
        "builder": "sequoia", "size": best.size, "depth": best.depth, "tokens_per_pass": best.tokens_per_pass,
        "step_s": best.step_s, "tokens_per_s": best.tokens_per_pass / best.step_s,
        "plain_tokens_per_s": 1 / report.table.plain_s, "speedup": best.speedup,
    }  # fmt: skip


def as_dict(report: ShapeReport, projection: dict[str, Any] | None = None) -> dict[str, Any]:
    """The report as plain JSON data, what was measured and what is projected apart."""
    measured = asdict(report) | {"passes": [asdict(one) | {"ratio": one.ratio} for one in report.passes]}
    return {"warning": RANDOM, "measured": measured, "projection": projection}
