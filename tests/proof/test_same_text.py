"""Same seed, same text, on exact toy models and with a run that was tampered with."""

import pytest

import specviz
from specviz.proof.same_text import Comparison, comparing, promised
from tests.growing import VERIFIERS

PAIR = specviz.toy_pair(vocab=7, seed=2)
RULES = {name: rule() for name, rule in VERIFIERS.items()}


def compare_with_plain(pair, config, tokens):
    *_, found = comparing(pair, config, tokens)
    return found


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("builder", ["chain", "sequoia", "dyspec", "eagle2", "prompt-lookup"])
def test_a_race_writes_the_text_of_plain_decoding(builder, temperature):
    config = specviz.RunConfig(
        "abc", specviz.BUILDERS[builder](), RULES["race"], temperature, max_new_tokens=40, seed=5
    )
    found = compare_with_plain(PAIR, config, specviz.run(PAIR, config).tokens)
    assert found.equal and found.compared == 40 and found.margin is None


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_difference_is_found_with_the_margin_of_the_two_best(temperature):
    config = specviz.RunConfig("abc", specviz.BUILDERS["chain"](), RULES["race"], temperature, max_new_tokens=20)
    tokens = list(specviz.run(PAIR, config).tokens)
    tokens[8] = (tokens[8] + 1) % 7
    found = compare_with_plain(PAIR, config, tokens)
    assert (found.equal, found.position, found.compared) == (False, 8, 9) and found.margin > 0


def test_only_keyed_rules_and_temperature_zero_promise_the_text():
    assert promised(RULES["race"], 1.0) and promised(RULES["sequoia"], 0.0)
    assert promised(specviz.VERIFIERS["target-match"](keyed=True), 1.0)
    assert not promised(RULES["sequoia"], 1.0) and not promised(RULES["target-match"], 0.5)


def test_the_comparison_goes_token_by_token_and_can_be_left():
    config = specviz.RunConfig("abc", specviz.BUILDERS["chain"](), RULES["race"], 1.0, max_new_tokens=20)
    tokens = specviz.run(PAIR, config).tokens
    assert [found.compared for found in comparing(PAIR, config, tokens)] == list(range(1, 21))
    assert compare_with_plain(PAIR, config, []) == Comparison(1, 0, early="run")


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_text_that_ends_before_plain_decoding_or_after_it_is_not_equal(temperature):
    config = specviz.RunConfig("abc", specviz.BUILDERS["chain"](), RULES["race"], temperature, max_new_tokens=20)
    tokens = list(specviz.run(PAIR, config).tokens)
    short, long = (compare_with_plain(PAIR, config, text) for text in (tokens[:13], [*tokens, 3]))
    assert (short.equal, short.position, short.early) == (False, 13, "run")
    assert (long.equal, long.position, long.early) == (False, 20, "plain")
    assert short.sentence() == "Equal to plain decoding up to token 13; there the run ends and plain decoding goes on."


def test_the_sentence_says_how_far_and_why():
    assert Comparison(96).sentence("float32") == "Same seed, same text: all 96 tokens equal plain decoding."
    near = Comparison(13, 12, 0.0031).sentence("bfloat16")
    assert near.startswith("Equal to plain decoding up to token 12;")
    assert "were 0.0031 apart (bfloat16 rounding). The rule is exact;" in near
    assert "rounding" not in Comparison(13, 12, 0.0031).sentence("float32")
    assert "(float32 rounding). The rule is exact;" in Comparison(13, 12, 2e-6).sentence("float32")
    assert (
        "rounding" not in Comparison(13, 12, 2.0).sentence("bfloat16") and "2 apart" in Comparison(3, 2, 2.0).sentence()
    )
