"""The demo without a browser: the engine, runs as messages, the entry."""

import json
import subprocess
import sys
from dataclasses import replace
from itertools import count, repeat
from pathlib import Path
from threading import Event, current_thread
from threading import enumerate as threads

import pytest

import specviz
from app.machine import models
from app.machine.engine import Engine, batch_by_time, prefetch
from app.page import STYLES, TABS, build_demo
from app.parts import presets
from app.parts.controls import Controls
from app.parts.decoding import Update
from app.tabs import explore
from app.tabs.explore import recordings
from specviz import compatibility
from specviz.files import WEB
from specviz.player.payload import settings_text, step_payload
from specviz.proof.same_text import comparing
from specviz.record import Timing
from tests.app.tabs.test_compare import Breaking

ROOT = Path(__file__).resolve().parents[2]
CONFIG = specviz.RunConfig(prompt="abc", max_new_tokens=30)


@pytest.fixture(scope="module")
def trace():
    return specviz.run(specviz.toy_pair(vocab=12), CONFIG)


def test_the_recorded_run_adds_up():
    data = json.loads(explore.opening_message())
    assert data["state"] == "done" and data["head"]["recorded"] and data["speedup"]["plain_tokens_per_s"] > 0
    assert data["steps"][data["head"]["show"]]["outcome"].count("a") >= 2
    assert [step["index"] for step in data["steps"]] == list(range(len(data["steps"])))
    assert len(json.dumps(data)) < 300_000, "the first paint waits for this"


def test_what_takes_long_is_the_last_that_a_click_sends():
    """The page sends the events of one click one after the other: behind a long one all others wait."""
    demo = build_demo()
    events = {}
    for _, block in sorted(demo.fns.items()):
        for target in block.targets:
            if target[1] not in ("load", "then", "success", "failure"):  # those are sent side by side
                events.setdefault(target, []).append(block)
    assert len(events) > 50
    for target, blocks in events.items():
        long = [block.queue is not False and block.fn is not None for block in blocks]
        assert not any(long[:-1]), (target, [block.fn for block in blocks])


def test_every_style_sheet_is_on_the_page_once():
    sheets = {path.relative_to(WEB).with_suffix("").as_posix() for path in WEB.rglob("*.css")}
    assert sorted(STYLES) == sorted(sheets - {"page/offline"}), "a tab names its style sheets in its `TAB`"


def test_no_two_tabs_answer_to_one_name():
    names = [{tab.title.lower(), tab.query or tab.title.lower()} for tab in TABS]
    assert len(set().union(*names)) == sum(map(len, names))


# ---- the engine ----


def test_steps_are_grouped_and_none_is_lost(trace):
    slow = [replace(step, seconds=Timing(target=0.02)) for step in trace.steps]
    groups = list(batch_by_time(iter(slow), pace=0.05))
    assert [step for group in groups for step in group] == slow
    assert len(groups[0]) == 1, "the first step does not wait for others"
    assert all(len(group) == 3 for group in groups[1:-1])


def test_what_was_decoded_before_a_failure_is_handed_on(trace):
    def failing():
        yield from trace.steps[:3]
        raise RuntimeError("out of memory")

    seen = []
    with pytest.raises(RuntimeError):
        for group in batch_by_time(failing(), pace=1000):
            seen += group
    assert seen == list(trace.steps[:3])


def one_by_one(steps):
    return ([step] for step in steps)


def test_decoding_goes_on_while_the_page_is_busy(trace):
    """The reader holds the first group and asks for nothing until the last step is decoded."""
    busy, last = Event(), Event()

    def steps():
        yield trace.steps[0]
        busy.wait(timeout=30)
        yield from trace.steps[1:]
        last.set()

    groups = prefetch(steps(), one_by_one)
    assert next(groups) == [trace.steps[0]]
    busy.set()
    assert last.wait(timeout=30), "the engine waited for the reader"
    assert list(groups) == [list(trace.steps[1:])], "what piled up comes as one group"


def test_a_page_that_left_stops_the_decoding(trace):
    groups = prefetch(repeat(trace.steps[0]), one_by_one)
    next(groups)
    groups.close()
    assert not any(thread.name == "decoding" for thread in threads())


def test_a_failure_comes_after_all_that_was_decoded(trace):
    def failing():
        yield from trace.steps[:3]
        raise RuntimeError("out of memory")

    for grouped in (one_by_one, batch_by_time):
        seen = []
        with pytest.raises(RuntimeError, match="out of memory"):
            for group in prefetch(failing(), grouped):
                seen += group
        assert seen == list(trace.steps[:3])
    assert not any(thread.name == "decoding" for thread in threads())


