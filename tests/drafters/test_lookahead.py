"""Lookahead decoding: its window against fresh passes of the target, its probes, its pool, and the
law of its text."""

import numpy as np
import pytest

import specviz
from specviz.decode import speculate
from specviz.sampling.randomness import Seeded
from specviz.tree import Topology
from specviz.view.step_payload import explained, step_payload
from tests.proof.proofs import error_of

LOOKAHEAD, RULES = specviz.BUILDERS["lookahead"], specviz.VERIFIERS
KEYED = [RULES["race"](), RULES["target-match"](keyed=True)]


def config(builder, rule=None, temperature=0.0, **changes):
    options = dict(prompt="abcab", max_new_tokens=40, seed=5)
    return specviz.RunConfig(
        builder=builder,
        verifier=rule or RULES["exact-match"](),
        temperature=temperature,
        **options | changes,
    )


def probes(step):
    return [node for node, outcome in enumerate(step.outcome) if outcome == "probe"]


def path(step, node):
    return tuple(step.tokens[above] for above in Topology(step.parents).path(node))


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize(
    ("window", "ngram", "guesses"), [(1, 2, 1), (4, 2, 3), (3, 3, 2), (5, 4, 4)]
)
def test_the_window_holds_what_fresh_passes_of_the_target_say(window, ngram, guesses, temperature):
    """Every step again from its record: levels hang and follow as they should, and only what they
    made is tried."""
    pair = specviz.toy_pair(vocab=5, seed=3)
    chosen = config(LOOKAHEAD(window, ngram, guesses), RULES["target-match"](), temperature)
    context, levels, pool, tried = pair.encode("abcab"), None, {}, 0
    for step in specviz.run(pair, chosen).steps:
        tokens_left = 5 + 40 - len(context)
        nodes = probes(step)
        height = 1 if levels is None else len(levels)
        columns = len(nodes) // height
        expected = min(window if levels is None else len(levels[0]), max(0, tokens_left - height))
        assert columns == expected and len(nodes) == columns * height
        shown = [
            [step.tokens[node] for node in nodes[i * columns : (i + 1) * columns]]
            for i in range(height)
        ]
        if levels is not None:
            assert shown == [level[:columns] for level in levels]
        for i in range(height):
            for j in range(columns):
                above = shown[0][: j + 1] + [shown[k][j] for k in range(1, i + 1)]
                assert list(path(step, nodes[i * columns + j])) == above
        drafted = [node for node in range(1, len(step.parents)) if node not in nodes]
        assert all(
            path(step, node)
            in [gram[: len(path(step, node))] for gram in pool.get(context[-1], [])]
            for node in drafted
        )
        assert {path(step, node) for node in drafted} == {
            gram[:length]
            for gram in pool.get(context[-1], [])
            for length in range(1, min(ngram, tokens_left))
        }
        tried += len(drafted)
        if columns:
            latest = [
                int(np.argmax(pair.target.logits([*context, *path(step, node)])))
                for node in nodes[-columns:]
            ]
            levels = [*shown, latest]
            if len(levels) == ngram:
                for first, *rest in zip(*levels, strict=True):
                    others = [gram for gram in pool.get(first, []) if gram != tuple(rest)]
                    pool[first] = [tuple(rest), *others][:guesses]
                levels = levels[1:]
        context += step.emitted
    assert tried


def test_greedy_text_is_the_targets_in_fewer_passes_and_without_a_window_in_as_many():
    pair = specviz.toy_pair(vocab=5, seed=3)
    pair.draft = None  # it needs none
    trace, plain = (
        specviz.run(pair, config(LOOKAHEAD())),
        specviz.autoregress(pair, config(LOOKAHEAD())),
    )
    assert all(step.draft_passes == 0 and set(step.draft_prob) == {None} for step in trace.steps)
    assert trace.tokens == plain.tokens and len(trace.steps) < 0.8 * len(plain.steps)
    nothing = specviz.run(pair, config(LOOKAHEAD(window=0)))
    assert (
        nothing.tokens == plain.tokens and [len(step.parents) for step in nothing.steps] == [1] * 40
    )


class Listening(Seeded):
    """Chance that state at which positions keyed noise was read."""

    def __init__(self, seed):
        super().__init__(seed)
        self.heard = []

    def noise(self, position, size):
        self.heard.append(position)
        return super().noise(position, size)


@pytest.mark.parametrize("rule", KEYED, ids=["race", "target-match"])
def test_the_seed_alone_fixes_the_text_and_probes_read_no_noise(rule):
    for seed in range(20):
        pair = specviz.toy_pair(vocab=3 + seed % 4, seed=seed)
        chosen = config(
            LOOKAHEAD(3, 2 + seed % 3, 3), rule, (0.6, 1.0)[seed % 2], seed=seed, max_new_tokens=16
        )
        rng = Listening(seed)
        steps = list(speculate(pair, chosen, rng))
        assert (
            tuple(token for step in steps for token in step.emitted)
            == specviz.autoregress(pair, chosen).tokens
        )
        assert rng.heard == [
            step.start + 1 + i for step in steps for i in range(len(step.path) + 1)
        ]


@pytest.mark.parametrize("rule", ["target-match", "naive", "typical"])
@pytest.mark.parametrize(("window", "ngram", "guesses"), [(2, 2, 2), (2, 3, 2)])
def test_the_law_of_the_text_over_steps_enough_to_use_what_was_found(
    rule, window, ngram, guesses, monkeypatch
):
    """N-grams of three tokens need two steps to be made; two more try them."""
    monkeypatch.setattr("specviz.proof.lossless.LENGTH", 5)
    pair, builder = specviz.toy_pair(seed=1, closeness=0.2), LOOKAHEAD(window, ngram, guesses)
    error, _ = error_of(builder, RULES[rule](), pair, scheme="top", tokens=5, steps=4)
    assert error > 1e-3 if rule == "typical" else error < 1e-12


def test_probes_are_told_apart_from_what_was_never_reached():
    pair = specviz.toy_pair(vocab=5, seed=3)
    trace = specviz.run(pair, config(LOOKAHEAD()))
    again = specviz.Trace.from_json(trace.to_json())
    rule = RULES["exact-match"]()
    assert {"probe", "unreached", "accepted", "rejected"} < {
        o for step in trace.steps for o in step.outcome
    }
    for step, other in zip(trace.steps, again.steps, strict=True):
        assert step.outcome == other.outcome and step.drafted == len(step.parents) - 1 - len(
            probes(step)
        )
        sent = step_payload(step, rule)
        assert sent["outcome"].count("probe") == len(probes(step))
        for node in probes(step):
            assert (
                "Probe: " in explained(step, node, rule, False) and step.accept_prob[node] is None
            )
    compared = sum(
        step.outcome.count("accepted") + step.outcome.count("rejected") for step in trace.steps
    )
    assert trace.acceptance == sum(len(step.path) for step in trace.steps) / compared
