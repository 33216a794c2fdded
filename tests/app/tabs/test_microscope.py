"""One node under the microscope: the papers' own numbers, closed forms, and runs that tell what the rule did."""

import json
import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.tabs.labs.microscope import Node, explain_node, normalised
from app.tabs.labs.microscope_rules import MOST_RUNS, compare, examine, expected_runs
from specviz.distributions import residual, total_variation
from specviz.proof.enumerate import distribution_of as exact_law
from specviz.randomness import first_arrivals
from specviz.sampling import draw_children, without
from specviz.theory import bounds
from specviz.theory import node as node_theory
from specviz.theory.forms import FORMS
from specviz.tree import TokenTree
from tests.growing import VERIFIERS

RULES = VERIFIERS
P, Q = (0.5, 0.2, 0.2, 0.1), (0.1, 0.3, 0.4, 0.2)
BIASED = (0.5, 0.3, 0.2), (0.2, 0.2, 0.6)  # every lossy choice shows here; on other rows some happen to be right
THIRDS = (1 / 3, 2 / 3), (2 / 3, 1 / 3)


def by_rule(node, scheme=None):
    return {row.rule: row for row in compare(node, scheme)}


def accepted(rule, p, q, children=1, levels=1, scheme=None):
    return examine(Node(p, q, children, levels), RULES[rule](), scheme).accepted


def row(size):
    return st.lists(st.floats(0.01, 1), min_size=size, max_size=size).map(lambda w: tuple(np.array(w) / sum(w)))


pairs = st.integers(2, 4).flatmap(lambda size: st.tuples(row(size), row(size)))

# ---- the papers' own examples ----


@given(pairs)
@settings(max_examples=30, deadline=None)
def test_one_child_is_accepted_with_one_minus_total_variation_by_every_rule_that_couples(pair):
    p, q = pair
    rows = by_rule(Node(p, q, 1))
    for name in ("sequoia", "dyspec", "traversal", "specinfer", "spectr", "speculative-sampling", "block"):
        assert rows[name].accepted == pytest.approx(1 - total_variation(np.array(p), np.array(q)), abs=1e-12), name
        assert rows[name].ceiling == pytest.approx(rows[name].accepted, abs=1e-12)
    assert rows["target-match"].accepted == pytest.approx(p[int(np.argmax(q))], abs=1e-12)
    assert rows["race"].accepted == pytest.approx(bounds.race_acceptance(np.array(p), np.array(q)), abs=1e-12)


@given(pairs)
@settings(max_examples=10, deadline=None)
def test_as_many_children_as_tokens_cover_everything(pair):
    p, q = pair
    rows = by_rule(Node(p, q, len(p)))
    for name in ("sequoia", "dyspec", "traversal", "target-match", "race"):
        assert rows[name].accepted == pytest.approx(1, abs=1e-12), name
    assert rows["specinfer"].accepted <= rows["specinfer"].ceiling + 1e-12


def test_specinfer_and_spectr_do_not_cover_a_support_that_sequoia_covers():
    """Sequoia, appendix F.3: P = [1, 0] against Q = [1/2, 1/2] with two children."""
    rows = by_rule(Node((1.0, 0.0), (0.5, 0.5), 2))
    values = {
        "specinfer": 0.75,
        "spectr": 0.75,
        "sequoia": 1,
        "dyspec": 1,
        "traversal": 1,
        "target-match": 1,
        "race": 1,
    }
    for name, value in values.items():
        assert rows[name].accepted == pytest.approx(value, abs=1e-12), name
    assert rows["specinfer"].ceiling == pytest.approx(0.75, abs=1e-12)
    assert rows["sequoia"].ceiling == pytest.approx(1, abs=1e-12)


