"""The rules beyond the table of `check`: worked examples, who accepts more, other temperatures,
biased variants."""

import numpy as np
import pytest

import specviz
from specviz.config.run_config import RunConfig, compatible
from specviz.decode import speculate
from specviz.models.table import TableModel, TablePair
from specviz.proof.enumerate import distribution_of as exact_law
from specviz.record.vectors import expected_tokens
from specviz.sampling.distributions import Distributions, Sampling, entropy
from specviz.sampling.randomness import Seeded
from specviz.tree import TokenTree
from tests.growing import BUILDERS, VERIFIERS, small
from tests.proof.proofs import error_of


def constant_pair(p, q):
    """A pair whose rows never change."""
    target, draft = (TableModel(lambda context, row=row: np.log(row)) for row in (p, q))
    return TablePair(target, draft, len(p), (), "constant rows")


def accepted_lengths(pair, builder, verifier, scheme=None, **sampling):
    """The exact distribution of the number of tokens accepted in one step, length ->
    probability."""
    config = specviz.RunConfig("ab", builder, verifier, 1.0, max_new_tokens=8, **sampling)
    return exact_law(lambda rng: len(next(speculate(pair, config, rng, scheme=scheme)).path))


def mean(lengths):
    return sum(length * weight for length, weight in lengths.items())


def dirichlet(generator, size, concentration=0.6):
    return generator.dirichlet(np.full(size, concentration))


# ---- worked examples
# ------------------------------------------------------------------------------------------------


def test_block_verification_reproduces_the_papers_example():
    """Sun et al. 2024, section 3: two drafted tokens, 10/9 accepted one by one and 11/9 as a
    block."""
    pair = constant_pair([1 / 3, 2 / 3], [2 / 3, 1 / 3])
    two = BUILDERS["chain"](depth=2)
    assert mean(accepted_lengths(pair, two, VERIFIERS["speculative-sampling"]())) == pytest.approx(
        10 / 9, abs=1e-12
    )
    assert mean(accepted_lengths(pair, two, VERIFIERS["block"]())) == pytest.approx(
        11 / 9, abs=1e-12
    )


# ---- who accepts more
# -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dyspec", "dyspec-threshold", "sequoia", "batch"])
def test_traversal_accepts_at_least_as_much_as_its_top_down_twin(name):
    gains = []
    for seed in range(6):
        pair = specviz.toy_pair(seed=seed, closeness=0.3)
        traversal = mean(accepted_lengths(pair, small(name), VERIFIERS["traversal"]()))
        gains.append(traversal - mean(accepted_lengths(pair, small(name), VERIFIERS["sequoia"]())))
    assert min(gains) > -1e-12
    assert max(gains) > (
        1e-3 if name != "batch" else -1
    )  # with a single level there is nothing to win


def test_block_accepts_at_least_as_much_as_speculative_sampling_and_traversal_is_block_on_chains():
    for seed in range(8):
        pair, three = specviz.toy_pair(seed=seed, closeness=0.3), BUILDERS["chain"](depth=3)
        block = accepted_lengths(pair, three, VERIFIERS["block"]())
        assert (
            mean(block)
            >= mean(accepted_lengths(pair, three, VERIFIERS["speculative-sampling"]())) - 1e-12
        )
        assert accepted_lengths(pair, three, VERIFIERS["traversal"]()) == pytest.approx(
            block, abs=1e-12
        )


def test_the_uniform_fallback_of_sequoia_accepts_more_than_dyspecs_stop():
    pair, three = constant_pair([0.2, 0.3, 0.5], [0.8, 0.1, 0.1]), BUILDERS["batch"](width=3)
    lengths = {
        name: mean(accepted_lengths(pair, three, VERIFIERS[name](), draft_temperature=0.0))
        for name in ("dyspec", "sequoia")
    }
    assert lengths == pytest.approx({"dyspec": 0.2, "sequoia": 1.0}, abs=1e-12)


# ---- exact beyond the table of `check`
# ------------------------------------------------------------------------------

PAIR = specviz.toy_pair(seed=1, closeness=0.2)


@pytest.mark.parametrize(
    "verifier", ["sequoia", "dyspec", "traversal", "specinfer", "spectr", "target-match"]
)
@pytest.mark.parametrize(
    "sampling", [{"top_k": 2}, {"top_p": 0.7}, {"draft_temperature": 0.4}], ids=str
)
def test_rules_stay_exact_where_supports_differ_and_the_draft_is_used_up(verifier, sampling):
    rule = VERIFIERS[verifier]()
    for builder in (BUILDERS["batch"](width=3), small("sequoia")):
        assert error_of(builder, rule, PAIR, **sampling)[0] < 1e-12


FREE = [name for name, cls in VERIFIERS.items() if not (cls().shared_noise or cls.greedy_only)]


@pytest.mark.nightly  # the quick table has one of each
@pytest.mark.parametrize("verifier", FREE)
def test_compatible_is_true_at_a_draft_temperature_of_zero(verifier):
    rule = VERIFIERS[verifier]()
    pairs = [PAIR, specviz.toy_pair(seed=0, closeness=0.2)]
    for builder in map(small, BUILDERS):
        for scheme in builder.schemes:
            match = compatible(RunConfig("ab", builder, rule, 0.7, draft_temperature=0.0), scheme)
            if scheme == "top-draw" and not (match.lossless or builder.is_chain):
                # Where the draft has one token, two children are drawn as by "distinct".
                builder = BUILDERS["batch"](width=3)
            if match.possible:
                error = max(
                    error_of(builder, rule, pair, 0.7, scheme, draft_temperature=0.0)[0]
                    for pair in pairs
                )
                assert error < 1e-12 if match.lossless else error > 1e-3, (
                    builder,
                    scheme,
                    match,
                    error,
                )


