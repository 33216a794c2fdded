"""Do predictions come true? Tokens per pass of a static tree, foretold from some prompts and measured on others.

Three forecasts stand beside the measurement. One takes the acceptance vector of all positions of the target's own text
for every level: a source without memory. The second takes rates level by level from runs of the same tree. The third
walks along the target's own texts. Text has memory, for where one token was easy the next often is, and the difference
to the first is what that is worth. No clock is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from ..acceptance import expected_tokens
from ..builders.filling import StaticBuilder
from ..compatibility import compatible
from ..config import RunConfig
from ..decode import run
from ..measure.along_text import path_shares, tokens_on_texts
from ..measure.by_text import ratio_of_sums
from ..measure.in_traces import depth_acceptance
from ..measure.on_text import acceptance_vector, own_texts
from ..protocols import Pair, Verifier
from ..record import Trace
from ..registry import build

WINDOW = 24  # tokens of a prompt that is cut from a continuation


@dataclass(frozen=True)
class Agreement:
    """Tokens per pass of one tree, predicted and measured.

    Args:
        builder, verifier, temperature, nodes: what was run.
        by_vector: predicted from one vector for all levels, calibrated on text.
        by_level: predicted from rates by level, calibrated on runs.
        by_text: predicted from walks along the target's own texts; None where the rule has no closed form for it.
        measured, standard_error: over whole trees on the other prompts; a single one gives no error.
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
    standard_error: float | None
    prompts: tuple[int, int]
    steps: int

    def close(self, predicted: float) -> bool:
        """Whether a prediction is within 5 % or two standard errors of the measurement."""
        return abs(predicted - self.measured) <= max(0.05 * self.measured, 2 * (self.standard_error or 0.0))

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
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Agreement:
    """Predict from `calibration`, measure on `prompts`.

    Args:
        pair: the models.
        builder: a static tree; an acceptance vector of its own that is "auto" is resolved as in a run.
        verifier: the rule.
        config: who drafts, temperatures, length and seed; prompt `i` of each side is run with seed + i.
        calibration, prompts: texts to continue, different ones.
        progress: is told how many of how many texts are done.

    Raises:
        ValueError: if builder, rule and drafter cannot go together, or no step had room for a whole tree.
    """
    drafter = build("drafter", config.drafter)
    match = compatible(builder, verifier, config.temperature, config.draft_temperature, drafter=drafter)
    if not match.possible:
        raise ValueError(match.reason)
    shape = builder.prepare(verifier, config.temperature, drafter.name, pair.info["name"]).shape
    config = replace(config, builder=builder, verifier=verifier)
    of, done = 2 * len(calibration) + len(prompts), 0
    if not (calibration and prompts):
        raise ValueError("agreement needs at least one prompt to calibrate on and one other to measure on.")

    def runs(texts: Sequence[str], make: Callable) -> list:
        nonlocal done
        found = []
        for number, prompt in enumerate(texts):
            found.append(make(replace(config, prompt=prompt, seed=config.seed + number)))
            done += 1
            progress(done, of)
        return found

    texts = runs(calibration, lambda one: own_texts(pair, [one.prompt], one)[0])
    width = int(shape.rank.max()) + 1
    vector = acceptance_vector(pair, verifier, texts, config, width, match.law).plan
    written = [(text, len(pair.encode(prompt))) for text, prompt in zip(texts, calibration, strict=True)]
    shares = path_shares(pair, verifier, written, config, width) if match.law in _native(verifier, config) else None
    levels = depth_acceptance(runs(calibration, lambda one: run(pair, one)), ranks=width).levels()
    measured, error, steps = tokens_per_whole_tree(runs(prompts, lambda one: run(pair, one)), len(shape))
    by_text = None if shares is None else tokens_on_texts(shape, shares)[0]
    return Agreement(
        builder.name, verifier.name, config.temperature, len(shape),
        expected_tokens(shape, vector), expected_tokens(shape, levels),
        None if by_text is None or np.isnan(by_text) else by_text,
        measured, error, (len(calibration), len(prompts)), steps,
    )  # fmt: skip


def _native(verifier: Verifier, config: RunConfig) -> tuple[str, ...]:
    """The laws of children that `path_shares` draws: the one the rule asks for first."""
    return ("top",) if config.temperature == 0 else verifier.laws[:1]


def tokens_per_whole_tree(traces: Sequence[Trace], nodes: int) -> tuple[float, float | None, int]:
    """Tokens per pass over the steps that had room for a tree of `nodes` nodes, with standard error, and their number.

    The last steps of a run have smaller trees, and an end of text cuts what was accepted; neither is the tree's doing,
    so a step counts if its tree is whole, with all that its rule accepted. Runs are the unit of the standard error.
    """
    pairs = []
    for trace in traces:
        whole = [len(step.path) + 1 for step in trace.steps if len(step.parents) == nodes]
        if whole:
            pairs.append((sum(whole), len(whole)))
    if not pairs:
        raise ValueError(f"max_new_tokens must leave room for a whole tree of {nodes} nodes; raise it.")
    return *ratio_of_sums(pairs), sum(steps for _, steps in pairs)


def prompts_like(
    pair: Pair,
    prompts: Sequence[str],
    wanted: int,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> list[str]:
    """At least as many prompts: the ones given, then windows cut from what the target writes after them.

    Args:
        pair: the models.
        prompts: texts to begin with.
        wanted: how many are needed.
        seed: of the continuations, at temperature 1.
        progress: is told how many of how many there are.

    Raises:
        ValueError: if the target ends every text before a window is full.
    """
    found = list(prompts[:wanted])
    each = max(1, -(-(wanted - len(found)) // max(1, len(prompts))))
    config = RunConfig(temperature=1.0, max_new_tokens=each * WINDOW)
    for turn in count():
        if len(found) >= wanted:
            return found[:wanted]
        if turn >= 8 * len(prompts):
            raise ValueError("the models end their texts too soon to cut further prompts from them; give more prompts.")
        prompt = prompts[turn % len(prompts)]
        (text,) = own_texts(pair, [prompt], replace(config, seed=seed + turn))
        new = [token for token in text[len(pair.encode(prompt)) :] if token not in pair.eos_ids]
        windows = (pair.decode(new[at : at + WINDOW]) for at in range(0, len(new) - WINDOW + 1, WINDOW))
        found += [window for window in windows if window.strip()]
        progress(min(len(found), wanted), wanted)
