"""The exact distribution of every builder with every rule, and biased rules that must be caught."""

from typing import ClassVar

import numpy as np
import pytest

import specviz
from specviz.proof.lossless import STEPS, cases
from specviz.sampling.distributions import residual
from specviz.verifiers.base import Verifier
from specviz.verifiers.decisions import Decisions, ratio
from tests.growing import BUILDERS, VERIFIERS
from tests.matrix import rest_of
from tests.proof.proofs import error_of, rows_of

# Six nodes drawn independently take seconds to enumerate, two such trees in a row minutes: these
# are seen over one step. What steps may share is a matter of the rule, and each is seen over two
# steps elsewhere.
HEAVY = ("k-ary", "branching", "k-sequences")
MUTANTS = ("batch-specinfer", "chain-sequoia", "chain-block", "sequoia-traversal", "sequoia-race")


def assert_declared_is_found(builder, verifier, steps=STEPS, seed=1):
    for row in rows_of(builder, verifier, seeds=(seed,), steps=steps):
        assert row.holds, row


def fits(builder, verifier):
    return any(cases(builders=[builder], verifiers=[verifier]))


@pytest.mark.parametrize(
    ("builder", "verifier"),
    rest_of([b for b in BUILDERS if b not in HEAVY], VERIFIERS, fits=fits, few=MUTANTS),
)
def test_every_pair_is_what_it_is_declared_to_be(builder, verifier):
    assert_declared_is_found(builder, verifier)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("builder", "verifier", "options"),
    [
        *((*cell.values, {"steps": 1}) for cell in rest_of(HEAVY, VERIFIERS, fits=fits)),
        *(
            (*cell.values, {"seed": 5})
            for cell in rest_of(["chain", "sequoia"], VERIFIERS, fits=fits)
        ),
    ],
)
def test_heavy_pairs_and_another_random_pair(builder, verifier, options):
    assert_declared_is_found(builder, verifier, **options)


def test_every_strategy_says_how_small_it_is_proven():
    builders = [cls for cls in specviz.BUILDERS.values() if not cls.autoregressive]
    drafters = [cls for cls in specviz.DRAFTERS.values() if cls.model_fields]
    lacking = [cls.name for cls in (*builders, *drafters) if not cls.small]
    assert not lacking, (
        f"{', '.join(lacking)}: declare `small`, parameters that proofs can enumerate"
    )


PAIR = specviz.toy_pair(seed=1, closeness=0.2)


def small(name):
    return specviz.BUILDERS[name].proof_instance()


class Biased(Verifier):
    """SpecInfer's rule with one mistake of the literature at a time."""

    name: ClassVar[str] = "biased"
    title: ClassVar[str] = "Biased"
    schemes: ClassVar[tuple[str, ...]] = ("iid",)
    mistake: str = ""

    def __call__(self, tree, p, rng):
        decisions, node = Decisions(tree), 0
        while children := tree.children[node]:
            r, q = p[node], tree.draft_distributions[node]
            for child in children:
                token = tree.tokens[child]
                if self.mistake == "equal tokens first" and rng.draw(p[node]) == token:
                    decisions.decide(child, True)
                    break
                if decisions.accept(child, ratio(r[token], q[token]), rng):
                    break
                r = residual(q, r) if self.mistake == "residual reversed" else residual(r, q)
            else:
                return decisions.verdict(rng.draw(p[node] if self.mistake == "no residual" else r))
            node = child
        return decisions.verdict(
            int(np.argmax(p[node])) if self.mistake == "greedy bonus" else rng.draw(p[node])
        )


@pytest.mark.parametrize(
    "mistake", ["residual reversed", "no residual", "greedy bonus", "equal tokens first"]
)
def test_a_biased_rule_is_caught(mistake):
    assert error_of(small("sequoia"), Biased(mistake), PAIR, scheme="iid")[0] > 1e-3
    assert error_of(small("sequoia"), Biased(), PAIR, scheme="iid")[0] < 1e-12


