"""The exact output distribution with every drafter: what is declared is what is found."""

import pytest

import specviz
from specviz.proof.lossless import LENGTH, PROMPT, SEEDS, drafter_cases, error_in
from tests.proof.proofs import rows_of

OTHERS = [name for name in drafter_cases() if name != "model"]
RULES = [name for name, rule in specviz.VERIFIERS.items() if not rule.autoregressive]
BUILDERS = [
    "chain",
    "svip",
    "batch",
    "sequoia",
    "dyspec",
    "dyspec-threshold",
    "svip-tree",
    "eagle2",
]


def assert_declared_is_found(rows):
    for (
        row
    ) in rows:  # that what is lossy shows it takes more than one toy pair: `check` looks at two
        assert row.holds or not row.lossless, row


@pytest.mark.nightly
@pytest.mark.parametrize("drafter", OTHERS)
def test_every_drafter_with_every_rule_and_every_builder(drafter):
    """Over one step, with each rule that builder which was met least so far; `check` takes all of
    them over two."""
    start = OTHERS.index(drafter) % len(BUILDERS)
    met = dict.fromkeys(BUILDERS[start:] + BUILDERS[:start], 0)
    for rule in RULES:
        proofs = (rows_of(builder, rule, drafter, steps=1) for builder in sorted(met, key=met.get))
        rows = next(filter(None, proofs))
        assert_declared_is_found(rows)
        met[rows[0].builder] += 1
    assert all(met.values()), met


def test_merging_equal_guesses_is_lossy_with_ratios_and_lossless_where_the_target_draws_first():
    rules = ("specinfer", "target-match")
    rows = {
        rule: row
        for rule in rules
        for row in rows_of("batch", rule, "several-merged")
        if row.scheme == "iid"
    }
    assert not rows["specinfer"].lossless and rows["specinfer"].error > 1e-3
    assert rows["target-match"].lossless and rows["target-match"].error < 1e-12


@pytest.mark.parametrize("verifier", ["specinfer", "spectr"])
def test_merging_what_one_drafter_drew_twice_is_lossy_as_well(verifier):
    config = specviz.RunConfig(
        PROMPT,
        specviz.BUILDERS["batch"](width=2),
        specviz.VERIFIERS[verifier](),
        1.0,
        max_new_tokens=LENGTH,
        drafter=specviz.DRAFTERS["several"](drafters=("model",), merge=True),
    )
    error, _ = error_in(config, specviz.toy_pair(seed=1, closeness=0.2))
    assert not specviz.compatible(config).lossless and error > 1e-3


COINS = [  # those that run with any scheme, if only as lossy
    name
    for name, rule in specviz.VERIFIERS.items()
    if rule.reads_draft and rule.lossless and not rule.own_scheme_only
]


@pytest.mark.parametrize("verifier", COINS)
@pytest.mark.parametrize("narrow", [{"width": 1, "depth": 2, "size": 3}, {"size": 2}], ids=str)
def test_the_most_probable_token_of_several_one_token_rows_is_not_declared_a_draw(narrow, verifier):
    config = specviz.RunConfig(
        PROMPT,
        specviz.BUILDERS["eagle2"](**narrow),
        specviz.VERIFIERS[verifier](),
        1.0,
        draft_temperature=0.0,
        drafter=specviz.DRAFTERS["several"](drafters=("model", "early-exit")),
        max_new_tokens=LENGTH,
    )
    error = max(error_in(config, specviz.toy_pair(seed=seed, closeness=0.2))[0] for seed in SEEDS)
    match = specviz.compatible(config)
    assert match.possible and not match.lossless and error > 1e-3


def test_fly_that_forgives_nothing_is_lossless_with_several_drafters():
    """What is left of it is speculative sampling, so it must compare with the drafter that drew."""
    config = specviz.RunConfig(
        PROMPT,
        specviz.BUILDERS["chain"](depth=2),
        specviz.VERIFIERS["fly"](theta=100.0),
        1.0,
        max_new_tokens=LENGTH,
        drafter=specviz.DRAFTERS["several"](drafters=("model", "early-exit")),
    )
    assert max(error_in(config, specviz.toy_pair(seed=seed))[0] for seed in SEEDS) < 1e-12