def test_the_top_k_rule_is_no_optimal_transport():
    """Sequoia, appendix F.3: [0.6, 0.4] against itself with one child."""
    rows = by_rule(Node((0.6, 0.4), (0.6, 0.4), 1))
    assert rows["target-match"].accepted == pytest.approx(0.6, abs=1e-12)
    for name in ("sequoia", "specinfer", "spectr", "speculative-sampling", "race"):
        assert rows[name].accepted == pytest.approx(1, abs=1e-12), name


def test_a_block_of_two_accepts_eleven_ninths_and_one_by_one_ten_ninths():
    """Sun et al. 2024, section 3; traversal is block verification on a chain."""
    rows = by_rule(Node(*THIRDS, 1, 2))
    for name in ("block", "traversal"):
        assert rows[name].accepted == pytest.approx(11 / 9, abs=1e-12)
    for name in ("speculative-sampling", "sequoia", "specinfer", "spectr"):
        assert rows[name].accepted == pytest.approx(10 / 9, abs=1e-12)
    assert rows["block"].ceiling == pytest.approx(4 / 3, abs=1e-12)  # 2/3 for one token and 2/3 for both
    assert rows["race"].accepted == pytest.approx(2 / 3 + 4 / 9, abs=1e-12)  # 1/3 for either token


def test_a_draft_of_one_token_is_used_up():
    p, q = (0.2, 0.3, 0.5), (1.0, 0.0, 0.0)
    assert accepted("dyspec", p, q, 3) == pytest.approx(0.2, abs=1e-12)
    assert accepted("sequoia", p, q, 3) == pytest.approx(1, abs=1e-12)


# ---- the law of what is written ----

SHAPES = [(2, 1), (3, 1), (1, 2), (1, 3)]


@pytest.mark.parametrize(("children", "levels"), SHAPES)
@pytest.mark.parametrize("scheme", [None, "iid", "distinct", "top", "race"])
def test_the_law_is_p_exactly_where_the_rule_says_so_and_misses_where_not(children, levels, scheme):
    rows = [row for row in compare(Node(*BIASED, children, levels), scheme) if row.match.possible]
    assert rows
    for row in rows:
        assert row.proof == ("closed form" if RULES[row.rule]().shared_noise else "enumeration")
        assert math.fsum(row.texts.values()) == pytest.approx(1, abs=1e-12)
        if row.match.lossless:
            assert row.deviation <= 1e-12, row.rule
            assert row.accepted <= row.ceiling + 1e-12, row.rule
        else:
            assert row.deviation >= 1e-3, (row.rule, row.match.scheme)


def test_typical_acceptance_misses_by_what_can_be_worked_out_by_hand():
    """One fixed child, likely enough, is always taken: the law puts everything on it."""
    row = examine(Node((0.5, 0.3, 0.2), (0.1, 0.8, 0.1), 1), RULES["typical"]())
    assert row.texts == pytest.approx({(0,): 0.0, (1,): 1.0, (2,): 0.0}, abs=1e-12)
    assert (row.accepted, row.deviation) == pytest.approx((1, 0.7), abs=1e-12)
    assert not row.match.lossless and "moves toward the draft's" in row.match.reason


def test_a_wrong_law_shows_its_bias_where_the_rows_let_it():
    """SpecInfer with children drawn without replacement."""
    biased = examine(Node(*BIASED, 2), RULES["specinfer"](), "distinct")
    assert not biased.match.lossless and biased.deviation == pytest.approx(0.1, abs=1e-12)
    lucky = examine(Node((1.0, 0.0), (0.5, 0.5), 2), RULES["specinfer"](), "distinct")
    assert not lucky.match.lossless and lucky.deviation == pytest.approx(0, abs=1e-12)


def test_a_bias_worked_out_by_hand():
    """Sequoia with the draft's most probable token in place of a draw, p = [0.4, 0.6], q = [0.8, 0.2], one child.

    Token 1 is always tried and taken with 0.4 / 0.8; rejected, it leaves the residual [0, 1].
    """
    row = examine(Node((0.4, 0.6), (0.8, 0.2), 1), RULES["sequoia"](), "top")
    assert row.texts == pytest.approx({(0,): 0.5, (1,): 0.5}, abs=1e-12)
    assert row.accepted == pytest.approx(0.5, abs=1e-12)


