"""The exact output distribution of one node at full size, and mistakes that show only there.

Enumeration over small trees proves the mathematics of a rule; this proves its arithmetic with
hundreds of tokens and up to 128 children. The rule's own code is run while every coin rejects, so
nothing is left to sampling:

- Given the children, the first token written is a sum over the coins and what the rule draws after
    the last one.
- Independent children: every token is put in every place, and the distribution is summed over all
    of them.
- Children without replacement: one more child must not change the distribution.
"""

from itertools import product

import numpy as np
import pytest

from specviz.proof.node import spectr_acceptance
from specviz.proof.rates import AlwaysReject, try_children
from specviz.sampling.children import draw_children, without
from specviz.sampling.distributions import softmax, total_variation
from specviz.sampling.randomness import Seeded
from specviz.verifiers import coins, spectr
from specviz.verifiers.spectr import division_factor, leftover
from tests.growing import VERIFIERS

KINDS = {
    "random": "two models that mostly agree",
    "peaked": "nearly all mass on a few tokens, others far below rounding",
    "flat": "p falls slowly, q is uniform",
    "sparse": "each has a few tokens, not the same ones",
    "tied": "every token has one of three probabilities",
}


def distributions_of_kind(kind: str, vocab: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Distributions of target and draft, p and q, float64 [vocab] each.

    Args:
        kind: one of `KINDS`.
        vocab: V, at least 2.
        seed: the same seed gives the same ones.
    """
    rng = np.random.default_rng([seed, vocab, list(KINDS).index(kind)])
    if kind == "random":
        logits = 2 * rng.normal(size=vocab)
        return softmax(logits), softmax(logits + rng.normal(size=vocab))
    if kind == "peaked":
        logits = 12 * rng.normal(size=vocab)
        return softmax(logits), softmax(0.9 * logits + 2 * rng.normal(size=vocab))
    if kind == "flat":
        p, q = 0.95 ** (30 / vocab * np.arange(vocab)), np.ones(vocab)
    elif kind == "sparse":
        p, q = (rng.random(vocab) * (rng.permutation(vocab) < max(2, vocab // 8)) for _ in range(2))
        q[int(p.argmax())] = 0.1 * q.sum()
    else:
        p, q = (rng.choice([1.0, 2.0, 4.0], vocab) for _ in range(2))
    return p / p.sum(), q / q.sum()


RULES = {name: rule() for name, rule in VERIFIERS.items()}
LOSSLESS = [name for name, rule in RULES.items() if rule.lossless and not rule.shared_noise]


def first_token(verdict, children):
    return children[verdict.path[0] - 1] if verdict.path else verdict.bonus


def written(rule, p, q, children, scheme):
    """The exact distribution of the first token, given the children, [V]."""
    found = try_children(rule, p, q, children, scheme, Seeded(3))
    law = np.zeros(len(p))
    if found.flips:
        np.add.at(law, list(children), found.acceptance)
        return law + np.prod(1 - found.accept_prob) * found.residual
    if found.residual is None:
        law[first_token(found.verdict, children)] = 1.0
        return law
    for token in np.flatnonzero(found.residual):  # every answer to the first draw
        verdict = try_children(rule, p, q, children, scheme, Seeded(3), answer=int(token)).verdict
        law[first_token(verdict, children)] += found.residual[token]
    return law


def independent(rule, p, q, k):
    """The error of the distribution summed over all k independent children and all coins."""
    tokens = np.flatnonzero(q)
    coins, residuals = np.zeros((k, len(q))), []
    for shift in range(len(tokens)):
        children = np.roll(tokens, -shift)[np.arange(k) % len(tokens)]
        found = try_children(rule, p, q, children.tolist(), "iid", Seeded(3))
        coins[np.arange(k), children] = found.accept_prob
        residuals.append(found.residual)
    law, reached = np.zeros(len(q)), 1.0
    for row in coins:
        law += reached * q * row
        reached *= 1 - float(q @ row)
    return total_variation(law + reached * np.mean(residuals, axis=0), p)


def every_pair(rule, p, q):
    """The error summed over every two independent children, for a rule that chooses among them."""
    law = np.zeros(len(p))
    for first, second in product(np.flatnonzero(q).tolist(), repeat=2):
        law += q[first] * q[second] * written(rule, p, q, [first, second], "iid")
    return total_variation(law, p)


def last_draw(rule, p, q, children):
    """The error summed over the last child, the only one of the scheme top-draw that is drawn."""
    top = children[:-1]
    rest = without(q, top)
    law = sum(
        rest[token] * written(rule, p, q, [*top, token], "top-draw")
        for token in np.flatnonzero(rest).tolist()
    )
    return total_variation(law, p)


def one_more(rule, p, q, children, scheme):
    """How far the first, the middle and the last child each move the distribution."""
    errors = []
    for place in sorted({0, len(children) // 2, len(children) - 1}):
        before = list(children[:place])
        answers = Answers(before)
        draw_children(q, place + 1, scheme, answers, 1)
        following = answers.weights / answers.weights.sum()
        after = sum(
            following[token] * written(rule, p, q, [*before, int(token)], scheme)
            for token in np.flatnonzero(following)
        )
        errors.append(total_variation(after, written(rule, p, q, before, scheme) if place else p))
    return max(errors)


class Answers(AlwaysReject):
    """Draws are answered in turn; the weights of the first that is not are kept."""

    def __init__(self, answers):
        super().__init__(Seeded(0))
        self.answers = list(answers)

    def draw(self, probs):
        if self.answers:
            return self.answers.pop(0)
        self.weights = probs.copy()
        return int(probs.argmax())


def node_error(rule, kind, scheme, vocab, k):
    p, q = distributions_of_kind(kind, vocab, seed=0)
    p = np.eye(vocab)[p.argmax()] if rule.greedy_only else p
    children = draw_children(q, k, scheme, Seeded(1), 1)
    if scheme in ("top", "race") or not try_children(rule, p, q, children, scheme, Seeded(3)).flips:
        return total_variation(written(rule, p, q, children, scheme), p)
    if scheme == "top-draw":
        return last_draw(rule, p, q, children)
    if rule.paths_only:
        likely = np.argsort(-(p + q), kind="stable")[:48]  # every two of them are tried
        return every_pair(rule, p[likely] / p[likely].sum(), q[likely] / q[likely].sum())
    return independent(rule, p, q, k) if scheme == "iid" else one_more(rule, p, q, children, scheme)


def schemes_of(rule):
    return rule.schemes[:1] if rule.chain_only else rule.schemes


def largest_error(name, scheme, vocab, k):
    rule = RULES[name]
    return max(node_error(rule, kind, scheme, vocab, 1 if rule.chain_only else k) for kind in KINDS)


@pytest.mark.parametrize("name", LOSSLESS)
def test_every_lossless_rule_is_exact_on_a_large_node(name):
    for scheme in schemes_of(RULES[name]):
        assert largest_error(name, scheme, 64, 40) < 1e-12, scheme


@pytest.mark.nightly
@pytest.mark.parametrize("name", LOSSLESS)
@pytest.mark.parametrize(("vocab", "k"), [(200, 128), (1000, 16)])
def test_every_lossless_rule_is_exact_at_full_size(name, vocab, k):
    for scheme in schemes_of(RULES[name]):
        assert largest_error(name, scheme, vocab, k) < 1e-12, scheme


def test_a_race_writes_the_targets_winner():
    rule, (p, q) = RULES["race"], distributions_of_kind("random", 200, 0)
    for position in range(40):
        children = draw_children(q, 16, "race", Seeded(7), position + 1)
        verdict = try_children(rule, p, q, children, "race", Seeded(7), start=position).verdict
        assert first_token(verdict, children) == (Seeded(7).noise(position + 1, 200) / p).argmin()


def low_for_many(exact):
    """What rounding once did to a search by brackets, on nodes of many children only."""
    return lambda p, q, k: 1 + (exact(p, q, k) - 1) * (0.02 if k >= 34 else 1.0)


@pytest.mark.parametrize(
    ("name", "scheme", "children", "module", "function", "mistake", "least", "most"),
    [
        ("specinfer", "iid", 8, coins, "excess", lambda exact: lambda r, q: (r, 1.0), 1e-3, 1),
        (
            "sequoia",
            "distinct",
            8,
            coins,
            "SequentialProposal",
            lambda exact: lambda q, scheme: exact(q, "iid"),
            1e-3,
            1,
        ),
        (
            "sequoia",
            "distinct",
            8,
            coins,
            "excess",
            lambda exact: lambda r, d: exact(r.astype(np.float32), d.astype(np.float32)),
            1e-10,
            1e-4,
        ),
        ("spectr", "iid", 60, spectr, "division_factor", low_for_many, 1e-2, 1),
        ("spectr", "iid", 8, spectr, "division_factor", low_for_many, 0, 1e-12),
    ],
)
def test_a_mistake_in_the_arithmetic_is_caught(
    name, scheme, children, module, function, mistake, least, most, monkeypatch
):
    monkeypatch.setattr(module, function, mistake(getattr(module, function)))
    assert least <= largest_error(name, scheme, 60, children) < most


# ---- SpecTr's division factor against a plain bisection of its definition ----

SIZES = [(2, 2), (3, 256), (30, 60), (100, 48), (1000, 128)]
LARGE = [pytest.param(32_000, k, marks=pytest.mark.nightly) for k in (4, 256)]


def accepted(p, q, k, rho):
    return 1 - (1 - min(1.0, np.minimum(q, p / rho).sum())) ** k


def plain_bisection(p, q, k):
    """The smallest rho in [1, k] with 1 - (1 - beta)^k <= rho beta, up to the rounding of these
    sums."""
    low, high = 1.0, float(k)
    for _ in range(60):
        rho = (low + high) / 2
        beta = np.minimum(q, p / rho).sum()
        low, high = (low, rho) if 1 - (1 - beta) ** k <= rho * beta + 1e-13 else (rho, high)
    return high


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("V", "k"), SIZES + LARGE)
def test_rho_is_that_of_a_plain_bisection_and_what_is_written_is_the_target(kind, V, k):
    """With 60 children and flat p of 30 tokens both sides of the equation round to 1 near its
    solution."""
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
