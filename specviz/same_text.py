"""Same seed, same text: compare a run with plain decoding, token by token.

Rules that write argmin E / p with noise keyed by position, and every rule at temperature 0, must give plain decoding's
text whatever was drafted. In float32 they do. In half precision a pass over many tokens rounds differently from a pass
over one, so two candidates that are nearly tied can change places; then the margin between them is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from .config import RunConfig
from .decode import autoregress_steps
from .distributions import Rows
from .protocols import Pair, Verifier
from .randomness import Seeded, first_arrivals
from .tree import TokenTree

NEARLY_TIED = 0.25  # a margin that the rounding of half precision can turn over


@dataclass(frozen=True)
class Comparison:
    """How far a run's text is that of plain decoding.

    Attributes:
        compared: how many tokens were compared.
        position: index of the first new token that differs, or that plain decoding does not write at all; None where
            all are equal.
        margin: how much later the second candidate came in there, as a difference of logarithms (of probabilities at
            temperature 0, of arrival times else); near 0 means a tie that rounding decided.
    """

    compared: int
    position: int | None = None
    margin: float | None = None

    @property
    def equal(self) -> bool:
        return self.position is None

    def sentence(self, dtype: str | None = None) -> str:
        """What was found, for people; `dtype` is the models' number format."""
        if self.equal:
            return f"Same seed, same text: all {self.compared} tokens equal plain decoding."
        return f"Equal to plain decoding up to token {self.position}{parted(self.margin, dtype)}."


def parted(margin: float | None, dtype: str | None) -> str:
    """The end of a sentence on two texts that part although they should not, after what they have in common.

    Args:
        margin: as in `Comparison`.
        dtype: the models' number format.
    """
    if margin is None:
        return ""
    rounding = f" ({dtype} rounding)" if dtype and margin < NEARLY_TIED else ""
    return f"; there the two best candidates were {margin:.2g} apart{rounding}"


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
    return max(comparing(pair, config, tokens), key=lambda found: found.compared, default=Comparison(0))


def comparing(pair: Pair, config: RunConfig, tokens: Sequence[int]) -> Iterator[Comparison]:
    """`compare_with_plain` token by token, for whoever wants to stop on the way; the last one is the answer."""
    context = list(pair.encode(config.prompt) if isinstance(config.prompt, str) else config.prompt)
    position = -1
    for position, step in enumerate(islice(autoregress_steps(pair, config), len(tokens))):
        if step.emitted[0] != tokens[position]:
            yield Comparison(position + 1, position, margin_at(pair, config, context + list(tokens[:position])))
            return
        yield Comparison(position + 1)
    if position + 1 < len(tokens):  # plain decoding has ended, and the run has not
        yield Comparison(position + 2, position + 1)


def margin_at(pair: Pair, config: RunConfig, context: list[int]) -> float:
    """The distance between the two best candidates after `context`, token ids; see `Comparison`."""
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
