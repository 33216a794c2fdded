"""Acceptance by position of a chain: of all steps, and of the steps that come so far.

Engines publish both under similar names. The first are marginal: a_1, a_1 a_2, ...; the second are
conditional: a_1, a_2, ... A vector of trees is conditional: its P[1] is that of a first child.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import mul
from typing import Any

from ..base.errors import ParameterError

SCHEMA = "1.0"  # of acceptance profiles, as NVIDIA's ModelOpt writes them beside a checkpoint
PROFILE = {"conditional_accept_rates", "marginal_accept_rates"}  # either makes a file a profile
ROUNDED = 0.02  # how far the two lists may differ, since both are rounded


@dataclass(frozen=True)
class ChainRates:
    """How often a drafted token is accepted, by its position in the draft.

    Attributes:
        marginal: the fraction of all steps that accept the first 1, 2, ... tokens.
        conditional: of the steps that accept the token before, the fraction that accept this one.

    >>> rates = ChainRates.of_conditional((0.5, 0.5))
    >>> rates.marginal, rates.length
    ((0.5, 0.25), 1.75)
    """

    marginal: tuple[float, ...]
    conditional: tuple[float, ...]

    @classmethod
    def of_marginal(cls, rates: Sequence[float]) -> ChainRates:
        """Both from the rates of all steps."""
        before = (1.0, *rates)
        pairs = zip(before, rates, strict=False)
        return cls(tuple(rates), tuple(now / last if last else 0.0 for last, now in pairs))

    @classmethod
    def of_conditional(cls, rates: Sequence[float]) -> ChainRates:
        """Both from the rates of the steps that come so far."""
        return cls(tuple(accumulate(rates, mul)), tuple(rates))

    @property
    def length(self) -> float:
        """Tokens per step, with the bonus token."""
        return 1 + sum(self.marginal)

    @property
    def levels(self) -> tuple[tuple[float, ...], ...]:
        """The vector of each level of a tree of which only first children are known."""
        return tuple((rate,) for rate in self.conditional)

    def to_profile(self, method: str, samples: int, **conditions: Any) -> dict[str, Any]:
        """The rates in the form of an acceptance profile."""
        return {
            "schema_version": SCHEMA,
            "measured": True,
            "method": method,
            "num_speculative_tokens": len(self.marginal),
            "conditional_accept_rates": list(self.conditional),
            "marginal_accept_rates": list(self.marginal),
            "mean_accept_length": self.length,
            "measurement_conditions": conditions | {"num_samples": samples},
        }


def read_profile_rates(data: Mapping[str, Any], where: str = "the profile") -> ChainRates | None:
    """The rates in an acceptance profile; None where it has none, as one that was not measured.

    Raises:
        ValueError: if a list is none of numbers from 0 to 1, or the two contradict each other.
    """
    lists = {}
    for name in sorted(PROFILE):
        rates = data.get(name)
        if data.get("measured") is False or rates is None:
            continue
        good = isinstance(rates, list) and 0 < len(rates) <= 64
        if not good or not all(isinstance(x, int | float) and 0 <= x <= 1 for x in rates):
            raise ParameterError(f"{name} of {where}", "list 1 to 64 numbers from 0 to 1", rates)
        lists[name] = tuple(map(float, rates))
    conditional, marginal = (lists.get(name) for name in sorted(PROFILE))
    if marginal is None:
        return None if conditional is None else ChainRates.of_conditional(conditional)
    if any(now > before for before, now in pairwise(marginal)):
        must = "fall from position to position, since they are fractions of all steps"
        hint = "Rates of the steps that come so far are conditional_accept_rates."
        raise ParameterError(f"marginal_accept_rates of {where}", must, list(marginal), hint)
    rates = ChainRates.of_marginal(marginal)
    if conditional is None:
        return rates
    implied = ChainRates.of_conditional(conditional)
    apart = [abs(a - b) for a, b in zip(implied.marginal, marginal, strict=False)]
    if len(conditional) != len(marginal) or max(apart) > ROUNDED:
        must = "be products of conditional_accept_rates"
        raise ParameterError(f"marginal_accept_rates of {where}", must, list(marginal))
    return ChainRates(marginal, conditional)
