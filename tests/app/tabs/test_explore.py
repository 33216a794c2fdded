"""The tab Explore without a browser: its recordings and its runs as messages."""

import json
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import current_thread
from threading import enumerate as threads

import pytest

import specviz
from app.machine import models
from app.machine.engine import Engine
from app.page import build_demo
from app.parts import presets
from app.parts.controls import Controls
from app.parts.decoding import Update
from app.tabs import explore
from app.tabs.explore import recordings
from specviz.config import run_config as configuration
from specviz.proof.same_text import comparing
from specviz.view.payload import settings_text, step_payload
from tests.app.tabs.test_compare import FAILURES, Breaking

ROOT = Path(__file__).resolve().parents[2]
CONFIG = specviz.RunConfig(prompt="abc", max_new_tokens=30)


@pytest.fixture(scope="module")
def trace():
    return specviz.run(specviz.toy_pair(vocab=12), CONFIG)


def steps_of(messages):
    """The steps of a run."""
    return [step for message in messages for step in message["steps"]]


def test_the_recorded_run_adds_up():
    data = json.loads(explore.recordings.opening().message())
    assert (
        data["state"] == "done"
        and data["head"]["recorded"]
        and data["speedup"]["plain_tokens_per_s"] > 0
    )
    assert data["steps"][data["head"]["show"]]["outcome"].count("a") >= 2
    assert [step["index"] for step in data["steps"]] == list(range(len(data["steps"])))
    assert len(json.dumps(data)) < 300_000, "the first paint waits for this"


def test_no_message_of_a_run_is_written_beside_a_step(monkeypatch):
    """Steps are written in the thread that decodes them, and the first of them at once."""
    told = []

    def payload(step, verifier):
        told.append((step.index, current_thread().name))
        return step_payload(step, verifier)

    monkeypatch.setattr(explore.messages, "step_payload", payload)
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    update = [json.loads(item) for item in explore.play(engine, CONFIG)]
    assert len(next(item["steps"] for item in update if item["steps"])) == 1
    assert told == [(index, "decoding") for index in range(len(steps_of(update)))]


@pytest.mark.parametrize("part", ["steps", "same"])
def test_a_closed_run_frees_the_machine(part):
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    run = explore.play(engine, replace(CONFIG, verifier="race"))
    next(text for text in run if json.loads(text).get(part))
    assert engine.busy
    run.close()
    for thread in threads():
        if thread.name == "decoding":  # it ends within one step
            thread.join(30)
    assert not engine.busy and not any(thread.name == "decoding" for thread in threads())


def test_a_run_is_sent_to_its_end():
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    config = specviz.RunConfig("abc", "k-ary", "specinfer", max_new_tokens=30)
    sent = [json.loads(text) for text in explore.play(engine, config)]
    steps = steps_of(sent)
    assert (
        "".join("".join(step["pieces"]) for step in steps)
        == specviz.run(engine.take(), config).text
    )
    assert sent[0]["state"] == "loading" and sent[-1]["state"] == "done"
    assert sent[-1]["speedup"]["plain_tokens_per_s"] > 0
    assert any("head" in update for update in sent)


def test_a_click_on_run_reads_resolves_and_checks_once(monkeypatch):
    demo = build_demo(lambda: specviz.toy_pair(vocab=12))
    run = next(
        event
        for event in demo.fns.values()
        if getattr(event.fn, "__qualname__", "") == "events.<locals>.run"
    )
    values = [control.value for control in run.inputs]
    calls = []

    def counted(place, name):
        whole = getattr(place, name)
        monkeypatch.setattr(place, name, lambda *args: calls.append((name, *args)) or whole(*args))

    counted(Controls, "read")
    counted(configuration, "_obstacle")
    configuration._judge.cache_clear()
    update = (item for update in run.fn(*values) for item in update.items())
    sent = [json.loads(text) for part, text in update if part.elem_id == "sv-stage"]
    assert sent[-1]["state"] == "done" and any(update.get("speedup") for update in sent)
    asked = [
        call for call in calls if "plain" not in (call[1].builder.name if call[0] != "read" else "")
    ]
    assert [name for name, *_ in asked] == ["read", "_obstacle"]
    assert len(calls) <= 3 + 2 * 4, "besides it only plain decoding, which is another configuration"


@pytest.mark.parametrize(
    ("verifier", "temperature", "promised"),
    [("race", 0.8, True), ("exact-match", 0, True), ("sequoia", 0.8, False)],
)
def test_same_seed_same_text_is_said_where_it_is_promised(verifier, temperature, promised):
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    config = replace(CONFIG, verifier=specviz.VERIFIERS[verifier](), temperature=temperature)
    sent = [json.loads(text) for text in explore.play(engine, config)]
    done = next(i for i, update in enumerate(sent) if update.get("state") == "done")
    said = [update["same"] for update in sent[done + 1 :]]
    assert not any("same" in update for update in sent[: done + 1])
    assert [same["kind"] for same in said] == (["checking"] * 4 + ["equal"] if promised else [])
    if promised:
        assert said[-1]["text"] == "Same seed, same text: all 30 tokens equal plain decoding."


def test_a_difference_is_told_with_its_margin():
    pair, title = specviz.toy_pair(vocab=12), "pair"
    written = list(specviz.autoregress(pair, CONFIG).tokens)
    written[7] = (written[7] + 1) % 12
    (*_, same) = comparing(pair, CONFIG, written)
    write = explore.messages.RunMessages(CONFIG, title)
    write(Update(blank=specviz.run(pair, CONFIG)))
    last = json.loads(write(Update(same=same)))["same"]
    assert (
        last["kind"] == "differs"
        and "up to token 7; there the two best candidates were" in last["text"]
    )


def test_every_preset_answers_at_once_at_three_temperatures():
    for preset in presets.PRESETS:
        for temperature in (0.0, 0.6, 1.0):
            config = replace(
                recordings.OPENING, builder=presets.PRESETS[preset], temperature=temperature
            )
            data = json.loads(explore.recorded(config.prompt, config, models.EMBEDDED))
            assert data["head"]["recorded"] and data["head"]["settings"] == settings_text(config)
            assert data["run"].startswith("recorded-") and data["speedup"]["rounds"] > 1
    other = replace(recordings.OPENING, temperature=0.35)
    assert explore.recorded(other.prompt, other, models.EMBEDDED) is None
    assert explore.recorded("Another", recordings.OPENING, models.EMBEDDED) is None
    assert explore.recorded(["<b>"], recordings.OPENING, models.EMBEDDED) is None


@pytest.mark.parametrize(("error", "sentence"), FAILURES)
def test_a_failure_on_the_way_is_said_and_keeps_the_steps(error, sentence, caplog):
    config = replace(
        CONFIG,
        builder=specviz.BUILDERS["chain"](),
        verifier=specviz.VERIFIERS["speculative-sampling"](),
    )
    passes = count(1)
    failing = Breaking(lambda nodes, length: next(passes) == 3, error)
    sent = [json.loads(text) for text in explore.play(Engine(lambda: failing), config)]
    assert len(steps_of(sent)) == 2
    assert (
        sent[-1]["state"] == "error"
        and sentence in sent[-1]["note"]
        and "secret" not in sent[-1]["note"]
    )
    assert "a run failed" in caplog.text


def test_a_prompt_that_is_too_long_is_rejected_before_the_run():
    with pytest.raises(ValueError, match="context of 4096"):
        list(
            explore.play(
                Engine(lambda: specviz.toy_pair(vocab=12)), replace(CONFIG, prompt="a" * 5000)
            )
        )
