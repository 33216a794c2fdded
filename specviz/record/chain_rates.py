"""Acceptance by position of a chain: of all steps, and of the steps that come so far.

Engines publish both under similar names. The first are marginal: a_1, a_1 a_2, ...; the second are
conditional: a_1, a_2, ... An `AcceptanceVector` is conditional.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import mul

from ..base.codec import JsonObject
from ..base.errors import ParameterError

SCHEMA = "1.0"  # of acceptance profiles, as NVIDIA's ModelOpt writes them beside a checkpoint
PROFILE = {"conditional_accept_rates", "marginal_accept_rates"}  # either makes a file a profile
ROUNDED = 0.02  # how far the two lists may differ, since both are rounded


def marginal_rates(conditional: Sequence[float]) -> tuple[float, ...]:
    """The fraction of all steps that accept the first 1, 2, ... tokens.

    >>> marginal_rates((0.5, 0.5))
    (0.5, 0.25)
    """
    return tuple(accumulate(conditional, mul))


def conditional_rates(marginal: Sequence[float]) -> tuple[float, ...]:
    """Of the steps that accept the token before, the fraction that accept this one."""
    # Where no step came so far, nothing is known; 0 then says that nothing is accepted.
    pairs = pairwise((1.0, *marginal))
    return tuple(now / before if before else 0.0 for before, now in pairs)


def to_profile(
    conditional: Sequence[float], method: str, samples: int, **conditions: object
) -> JsonObject:
    """Rates in the form of an acceptance profile."""
    # Both lists are written, so that a reader who confuses them sees that they differ.
    marginal = marginal_rates(conditional)
    return {
        "schema_version": SCHEMA,
        "measured": True,
        "method": method,
        "num_speculative_tokens": len(marginal),
        "conditional_accept_rates": list(conditional),
        "marginal_accept_rates": list(marginal),
        "mean_accept_length": 1 + sum(marginal),  # with the bonus token
        "measurement_conditions": conditions | {"num_samples": samples},
    }


def read_rates(data: JsonObject, where: str = "the profile") -> tuple[float, ...] | None:
    """The conditional rates in an acceptance profile; None where it has none, as one that was not
    measured.

    Raises:
        ValueError: if a list is none of numbers from 0 to 1, or the two contradict each other.
    """
    lists = {}
    for name in sorted(PROFILE):
        rates = data.get(name)
        if data.get("measured") is False or rates is None:
            continue
        # From a stranger's file: type and range before anything is computed.
        good = isinstance(rates, list) and 0 < len(rates) <= 64
        if not good or not all(isinstance(x, int | float) and 0 <= x <= 1 for x in rates):
            raise ParameterError(f"{name} of {where}", "list 1 to 64 numbers from 0 to 1", rates)
        lists[name] = tuple(map(float, rates))
    conditional, marginal = (lists.get(name) for name in sorted(PROFILE))
    if marginal is None:
        return conditional
    named = f"marginal_accept_rates of {where}"
    if any(now > before for before, now in pairwise(marginal)):
        must = "fall from position to position, since they are fractions of all steps"
        hint = "Rates of the steps that come so far are conditional_accept_rates."
        raise ParameterError(named, must, list(marginal), hint)
    if conditional is None:
        return conditional_rates(marginal)
    # Both are there: mixed up, they contradict each other beyond what rounding does.
    products = marginal_rates(conditional)
    apart = [abs(a - b) for a, b in zip(products, marginal, strict=False)]
    if len(conditional) != len(marginal) or max(apart) > ROUNDED:
        raise ParameterError(named, "be products of conditional_accept_rates", list(marginal))
    return conditional
