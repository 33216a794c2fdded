"""Compare predicted and measured tokens per pass of a static tree, predicted from some prompts and measured on others.

Three predictions are compared with the measurement. One takes the acceptance vector of all positions of the target's
own text for every level: a source without memory. The second takes rates level by level from runs of the same tree.
The third walks along the target's own texts. Text has memory, for where one token was easy the next often is, and the
difference to the first is what that is worth. Nothing is timed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from ..acceptance.along_text import path_shares, tokens_on_texts
from ..acceptance.in_traces import depth_acceptance, with_room
from ..acceptance.on_text import acceptance_vector, own_texts
from ..acceptance.progress import SoFar
from ..acceptance.text_units import Window, sources
from ..acceptance.vectors import expected_tokens
from ..builders.filling import StaticBuilder
from ..compatibility import compatible
from ..config import RunConfig
from ..decode import run
from ..metrics import Counts, estimate
from ..models.base import Pair
from ..strategy import format_strategy
from ..trace import Trace
from ..verifiers.base import Verifier

WINDOW = 24  # tokens of a prompt that is cut from a continuation


@dataclass(frozen=True)
class Agreement:
    """Tokens per pass of one tree, predicted and measured.

    Args:
        builder, verifier, temperature, nodes: what was run.
        by_vector: predicted from one vector for all levels, calibrated on text.
        by_level: predicted from rates by level, calibrated on runs.
        by_text: predicted from walks along the target's own texts; None where the rule has no closed form for it.
        measured, margin: over steps with room for the tree on the other prompts, and the half-width of its interval;
            None for one text.
        prompts: how many on each side, calibration first.
        steps: how many were measured.
    """

    builder: str
    verifier: str
    temperature: float
    nodes: int
    by_vector: float
    by_level: float
    by_text: float | None
    measured: float
    margin: float | None
    prompts: tuple[int, int]
    steps: int

    def close(self, predicted: float) -> bool:
        """Whether a prediction is within 5 % of the measurement or in its interval."""
        return abs(predicted - self.measured) <= max(0.05 * self.measured, self.margin or 0.0)

    @property
    def holds(self) -> bool:
        """Whether the predictions that know of memory are close: by level, and by text where there is one."""
        return self.close(self.by_level) and (self.by_text is None or self.close(self.by_text))


def agreement(
    pair: Pair,
    builder: StaticBuilder,
    verifier: Verifier,
    config: RunConfig,
    calibration: Sequence[str],
    prompts: Sequence[str],
) -> Iterator[SoFar[Agreement | None]]:
    """Predict from `calibration`, measure on `prompts`; stop iterating to stop it.

    Args:
        pair: the models.
        builder: a static tree; an acceptance vector of its own that is "auto" is resolved as in a run.
        verifier: the rule.
        config: drafter, temperatures, length and seed; prompt `i` of each side is run with seed + i.
        calibration, prompts: texts to continue, different ones.

    Returns:
        Texts done, of how many, and the agreement over the prompts measured so far; None before a step had room.

    Raises:
        ValueError: if builder, rule and drafter are incompatible, or no step had room for the tree.
    """
    drafter = config.drafter
    config = replace(config, builder=builder, verifier=verifier)
    match = compatible(config).required()
    shape = builder.prepare(verifier, config.temperature, drafter.name, pair.info["name"]).shape
    of, first = 2 * len(calibration) + len(prompts), len(calibration)
    if not (calibration and prompts):
        raise ValueError("agreement needs at least one prompt for calibration and another for measurement.")

    texts, runs, measured = [], [], []
    for text in own_texts(pair, calibration, config):
        texts.append(text)
        yield SoFar(len(texts), of, None)
    width = int(shape.rank.max()) + 1
    vector = acceptance_vector(pair, verifier, texts, config, width, match.scheme).plan
    shares = path_shares(pair, verifier, texts, config, width) if match.scheme in _native(verifier, config) else None
    by_text = None if shares is None else tokens_on_texts(shape, shares)[0]
    for trace in _runs(pair, config, calibration):
        runs.append(trace)
        yield SoFar(first + len(runs), of, None)
    levels, deepest = depth_acceptance(runs, ranks=width, planned=shape).levels(), int(shape.depth.max())
    known = None
    for trace in _runs(pair, config, prompts):
        measured.append(trace)
        if known or with_room(trace, deepest):
            tokens, margin, steps = tokens_with_room(measured, deepest)
            known = Agreement(
                format_strategy(builder), format_strategy(verifier), config.temperature, len(shape),
                expected_tokens(shape, vector), expected_tokens(shape, levels),
                None if by_text is None or np.isnan(by_text) else by_text,
                tokens, margin, (first, len(measured)), steps,
            )  # fmt: skip
        yield SoFar(2 * first + len(measured), of, known)
    if known is None:
        tokens_with_room(measured, deepest)  # raises


def _runs(pair: Pair, config: RunConfig, prompts: Iterable[str]) -> Iterator[Trace]:
    for number, prompt in enumerate(prompts):
        yield run(pair, replace(config, prompt=prompt, seed=config.seed + number))


def _native(verifier: Verifier, config: RunConfig) -> tuple[str, ...]:
    """The sampling schemes that `path_shares` uses: the one the rule asks for first."""
    return ("top",) if config.temperature == 0 else verifier.schemes[:1]


def tokens_with_room(traces: Sequence[Trace], levels: int) -> tuple[float, float | None, int]:
    """Tokens per pass over the steps that had room for a tree of so many levels, its margin, and how many steps.

    An end of text cuts what was accepted, which is not the tree's doing, so a step counts with all that its rule
    accepted. Texts are the unit of the margin.
    """
    counted = [
        (trace.config.prompt, Counts.of(steps, whole=True)) for trace in traces if (steps := with_room(trace, levels))
    ]
    if not counted:
        raise ValueError(f"max_new_tokens must allow a tree of {levels} levels. Increase it.")
    rows = [(one.tokens, one.passes) for _, one in counted]
    tokens, margin = estimate(rows, texts=sources([prompt for prompt, _ in counted]))
    return tokens, margin, sum(one.passes for _, one in counted)


def prompts_like(pair: Pair, prompts: Sequence[str], wanted: int, seed: int = 0) -> Iterator[SoFar[list[str]]]:
    """As many prompts as wanted: the ones given, then windows cut from what the target writes after them.

    Args:
        pair: the models.
        prompts: texts to begin with.
        wanted: how many are needed.
        seed: of the continuations, at temperature 1.

    Returns:
        How many there are, of how many, and the prompts; all windows behind one of the given ones are one text.

    Raises:
        ValueError: if the target ends every text before a window is full.
    """
    found = list(prompts[:wanted])
    each = max(1, -(-(wanted - len(found)) // max(1, len(prompts))))
    config = RunConfig(temperature=1.0, max_new_tokens=each * WINDOW)
    for turn in count():
        yield SoFar(min(len(found), wanted), wanted, found[:wanted])
        if len(found) >= wanted:
            return
        if turn >= 8 * len(prompts):
            raise ValueError("the models end their texts too early to cut more prompts from them. Give more prompts.")
        prompt = prompts[turn % len(prompts)]
        (text,) = own_texts(pair, [prompt], replace(config, seed=seed + turn))
        new = [token for token in text[len(pair.encode(prompt)) :] if token not in pair.eos_ids]
        windows = (Window(pair.decode(new[at : at + WINDOW]), prompt) for at in range(0, len(new) - WINDOW + 1, WINDOW))
        found += [window for window in windows if window.strip()]