def test_no_message_of_a_run_is_written_beside_a_step(monkeypatch):
    """Steps are written in the thread that decodes them, and the first of them at once."""
    told = []

    def payload(step, verifier):
        told.append((step.index, current_thread().name))
        return step_payload(step, verifier)

    monkeypatch.setattr(explore.messages, "step_payload", payload)
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    news = [json.loads(item) for item in explore.play(engine, CONFIG)]
    steps = [len(item["steps"]) for item in news if item["steps"]]
    assert steps[0] == 1 and told == [(index, "decoding") for index in range(sum(steps))]


def test_the_pair_is_loaded_once():
    calls = []

    def load():
        calls.append(1)
        return specviz.toy_pair(vocab=12)

    engine = Engine(load)
    assert not engine.loaded and not calls
    assert engine.take() is engine.pair and engine.loaded
    assert len(calls) == 1


def test_a_pair_that_cannot_be_loaded_takes_no_room():
    def broken():
        raise ValueError("there is no such pair")

    class Looked:
        def look(self):
            raise ValueError("it has a typing mistake")

        def __call__(self):
            raise AssertionError("nothing is loaded that was not found")

    toy = lambda: specviz.toy_pair(vocab=12)  # noqa: E731
    engine = Engine({"a": toy, "b": toy, "broken": broken}, lambda title: Looked())
    engine.take("a"), engine.take("b")
    for title in ("broken", "org/typo|org/draft"):
        with pytest.raises(ValueError):
            engine.take(title)
        assert engine.holds("a") and engine.holds("b")


def test_each_pair_is_loaded_once_and_two_are_kept():
    calls = []

    def loader(name):
        return lambda: calls.append(name) or specviz.toy_pair(vocab=12)

    engine = Engine({name: loader(name) for name in "abc"})
    assert engine.titles == ["a", "b", "c"]
    engine.take("a"), engine.take("b"), engine.take("a"), engine.take("c")
    assert calls == ["a", "b", "c"] and engine.holds("a") and engine.holds("c") and not engine.holds("b")
    engine.take("a"), engine.take("b")
    assert calls == ["a", "b", "c", "b"] and not engine.holds("c")
    with pytest.raises(ValueError, match="Model pair must be one of a, b, c"):
        engine.take("d")
    with pytest.raises(ValueError, match="Model pair must be one of"):
        list(explore.play(engine, CONFIG, ["a"]))


def test_the_models_offered(monkeypatch):
    loaded = []
    monkeypatch.setattr(specviz, "load_pair", lambda **names: loaded.append(names), raising=False)
    monkeypatch.delenv("SPECVIZ_PAIR", raising=False)
    monkeypatch.setenv("SPECVIZ_PAIRS", "some/Big|some/Small, /models/one/|early-exit:2 ,lonely")
    pairs = models.offered()
    shown = [models.EMBEDDED, "Big + Small", "one + early-exit:2", "lonely"]
    in_memory = [shown[0], models.EARLY_EXIT, *shown[1:]]
    assert list(pairs) == [*in_memory, *(title + models.ON_DISK for title in shown)]
    assert not loaded, "nothing is loaded before it is asked for"
    for load in pairs.values():
        load()
    assert all(names.pop("offload") == "disk" for names in loaded[5:]) and loaded[5:] == [loaded[0], *loaded[2:5]]
    assert loaded[:5] == [
        {}, {"draft": "early-exit:3"}, {"target": "some/Big", "draft": "some/Small"},
        {"target": "/models/one/", "draft": "early-exit:2"}, {"target": "lonely", "draft": None},
    ]  # fmt: skip
    monkeypatch.setenv("SPECVIZ_PAIRS", "a|b|c")
    with pytest.raises(ValueError, match="SPECVIZ_PAIRS must be like"):
        models.offered()
    monkeypatch.setenv("SPECVIZ_PAIR", "toy")
    assert len(models.offered()) == 1


def test_a_closed_run_frees_the_machine():
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    run = explore.play(engine, CONFIG)
    next(run), next(run)
    assert engine.busy
    run.close()
    assert not engine.busy
    assert not any(thread.name == "decoding" for thread in threads())


def test_a_run_is_sent_to_its_end():
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    config = specviz.RunConfig(
        prompt="abc", max_new_tokens=30, builder=specviz.BUILDERS["k-ary"](), verifier=specviz.VERIFIERS["specinfer"]()
    )
    sent = [json.loads(text) for text in explore.play(engine, config)]
    steps = [step for news in sent for step in news["steps"]]
    assert "".join("".join(step["pieces"]) for step in steps) == specviz.run(engine.pair, config).text
    assert (
        sent[0]["state"] == "loading" and sent[-1]["state"] == "done" and sent[-1]["speedup"]["plain_tokens_per_s"] > 0
    )
    assert sum("head" in news for news in sent) == 1


