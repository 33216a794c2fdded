"""A pair of the visitor's own: who may name one, what is said of it before it is loaded, and its
use."""

import json
from types import SimpleNamespace
from unittest import mock

import gradio as gr
import psutil
import pytest

import specviz
from app.service import sizes
from app.service.fetching import others
from app.service.pair_ref import PairRef
from app.service.process import Requests
from app.service.service import RunService
from app.tabs.parts import own_pair
from app.tabs.parts.pairs import models_menu
from tests.loops import SameProcess, in_a_loop, one_pair

SETTINGS = ("SPACE_ID", "SYSTEM", "GRADIO_SERVER_NAME", "SPECVIZ_CUSTOM", "SPECVIZ_PAIR")


@pytest.fixture
def setting(monkeypatch):
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch.setenv


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({}, True),
        ({"GRADIO_SERVER_NAME": "::1"}, True),
        ({"SPECVIZ_CUSTOM": "0"}, False),
        ({"GRADIO_SERVER_NAME": "0.0.0.0"}, False),
        ({"GRADIO_SERVER_NAME": "0.0.0.0", "SPECVIZ_CUSTOM": "1"}, True),
        ({"SPACE_ID": "me/specviz"}, False),
        ({"SPACE_ID": "me/specviz", "SPECVIZ_CUSTOM": "1"}, False),
        ({"SPECVIZ_PAIR": "toy"}, False),
    ],
)
def test_a_local_page_takes_any_pair_and_a_space_none(setting, settings, allowed):
    for name, value in settings.items():
        setting(name, value)
    assert (others(None) is not None) == allowed


def test_visitors_of_a_public_page_reach_no_folder(setting, tmp_path):
    setting("GRADIO_SERVER_NAME", "0.0.0.0")
    setting("SPECVIZ_CUSTOM", "1")
    take = others(None)
    assert take(PairRef("org/target", "org/draft")).label == "target + draft"
    assert not take(PairRef("a/b", "early-exit:2")).trusted
    for name in (
        str(tmp_path),
        "/etc/nothing",
        "~/models",
        "..",
        "app/tabs",
        "org/target|../draft",
    ):
        with pytest.raises(ValueError, match="must be a name on the hub here, such as org/model"):
            take(PairRef.read(name))


@pytest.fixture
def form(setting):
    """The form with two menus of pairs: its service, its components by elem_id, and a call of its
    events."""
    trials = Requests(SameProcess(), 9)
    service = RunService(one_pair(specviz.toy_pair), trials)
    service.pairs.other = others(trials)
    with gr.Blocks() as demo:
        first = service.pairs.first
        menus = [models_menu(service, first), models_menu(service, first)]
        own_pair.lay_out(service)
        own_pair.connect(demo, service)
    parts = {
        block.elem_id: block for block in demo.blocks.values() if getattr(block, "elem_id", None)
    }

    def press(button, target, draft):
        (event,) = (
            one for one in demo.fns.values() if one.targets == [(parts[button]._id, "click")]
        )

        async def click():
            return [update async for update in event.fn(None, target, draft)]

        last = in_a_loop(click())[-1]
        return json.loads(last[parts[own_pair.REPORT]]), [last.get(menu) for menu in menus]

    yield service, press
    service.shut_down(0)


@pytest.mark.adapter
def test_a_pair_is_checked_and_then_used(form, tmp_path):
    from tests.models.test_pair import save

    service, press = form
    target, draft = save(tmp_path / "big"), save(tmp_path / "small", hidden_size=16)
    said, menus = press(own_pair.USE, target, draft)
    assert said["text"].startswith("In use: big + small.") and service.pairs.get(
        PairRef(target, draft)
    )
    counts = [
        sum(part.numel() for part in specviz.load_pair(name).target.model.parameters())
        for name in (target, draft)
    ]
    for sentence in (
        "The vocabulary has 281 tokens.",
        f"Parameters: {counts[0]:,} and {counts[1]:,}.",
        "Texts may have up to 64 tokens.",
        "of memory are needed; ",
    ):
        assert sentence in said["text"]
    for menu in menus:
        assert menu.value == f"{target}|{draft}" and ("big + small", menu.value) in menu.choices
    assert "no smaller than the target" in press(own_pair.USE, draft, target)[0]["text"]


@pytest.mark.adapter
@pytest.mark.parametrize("local", [True, False])
def test_only_this_machines_own_page_offers_a_visitors_pair_to_others(
    form, tmp_path, monkeypatch, local
):
    from tests.models.test_pair import save

    service, press = form
    monkeypatch.setattr(own_pair, "local", lambda: local)
    target = save(tmp_path / "big")
    _, (menu, _) = press(own_pair.USE, target, "")
    assert ("big", target) in menu.choices and (("big", target) in service.pairs.choices()) == local


@pytest.mark.adapter
def test_a_pair_that_cannot_be_loaded_is_said_and_not_loaded(form, tmp_path, monkeypatch):
    from tests.models.test_pair import save

    service, press = form
    target = save(tmp_path / "big")
    for names, sentence in (
        ((" ", ""), "Target must be a folder or a name on the hub"),
        ((["a"], ""), "Target must be"),
        ((target, ["a"]), "Draft must be text"),
        (("a|b|d", "c"), 'like "target|draft"'),
        ((str(tmp_path / "no"), ""), "is neither a folder nor"),
        ((target, str(tmp_path)), "must hold config.json"),
        (("x" * 401, ""), "at most 400"),
    ):
        said, menus = press(own_pair.USE, *names)
        assert said["kind"] == "error" and sentence in said["text"] and menus == [None, None]
    monkeypatch.setattr(own_pair, "describe", no_room)
    said, _ = press(own_pair.USE, target, "")
    assert said["kind"] == "error" and "but only 0.0 MB are free" in said["text"]
    assert not service.pairs.get(PairRef(target))


def no_room(target, draft):
    """What is found, in another process, where there is hardly any memory."""
    free = SimpleNamespace(available=10)
    with mock.patch.object(psutil, "virtual_memory", return_value=free):
        return sizes.describe(target, draft)


@pytest.mark.adapter
def test_damaged_weights_are_found(tmp_path):
    from tests.models.test_pair import save

    target = save(tmp_path / "big")
    assert sizes.describe(target, "early-exit:1").fits
    (tmp_path / "big" / "model.safetensors").write_bytes(b"x" * 20)
    with pytest.raises(ValueError, match=r"model.safetensors is damaged"):
        sizes.describe(target, "")
