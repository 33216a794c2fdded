"""SpecTr's division factor at every size, against a plain bisection of its definition and against what is written."""

import numpy as np
import pytest

from specviz.distributions import total_variation
from specviz.theory.node import spectr_acceptance
from specviz.verifiers.spectr import division_factor, leftover
from tests.proof.hard_distributions import KINDS, distributions_of_kind

SIZES = [(2, 2), (3, 256), (30, 60), (100, 48), (1000, 128)]
LARGE = [pytest.param(32_000, k, marks=pytest.mark.nightly) for k in (4, 256)]


def accepted(p, q, k, rho):
    return 1 - (1 - min(1.0, np.minimum(q, p / rho).sum())) ** k


def plain_bisection(p, q, k):
    """The smallest rho in [1, k] with 1 - (1 - beta)^k <= rho beta, up to the rounding of these sums."""
    low, high = 1.0, float(k)
    for _ in range(60):
        rho = (low + high) / 2
        beta = np.minimum(q, p / rho).sum()
        low, high = (low, rho) if 1 - (1 - beta) ** k <= rho * beta + 1e-13 else (rho, high)
    return high


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("V", "k"), SIZES + LARGE)
def test_rho_is_that_of_a_plain_bisection_and_what_is_written_is_the_target(kind, V, k):
    """With 60 children and flat p of 30 tokens both sides of the equation round to 1 near its solution."""
    for seed in range(1 if V > 1000 else 12):
        p, q = distributions_of_kind(kind, V, seed)
        rho = division_factor(p, q, k)
        best = accepted(p, q, k, plain_bisection(p, q, k))
        assert accepted(p, q, k, rho) == pytest.approx(best, abs=1e-11)
        assert spectr_acceptance(p, q, k).sum() == pytest.approx(best, abs=1e-11)
        left, beta = leftover(p, q, k, rho)
        rounds = best / beta if beta else 0.0  # 1 + (1 - beta) + ... + (1 - beta)^(k - 1)
        written = np.minimum(q, p / rho) * rounds + (1 - best) * left / left.sum()
        assert total_variation(written, p) < 1e-11
