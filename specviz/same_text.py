"""Same seed, same text: compare a run with plain decoding, token by token.

Rules that write argmin E / p with noise keyed by position, and every rule at temperature 0, must give plain decoding's
text whatever was drafted. In float32 they do. In half precision a pass over many tokens rounds differently from a pass
over one, so two candidates that are nearly tied can change places; then the margin between them is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .config import RunConfig
from .decode import autoregress_steps
from .distributions import Rows
from .protocols import Pair, Verifier
from .randomness import Seeded, first_arrivals
from .tree import TokenTree


@dataclass(frozen=True)
class Comparison:
    """How far a run's text is that of plain decoding.

    Attributes:
        compared: how many tokens were compared.
        position: index of the first new token that differs; None where all are equal.
        margin: how much later the second candidate came in there, as a difference of logarithms (of probabilities at
            temperature 0, of arrival times else); near 0 means a tie that rounding decided.
    """

    compared: int
    position: int | None = None
    margin: float | None = None

    @property
    def equal(self) -> bool:
        return self.position is None


def promised(verifier: Verifier, temperature: float) -> bool:
    """Whether a rule promises plain decoding's very text."""
    return temperature == 0 or verifier.keyed


def compare_with_plain(pair: Pair, config: RunConfig, tokens: Sequence[int]) -> Comparison:
    """Decode plainly beside a finished run, until a token differs or the run ends.

    Args:
        pair: the models of the run.
        config: its configuration.
        tokens: the new tokens it wrote.
    """
    context = list(pair.encode(config.prompt) if isinstance(config.prompt, str) else config.prompt)
    position = 0
    for step in autoregress_steps(pair, config):
        if position == len(tokens):
            break
        if step.emitted[0] != tokens[position]:
            return Comparison(position + 1, position, _margin(pair, config, context + list(tokens[:position])))
        position += 1
    return Comparison(position)


def _margin(pair: Pair, config: RunConfig, context: list[int]) -> float:
    """The distance between the two best candidates after `context`."""
    tree = TokenTree(context[-1], start=len(context) - 1)
    p = Rows(pair.open(context)[0].forward(tree, [0]), config.target_sampling)
    if config.temperature == 0:
        second, first = np.sort(p.logits[0])[-2:]
        return float(first - second)
    noise = Seeded(config.seed).noise(tree.position(0), len(p[0]))
    best = first_arrivals(p[0], noise, 2)
    if len(best) < 2:
        return float("inf")
    first, second = np.log(noise[best] / p[0][best])
    return float(second - first)
