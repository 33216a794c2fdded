"""Closed forms and bounds against each other, against enumeration of the rules, and against a
linear programme."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from specviz.builders.plans import best_tree
from specviz.proof import bounds
from specviz.proof import node as node_theory
from specviz.proof.enumerate import distribution_of
from specviz.proof.node import ACCEPTANCE
from specviz.proof.rates import SameRow, accepted_within, try_children
from specviz.sampling.children import draw_children
from specviz.sampling.distributions import entropy, total_variation
from specviz.sampling.randomness import Seeded
from specviz.tree import TokenTree
from tests.growing import VERIFIERS


@st.composite
def rows(draw, low=2, high=6, count=2):
    """Rows over one vocabulary, some with zeros."""
    size = draw(st.integers(low, high))
    weights = st.lists(
        st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 3.7, 9.0]), min_size=size, max_size=size
    )
    drawn = [np.array(draw(weights.filter(any))) for _ in range(count)]
    return [row / row.sum() for row in drawn]


P, Q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])


# One draft.


@given(rows())
def test_race_acceptance_is_the_double_sum_and_lies_between_its_bounds(pair):
    p, q = pair
    direct = sum(
        1 / sum(max(p[y] / p[x], q[y] / q[x]) for y in range(len(p)))
        for x in range(len(p))
        if p[x] > 0 and q[x] > 0
    )
    found = bounds.race_acceptance(p, q)
    assert found == pytest.approx(direct)
    assert bounds.harmonic_bound(p, q) <= found + 1e-12
    assert found <= 1 - total_variation(p, q) + 1e-12


def test_race_acceptance_is_what_races_do():
    noise = np.random.default_rng(0).exponential(size=(200_000, 3))
    same = ((noise / P).argmin(axis=1) == (noise / Q).argmin(axis=1)).mean()
    assert bounds.race_acceptance(P, Q) == pytest.approx(same, abs=0.005)
    assert bounds.race_acceptance(P, P) == pytest.approx(1)
    assert bounds.harmonic_bound(P, P) == pytest.approx(
        0.5
    )  # lemma 3.1 says one half even of equal models


@given(rows())
def test_svip_bounds_are_below_the_acceptance(pair):
    p, q = pair
    acceptance, kl = 1 - total_variation(p, q), max(0.0, bounds.cross_entropy(q, p) - entropy(q))
    if math.isfinite(kl):
        assert bounds.pinsker_bound(kl) <= acceptance + 1e-9
        assert 0 <= bounds.bretagnolle_huber_bound(kl) <= acceptance + 1e-9
        ratio = bounds.cross_entropy(q, p) / entropy(q) if entropy(q) > 0 else 1.0
        # With this very pair's c = (H(q, p) / H(q) - 1) / 2 the estimate is Pinsker's bound.
        assert bounds.entropy_estimate(entropy(q), max(0.0, (ratio - 1) / 2)) == pytest.approx(
            bounds.pinsker_bound(kl) if entropy(q) > 0 else 1.0, abs=1e-6
        )
    else:
        assert bounds.bretagnolle_huber_bound(kl) == 0


# Chains.


def test_chain_tokens_is_the_best_tree_of_one_child():
    for length in (1, 3, 9):
        assert bounds.chain_tokens(0.6, length) == pytest.approx(
            best_tree((0.6,), length + 1, length, 1)[1]
        )


# Trees.


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=8), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_no_tree_passes_the_bounds(weights, drafted):
    vector = tuple(sorted((np.array(weights) / sum(weights)).tolist(), reverse=True))
    shape, tokens = best_tree(vector, drafted + 1, drafted, len(vector))
    used = int(shape.rank.max()) + 1
    for bound in (bounds.tunstall_bound(vector, drafted), bounds.tail_bound(vector, drafted, used)):
        assert tokens <= bound * (1 + 1e-9)


def test_tail_bound_is_the_minimum_over_m_and_helps_small_trees():
    vector, drafted, used = (0.7, 0.1, *[0.2 / 4000] * 4000), 3, 2
    rest = 1 - sum(vector[:used])
    head = -sum(x * math.log(x) for x in vector[:used])
    every = [
        (math.log(used + m) + math.log(drafted + 1)) / (head - rest * math.log(rest / m))
        for m in range(1, 20_000)
    ]
    assert bounds.tail_bound(vector, drafted, used) == pytest.approx(min(every))
    assert bounds.tail_bound(vector, drafted, used) < bounds.tunstall_bound(vector, drafted)
    # a vector that is all used leaves no tail to spread
    assert bounds.tail_bound((0.6, 0.4), 5, 2) == pytest.approx(
        bounds.tunstall_bound((0.6, 0.4), 5)
    )
    assert bounds.tail_bound((1.0,), 5, 1) == math.inf


# One node.


PAIRS = [
    (P, Q),
    (np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.4, 0.3, 0.2, 0.1])),
    (np.array([0.0, 0.5, 0.5, 0.0]), np.array([0.9, 0.1, 0.0, 0.0])),
    (np.array([0.6, 0.4, 0.0]), np.array([0.6, 0.4, 0.0])),
]


def enumerated(rule, p, q, k):
    """The exact chance of each child under the rule itself, every draw and every coin tried."""
    scheme = rule.schemes[0]

    def program(rng):
        children = draw_children(q, k, scheme, rng, 1)
        path = rule(star(q, children, scheme), SameRow(p), rng).path
        return path[0] if path else 0

    found = distribution_of(program)
    return [found.get(child, 0.0) for child in range(1, k + 1)]


def star(q, children, scheme):
    tree = TokenTree(0, scheme=scheme)
    tree.draft_distributions[0] = q
    for token in children:
        tree.add(0, token)
    return tree


FREE = [
    name for name, rule in VERIFIERS.items() if not rule().shared_noise
]  # noise cannot be enumerated


@pytest.mark.parametrize("name", ACCEPTANCE)
@pytest.mark.parametrize("pair", range(len(PAIRS)))
def test_closed_forms_are_what_the_rules_do(name, pair):
    rule, (p, q) = VERIFIERS[name](), PAIRS[pair]
    p = np.eye(len(p))[p.argmax()] if rule.greedy_only else p
    for k in (1, 2, 3):
        assert ACCEPTANCE[name](p, q, k) == pytest.approx(enumerated(rule, p, q, k), abs=1e-12)


@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("pair", range(len(PAIRS)))
def test_rates_with_rejecting_coins_have_the_exact_mean(name, pair):
    """The mean over every draw of the children; and that later children change nothing for the
    first ones."""
    rule, (p, q) = VERIFIERS[name](), PAIRS[pair]
    p = np.eye(len(p))[p.argmax()] if rule.greedy_only else p
    widths = (1, 2) if pair else (1, 2, 3)  # three of four tokens have many outcomes
    mean = np.zeros(len(widths))
    for rates, chance in distribution_of(
        lambda rng: tuple(accepted_within(rule, p, q, widths, rng, 1))
    ).items():
        mean += chance * np.array(rates)
    wanted = [sum(enumerated(rule, p, q, k)) for k in ((1,) if rule.chain_only else widths)]
    assert (
        mean[: len(wanted)] == pytest.approx(wanted, abs=1e-9)
        and np.isnan(mean[len(wanted) :]).all()
    )


def test_rejecting_coins_show_every_chance_and_the_residual():
    found = try_children(VERIFIERS["specinfer"](), P, Q, [2, 2, 0], "iid", Seeded(0))
    residual = np.array([0.3, 0.1, 0.0]) / 0.4
    assert found.flips == 3 and found.accept_prob == pytest.approx([1 / 3, 0, 1])
    assert found.acceptance == pytest.approx([1 / 3, 0, 2 / 3])
    assert try_children(
        VERIFIERS["specinfer"](), P, Q, [2], "iid", Seeded(0)
    ).residual == pytest.approx(residual)


@given(rows(high=4))
@settings(deadline=None)
def test_one_child_is_accepted_as_often_as_rows_overlap_and_as_many_as_tokens_cover_everything(
    pair,
):
    p, q = pair
    for form in (
        node_theory.specinfer_acceptance,
        node_theory.spectr_acceptance,
        node_theory.sequoia_acceptance,
    ):
        assert form(p, q, 1)[0] == pytest.approx(1 - total_variation(p, q))
    assert node_theory.sequoia_acceptance(p, q, len(p)).sum() == pytest.approx(
        1
    )  # Sequoia, theorem 3.7


def best_by_programme(p, law_of_sets):
    """The largest chance that the output, with law p, is among the children, as a linear
    programme."""
    sets = list(law_of_sets)
    cells = [(s, x) for s in range(len(sets)) for x in range(len(p))]
    gain = [-float(x in sets[s]) for s, x in cells]
    equal = [[float(cell[0] == s) for cell in cells] for s in range(len(sets))]
    equal += [[float(cell[1] == x) for cell in cells] for x in range(len(p))]
    return -linprog(gain, A_eq=equal, b_eq=[*law_of_sets.values(), *p], bounds=(0, None)).fun


def iid_sets(q, k):
    sets = {}
    for tokens in product(range(len(q)), repeat=k):
        share = math.prod(q[token] for token in tokens)
        if share > 0:
            sets[frozenset(tokens)] = sets.get(frozenset(tokens), 0.0) + share
    return sets


@given(rows(high=4), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_no_rule_of_independent_children_passes_the_linear_programme(pair, k):
    p, q = pair
    ceiling = best_by_programme(p, iid_sets(q, k))
    for form in (node_theory.specinfer_acceptance, node_theory.spectr_acceptance):
        assert form(p, q, k).sum() <= ceiling + 1e-9
    assert node_theory.spectr_acceptance(p, q, k).sum() >= (1 - 1 / math.e) * ceiling - 1e-9
