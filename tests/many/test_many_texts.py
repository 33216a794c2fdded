"""Several texts in one loop: each is what it is alone, with one pass of the target for all."""

from dataclasses import replace

import pytest

import specviz
from specviz.many import many_texts
from specviz.many.load_curve import burst, load_curve
from specviz.many.many_texts import speculate_together
from specviz.planning.cost_table import flat_up_to
from specviz.planning.shared_passes import SharedBudget, SharedTree, best_trees
from specviz.proof.lossless import error_of

CONFIG = specviz.RunConfig(temperature=1.0, max_new_tokens=24)
PROMPTS = ("ab", "bacab", "c", "aabbcc")
VARIETY = (
    ("sequoia:size=8", "sequoia", "model"), ("chain:depth=3", "block", "model"), ("dyspec:size=6", "dyspec", "ngram"),
    ("k-ary:width=2,depth=2", "race", "early-exit:layers=1"),
    ("dyspec-threshold:size=8", "traversal", "medusa:heads=2"), ("chain:depth=2", "block", "layer-skip:skip=2"),
    ("plain", "plain", "model"), ("lookahead", "target-match", "model"),
)  # fmt: skip


def written(pair, configs):
    """What each text wrote, and the passes that it took."""
    texts, passes = [[] for _ in configs], 0
    for steps in speculate_together(pair, configs):
        passes += 1
        for text, step in steps:
            texts[text] += step.emitted
    return texts, passes


@pytest.mark.parametrize(("builder", "verifier", "drafter"), VARIETY, ids=[name for name, *_ in VARIETY])
def test_every_text_is_what_it_is_alone_with_the_same_seed(builder, verifier, drafter):
    """Exactly: a text's tokens, coins and noise are its own."""
    pair = specviz.toy_pair(vocab=6, seed=4)
    base = replace(CONFIG, builder=builder, verifier=verifier, drafter=drafter)
    configs = [replace(base, prompt=prompt, seed=seed) for seed, prompt in enumerate(PROMPTS)]
    alone = [specviz.run(pair, config) for config in configs]
    texts, passes = written(pair, configs)
    assert [tuple(text) for text in texts] == [trace.tokens for trace in alone]
    assert passes == max(len(trace.steps) for trace in alone), "one pass of the target for all in every step"


def test_texts_of_different_settings_can_be_decoded_together():
    pair = specviz.toy_pair(vocab=6, seed=4, eos=[2])
    configs = [
        replace(CONFIG, prompt="ab", builder=builder, verifier=verifier, drafter=drafter, seed=seed)
        for seed, (builder, verifier, drafter) in enumerate(VARIETY)
    ]
    texts, _ = written(pair, configs)
    assert [tuple(text) for text in texts] == [specviz.run(pair, config).tokens for config in configs]


def test_the_draft_reads_for_all_texts_before_the_target_does(monkeypatch):
    rounds, answers = [], many_texts.answers
    monkeypatch.setattr(
        many_texts, "answers", lambda asked: rounds.append((asked[0].target, len(asked))) or answers(asked)
    )
    configs = [replace(CONFIG, prompt=prompt, builder="chain:depth=2", max_new_tokens=99) for prompt in PROMPTS]
    steps = speculate_together(specviz.toy_pair(), configs)
    next(steps), next(steps)
    steps.close()
    assert rounds == 2 * [(False, 4), (False, 4), (True, 4)]


def test_an_error_of_one_text_reaches_the_caller_and_stopping_ends_all(monkeypatch):
    pair = specviz.toy_pair()
    with pytest.raises(ValueError, match="prompt must be shorter"):
        next(speculate_together(pair, [CONFIG, replace(CONFIG, prompt="a" * 5000)]))
    ended = []

    def spied(pair, config):
        try:
            yield from speculate(pair, config)
        finally:
            ended.append(config.seed)

    speculate = many_texts.speculate
    monkeypatch.setattr(many_texts, "speculate", spied)
    steps = speculate_together(pair, [replace(CONFIG, seed=seed) for seed in (1, 2)])
    next(steps)
    assert not ended
    steps.close()
    assert ended == [1, 2]


# ---- budgets, and what is measured ----


def test_a_tree_of_a_shared_budget_is_lossless_by_enumeration():
    budget = SharedBudget(nodes=8, texts=2)
    builder = SharedTree(size=4, depth=2, budget=budget)
    budget.threshold = 0.2
    for name in ("sequoia", "traversal"):
        rule, pair = specviz.VERIFIERS[name](), specviz.toy_pair(seed=1, closeness=0.2)
        error, runs = error_of(builder, rule, pair, scheme="distinct")
        assert error <= 1e-12 and runs > 20


def test_texts_share_a_budget_by_one_threshold():
    """On average it is met, and in one step some texts get more of it than others."""
    pair = specviz.toy_pair(vocab=12, seed=1, closeness=0.9)
    budget = SharedBudget(nodes=4 * 6, texts=4)
    tree = SharedTree(size=24, depth=6, budget=budget)
    configs = [replace(CONFIG, prompt=p, builder=tree, max_new_tokens=2000, seed=s) for s, p in enumerate(PROMPTS)]
    assert 4.5 < burst(pair, configs, 40, budget).nodes < 7.5
    found, before = next(speculate_together(pair, configs)), budget.threshold
    sizes = [len(step.parents) for _, step in found]
    assert len({*sizes}) > 1 and {step.growth.threshold for _, step in found} == {before}


def test_a_load_curve_has_a_point_for_each_number_of_texts():
    pair = specviz.toy_pair(vocab=8, seed=2, closeness=0.8)
    config = replace(CONFIG, verifier="sequoia")
    trees = best_trees((0.6, 0.2, 0.1), flat_up_to(16), config, (1, 3))
    *_, last = load_curve(pair, trees, config, ["ab", "bca"], rounds=2, steps=4)
    assert last.done == last.of and [point.texts for point in last.known] == [1, 3]
    for point in last.known:
        assert point.tree == trees[point.texts].name and point.predicted == trees[point.texts].predicted.speedup
        assert point.same == point.texts and point.speedup > 0 and point.shared > 0 and point.margin is not None
    iid = replace(CONFIG, verifier="specinfer")
    *_, last = load_curve(pair, {2: trees[3]}, iid, ["ab"], rounds=2, steps=3)
    assert last.known[0].shared is None, "DySpec's trees are lossy with this rule"


@pytest.mark.adapter
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_texts_of_the_embedded_pair_are_what_they_are_alone(embedded, temperature):
    """In float32, where rounding is far below what decides a token here."""
    verifier = "exact-match" if temperature == 0 else "sequoia"
    base = specviz.RunConfig(
        builder="sequoia:size=6,depth=3", verifier=verifier, temperature=temperature, max_new_tokens=12
    )
    prompts = ("Once upon a time", "def main():\n", "The king said to his three daughters, that")
    configs = [replace(base, prompt=prompt, seed=seed) for seed, prompt in enumerate(prompts)]
    texts, _ = written(embedded, configs)
    assert [tuple(text) for text in texts] == [specviz.run(embedded, config).tokens for config in configs]


@pytest.fixture(scope="module")
def embedded():
    return specviz.load_pair(dtype="float32")