class Sharing(specviz.VERIFIERS["target-match"]):
    """Target match that keeps the first number it drew in the run and starts every later step with
    it."""

    def __call__(self, tree, p, rng):
        class Kept:
            @staticmethod
            def draw(probs):
                if not hasattr(rng, "kept"):
                    rng.kept = rng.draw(probs)
                    return rng.kept
                return rng.draw(probs) if p[0] is not probs else rng.kept

        return super().__call__(tree, p, Kept)


def test_noise_shared_between_steps_is_caught():
    assert error_of(small("chain"), Sharing(), PAIR, scheme="iid")[0] > 1e-3
    assert (
        error_of(small("chain"), Sharing(), PAIR, scheme="iid", steps=1)[0] < 1e-12
    )  # one step alone cannot see it


class Dropping(type(small("chain"))):
    """A chain that drops its last token where the draft found it unlikely: it looks at the token it
    then removes."""

    def __call__(self, draft, rng, tokens_left, state):
        tree = super().__call__(draft, rng, tokens_left, state)
        last = len(tree) - 1
        if last and tree.draft_distributions[tree.parents[last]][tree.tokens[last]] < 0.3:
            for column in (tree.parents, tree.tokens, tree.depths, tree.keys):
                column.pop()
        return tree


def test_a_builder_that_drops_what_it_has_seen_is_caught():
    rule = specviz.VERIFIERS["speculative-sampling"]()
    assert error_of(Dropping(depth=2), rule, PAIR, scheme="iid")[0] > 1e-3


# The second step's tree is the builder's matter and what it means to share chance the rule's: every
# rule with one of them, the other builders with a rule of each kind.
@pytest.mark.parametrize(
    ("builder", "verifier"),
    [
        *rest_of(["svip"], VERIFIERS, fits=fits, few=["svip-block"]),
        *rest_of(
            ["chain", "heuristic", "prompt-lookup", "dyspec", "eagle2"],
            ["specinfer", "sequoia", "traversal", "target-match"],
            few=["chain-specinfer", "dyspec-traversal", "eagle2-target-match"],
        ),
    ],
)
def test_two_steps_with_trees_of_two_levels_each(builder, verifier):
    for row in rows_of(
        builder, verifier, tokens=4
    ):  # four, so that the second step may have two levels too
        assert row.holds, row


@pytest.mark.parametrize("name", [name for name in BUILDERS if name != "batch"])
def test_the_trees_that_are_enumerated_have_two_levels(name):
    rule = specviz.VERIFIERS["target-match"]()
    config = specviz.RunConfig("abab", small(name), rule, 1.0, max_new_tokens=12)
    first = [
        next(specviz.speculate(PAIR, specviz.RunConfig(**vars(config) | {"seed": seed})))
        for seed in range(8)
    ]
    assert max(max(specviz.tree.Topology(step.parents).depth) for step in first) == 2


def test_a_coin_of_no_probability_is_caught(monkeypatch):
    rule = specviz.VERIFIERS["target-match"]
    monkeypatch.setattr(rule, "__call__", lambda self, tree, p, rng: rng.flip(float("nan")))
    with pytest.raises(ValueError, match="nan"):
        error_of(small("chain"), rule(), PAIR, scheme="iid")


def test_a_keyed_rule_that_writes_another_text_is_declared_wrongly(monkeypatch):
    race = specviz.VERIFIERS["race"]
    honest = race.__call__

    def other(self, tree, p, rng):
        verdict = honest(self, tree, p, rng)
        return type(verdict)(**vars(verdict) | {"bonus": (verdict.bonus + 1) % len(p[0])})

    monkeypatch.setattr(race, "__call__", other)
    (row,) = [row for row in rows_of("chain", "race") if row.scheme == "race"]
    assert not row.holds and row.difference.startswith(
        "seed 0: Equal to plain decoding up to token"
    )
