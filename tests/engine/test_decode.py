"""The loop on toy models: limits, end of text, greedy equality, the record of a step."""

import numpy as np
import pytest

import specviz
from specviz.compatibility import compatible

BUILDERS = {name: cls() for name, cls in specviz.BUILDERS.items()}

COLUMNS = (
    "parents",
    "tokens",
    "texts",
    "draft_prob",
    "target_prob",
    "target_prob_plain",
    "outcome",
    "accept_prob",
    "coin",
    "keys",
)


def configs(**values):
    for builder in BUILDERS.values():
        for rule in specviz.VERIFIERS.values():
            config = specviz.RunConfig("abc", builder, rule(), **values)
            if compatible(config).possible:
                yield config


def test_temperature_zero_gives_the_greedy_text_with_every_builder_and_rule():
    pair = specviz.toy_pair(vocab=7, seed=1)
    greedy = None
    for config in configs(temperature=0.0, max_new_tokens=25):
        greedy = greedy or specviz.autoregress(pair, config).tokens
        run = specviz.run(pair, config)
        assert run.tokens == greedy, (config.builder.name, config.verifier.name)
        assert len(run.steps) <= len(greedy)


def test_a_run_ends_at_its_length_and_never_beyond():
    for new in (1, 2, 7):
        for config in configs(temperature=1.0, max_new_tokens=new):
            trace = specviz.run(specviz.toy_pair(), config)
            assert len(trace.tokens) == new and trace.stop == "length"


def test_a_run_ends_at_end_of_text_which_is_the_last_token():
    pair = specviz.toy_pair(vocab=4, eos=[3])
    for config in configs(temperature=1.0, max_new_tokens=60, seed=2):
        trace = specviz.run(pair, config)
        assert trace.stop == "end of text"
        assert trace.tokens[-1] == 3 and 3 not in trace.tokens[:-1]


def test_a_run_ends_where_the_context_is_full():
    pair = specviz.toy_pair()
    pair.max_positions = 9
    for config in configs(temperature=1.0, max_new_tokens=60):
        trace = specviz.run(pair, config)
        assert trace.stop == "context" and len(trace.prompt_tokens) + len(trace.tokens) == 9
    with pytest.raises(ValueError, match="context of 9 tokens"):
        specviz.run(pair, specviz.RunConfig("abcabcabc"))


def test_a_step_records_what_happened():
    pair = specviz.toy_pair(vocab=6)
    for config in configs(temperature=1.0, max_new_tokens=30):
        context = list(pair.encode("abc"))
        for index, step in enumerate(specviz.speculate(pair, config)):
            n = len(step.parents)
            assert step.index == index and step.start == len(context) - 1 and step.tokens[0] == context[-1]
            assert all(len(getattr(step, column)) == n for column in COLUMNS)
            written = [step.tokens[node] for node in step.path] + ([step.bonus] if step.bonus is not None else [])
            assert list(step.emitted) == written[: len(step.emitted)]
            parents = [0, *step.path[:-1]]
            assert [step.parents[node] for node in step.path] == parents[: len(step.path)]
            for node in range(1, n):
                if step.outcome[node] in ("accepted", "rejected") and config.verifier.reads_draft:
                    coin, prob = step.coin[node], step.accept_prob[node]
                    if config.verifier.name in ("sequoia", "specinfer", "speculative-sampling"):
                        assert (coin < prob) == (step.outcome[node] == "accepted")
            for node in range(n):
                sentence = config.verifier.explain(step, node)
                assert sentence.endswith(".") and sentence[0].isupper()
            target = pair.open(context)[0]
            tree = specviz.tree.TokenTree(context[-1])
            for parent, token in zip(step.parents[1:], step.tokens[1:], strict=True):
                tree.add(parent, token)
            logits = target.forward(tree, range(n))
            for node in range(1, n):
                row = np.exp(logits[step.parents[node]])
                assert step.target_prob[node] == pytest.approx(row[step.tokens[node]] / row.sum())
            assert step.seconds.total > 0
            context.extend(step.emitted)


def test_the_same_seed_gives_the_same_run_and_another_seed_another():
    pair = specviz.toy_pair(vocab=6)
    for config in configs(temperature=1.0, max_new_tokens=30):
        once, twice = specviz.run(pair, config), specviz.run(pair, config)
        assert once.tokens == twice.tokens and once.steps[0].outcome == twice.steps[0].outcome


def test_what_cannot_go_together_is_rejected_in_a_sentence():
    config = specviz.RunConfig("abc", "k-ary", "speculative-sampling")
    with pytest.raises(ValueError, match="chain"):
        next(specviz.speculate(specviz.toy_pair(), config))
    for choice, words in [
        ("oak", "builder must be one of"),
        ("chain:size=3", "chain parameter must be one of depth"),
        ("chain:depth=0", "chain.depth must be"),
    ]:
        with pytest.raises(ValueError, match=words):
            next(specviz.speculate(specviz.toy_pair(), specviz.RunConfig("abc", choice)))


def test_a_prompt_outside_the_vocabulary_is_rejected():
    with pytest.raises(ValueError, match="token ids from 0 to 2"):
        next(specviz.speculate(specviz.toy_pair(), specviz.RunConfig([0, 5])))


@pytest.mark.parametrize("temperature", [0.0, 0.8])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("model", ["target", "draft"])
def test_logits_that_are_no_numbers_end_in_a_sentence(model, value, temperature):
    pair = specviz.toy_pair(vocab=6)
    damaged = getattr(pair, model)
    sound = damaged._row
    damaged._row = lambda context: sound(context) + np.array([0.0, value if len(context) > 5 else 0.0, 0, 0, 0, 0])
    for config in configs(temperature=temperature, max_new_tokens=20):
        if model == "target" or BUILDERS[config.builder.name].reads_draft:
            with pytest.raises(ValueError, match="logits must be finite numbers"):
                specviz.run(pair, config)
    if model == "target":
        with pytest.raises(ValueError, match="logits must be finite numbers"):
            specviz.autoregress(pair, config)
