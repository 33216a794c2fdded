"""The loop on toy models: limits, end of text, greedy equality, the record of a step."""

import numpy as np
import pytest

import specviz
from specviz.config.run_config import compatible
from specviz.view.step_payload import step_payload

BUILDERS = {name: cls() for name, cls in specviz.BUILDERS.items()}

COLUMNS = {"parents", "tokens", "texts", "outcome", "coin", "keys"}
COLUMNS |= {"draft_prob", "target_prob", "target_prob_at_1", "accept_prob"}


def configs(**values):
    for builder in BUILDERS.values():
        for rule in specviz.VERIFIERS.values():
            config = specviz.RunConfig("abc", builder, rule(), **values)
            if compatible(config).possible:
                yield config


def test_a_run_ends_at_its_length_and_never_beyond():
    for new in (1, 4):
        for config in configs(temperature=1.0, max_new_tokens=new):
            trace = specviz.run(specviz.toy_pair(), config)
            assert len(trace.tokens) == new and trace.stop == "length"


def test_a_run_ends_at_end_of_text_which_is_the_last_token():
    pair = specviz.toy_pair(vocab=4, eos=[3])
    for config in configs(temperature=1.0, max_new_tokens=60, seed=2):
        trace = specviz.run(pair, config)
        assert trace.stop == "end of text"
        assert trace.tokens[-1] == 3 and 3 not in trace.tokens[:-1]


def test_nothing_behind_the_end_of_the_text_counts_as_accepted():
    pair = specviz.toy_pair(vocab=4, eos=[3])
    cut = 0
    for seed in range(60):
        config = specviz.RunConfig("ab", "k-ary:depth=3,width=3", "traversal", 1, seed=seed)
        trace = specviz.run(pair, config)
        for step in trace.steps:
            written = step.written
            assert len(written.path) == min(len(step.path), len(step.emitted))
            assert written.path == step.path[: len(written.path)]
            assert [written.tokens[node] for node in written.path] == [
                *step.emitted[: len(written.path)]
            ]
            if written is step:
                continue
            cut += 1
            end = written.path[-1]
            assert step.tokens[end] in pair.eos_ids
            assert all(
                written.outcome[node] == "unreached" for node in step.path[len(written.path) :]
            )
            assert all(written.outcome[node] != "unreached" for node in written.order)
            sent = step_payload(step, config.verifier)
            assert sent["outcome"] == list(written.outcome)
        accepted = sum(len(step.written.path) for step in trace.steps)
        assert trace.counts.accepted == accepted
    assert cut, "no text ended inside of what a rule accepted"


def test_a_run_ends_where_the_context_is_full():
    pair = specviz.toy_pair()
    pair.max_positions = 9
    for config in configs(temperature=1.0, max_new_tokens=60):
        trace = specviz.run(pair, config)
        assert trace.stop == "context" and len(trace.prompt_tokens) + len(trace.tokens) == 9
    with pytest.raises(ValueError, match="context of 9 tokens"):
        specviz.run(pair, specviz.RunConfig("abcabcabc"))


def test_a_step_records_what_happened_and_the_same_seed_does_it_again():
    pair = specviz.toy_pair(vocab=6)
    for config in configs(temperature=1.0, max_new_tokens=7):
        context = list(pair.encode("abc"))
        steps = list(specviz.speculate(pair, config))
        assert [step.emitted for step in specviz.speculate(pair, config)] == [
            step.emitted for step in steps
        ]
        for index, step in enumerate(steps):
            n = len(step.parents)
            assert (
                step.index == index
                and step.start == len(context) - 1
                and step.tokens[0] == context[-1]
            )
            assert all(len(getattr(step, column)) == n for column in COLUMNS)
            assert step._check() is step  # one accepted path, and its tokens written
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


def test_what_cannot_go_together_is_rejected_in_a_sentence():
    config = specviz.RunConfig("abc", "k-ary", "speculative-sampling")
    with pytest.raises(ValueError, match="chain"):
        next(specviz.speculate(specviz.toy_pair(), config))
    with pytest.raises(ValueError, match="prompt"):  # a token outside the vocabulary
        next(specviz.speculate(specviz.toy_pair(), specviz.RunConfig([0, 5])))


@pytest.mark.parametrize("temperature", [0.0, 0.8])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("model", ["target", "draft"])
def test_logits_that_are_no_numbers_end_in_a_sentence(model, value, temperature):
    pair = specviz.toy_pair(vocab=6)
    damaged = getattr(pair, model)
    sound = damaged._row
    damaged._row = lambda context: (
        sound(context) + np.array([0.0, value if len(context) > 5 else 0.0, 0, 0, 0, 0])
    )
    for config in configs(temperature=temperature, max_new_tokens=20):
        if model == "target" or BUILDERS[config.builder.name].reads_draft:
            with pytest.raises(ValueError, match="logits must be finite numbers"):
                specviz.run(pair, config)
    if model == "target":
        with pytest.raises(ValueError, match="logits must be finite numbers"):
            specviz.autoregress(pair, config)