def test_a_one_sided_coin_in_a_rule_is_seen(monkeypatch):
    monkeypatch.setattr("specviz.verifiers.walk.residual", lambda p, q: p)
    assert examine(Node(P, Q, 2), RULES["sequoia"]()).deviation > 1e-3


# ---- closed forms ----


FREE = [name for name in FORMS if not (RULES[name]().shared_noise or RULES[name].greedy_only)]


@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("pair", [(P, Q), ((0.0, 0.5, 0.5), (0.9, 0.1, 0.0)), ((0.6, 0.4), (0.6, 0.4))])
def test_closed_forms_are_what_enumeration_finds(name, pair):
    rule = RULES[name]()
    for k in (1,) if rule.chain_only else (1, 2, 3):
        node = Node(*pair, k)
        row = examine(node, rule, rule.schemes[0])
        assert row.proof == "enumeration"
        if k <= len(pair[0]) or rule.schemes[0] == "iid":
            assert FORMS[name].acceptance(*node.rows, k).sum() == pytest.approx(row.accepted, abs=1e-12)


@given(pairs, st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_the_enumeration_that_skips_what_follows_a_leaf_is_the_whole_one(pair, k):
    """The same with p after every node, so that every draw is really made."""
    p, q = map(np.array, pair)

    class Everywhere:
        def __getitem__(self, node):
            return p

    def program(rng):
        tree = TokenTree(0, scheme="distinct")
        tree.draft_distributions[0] = q
        for token in draw_children(q, k, "distinct", rng, 1):
            tree.add(0, token)
        verdict = RULES["sequoia"]()(tree, Everywhere(), rng)
        return len(verdict.path), [*(tree.tokens[i] for i in verdict.path), verdict.bonus][0]

    whole = exact_law(program)
    row = examine(Node(*pair, k), RULES["sequoia"]())
    assert row.accepted == pytest.approx(sum(length * share for (length, _), share in whole.items()), abs=1e-12)
    for token in range(len(p)):
        share = sum(share for (_, first), share in whole.items() if first == token)
        assert row.texts[(token,)] == pytest.approx(share, abs=1e-12)


@given(pairs)
@settings(max_examples=30, deadline=None)
def test_race_acceptance_of_one_child_is_the_gumbel_coupling_and_rises_to_the_support(pair):
    p, q = map(np.array, pair)
    values = [node_theory.race_acceptance(p, q, k) for k in range(1, len(p) + 1)]
    assert values[0] == pytest.approx(bounds.race_acceptance(p, q), abs=1e-12)
    assert min(np.diff(values)) > -1e-12 and values[-1] == pytest.approx(1, abs=1e-12)
    half = np.where(np.arange(len(q)) == 0, 0.0, q)
    covered = node_theory.race_acceptance(p, half / half.sum(), len(p) - 1)
    assert covered == pytest.approx(1 - p[0], abs=1e-12)  # a token that the draft lacks is never a child


def test_race_acceptance_is_what_races_do():
    p, q, runs = np.array(P), np.array(Q), 20_000
    for k in (1, 2, 3):
        hits = 0
        for seed in range(runs):
            noise = np.random.default_rng(seed).exponential(size=len(p))
            hits += first_arrivals(p, noise)[0] in first_arrivals(q, noise, k)
        assert hits / runs == pytest.approx(node_theory.race_acceptance(p, q, k), abs=0.012)


@pytest.mark.parametrize("scheme", ["iid", "distinct", "top"])
def test_a_race_that_was_not_shared_accepts_what_a_draw_of_its_own_does(scheme):
    for k in (1, 2, 3):
        race, match = (accepted(rule, P, Q, k, scheme=scheme) for rule in ("race", "target-match"))
        assert race == pytest.approx(match, abs=1e-12)


def test_the_number_of_runs_is_bounded_and_what_is_too_much_is_said():
    p, q = normalised("p", list(range(1, 13)))[0], normalised("q", list(range(12, 0, -1)))[0]
    rows = by_rule(Node(p, q, 6))
    assert rows["specinfer"].proof == rows["spectr"].proof == "closed form"
    assert rows["sequoia"].accepted is None and rows["sequoia"].proof == "" and rows["sequoia"].ceiling <= 1
    for node in (Node(p, q, 2), Node(P, Q, 4), Node(P, Q, 1, 3), Node(P, Q, 6)):
        for row in compare(node):
            if row.proof == "enumeration":
                assert row.runs <= expected_runs(node, row.match.scheme) <= MOST_RUNS


# ---- a run, explained ----


@pytest.mark.parametrize("rule", ["sequoia", "dyspec", "specinfer", "traversal"])
@pytest.mark.parametrize("seed", range(12))
def test_the_tries_are_what_the_rule_did(rule, seed):
    node = Node(P, Q, 4)
    explanation = explain_node(node, RULES[rule](), seed=seed)
    replace = rule == "specinfer"
    r, d, gone = np.array(P), np.array(Q), []
    for one, token in zip(explanation.tries, explanation.drafted, strict=False):
        assert one.token == token
        assert one.before["residual"] == pytest.approx(r, abs=1e-12)
        assert one.before["draft"] == pytest.approx(d, abs=1e-12)
        assert one.outcome == ("accepted" if one.coin < one.accept_prob else "rejected")
        if rule != "traversal":
            assert one.accept_prob == pytest.approx(min(1, r[token] / d[token]), abs=1e-12)
        if one.outcome == "accepted":
            assert one.after == {} and explanation.emitted[0] == token
            break
        gone.append(token)
        if rule == "traversal":
            r = np.array(one.after["residual"])  # its residual depends on the share; exactness is tested elsewhere
        r, d = (r if rule == "traversal" else residual(r, d)), (d if replace else without(d, gone))
        assert one.after["residual"] == pytest.approx(r, abs=1e-12)
        if "draft" in one.after:
            assert one.after["draft"] == pytest.approx(d, abs=1e-12)
    else:
        assert explanation.last == pytest.approx(r, abs=1e-12) and explanation.corrected
        assert r[explanation.emitted[0]] > 0
    assert len(explanation.tries) == sum(outcome in ("accepted", "rejected") for outcome in explanation.step.outcome)


def test_runs_with_many_seeds_follow_the_exact_law():
    """Not a proof, which is enumeration: it ties what is shown to what is counted."""
    node, rule, runs = Node(P, Q, 2), RULES["specinfer"](), 3000
    hits = np.zeros(4)
    lucky = 0
    for seed in range(runs):
        explanation = explain_node(node, rule, seed=seed)
        hits[explanation.emitted[0]] += 1
        lucky += bool(explanation.step.path)
    assert hits / runs == pytest.approx(P, abs=0.04)
    assert lucky / runs == pytest.approx(examine(node, rule).accepted, abs=0.04)


def test_traversal_asks_the_leaf_first_and_block_the_first_token_first():
    orders = {rule: set() for rule in ("traversal", "block")}
    for rule, seen in orders.items():
        for seed in range(30):
            tries = explain_node(Node(*THIRDS, 1, 3), RULES[rule](), seed=seed).tries
            seen.add(tuple(one.node for one in tries if one.coin is not None))
    assert orders == {"traversal": {(3,), (3, 2), (3, 2, 1)}, "block": {(1, 2, 3)}}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("children", "levels"), [(1, 1), (3, 1), (1, 2)])
