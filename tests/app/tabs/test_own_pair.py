"""A pair of the visitor's own: who may name one, what is said of it before it is loaded, and its
use."""

import json
from types import SimpleNamespace

import gradio as gr
import psutil
import pytest

import specviz
from app.service.fetching import any_pair
from app.service.pair_ref import PairRef
from app.service.service import RunService
from app.tabs.parts import own_pair
from app.tabs.parts.pairs import models_menu
from tests.loops import in_a_loop, one_pair

SETTINGS = ("SPACE_ID", "SYSTEM", "GRADIO_SERVER_NAME", "SPECVIZ_PAIR")


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
        ({"GRADIO_SERVER_NAME": "0.0.0.0"}, False),
        ({"SPACE_ID": "me/specviz"}, False),
        ({"SPECVIZ_PAIR": "toy"}, False),
    ],
)
def test_a_local_page_takes_any_pair_and_any_other_none(setting, settings, allowed):
    for name, value in settings.items():
        setting(name, value)
    assert (any_pair() is not None) == allowed


@pytest.fixture
def form(setting):
    """The form with two menus of pairs: its service, its components by elem_id, and a call of its
    events."""
    service = RunService(one_pair(specviz.toy_pair))
    service.pairs.other = any_pair()
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
    service.requests.process.end()


@pytest.mark.adapter
def test_a_pair_is_loaded_and_then_used(form, tmp_path):
    from tests.models.test_pair import save

    service, press = form
    target, draft = save(tmp_path / "big"), save(tmp_path / "small", hidden_size=16)
    said, menus = press(own_pair.USE, target, draft)
    assert said["text"].startswith("In use: big + small.") and service.pairs.get(
        PairRef(target, draft)
    )
    for menu in menus:
        assert menu.value == f"{target}|{draft}" and ("big + small", menu.value) in menu.choices


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
        (("x" * 401, ""), 'like "target|draft"'),
    ):
        said, menus = press(own_pair.USE, *names)
        assert said["kind"] == "error" and sentence in said["text"] and menus == [None, None]
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=10))
    said, _ = press(own_pair.USE, target, "")
    assert said["kind"] == "error" and "but only 0.0 MB are free" in said["text"]
    assert not service.pairs.get(PairRef(target))


@pytest.mark.adapter
def test_damaged_weights_are_found(form, tmp_path):
    from tests.models.test_pair import save

    target = save(tmp_path / "big")
    (tmp_path / "big" / "model.safetensors").write_bytes(b"x" * 20)
    said, _ = form[1](own_pair.USE, target, "")
    assert "safetensors is damaged" in said["text"]


def test_every_well_known_pair_names_a_target_and_a_draft():
    for models in own_pair.WELL_KNOWN.values():
        ref = PairRef.read(models)
        assert ref.target and ref.draft
