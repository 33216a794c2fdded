"""Runs on the shelf: what a visitor may take home, for how long, and how much of it there can be."""

import json
from dataclasses import replace

import pytest

import specviz
from app.machine.engine import Engine
from app.parts import shelf as keeping
from app.tabs import explore
from app.tabs.lessons import LESSONS
from specviz.decode import collect
from tests.loops import in_a_loop

CONFIG = specviz.RunConfig(
    prompt="abc", max_new_tokens=30, builder=specviz.BUILDERS["sequoia"](), verifier=specviz.VERIFIERS["sequoia"]()
)


@pytest.fixture
def shelf(monkeypatch):
    fresh = keeping.Shelf()
    monkeypatch.setattr(keeping, "SHELF", fresh)
    monkeypatch.setattr(explore, "SHELF", fresh)
    return fresh


def trace(**changes):
    return specviz.run(specviz.toy_pair(vocab=12), replace(CONFIG, **changes))


def saved(name, kind="json"):
    return json.loads(in_a_loop(keeping.save({"run": name, "kind": kind})))


def test_a_run_can_be_saved_while_it_runs_and_afterwards(shelf):
    run = explore.play(Engine(lambda: specviz.toy_pair(vocab=12)), CONFIG)
    first = next(news for news in map(json.loads, run) if news["steps"])
    part = specviz.Trace.from_json(saved(first["run"])["text"])
    assert part.stop == "stopped" and len(part.steps) == len(first["steps"])
    list(run)
    whole, expected = specviz.Trace.from_json(saved(first["run"])["text"]), trace()
    assert (whole.text, whole.tokens, whole.prompt_tokens) == (expected.text, expected.tokens, expected.prompt_tokens)
    assert whole.stop == "length" and whole.pair == expected.pair
    assert whole.config.to_dict() == expected.config.to_dict()
    assert 'id="run"' in saved(first["run"], "html")["text"]


def test_a_saved_run_keeps_its_measured_speedup_and_says_when_and_where(shelf):
    sent = list(map(json.loads, explore.play(Engine(lambda: specviz.toy_pair(vocab=12)), CONFIG)))
    measured = next(news["speedup"] for news in reversed(sent) if "speedup" in news)
    text = saved(next(news["run"] for news in sent if news["steps"]))["text"]
    opened = json.loads(in_a_loop(keeping.open_trace(text)))
    assert (
        opened["speedup"] == measured and measured["rounds"] == 3 and measured["date"] and "core" in measured["machine"]
    )
    damaged = json.loads(text) | {"speedup": measured | {"low": -1}}
    assert (
        "trace.speedup.low must be a number from 0"
        in json.loads(in_a_loop(keeping.open_trace(json.dumps(damaged))))["error"]
    )


def test_what_was_decoded_before_a_stop_is_kept(shelf):
    run = explore.play(Engine(lambda: specviz.toy_pair(vocab=12)), CONFIG)
    name = next(news["run"] for news in map(json.loads, run) if news["steps"])
    run.close()
    list(explore.play(Engine(lambda: specviz.toy_pair(vocab=12)), CONFIG))  # the next one packs it away
    kept = specviz.Trace.from_json(saved(name)["text"])
    assert kept.steps and kept.stop == "stopped"


def test_a_run_that_could_not_begin_has_nothing_to_save(shelf):
    shelf.begin("run x", collect(specviz.toy_pair(vocab=12), CONFIG, iter(())))
    assert saved("run x") == {"error": keeping.GONE}


def test_a_run_that_was_opened_can_be_saved_again(shelf):
    text = trace().to_json()
    name = json.loads(in_a_loop(keeping.open_trace(text)))["run"]
    assert saved(name)["text"] == text and name.startswith("file ")
    assert json.loads(in_a_loop(keeping.open_trace(text)))["run"] != name, "it is shown anew"


def test_an_opened_run_says_where_it_is_from_and_whether_it_is_lossy(shelf):
    head = json.loads(in_a_loop(keeping.open_trace(trace().to_json())))["head"]
    assert head["recorded"] and head["badge"] == "opened from a file" and head["lossy"] is None
    typical = specviz.VERIFIERS["typical"]
    head = json.loads(in_a_loop(keeping.open_trace(trace(verifier=typical()).to_json())))["head"]
    assert head["lossy"] == typical.bias


def test_the_first_screen_and_every_lesson_can_be_saved():
    from app.page import build_demo

    build_demo(lambda: specviz.toy_pair(vocab=12))
    first = json.loads(explore.recorded())
    assert len(specviz.Trace.from_json(saved(first["run"])["text"]).steps) == len(first["steps"])
    for number, lesson in enumerate(LESSONS):
        for recording in lesson.RECORDINGS:
            specviz.Trace.from_json(saved(f"lesson {number}, {recording.name}")["text"])


def test_the_oldest_make_room():
    shelf, text = keeping.Shelf(most=20_000), trace().to_json()
    for number in range(300):
        shelf.put(f"run {number}", text)
        assert shelf.size <= 20_000
    assert shelf.text("run 299") == text
    with pytest.raises(ValueError, match="no longer stored"):
        shelf.text("run 0")


def test_nothing_stays_for_long(monkeypatch):
    shelf, now = keeping.Shelf(), [0.0]
    monkeypatch.setattr(keeping, "monotonic", lambda: now[0])
    shelf.put("run a", trace().to_json())
    now[0] = keeping.KEPT_SECONDS - 1
    shelf.put("run b", trace().to_json())
    assert shelf.text("run a")
    now[0] += 2
    assert shelf.text("run b")
    with pytest.raises(ValueError, match="no longer stored"):
        shelf.text("run a")


def test_names_cannot_be_guessed():
    names = {keeping.new_name("run") for _ in range(1000)}
    assert len(names) == 1000 and all(len(name) >= 20 for name in names)


ODD = [None, True, [], {}, "x", -1, 0, 1.5, 10**12, 1e308, [[]], [None], [[0.5], "x"], {"a": 1}]
EVERY = [("builder", cls) for cls in specviz.BUILDERS.values()] + [
    ("verifier", cls) for cls in specviz.VERIFIERS.values()
]


@pytest.mark.parametrize(("kind", "cls"), EVERY, ids=lambda item: item if isinstance(item, str) else item.name)
def test_odd_parameters_in_a_file_are_rejected_or_shown_but_never_break(shelf, kind, cls):
    data = json.loads(trace(max_new_tokens=2).to_json())
    for name in cls.parameter_schema():
        for value in ODD:
            data["config"][kind] = {"name": cls.name, "parameters": {name: value}}
            answer = json.loads(in_a_loop(keeping.open_trace(json.dumps(data))))
            assert "error" in answer or answer["steps"]


def test_the_files_of_one_visitor_do_not_remove_the_run_of_another(monkeypatch):
    visitors = iter([1, *[2] * 20])
    monkeypatch.setattr(keeping, "visitor", lambda: next(visitors))
    packed = len(keeping.zlib.compress(trace().to_json().encode()))
    full = keeping.Shelf(most=4 * packed + 500)
    full.put("run", trace().to_json())
    for number in range(20):
        full.put(f"file {number}", trace(seed=number).to_json())
    assert full.text("run") and full.text("file 19")
    with pytest.raises(ValueError, match="no longer stored"):
        full.text("file 0")