def test_every_rule_tells_its_run_as_plain_data(rule, children, levels):
    node = Node(P, Q, children, levels)
    if not node.compatible(RULES[rule]()).possible:
        with pytest.raises(ValueError):
            explain_node(node, RULES[rule]())
        return
    for seed in range(6):
        explanation = explain_node(node, RULES[rule](), seed=seed, names=["<b>", "${1}", "\n", "é"])
        assert explanation.step.texts[1] in ["<b>", "${1}", "\n", "é"]
        for one in explanation.tries:
            rows = [*one.before.values(), *one.after.values()]
            json.dumps(rows, allow_nan=False)
            assert all(len(values) == 4 for values in rows) and one.why.endswith(".")
    assert (rule == "race") == bool(explanation.races)


def test_the_rows_of_the_largest_node_are_told_whole():
    p, q = ([1 + i % 5 for i in range(12)], [1 + i % 7 for i in range(12)])
    for rule in ("sequoia", "traversal", "specinfer", "spectr"):
        for one in explain_node(Node(normalised("p", p)[0], normalised("q", q)[0], 6), RULES[rule](), seed=4).tries:
            rows = [*one.before.values(), *one.after.values()]
            assert rows and all(share is not None for row in rows for share in row)


def test_the_same_seed_tells_the_same_run_and_seeds_differ():
    node = Node(P, Q, 3)
    runs = [explain_node(node, RULES["sequoia"](), seed=seed) for seed in range(8)]
    assert runs[3].emitted == explain_node(node, RULES["sequoia"](), seed=3).emitted
    assert len({(tuple(run.drafted), tuple(run.emitted)) for run in runs}) > 1


