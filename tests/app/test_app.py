"""The demo without a browser: its page, the engine, steps on their way to the page, the entry."""

import socket
import subprocess
import sys
from dataclasses import replace
from inspect import isasyncgenfunction, signature
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import pytest

import specviz
from app.page import STYLES, TABS, build_demo, launch
from app.service import offers as offering
from app.service import pairs
from app.service.decoding import PACE, batches, decode
from app.service.failures import explain
from app.service.loading import Loading
from app.service.pair_ref import EARLY_EXIT, SMOLLM2, TALES, PairRef
from specviz.base.files import WEB
from specviz.record.step import Timing
from specviz.view.payload import described
from tests.loops import in_a_loop

ROOT = Path(__file__).resolve().parents[2]
CONFIG = specviz.RunConfig(prompt="abc", max_new_tokens=30)


@pytest.fixture(scope="module")
def trace():
    return specviz.run(specviz.toy_pair(vocab=12), CONFIG)


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


def test_no_event_lets_gradio_look_at_values_and_no_component_keeps_a_state():
    """Gradio keeps the states of so many pages only, so nobody may miss his; the handlers check
    what they get."""
    demo = build_demo()
    for event in demo.fns.values():
        if event.fn and event.inputs and event.api_name != "generate":
            assert not event.preprocess, event.fn
    assert not [block for block in demo.blocks.values() if block.stateful]


# ---- steps on their way ----


def test_the_first_step_travels_at_once_and_the_others_by_time(trace):
    first, later = (
        replace(trace.steps[0], index=index, seconds=Timing(target=PACE / 4)) for index in (0, 1)
    )
    assert list(map(len, batches([first, *[later] * 6]))) == [1, 0, 0, 0, 4, 0, 0, 2]


def test_a_prompt_becomes_tokens_once_and_a_run_of_them_is_the_same(monkeypatch):
    pair, prompts = specviz.toy_pair(vocab=12), []
    expected = specviz.run(pair, CONFIG)
    encode = pair.encode
    monkeypatch.setattr(pair, "encode", lambda text: prompts.append(text) or encode(text))
    blank, *steps = decode(pair, CONFIG, warm_up=2)
    assert prompts == ["abc"]
    assert (blank.config, blank.prompt_text) == (CONFIG, "abc")
    assert [step.emitted for step in steps] == [step.emitted for step in expected.steps]


# ---- pairs ----


def test_the_models_offered(monkeypatch):
    loaded = []
    monkeypatch.setattr(specviz, "load_pair", lambda **names: loaded.append(names), raising=False)
    monkeypatch.delenv("SPECVIZ_PAIR", raising=False)
    monkeypatch.setenv("SPECVIZ_PAIRS", "some/Big|some/Small, /models/one/|early-exit:2 ,lonely")
    offers = offering.offered()
    named = ["some/Big|some/Small", "/models/one/|early-exit:2", "lonely"]
    assert list(offers) == [SMOLLM2, TALES, EARLY_EXIT, *named]
    assert [offers[name].label for name in named] == ["Big + Small", "one + early-exit:2", "lonely"]
    assert not loaded, "nothing is loaded before it is asked for"
    for name in (TALES, EARLY_EXIT, *named):
        ref = PairRef.read(name)
        offers[name].load(ref, Loading(ref))
    assert [{**names, "progress": None} for names in loaded] == [
        {"chat": None, "progress": None},
        {"draft": "early-exit:3", "chat": None, "progress": None},
        {"target": "some/Big", "draft": "some/Small", "chat": None, "progress": None},
        {"target": "/models/one/", "draft": "early-exit:2", "chat": None, "progress": None},
        {"target": "lonely", "chat": None, "progress": None},
    ]
    monkeypatch.setenv("SPECVIZ_PAIRS", "a|b|c")
    with pytest.raises(ValueError, match="SPECVIZ_PAIRS must be like"):
        offering.offered()


def test_a_pair_whose_weights_cannot_be_on_disk_has_them_in_memory_and_says_so(monkeypatch):
    def load(offload=None, **names):
        if offload:
            raise ValueError("The layers on disk failed: No space left. Free some.")
        return SimpleNamespace(info={"name": "embedded"})

    monkeypatch.setattr(specviz, "load_pair", load, raising=False)
    offered = pairs.Pairs(offering.offered())
    ref = PairRef(TALES, weights="disk")
    pair = offered.load_here(ref)
    why = "in memory, not on disk: The layers on disk failed: No space left"
    assert described(pair.info).endswith(f"weights {why}")


@pytest.mark.parametrize(
    ("models", "weights", "ref"),
    [
        ("tales", "disk", PairRef(TALES, weights="disk")),
        ("Embedded pair", "memory", PairRef(TALES)),
        ("Embedded pair, weights on disk", "memory", PairRef(TALES, weights="disk")),
        ("Tales 28M", "disk", PairRef(TALES, weights="disk")),
        ("tales|early-exit:3", "disk", PairRef(TALES, "early-exit:3")),
        ("", "memory", PairRef(SMOLLM2)),
    ],
)
def test_a_pair_is_found_by_its_names_its_label_and_what_older_links_call_it(models, weights, ref):
    assert pairs.Pairs(offering.offered()).find(models, weights) == ref


def test_what_is_no_pair_is_said():
    known = pairs.Pairs(offering.offered())
    for models, weights in (("nothing", "memory"), (["a"], "memory"), ("tales", "tape")):
        with pytest.raises(ValueError, match="must be"):
            known.find(models, weights)


# ---- failures ----


@pytest.mark.parametrize("server", [{}, {"server_name": "192.0.2.1"}], ids=["port", "address"])
def test_a_page_that_cannot_be_served_says_so_in_a_sentence(server):
    demo = build_demo(specviz.toy_pair, tabs=())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match="a free port at an address of this machine"):
            launch(demo, server_port=port, **server)


def test_a_visitor_is_shown_sentences_and_the_log_gets_the_rest(caplog):
    assert explain(ValueError("It is full."), "It failed.") == "It is full."
    assert not caplog.text
    shown = explain(RuntimeError("secret"), "It failed.")
    assert shown == "It failed. See the server's log for the reason."
    assert "secret" in caplog.text


class Fails:
    """A service that has no pair, or whose runs fail in a way that is no sentence."""

    def __init__(self, error):
        self.error = error

    async def __call__(self, *_):
        raise self.error
        yield


@pytest.mark.parametrize("error", [ValueError("It is full."), RuntimeError("secret")])
def test_every_handler_that_streams_ends_in_a_sentence(monkeypatch, error):
    """Whatever goes wrong in the service: of an exception that leaves a handler gradio would show
    nothing but "Error"."""
    demo = build_demo(lambda: specviz.toy_pair(vocab=12))
    monkeypatch.setattr(demo.service, "stream", Fails(error))
    handlers = {
        event.fn: event
        for event in demo.fns.values()
        if isasyncgenfunction(event.fn) and event.api_name != "generate"
    }
    assert {handler.__qualname__.partition(".")[0] for handler in handlers} >= {"Answers", "build"}

    async def last_of(handler, values):
        # gradio gives a handler its request, and the event to one that asks for it.
        special = {"request": None, "event": gr.EventData(None, None)}
        own = [special[name] for name in signature(handler).parameters if name in special]
        return [item async for item in handler(*own, *values)][-1]

    for handler, event in handlers.items():
        last = str(in_a_loop(last_of(handler, [control.value for control in event.inputs])))
        assert "It is full." in last or "failed." in last, (handler.__qualname__, last)
        assert "secret" not in last


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
