"""Same seed, same text: compare a run with plain decoding, token by token.

Rules that write argmin E / p with noise keyed by position, and every rule at temperature 0, must
give plain decoding's text whatever was drafted, and end it where it ends. In float32 they do. In
half precision a pass over many tokens rounds differently from a pass over one, so two candidates
that are nearly tied can change places; then the margin between them is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from ..config.run_config import RunConfig
from ..decode import speculate
from ..decode.session import prompt_tokens
from ..models.base import Pair
from ..sampling.distributions import Distributions
from ..sampling.randomness import Seeded
from ..tree import TokenTree
from ..verifiers.base import Verifier

# Margins that the rounding of a format can turn over, as its passes over one and over many tokens
# were seen to differ.
NEARLY_TIED = {"bfloat16": 0.25, "float16": 0.03, "float32": 1e-4}
WHY_ROUNDING = (
    "The rule is exact; a pass over many tokens rounds differently from a pass over one, which "
    "decides such near ties."
)


@dataclass(frozen=True)
class Comparison:
    """How far a run's text is that of plain decoding.

    Attributes:
        compared: how many tokens were compared.
        position: index of the first new token that differs, or that only one of the two writes;
            None where all are equal.
        margin: how much later the second candidate came in there, as a difference of logarithms (of
            probabilities at temperature 0, of arrival times else); near 0 means a tie that rounding
            decided.
        early: which of the two ended there while the other went on: "run" or "plain"; None where
            neither did.
    """

    compared: int
    position: int | None = None
    margin: float | None = None
    early: str | None = None

    @property
    def equal(self) -> bool:
        """Whether no token differs."""
        return self.position is None

    def sentence(self, dtype: str | None = None) -> str:
        """What was found, for people; `dtype` is the models' number format."""
        if self.equal:
            return f"Same seed, same text: all {self.compared} tokens equal plain decoding."
        if self.early:
            ended = "the run"
            other = "plain decoding"
            if self.early == "plain":
                ended, other = other, ended
            return (
                f"Equal to plain decoding up to token {self.position}; there {ended} ends and "
                f"{other} goes on."
            )
        sentence = (
            f"Equal to plain decoding up to token {self.position}{parted(self.margin, dtype)}."
        )
        if tied(self.margin, dtype):
            sentence += f" {WHY_ROUNDING}"
        return sentence


def tied(margin: float | None, dtype: str | None) -> bool:
    """Whether the rounding of a number format can turn over candidates that are `margin` apart."""
    return margin is not None and margin < NEARLY_TIED.get(dtype or "", 0.0)


def parted(margin: float | None, dtype: str | None) -> str:
    """The end of a sentence on two texts that part although they should not; for the arguments see
    `Comparison`."""
    if margin is None:
        return ""
    rounding = ""
    if tied(margin, dtype):
        rounding = f" ({dtype} rounding)"
    return f"; there the two best candidates were {margin:.2g} apart{rounding}"


def promised(verifier: Verifier, temperature: float) -> bool:
    """Whether a rule promises plain decoding's very text."""
    return verifier.shared_noise or (temperature == 0 and verifier.exact_at_zero)


def comparing(pair: Pair, config: RunConfig, tokens: Sequence[int]) -> Iterator[Comparison]:
    """Decode plainly beside a run that came to its end, token by token, until one differs or both
    have ended.

    Args:
        pair: the models of the run.
        config: its configuration.
        tokens: the new tokens it wrote, all of them.
    """
    # Lazily: plain decoding goes on only as long as the texts agree.
    plain = (step.emitted[0] for step in speculate(pair, config.autoregressive()))
    for position, (token, expected) in enumerate(zip_longest(tokens, plain)):
        if token == expected:
            yield Comparison(position + 1)
            continue
        if token is None or expected is None:
            yield Comparison(position + 1, position, early="run" if token is None else "plain")
        else:
            margin = margin_at(pair, config, tokens[:position])
            yield Comparison(position + 1, position, margin)
        return


def margin_at(pair: Pair, config: RunConfig, tokens: Sequence[int]) -> float:
    """The distance between the two best candidates after the prompt and these new tokens; see
    `Comparison`."""
    context = [*prompt_tokens(pair, config), *tokens]
    tree = TokenTree(context[-1], start=len(context) - 1)
    p = Distributions(pair.open(context)[0].forward(tree, [0]), config.target_sampling)
    noise = Seeded(config.seed).noise(tree.next_position(0), len(p[0]))
    # At temperature 0 the rows have one token, so the candidates are those of the logits.
    with np.errstate(divide="ignore"):  # what has no probability never arrives
        arrivals = -p.logits[0] if config.temperature == 0 else np.log(noise / p[0])
    first, second = np.sort(arrivals)[:2]
    return float(second - first)