@pytest.mark.parametrize(
    ("rule", "builder"), [("traversal", small("sequoia")), ("block", small("chain"))], ids=str
)
def test_a_rule_that_keeps_its_share_after_a_rejection_is_caught(rule, builder, monkeypatch):
    module = {"traversal": "coins", "block": "block"}[rule]
    monkeypatch.setattr(f"specviz.verifiers.{module}.carry", lambda mass, weight: weight)
    assert error_of(builder, VERIFIERS[rule](), PAIR)[0] > 1e-3


# ---- typical acceptance
# ---------------------------------------------------------------------------------------------


def typical_verdict(parents, tokens, p, **parameters):
    tree = TokenTree(0, scheme="top")
    for parent, token in zip(parents, tokens, strict=True):
        tree.add(parent, token)
    rows = Distributions(np.log(np.tile(p, (len(tree), 1))), Sampling())
    return VERIFIERS["typical"](**parameters)(tree, rows, Seeded(0))


def test_typical_takes_the_longest_path_and_among_equals_the_likeliest():
    p = [0.5, 0.3, 0.15, 0.05]
    assert min(0.09, 0.3 * np.exp(-entropy(np.array(p)))) == 0.09
    # 0: root -> 1 (a), 2 (b); 1 -> 3 (d, rejected), 4 (c); 2 -> 5 (a); 3 -> 6 (never looked at)
    verdict = typical_verdict([0, 0, 1, 1, 2, 3], [0, 1, 3, 2, 0, 0], p)
    assert verdict.path == (2, 5)  # 0.3 x 0.5 beats 0.5 x 0.15
    assert verdict.outcome == (
        "root",
        "passed",
        "accepted",
        "rejected",
        "passed",
        "accepted",
        "unreached",
    )
    assert verdict.detail[0]["facts"]["threshold"] == pytest.approx(0.09)
    deeper = typical_verdict([0, 0, 2], [0, 1, 2], p)
    assert deeper.path == (2, 3)  # the longer path, though node 1 is likelier


def test_typical_with_top_k_accepts_only_the_most_probable_tokens():
    p = [[0.1, 0.3, 0.2, 0.4]]
    accepted = {
        k: [bool(typical_verdict([0], [t], p, top_k=k).path) for t in range(4)] for k in (0, 1, 2)
    }
    assert accepted == {
        0: [True] * 4,
        1: [False, False, False, True],
        2: [False, True, False, True],
    }


def test_typical_asks_less_where_the_target_is_unsure():
    p = np.full(64, 1 / 64)
    threshold = typical_verdict([0], [5], p).detail[0]["facts"]["threshold"]
    assert threshold == pytest.approx(0.3 / 64)
    assert typical_verdict([0], [5], p).path == (1,)
    assert typical_verdict([0], [5], p, epsilon=0.001).detail[0]["facts"][
        "threshold"
    ] == pytest.approx(0.001)


def test_expected_tokens_of_a_shape_match_a_run_whose_ranks_are_independent():
    """A draft of equal rows: target match accepts rank k with the same chance at every node, and
    the sum is exact."""
    p = np.array([0.5, 0.3, 0.2])
    shape = BUILDERS["sequoia"](size=6, depth=2, width=2, acceptance=(0.5, 0.3))
    lengths = accepted_lengths(
        constant_pair(p, p), shape, VERIFIERS["target-match"](), scheme="top"
    )
    assert 1 + mean(lengths) == pytest.approx(expected_tokens(shape.shape, (0.5, 0.3)), abs=1e-12)


# ---- the order of tries
# ---------------------------------------------------------------------------------------------


class CountedCoins(Seeded):
    """Seeded randomness that remembers its coins."""

    def __init__(self, seed):
        super().__init__(seed)
        self.coins = []

    def flip(self, prob):
        answer, coin = super().flip(prob)
        self.coins.append(coin)
        return answer, coin


@pytest.mark.parametrize("name", [name for name in VERIFIERS if name != "plain"])
def test_the_order_of_tries_names_every_compared_node_once_as_its_coins_fell(name):
    rule, generator = VERIFIERS[name](), np.random.default_rng(3)
    parents = (0, 1, 2) if rule.chain_only else (0, 0, 1, 1, 2, 2, 3)
    if rule.paths_only:
        parents = (0, 0, 1, 2, 3, 4)
    temperature = 0.0 if rule.greedy_only else 1.0
    for seed in range(20):
        tree = TokenTree(0, scheme=rule.schemes[0])
        for parent in parents:
            tree.add(parent, int(generator.integers(4)))
        inner = [node for node in range(len(tree)) if tree.children[node]]
        tree.draft_distributions = {node: dirichlet(generator, 4) for node in inner}
        logits = np.log(generator.dirichlet(np.full(4, 0.6), len(tree)))
        rng = CountedCoins(seed)
        verdict = rule(tree, Distributions(logits, Sampling(temperature)), rng)
        compared = {n for n, out in enumerate(verdict.outcome) if out not in ("root", "unreached")}
        below = {n for n in compared if rule.leaves_first and verdict.coin[n] is None}
        assert len(set(verdict.order)) == len(verdict.order)
        assert set(verdict.order) == compared - below and below <= set(verdict.path)
        coins = [verdict.coin[node] for node in verdict.order if verdict.coin[node] is not None]
        assert coins == rng.coins
