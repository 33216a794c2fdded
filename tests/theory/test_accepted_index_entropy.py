"""The entropy of the accepted index: against the laws index by index, against races that are run, and its bounds."""

import math

import numpy as np
import pytest

from specviz.distributions import entropy
from specviz.theory.accepted_index_entropy import race_index_entropy, rejection_index_entropy
from specviz.theory.node import specinfer_acceptance

ENTROPIES = (rejection_index_entropy, race_index_entropy)


def pairs(size, count, sharp):
    chance = np.random.default_rng(size)
    for _ in range(count):
        p, q = (chance.dirichlet(np.full(size, sharp)) for _ in range(2))
        yield p, 0.95 * q + 0.05 / size  # so that the laws below end within what is summed


@pytest.mark.parametrize("size", [2, 3, 8, 40])
def test_rejection_is_the_sum_over_single_steps(size):
    for p, q in pairs(size, 8, 0.6):
        scheme = specinfer_acceptance(p, q, 20_000)
        assert scheme.sum() == pytest.approx(1, abs=1e-9)
        assert rejection_index_entropy(p, q) == pytest.approx(entropy(scheme), abs=1e-7)


@pytest.mark.parametrize("size", [2, 3, 8, 40])
def test_races_are_a_mixture_of_geometric_laws(size):
    index = np.arange(50_000)
    for p, q in pairs(size, 8, 0.6):
        earlier = [np.maximum(0, q * (p[x] / q[x]) - p).sum() for x in range(size)]
        scheme = sum(p[x] / (1 + w) * (w / (1 + w)) ** index for x, w in enumerate(earlier))
        assert scheme.sum() == pytest.approx(1, abs=1e-9)
        assert race_index_entropy(p, q) == pytest.approx(entropy(scheme), abs=1e-4)


def test_the_mixture_is_what_races_do():
    """The selected arrival of 4000 Poisson processes: T_i q(x_i) / p(x_i) is the least."""
    chance, runs, arrivals = np.random.default_rng(1), 4000, 400
    p, q = np.array([0.7, 0.2, 0.1]), np.array([0.2, 0.3, 0.5])
    times = chance.exponential(size=(runs, arrivals)).cumsum(axis=1)
    tokens = chance.choice(3, p=q, size=(runs, arrivals))
    index = np.argmin(times * (q / p)[tokens], axis=1)
    counted = np.bincount(index) / runs
    assert race_index_entropy(p, q) == pytest.approx(entropy(counted), abs=0.05)


def test_equal_rows_have_no_entropy_and_a_missing_token_has_no_end():
    p = np.array([0.5, 0.3, 0.2, 0.0])
    for found in ENTROPIES:
        assert found(p, p) == pytest.approx(0, abs=1e-12)
        assert found(p, np.array([0.5, 0.5, 0.0, 0.0])) == math.inf
        assert 0 < found(np.array([1.0, 0, 0, 0]), p) == pytest.approx(_geometric(0.5), abs=1e-4)


def _geometric(share):
    return -math.log(share) - (1 - share) / share * math.log(1 - share)


def test_both_lie_between_the_divergence_and_li_and_el_gamals_bound_at_a_large_vocabulary():
    chance = np.random.default_rng(7)
    for _ in range(3):
        p, q = (np.exp(chance.normal(0, 2, 2000)) for _ in range(2))
        p, q = p / p.sum(), q / q.sum()
        kl = float((p * np.log2(p / q)).sum())
        for found in ENTROPIES:
            bits = found(p, q) / math.log(2)
            assert kl <= bits
        assert bits <= kl + math.log2(kl + 1) + 4
