"""The best that any lossless rule can do: closed forms against linear programmes, and the frame
that makes every admissible plan lossless."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

import specviz
from specviz.proof import best_possible
from specviz.proof.best_possible import gaps
from specviz.proof.bounds import path_ceiling
from specviz.proof.enumerate import GivenRows, distribution_of, enumerate_tree
from specviz.sampling.ceiling import ceiling
from specviz.sampling.children import draw_children
from specviz.tree import TokenTree, Topology
from specviz.verifiers.base import Verifier
from specviz.verifiers.decisions import Decisions, carry, ratio

GENERATOR = np.random.default_rng(5)
KINDS = ("dense", "ties", "zeros")


def random_row(kind, size):
    if kind == "dense":
        return GENERATOR.dirichlet(np.full(size, 0.7))
    weights = GENERATOR.integers(1, 4, size).astype(float)
    if kind == "zeros":
        weights[GENERATOR.integers(size)] = 0.0
    return weights / weights.sum()


def drafted_sets(q, k, scheme):
    return distribution_of(lambda rng: frozenset(draw_children(q, k, scheme, rng, 1)))


def best_by_programme(p, law_of_sets):
    """The largest chance that a token with law p is among the children."""
    sets, size = list(law_of_sets), len(p)
    gain = [-float(x in s) for s in sets for x in range(size)]
    rows = [np.repeat(np.arange(len(sets)) == s, size) for s in range(len(sets))]
    rows += [np.tile(np.arange(size) == x, len(sets)) for x in range(size)]
    return -linprog(gain, A_eq=np.array(rows, float), b_eq=[*law_of_sets.values(), *p]).fun


@pytest.mark.parametrize("scheme", ["iid", "distinct", "top-draw", "top"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_ceiling_of_a_node_is_the_linear_programme(scheme, kind):
    for k in (1, 2, 2, 3):
        p, q = random_row(kind, 4), random_row(kind, 4)
        found = ceiling(p, q, k, scheme)
        assert found == pytest.approx(best_by_programme(p, drafted_sets(q, k, scheme)), abs=1e-9)


def test_rules_of_a_scheme_reach_its_ceiling_or_stay_below(monkeypatch):
    monkeypatch.setattr(best_possible, "PAIRS", 6)
    for gap in gaps():
        assert gap.acceptance <= gap.best + 1e-9
        if gap.scheme in ("top", "top-draw"):
            assert gap.acceptance == pytest.approx(gap.best, abs=1e-9), gap.rule


def best_of_tree(shape, p, q, scheme):
    """The largest mean number of accepted tokens of any rule that accepts a prefix, adds a token
    and leaves later targets alone.

    z(T, v) is the chance that T is drafted and acceptance ends at the text v of one of its nodes.
    """

    def draft(rng):
        texts = {0: ()}
        for node, below in enumerate(shape.children):
            if below:
                depth = len(texts[node])
                tokens = draw_children(q[depth], len(below), scheme, rng, depth)
                texts.update({c: (*texts[node], x) for c, x in zip(below, tokens, strict=True)})
        return frozenset(texts.values())

    law = distribution_of(draft)
    cells = [(drafted, text) for drafted in law for text in sorted(drafted)]
    gain = [-len(text) for _, text in cells]
    equal = [[float(drafted == other) for drafted, _ in cells] for other in law]
    levels = int(shape.depth.max())
    below = []
    for length in range(levels):
        for text in product(range(p.shape[1]), repeat=length):
            above = [float(end[:length] == text) for _, end in cells]
            for y in range(p.shape[1]):
                longer = [float(end[: length + 1] == (*text, y)) for _, end in cells]
                below.append(np.array(longer) - p[length][y] * np.array(above))
    return -linprog(
        gain, A_ub=below, b_ub=np.zeros(len(below)), A_eq=equal, b_eq=[*law.values()]
    ).fun


SHAPES = {
    "one path": ((-1, 0, 1), ("block", "speculative-sampling", "transport", "gbv"), "block"),
    "two paths": ((-1, 0, 0, 1, 2), ("specinfer", "spectr", "gbv"), None),
    "without replacement": ((-1, 0, 0, 1, 2), ("sequoia", "traversal"), None),
    "top-draw": ((-1, 0, 0, 1, 2), ("greedy-draft", "transport"), None),
}


@pytest.mark.parametrize("name", SHAPES)
def test_no_rule_passes_the_programme_of_a_tree_and_block_is_optimal_on_one_path(name):
    parents, rules, optimal = SHAPES[name]
    shape = Topology(parents)
    for _ in range(4):
        p = np.array([random_row("dense", 3) for _ in range(3)])
        q = np.array([random_row("dense", 3) for _ in range(2)])
        for rule in map(specviz.VERIFIERS.get, rules):
            scheme = rule.schemes[0]
            accepted = enumerate_tree(rule(), shape, p, q, scheme).accepted
            best = best_of_tree(shape, p, q, scheme)
            assert accepted <= best + 1e-9
            if rule.name == optimal:
                assert accepted == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_ceiling_of_one_path_is_the_linear_programme(kind):
    shape = Topology((-1, 0, 1))
    for _ in range(4):
        p = np.array([random_row(kind, 3) for _ in range(2)])
        q = np.array([random_row(kind, 3) for _ in range(2)])
        best = best_of_tree(shape, np.array([*p, p[0]]), q, "iid")
        assert path_ceiling(p, q) == pytest.approx(best, abs=1e-9)


def test_transport_accepts_at_least_as_much_as_its_top_down_twin_on_average():
    shape, gains = Topology((-1, 0, 0, 1, 1, 2, 2)), []
    for _ in range(8):
        p = np.array([random_row("dense", 3) for _ in range(3)])
        q = np.array([random_row("dense", 3) for _ in range(2)])
        transport, greedy = (
            enumerate_tree(specviz.VERIFIERS[name](), shape, p, q, "top-draw").accepted
            for name in ("transport", "greedy-draft")
        )
        gains.append(transport - greedy)
    assert np.mean(gains) > 0 and min(gains) > -1e-9


def test_gbv_is_worse_than_one_path_where_draft_and_target_are_equal():
    rows = np.full((4, 2), 0.5)
    two = enumerate_tree(
        specviz.VERIFIERS["gbv"](), Topology((-1, 0, 0, 1, 2, 3, 4)), rows, rows[:3], "iid"
    )
    one = enumerate_tree(
        specviz.VERIFIERS["block"](), Topology((-1, 0, 1, 2)), rows, rows[:3], "iid"
    )
    assert two.deviation < 1e-12 and two.accepted == pytest.approx(2.11, abs=0.005)
    assert one.accepted == pytest.approx(3)


# ---- block verification, written with joint probabilities
# --------------------------------------------------------------------------------------------


def hierarchical(p, q):
    """Hierarchical speculative decoding (Zhou et al. 2026, algorithm 2): accepted prefix ->
    chance."""
    levels, found = len(q), {}
    for text in product(range(p.shape[1]), repeat=levels):
        chance, joint, cap = math.prod(q[t][x] for t, x in enumerate(text)), 1.0, 1.0
        tests = []
        for t, x in enumerate(text):
            joint *= p[t][x] / q[t][x]
            if t + 1 == levels:
                tests.append(min(1.0, joint / cap))
                break
            cap = max(cap, joint)
            weight = joint / cap
            up = np.maximum(weight * p[t + 1] - q[t + 1], 0).sum()
            down = np.maximum(q[t + 1] - weight * p[t + 1], 0).sum()
            tests.append(up / down if down > 0 else 1.0)
        for length in range(levels, -1, -1):
            test = tests[length - 1] if length else 1.0
            found[text[:length]] = found.get(text[:length], 0.0) + chance * test
            chance *= 1 - test
    return found


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_block_is_hierarchical_speculative_decoding(levels):
    for _ in range(5):
        p = np.array([random_row("dense", 3) for _ in range(levels + 1)])
        q = np.array([random_row("dense", 3) for _ in range(levels)])

        def accept(rng, p=p, q=q):
            tree = TokenTree(0)
            for node, row in enumerate(q):
                tree.draft_distributions[node] = row
                tree.add(node, rng.draw(row))
            path = specviz.VERIFIERS["block"]()(tree, GivenRows([*p]), rng).path
            return tuple(tree.tokens[node] for node in path)

        block, other = distribution_of(accept), hierarchical(p, q)
        for text in other.keys() | block.keys():
            assert block.get(text, 0.0) == pytest.approx(other.get(text, 0.0), abs=1e-12)


# ---- the frame: every admissible plan is lossless
# --------------------------------------------------------------------------------------------


class Framed(Verifier):
    """Random shares for independent children, scaled so that no token gets more than weight p;
    times `excess` for one token."""

    name = "framed"
    title = "Framed"
    schemes = ("iid",)
    seed: int = 0
    excess: float = 1.0

    def shares(self, weight, p, q, k):
        """For every tuple of children their shares, and what each token gets on average."""
        size = len(q)
        raw = {}
        for tokens in product(range(size), repeat=k):
            generator = np.random.default_rng([self.seed, *tokens])
            raw[tokens] = generator.dirichlet(np.ones(k))  # nothing left, so some token is full
        expected = np.zeros(size)
        for tokens, shares in raw.items():
            np.add.at(expected, list(tokens), math.prod(q[x] for x in tokens) * shares)
        scale = np.minimum(
            1, np.divide(weight * p, expected, out=np.ones(size), where=expected > 0)
        )
        bound = int(np.argmax(expected - weight * p))
        scale[bound] *= self.excess
        scaled = {tokens: shares * scale[list(tokens)] for tokens, shares in raw.items()}
        return scaled, expected * scale

    def __call__(self, tree, p, rng):
        decisions = Decisions(tree)

        def visit(node, weight):
            children = tree.children[node]
            residual, test = p[node], weight
            if children:
                tokens = tuple(tree.tokens[child] for child in children)
                q = tree.draft_distributions[node]
                scaled, expected = self.shares(weight, p[node], q, len(children))
                left = 1.0
                for child, share in zip(children, scaled[tokens], strict=True):
                    token = visit(child, ratio(share, left))
                    if token is not None:
                        return token
                    left -= share
                residual = np.maximum(weight * p[node] - expected, 0)
                test = carry(residual.sum(), weight)
                residual = residual if residual.sum() > 1e-15 else p[node]
            if node > 0 and not decisions.compare(node, test, rng):
                decisions.decide(node, False)
                return None
            decisions.accept_path(node)
            return rng.draw(residual)

        return decisions.verdict(visit(0, 1.0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parents", [(-1, 0, 0), (-1, 0, 0, 1), (-1, 0, 1, 1)], ids=str)
def test_random_admissible_plans_are_lossless_and_one_share_too_large_is_not(kind, parents):
    shape = Topology(parents)
    levels = int(shape.depth.max())
    errors = []
    for seed in range(4):
        p = np.array([random_row(kind, 2) for _ in range(levels + 1)])
        q = np.array([random_row("dense", 2) for _ in range(levels)])
        assert enumerate_tree(Framed(seed), shape, p, q, "iid").deviation < 1e-12
        errors.append(enumerate_tree(Framed(seed, 1.05), shape, p, q, "iid").deviation)
    # On two tokens a row with a zero is certain, and 5 % more of nothing is nothing.
    assert kind == "zeros" or max(errors) > 1e-4
