"""The demo without a browser: its page, the engine, steps on their way to the page, the entry."""

import subprocess
import sys
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from threading import Event, Thread
from threading import enumerate as threads

import pytest
from app.machine import models
from app.machine.engine import Engine, batch_by_time, prefetch
from app.machine.pool import machine_turn, run_in_thread

import specviz
from app.page import STYLES, TABS, build_demo
from app.parts.failures import explained, reason
from specviz.base.files import WEB
from specviz.record.step import Timing
from tests.loops import in_a_loop

ROOT = Path(__file__).resolve().parents[2]
CONFIG = specviz.RunConfig(prompt="abc", max_new_tokens=30)


@pytest.fixture(scope="module")
def trace():
    return specviz.run(specviz.toy_pair(vocab=12), CONFIG)


def toy():
    return specviz.toy_pair(vocab=12)


def test_what_takes_long_is_the_last_that_a_click_sends():
    """The page sends the events of one click one after the other: behind a long one all others
    wait."""
    events = {}
    for _, block in sorted(build_demo().fns.items()):
        for target in block.targets:
            if target[1] not in (
                "load",
                "then",
                "success",
                "failure",
            ):  # those are sent side by side
                events.setdefault(target, []).append(block)
    for target, blocks in events.items():
        long = [block.queue is not False and block.fn is not None for block in blocks]
        assert not any(long[:-1]), (target, [block.fn for block in blocks])


def test_every_style_sheet_is_on_the_page_once():
    sheets = {path.relative_to(WEB).with_suffix("").as_posix() for path in WEB.rglob("*.css")}
    assert sorted(STYLES) == sorted(sheets - {"page/offline"}), (
        "a tab names its style sheets in its `TAB`"
    )


def test_no_two_tabs_answer_to_one_name():
    names = [{tab.title.lower(), tab.query or tab.title.lower()} for tab in TABS]
    assert len(set().union(*names)) == sum(map(len, names))


# ---- steps on their way ----


def test_steps_are_grouped_and_none_is_lost(trace):
    slow = [replace(step, seconds=Timing(target=0.02)) for step in trace.steps]
    groups = list(batch_by_time(iter(slow), pace=0.05))
    assert [step for group in groups for step in group] == slow
    assert len(groups[0]) == 1, "the first step does not wait for others"
    assert all(len(group) == 3 for group in groups[1:-1])


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


@pytest.mark.parametrize("grouped", [one_by_one, batch_by_time])
def test_a_failure_comes_after_all_that_was_decoded(trace, grouped):
    def failing():
        yield from trace.steps[:3]
        raise RuntimeError("out of memory")

    seen = []
    with pytest.raises(RuntimeError, match="out of memory"):
        for group in prefetch(failing(), grouped):
            seen += group
    assert seen == list(trace.steps[:3])


# ---- the engine ----


def two_steps(pair, inside, gate):
    yield 0
    inside.set()
    assert gate.wait(30)
    yield 1


def test_a_step_is_over_before_a_check_and_before_the_next_run(trace):
    engine, inside, gate, order = Engine(toy), Event(), Event(), []
    engine.take()
    steps = prefetch(engine.compute(two_steps, inside, gate), one_by_one)
    next(steps)
    assert inside.wait(30) and engine.busy

    def check():
        with machine_turn():
            order.append("check")

    worker = Thread(target=check)
    worker.start()
    worker.join(0.2)
    steps.close()  # the visitor pressed Stop; the step goes on in its thread
    assert worker.is_alive() and not order
    gate.set()
    worker.join(30)
    assert order == ["check"] and in_a_loop(run_in_thread(int, "3")) == 3


def test_each_pair_is_loaded_once_and_two_are_kept():
    calls = []

    def loader(name):
        return lambda: calls.append(name) or toy()

    engine = Engine({name: loader(name) for name in "abc"})
    assert engine.titles == ["a", "b", "c"] and not calls
    engine.take("a"), engine.take("b"), engine.take("a"), engine.take("c")
    assert (
        calls == ["a", "b", "c"]
        and engine.holds("a")
        and engine.holds("c")
        and not engine.holds("b")
    )
    with pytest.raises(ValueError, match="Model pair must be one of a, b, c"):
        engine.take("d")


def test_a_pair_that_cannot_be_loaded_takes_no_room():
    def broken():
        raise ValueError("there is no such pair")

    class Misspelled:
        check = staticmethod(broken)

        def __call__(self):
            raise AssertionError("nothing is loaded that was not found")

    engine = Engine({"a": toy, "b": toy, "broken": broken}, lambda title: Misspelled())
    engine.take("a"), engine.take("b")
    for title in ("broken", "org/typo|org/draft"):
        with pytest.raises(ValueError, match="no such pair"):
            engine.take(title)
        assert engine.holds("a") and engine.holds("b")


def test_the_models_offered(monkeypatch):
    loaded = []
    monkeypatch.setattr(specviz, "load_pair", lambda **names: loaded.append(names), raising=False)
    monkeypatch.delenv("SPECVIZ_PAIR", raising=False)
    monkeypatch.setenv("SPECVIZ_PAIRS", "some/Big|some/Small, /models/one/|early-exit:2 ,lonely")
    pairs = {title: load for title, load in models.offered().items() if not models.on_disk(title)}
    assert list(pairs) == [
        models.EMBEDDED,
        models.EARLY_EXIT,
        "Big + Small",
        "one + early-exit:2",
        "lonely",
    ]
    assert not loaded, "nothing is loaded before it is asked for"
    for load in pairs.values():
        load()
    assert loaded == [
        {},
        {"draft": "early-exit:3"},
        {"target": "some/Big", "draft": "some/Small"},
        {"target": "/models/one/", "draft": "early-exit:2"},
        {"target": "lonely", "draft": None},
    ]
    disk = models.OnDisk(lambda offload, progress: progress(0.3, f"Writing to {offload}: 3 of 12"))
    disk()
    assert disk.status == "Writing to disk: 3 of 12."
    monkeypatch.setenv("SPECVIZ_PAIRS", "a|b|c")
    with pytest.raises(ValueError, match="SPECVIZ_PAIRS must be like"):
        models.offered()


# ---- failures ----


def handler(error):
    raise error


def generator(error):
    yield "begun"
    raise error


ENDS = {
    handler: lambda made, error: made(error),
    generator: lambda made, error: list(made(error))[-1],
}


@pytest.mark.parametrize("work", ENDS)
def test_every_kind_of_handler_ends_in_a_sentence(work, caplog):
    made = explained(
        "It failed.", lambda text: {"said": text}, lambda error: f"{error} Try again."
    )(work)
    assert ENDS[work](made, ValueError("It is full.")) == {"said": "It is full. Try again."}
    assert not caplog.text
    assert ENDS[work](made, RuntimeError("secret")) == {
        "said": "It failed. See the server's log for the reason."
    }
    assert "secret" in caplog.text


def test_a_sentence_in_the_middle_of_a_run_is_shown_and_logged(caplog):
    assert reason(ValueError("The cache is full.")) == "The cache is full."
    assert "The cache is full." in caplog.text


# ---- the entry ----


def test_the_page_is_built_without_torch_and_from_any_folder(tmp_path):
    code = (
        # as Python does for a script
        f"import sys, runpy; sys.path.insert(0, {str(ROOT / 'app')!r});"
        f"runpy.run_path({str(ROOT / 'app' / 'app.py')!r});"
        "import app; assert app.__file__.endswith('__init__.py'), app.__file__;"
        "from app.page import build_demo; build_demo();"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
