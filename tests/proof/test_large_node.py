"""The exact distribution of one large node under every rule, and mistakes that show there."""

import numpy as np
import pytest
from scipy import stats

import specviz
from specviz import sampling as schemes
from specviz.distributions import normalise
from specviz.proof import large_node
from specviz.proof.large_node import cases, far_off, one_large_node
from specviz.sampling import draw_children
from specviz.verifiers import spectr, walk

RULES = {name: rule() for name, rule in specviz.VERIFIERS.items()}


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_what_it_is_declared_to_be_on_a_large_node(name):
    for row in (case.prove() for case in cases([name], sizes=[(64, 40)], drawings=40)):
        assert row.holds and row.proof == "one large node", row


@pytest.mark.exhaustive  # some ten seconds; smaller ones are in test_spectr.py
def test_spectr_at_full_size():
    for row in (case.prove() for case in cases(["spectr"], sizes=[(1000, 128)], drawings=0)):
        assert row.holds, row


def test_a_division_factor_that_ends_too_low_is_caught(monkeypatch):
    """What rounding once did to a search by brackets, on nodes of many children only."""
    exact = spectr.division_factor
    monkeypatch.setattr(
        spectr, "division_factor", lambda p, q, k: 1 + (exact(p, q, k) - 1) * (0.02 if k >= 34 else 1.0)
    )
    assert one_large_node(RULES["spectr"], "iid", 90, 60, 0).error > 1e-2
    assert one_large_node(RULES["spectr"], "iid", 90, 8, 0).error < 1e-12


def test_a_residual_that_is_not_the_rules_is_caught(monkeypatch):
    monkeypatch.setattr(walk, "residual", lambda r, q: r)
    assert one_large_node(RULES["specinfer"], "iid", 60, 8, 0).error > 1e-3


def test_a_draft_that_keeps_a_rejected_token_is_caught(monkeypatch):
    monkeypatch.setattr(schemes, "without", lambda d, drawn: d)
    assert one_large_node(RULES["sequoia"], "distinct", 60, 8, 0).error > 1e-3


def test_half_precision_in_a_rule_is_caught(monkeypatch):
    exact = walk.residual
    monkeypatch.setattr(walk, "residual", lambda r, d: exact(r.astype(np.float32), d.astype(np.float32)))
    assert 1e-10 < one_large_node(RULES["sequoia"], "distinct", 100, 8, 0).error < 1e-4


@pytest.mark.parametrize("rule, scheme", [("sequoia", "distinct"), ("specinfer", "iid")])
def test_children_that_are_not_drawn_from_the_draft_are_caught(rule, scheme, monkeypatch):
    """As where the draft draws at another temperature than the one its row was made at."""
    monkeypatch.setattr(
        large_node, "draw_children", lambda q, *rest: draw_children(normalise(q**1.5) if q.all() else q, *rest)
    )
    found = one_large_node(RULES[rule], scheme, 60, 8, 0 if scheme == "distinct" else 400)
    assert found.error > 1e-3 if scheme == "distinct" else "standard deviations off" in found.difference


def test_a_race_that_another_token_wins_is_caught(monkeypatch):
    race = specviz.VERIFIERS["race"]
    honest = race.__call__

    def second(self, tree, p, rng):
        verdict = honest(self, tree, p, rng)
        return type(verdict)(**vars(verdict) | {"path": (), "bonus": (verdict.bonus + 1) % len(p[0])})

    monkeypatch.setattr(race, "__call__", second)
    (row,) = [case.prove() for case in cases(["race"], [(60, 8)], 5) if case.scheme == "top"]
    assert not row.holds and "arrives first" in row.difference


def test_the_chi_square_is_that_of_the_textbook():
    p = np.full(40, 1 / 40)
    counts = np.random.default_rng(3).multinomial(4000, p)
    chance = stats.chi2.sf(((counts - 100) ** 2 / 100).sum(), 39)
    assert stats.norm.sf(far_off(counts, p)) == pytest.approx(chance, abs=0.01)
    assert far_off(counts + np.eye(40)[3] * 150, p) > 5
    assert far_off(np.array([5.0, 0.0, 1.0]), np.array([0.5, 0.5, 0.0])) == np.inf
