"""The demo without a browser: what is sent to the page, controls from metadata, sentences, the engine."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import specviz
from specviz import payload
from specviz.record import Timing

gr = pytest.importorskip("gradio")

from app import live  # noqa: E402
from app.session import Engine, paced  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
CONFIG = specviz.RunConfig(prompt="abc", max_new_tokens=30)


@pytest.fixture(scope="module")
def trace():
    return specviz.run(specviz.toy_pair(vocab=12), CONFIG)


# ---- what is sent ----


def test_a_step_is_sent_whole(trace):
    for step in trace.steps:
        sent = payload.step_payload(step, specviz.VERIFIERS["sequoia"]())
        n = len(step.parents)
        assert all(
            len(sent[name]) == n for name in ("parents", "texts", "q", "p", "plain", "outcome", "accept", "coin", "why")
        )
        assert sum(sent["outcome"].count(letter) for letter in "raxup") == n
        for node in range(n):
            assert sent["sentences"][sent["why"][node]] == specviz.VERIFIERS["sequoia"]().explain(step, node)
        assert len(sent["sentences"]) == len(set(sent["sentences"]))
        assert (sent["last"] is None) == (step.bonus is None)
    assert (
        "".join("".join(payload.step_payload(s, specviz.VERIFIERS["sequoia"]())["pieces"]) for s in trace.steps)
        == trace.text
    )


PAIRS = [
    (builder, verifier)
    for builder in specviz.BUILDERS.values()
    for verifier in specviz.VERIFIERS.values()
    if specviz.compatible(builder(), verifier(), 0.8).possible
]


@pytest.mark.parametrize(("builder", "verifier"), PAIRS, ids=lambda kind: kind.name)
def test_every_combination_can_be_shown(builder, verifier):
    config = replace(CONFIG, builder=builder(), verifier=verifier(), max_new_tokens=12)
    for step in specviz.speculate(specviz.toy_pair(vocab=12), config):
        sent = payload.step_payload(step, verifier())
        assert len(sent["outcome"]) == len(step.parents)
        assert all(text.endswith((".", "?")) and "None" not in text and "nan" not in text for text in sent["sentences"])
        json.dumps(sent, allow_nan=False)


@pytest.mark.parametrize(
    ("builder", "verifier", "kinds"),
    [("sequoia", "sequoia", {"tried", "after"}), ("k-ary", "spectr", {"tried", "after", "facts"}),
     ("sequoia", "race", {"race"}), ("sequoia", "typical", {"facts"}), ("sequoia", "traversal", {"after", "facts"}),
     ("chain", "block", {"after", "facts"}), ("sequoia", "target-match", {"after"})],
)  # fmt: skip
def test_what_a_rule_kept_is_sent_by_kind(builder, verifier, kinds):
    rule = specviz.VERIFIERS[verifier]()
    config = replace(CONFIG, builder=specviz.BUILDERS[builder](), verifier=rule)
    seen = set()
    for step in specviz.speculate(specviz.toy_pair(vocab=12), config):
        for node, facts in payload.step_payload(step, rule)["detail"].items():
            seen |= set(facts)
            kept = step.detail[node]
            assert facts.get("facts", {}).keys() == {name for name, value in kept.items() if isinstance(value, float)}
            if "tried" in facts:
                assert facts["tried"]["texts"] == kept["texts"] and step.tokens[int(node)] in facts["tried"]["tokens"]
            for name, racers in facts.get("race", {}).items():
                assert racers["rows"]["times"] == payload.rounded(kept["race"][name]["times"])
                assert racers["rows"]["times"] == sorted(racers["rows"]["times"])
    assert seen == kinds


@pytest.mark.parametrize(
    "facts",
    [1, [], {"tokens": [1]}, {"tokens": [1], "texts": ["a", "b"], "p": [0.1]}, {"tokens": ["<"], "texts": ["a"]},
     {"tokens": [1], "texts": [2], "p": [0.1]}, {"tokens": [1] * 99, "texts": ["a"] * 99, "p": [0.1] * 99},
     {"tokens": [1], "texts": ["a"], "p": ["0.1"]}, {"rho": True}, {"rho": "1"}, {"race": {"target": 3}}],
)  # fmt: skip
def test_a_detail_of_no_known_shape_is_left_out(facts):
    assert payload.detail_payload({"0": facts}) == {}


def test_messages_cannot_be_mistaken_for_markup(trace):
    hostile = "</script><img src=x onerror=alert(1)>${alert(1)}{{alert(1)}}`"
    text = payload.message("run", [], head=payload.head(CONFIG, hostile, "pair"))
    assert "<" not in text
    assert json.loads(text)["head"]["prompt"] == hostile


def test_a_message_holds_no_number_that_json_lacks():
    with pytest.raises(ValueError):
        payload.message("run", [{"q": [float("nan")]}])


def test_the_recorded_run_adds_up():
    data = json.loads(live.recorded())
    assert data["state"] == "done" and data["head"]["recorded"] and data["plain_rate"] > 0
    assert data["steps"][data["head"]["show"]]["outcome"].count("a") >= 2
    assert [step["index"] for step in data["steps"]] == list(range(len(data["steps"])))
    assert len(json.dumps(data)) < 300_000, "the first paint waits for this"


def test_decode_rate_leaves_out_the_step_that_reads_the_prompt(trace):
    slow = replace(trace.steps[0], seconds=replace(trace.steps[0].seconds, target=1000.0))
    assert payload.decode_rate([slow, *trace.steps[1:]]) == payload.decode_rate(trace.steps)
    assert payload.decode_rate(trace.steps[:1]) is None


# ---- the engine ----


def test_steps_are_grouped_and_none_is_lost(trace):
    slow = [replace(step, seconds=Timing(target=0.02)) for step in trace.steps]
    groups = list(paced(iter(slow), pace=0.05))
    assert [step for group in groups for step in group] == slow
    assert len(groups[0]) == 1, "the first step does not wait for others"
    assert all(len(group) == 3 for group in groups[1:-1])


def test_what_was_decoded_before_a_failure_is_handed_on(trace):
    def failing():
        yield from trace.steps[:3]
        raise RuntimeError("out of memory")

    seen = []
    with pytest.raises(RuntimeError):
        for group in paced(failing(), pace=1000):
            seen += group
    assert seen == list(trace.steps[:3])


def test_the_pair_is_loaded_once_and_plain_decoding_measured_once():
    calls = []

    def load():
        calls.append(1)
        return specviz.toy_pair(vocab=12)

    engine = Engine(load)
    assert not engine.loaded and not calls
    assert engine.plain_rate(CONFIG) is None
    rate = engine.plain_rate(CONFIG, measure=True)
    assert rate > 0 and engine.plain_rate(CONFIG, measure=True) == rate == engine.plain_rate(CONFIG)
    assert engine.plain_rate(replace(CONFIG, temperature=0.5)) is None
    assert len(calls) == 1


def test_a_closed_run_frees_the_machine():
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    run = live.play(engine, CONFIG)
    next(run)
    assert engine._running.locked()
    run.close()
    assert not engine._running.locked()


def test_a_run_is_sent_to_its_end():
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    config = specviz.RunConfig(
        prompt="abc", max_new_tokens=30, builder=specviz.BUILDERS["k-ary"](), verifier=specviz.VERIFIERS["specinfer"]()
    )
    sent = [json.loads(text) for text in live.play(engine, config)]
    steps = [step for news in sent for step in news["steps"]]
    assert "".join("".join(step["pieces"]) for step in steps) == specviz.run(engine.pair, config).text
    assert sent[0]["state"] == "loading" and sent[-1]["state"] == "done" and sent[-1]["plain_rate"] > 0
    assert sum("head" in news for news in sent) == 1


@pytest.mark.parametrize(
    ("verifier", "temperature", "told"), [("race", 0.8, True), ("exact-match", 0, True), ("sequoia", 0.8, False)]
)
def test_same_seed_same_text_is_said_where_it_is_promised(verifier, temperature, told):
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    config = replace(CONFIG, verifier=specviz.VERIFIERS[verifier](), temperature=temperature)
    sent = [json.loads(text) for text in live.play(engine, config)]
    done = next(i for i, news in enumerate(sent) if news.get("state") == "done")
    said = [news["same"] for news in sent[done + 1 :]]
    assert not any("same" in news for news in sent[: done + 1])
    assert [same["kind"] for same in said] == (["checking"] * 4 + ["equal"] if told else [])
    if told:
        assert said[-1]["text"] == "Same seed, same text: all 30 tokens equal plain decoding."


def test_a_comparison_can_be_left_and_frees_the_machine():
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    run = live.play(engine, replace(CONFIG, verifier=specviz.VERIFIERS["race"]()))
    next(text for text in run if "same" in json.loads(text))
    run.close()
    assert not engine._running.locked()


def test_a_difference_is_told_with_its_margin():
    pair = specviz.toy_pair(vocab=12)
    written = list(specviz.autoregress(pair, CONFIG).tokens)
    written[7] = (written[7] + 1) % 12
    *_, last = (json.loads(text)["same"] for text in live.same("run", pair, CONFIG, written))
    assert last["kind"] == "differs" and "up to token 7; there the two best candidates were" in last["text"]


class Failing:
    """A toy pair whose target fails at its third pass."""

    def __init__(self, error):
        self.toy, self.error, self.passes = specviz.toy_pair(vocab=12), error, 0

    def __getattr__(self, name):
        return getattr(self.toy, name)

    def open(self, tokens):
        target, draft = self.toy.open(tokens)
        forward = target.forward

        def fails(tree, nodes):
            self.passes += 1
            if self.passes == 3:
                raise self.error
            return forward(tree, nodes)

        target.forward = fails
        return target, draft


@pytest.mark.parametrize(
    ("error", "told"),
    [(RuntimeError("secret path"), "server's log"), (ValueError("The cache is full."), "cache is full")],
)
def test_a_failure_on_the_way_is_told_and_keeps_the_steps(error, told, caplog):
    config = replace(CONFIG, builder=specviz.BUILDERS["chain"](), verifier=specviz.VERIFIERS["speculative-sampling"]())
    sent = [json.loads(text) for text in live.play(Engine(lambda: Failing(error)), config)]
    assert sum(len(news["steps"]) for news in sent) == 2
    assert sent[-1]["state"] == "error" and told in sent[-1]["note"] and "secret" not in sent[-1]["note"]
    assert "a run failed" in caplog.text


def test_a_prompt_that_is_too_long_is_refused_before_the_run():
    with pytest.raises(ValueError, match="context of 4096"):
        list(live.play(Engine(lambda: specviz.toy_pair(vocab=12)), replace(CONFIG, prompt="a" * 5000)))


# ---- the entry ----


def test_the_page_is_built_without_torch_and_from_any_folder(tmp_path):
    code = (
        f"import sys, runpy; sys.path.insert(0, {str(ROOT / 'app')!r});"  # as Python does for a script
        f"runpy.run_path({str(ROOT / 'app' / 'app.py')!r});"
        "import app; assert app.__file__.endswith('__init__.py'), app.__file__;"
        "from app.page import build_demo; build_demo();"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
