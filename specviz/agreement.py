"""Do predictions come true? Tokens per pass of a static tree, foretold from some prompts and measured on others.

Two forecasts stand beside the measurement. One takes the acceptance vector of all positions of the target's own text
for every level: a source without memory. The other takes rates level by level from runs of the same tree. The text has
memory, for where one token was easy the next often is, and the difference between the two is what that is worth.
No clock is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from .acceptance import expected_tokens
from .builders.filling import StaticBuilder
from .config import RunConfig
from .decode import run
from .measure import acceptance_vector, own_texts
from .measure_traces import depth_acceptance
from .protocols import Pair, Verifier, compatible
from .record import Trace


@dataclass(frozen=True)
class Agreement:
    """Tokens per pass of one tree, predicted and measured.

    Args:
        builder, verifier, temperature, nodes: what was run.
        by_vector: predicted from one vector for all levels, calibrated on text.
        by_level: predicted from rates by level, calibrated on runs.
        measured, standard_error: over whole trees on the other prompts.
        steps: how many were measured.
    """

    builder: str
    verifier: str
    temperature: float
    nodes: int
    by_vector: float
    by_level: float
    measured: float
    standard_error: float
    steps: int

    @property
    def holds(self) -> bool:
        """Whether the prediction by level is within 5 % or two standard errors of the measurement."""
        return abs(self.by_level - self.measured) <= max(0.05 * self.measured, 2 * self.standard_error)


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
        config: temperatures, length and seed; prompt `i` of each side is run with seed + i.
        calibration, prompts: texts to continue, different ones.
        progress: is told how many of how many texts are done.

    Raises:
        ValueError: if the pair of builder and rule is impossible, or no step had room for a whole tree.
    """
    match = compatible(builder, verifier, config.temperature, config.draft_temperature)
    if not match.possible:
        raise ValueError(match.reason)
    shape = builder.prepare(verifier, config.temperature).shape
    config = replace(config, builder=builder, verifier=verifier)
    of, done = 2 * len(calibration) + len(prompts), 0

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
    vector = acceptance_vector(pair, verifier, texts, config, width, match.law).acceptance
    levels = depth_acceptance(runs(calibration, lambda one: run(pair, one)), ranks=width).levels()
    measured, error, steps = tokens_per_whole_tree(runs(prompts, lambda one: run(pair, one)), len(shape))
    return Agreement(
        builder.name, verifier.name, config.temperature, len(shape),
        expected_tokens(shape, vector), expected_tokens(shape, levels), measured, error, steps,
    )  # fmt: skip


def tokens_per_whole_tree(traces: Sequence[Trace], nodes: int) -> tuple[float, float, int]:
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
    tokens, steps = (sum(column) for column in zip(*pairs, strict=True))
    ratio, count = tokens / steps, len(pairs)
    squares = sum((won - ratio * tried) ** 2 for won, tried in pairs)
    error = sqrt(squares * count / max(1, count - 1)) / steps
    return ratio, error, steps