def test_a_click_on_run_reads_resolves_and_checks_once(monkeypatch):
    demo = build_demo(lambda: specviz.toy_pair(vocab=12))
    run = next(event for event in demo.fns.values() if getattr(event.fn, "__qualname__", "") == "events.<locals>.run")
    values = [control.value for control in run.inputs]
    calls = []

    def counted(place, name):
        whole = getattr(place, name)
        monkeypatch.setattr(place, name, lambda *args: calls.append((name, *args)) or whole(*args))

    counted(Controls, "read")
    counted(compatibility, "resolve")
    counted(compatibility, "_judged")
    sent = [
        json.loads(news) for update in run.fn(*values) for part, news in update.items() if part.elem_id == "sv-stage"
    ]
    assert sent[-1]["state"] == "done" and any(news.get("speedup") for news in sent)
    asked = [call for call in calls if "plain" not in (call[1].builder.name if call[0] != "read" else "")]
    assert [name for name, *_ in asked] == ["read", "resolve", "_judged"]
    assert len(calls) <= 3 + 2 * 4, "besides it only plain decoding, which is another configuration"


@pytest.mark.parametrize(
    ("verifier", "temperature", "promised"), [("race", 0.8, True), ("exact-match", 0, True), ("sequoia", 0.8, False)]
)
def test_same_seed_same_text_is_said_where_it_is_promised(verifier, temperature, promised):
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    config = replace(CONFIG, verifier=specviz.VERIFIERS[verifier](), temperature=temperature)
    sent = [json.loads(text) for text in explore.play(engine, config)]
    done = next(i for i, news in enumerate(sent) if news.get("state") == "done")
    said = [news["same"] for news in sent[done + 1 :]]
    assert not any("same" in news for news in sent[: done + 1])
    assert [same["kind"] for same in said] == (["checking"] * 4 + ["equal"] if promised else [])
    if promised:
        assert said[-1]["text"] == "Same seed, same text: all 30 tokens equal plain decoding."


def test_a_comparison_can_be_left_and_frees_the_machine():
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    run = explore.play(engine, replace(CONFIG, verifier=specviz.VERIFIERS["race"]()))
    next(text for text in run if "same" in json.loads(text))
    run.close()
    assert not engine.busy


def test_a_difference_is_told_with_its_margin():
    pair, title = specviz.toy_pair(vocab=12), "pair"
    written = list(specviz.autoregress(pair, CONFIG).tokens)
    written[7] = (written[7] + 1) % 12
    (*_, same) = comparing(pair, CONFIG, written)
    write = explore.messages.RunMessages(CONFIG, title)
    write(Update(blank=specviz.run(pair, CONFIG)))
    last = json.loads(write(Update(same=same)))["same"]
    assert last["kind"] == "differs" and "up to token 7; there the two best candidates were" in last["text"]


def test_every_preset_answers_at_once_at_three_temperatures():
    for preset in presets.PRESETS:
        for temperature in (0.0, 0.6, 1.0):
            config = replace(recordings.OPENING, builder=presets.PRESETS[preset], temperature=temperature)
            data = json.loads(explore.recorded(config.prompt, config, models.EMBEDDED))
            assert data["head"]["recorded"] and data["head"]["settings"] == settings_text(config)
            assert data["run"].startswith("recorded-") and data["speedup"]["rounds"] > 1
    other = replace(recordings.OPENING, temperature=0.35)
    assert explore.recorded(other.prompt, other, models.EMBEDDED) is None
    assert explore.recorded("Another", recordings.OPENING, models.EMBEDDED) is None
    assert explore.recorded(["<b>"], recordings.OPENING, models.EMBEDDED) is None


@pytest.mark.parametrize(
    ("error", "sentence"),
    [(RuntimeError("secret path"), "server's log"), (ValueError("The cache is full."), "cache is full")],
)
def test_a_failure_on_the_way_is_said_and_keeps_the_steps(error, sentence, caplog):
    config = replace(CONFIG, builder=specviz.BUILDERS["chain"](), verifier=specviz.VERIFIERS["speculative-sampling"]())
    passes = count(1)
    failing = Breaking(lambda nodes, length: next(passes) == 3, error)
    sent = [json.loads(text) for text in explore.play(Engine(lambda: failing), config)]
    assert sum(len(news["steps"]) for news in sent) == 2
    assert sent[-1]["state"] == "error" and sentence in sent[-1]["note"] and "secret" not in sent[-1]["note"]
    assert "a run failed" in caplog.text


def test_a_prompt_that_is_too_long_is_rejected_before_the_run():
    with pytest.raises(ValueError, match="context of 4096"):
        list(explore.play(Engine(lambda: specviz.toy_pair(vocab=12)), replace(CONFIG, prompt="a" * 5000)))


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
