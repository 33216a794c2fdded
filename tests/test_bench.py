"""Benchmarks print figures; here only what they are made of is checked, never a time."""

import pytest

import specviz
from specviz import bench_rules


def test_tokens_per_pass_of_named_pairs(monkeypatch):
    monkeypatch.setattr(bench_rules, "SIZES", (8,))
    prompts = ["abc", "bca", "cab"]
    cells = bench_rules.rules_table(specviz.toy_pair(vocab=6), prompts, max_new_tokens=12)
    assert len(cells) == len(bench_rules.PAIRS) * len(bench_rules.TEMPERATURES)
    for cell in cells:
        assert cell.lossless and 1 <= cell.tokens_per_pass <= 12 and 2 <= cell.nodes <= 8
        assert 0 <= cell.standard_error < cell.tokens_per_pass
    first = specviz.RunConfig(
        "abc", bench_rules.sized("sequoia", 8), specviz.VERIFIERS["race"](), 0.6, max_new_tokens=12
    )
    again = specviz.run(specviz.toy_pair(vocab=6), first)
    rates = [again.tokens_per_pass]
    for seed, prompt in enumerate(prompts[1:], 1):
        config = specviz.RunConfig(prompt, first.builder, first.verifier, 0.6, max_new_tokens=12, seed=seed)
        rates.append(specviz.run(specviz.toy_pair(vocab=6), config).tokens_per_pass)
    cell = next(c for c in cells if (c.builder, c.verifier, c.temperature) == ("sequoia", "race", 0.6))
    assert cell.tokens_per_pass == pytest.approx(sum(rates) / 3)


@pytest.mark.parametrize("size", [16, 64])
def test_sized_builders_have_about_that_many_nodes(size):
    for name in ("chain", "k-sequences", "sequoia", "optimal"):
        assert 0.8 * size <= len(bench_rules.sized(name, size).shape) <= size


@pytest.fixture(scope="module")
def pair():
    return specviz.load_pair(dtype="float32")


@pytest.mark.adapter
def test_bench_has_a_row_for_every_method(pair):
    from specviz.bench import bench

    config = specviz.RunConfig(temperature=0.0, max_new_tokens=12)
    builders = [specviz.BUILDERS["chain"](), specviz.BUILDERS["prompt-lookup"]()]
    rows = bench(pair, builders, prompts=["Once upon a time"], config=config, rounds=2)
    assert [row.method.split(" (")[0] for row in rows] == [
        "transformers greedy", "transformers assisted", "plain", "chain", "prompt-lookup",
    ]  # fmt: skip
    assert rows[0].ratio == 1 and rows[0].tokens_per_pass == rows[2].tokens_per_pass == 1
    assert rows[3].tokens_per_pass > 1 and set(rows[3].seconds) == {"draft", "target", "verify", "other"}


@pytest.mark.adapter
def test_greedy_texts_are_those_of_transformers(pair):
    from specviz.bench import PROMPTS, greedy_differences

    assert greedy_differences(pair, [PROMPTS[0], PROMPTS[4]], max_new_tokens=40) == []


@pytest.mark.adapter
def test_a_difference_is_found_and_its_margin_told(pair, monkeypatch):
    import specviz.bench as module

    monkeypatch.setattr(module, "_greedy_tokens", lambda pair, config: [7, 7, 7])
    found = module.greedy_differences(pair, ["Once upon"], 3, [specviz.BUILDERS["chain"]()])
    assert [row.position for row in found] == [0, 0] and all(row.margin >= 0 for row in found)