# ---- what is typed ----


def test_weights_are_normalised_and_it_is_said():
    assert normalised("p", [0.5, 0.5]) == ((0.5, 0.5), "")
    row, said = normalised("q", [3, 1])
    assert row == (0.75, 0.25) and said == "q summed to 4, so it was normalised."
    row, said = normalised("p", [1.0, 1e-12, 0.0])
    assert row == (1.0, 0.0, 0.0) and "treated as 0" in said
    assert math.fsum(normalised("p", [0.1] * 10)[0]) == pytest.approx(1, abs=1e-15)


BAD = [
    [], [1.0], [1.0] * 13, "0.5", None, [0, 0], [-0.1, 1], [math.nan, 1], [math.inf, 1], [True, 1], ["1", 1], [None, 1],
    [1e7, 1], {"0": 1},
]  # fmt: skip


@pytest.mark.parametrize("weights", BAD, ids=repr)
def test_what_is_no_row_gets_a_sentence(weights):
    with pytest.raises(ValueError, match=r"^p "):
        normalised("p", weights)


@pytest.mark.parametrize(
    "fields",
    [
        {"children": 0},
        {"children": 7},
        {"children": 2.5},
        {"children": True},
        {"levels": 0},
        {"levels": 4},
        {"levels": 2},
    ],
    ids=str,
)
def test_a_node_rejects_what_it_cannot_hold(fields):
    with pytest.raises(ValueError, match=f"^({'|'.join([*fields, 'children'])}) must be"):
        Node(P, Q, **fields)
    with pytest.raises(ValueError, match="same number"):
        Node(P, Q[:3])


def test_every_small_node_can_be_examined():
    """Zeros anywhere, as many children as the lab has: no rule breaks, no number is missing without a reason."""
    shares = [(1.0, 0.0, 0.0), (0.0, 0.5, 0.5), (0.2, 0.3, 0.5)]
    for p, q in product(shares, shares):
        for children, levels in [(1, 1), (2, 1), (6, 1), (1, 3)]:
            for row in compare(Node(p, q, children, levels)):
                if row.match.possible and row.accepted is not None:
                    assert -1e-12 <= row.accepted <= levels + 1e-12
                    assert not row.match.lossless or row.deviation is None or row.deviation <= 1e-12, (row, p, q)
