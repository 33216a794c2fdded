"""A pair of the visitor's own: who may name one, what is said of it before it is loaded, and its
use."""

import json
from types import SimpleNamespace

import gradio as gr
import psutil
import pytest
from app.machine import models
from app.machine.engine import Engine

import specviz
from app.parts import own_pair
from app.parts.pairs import models_menu, offered

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
    assert (models.others() is not None) == allowed


def test_visitors_of_a_public_page_reach_no_folder(setting, tmp_path):
    setting("GRADIO_SERVER_NAME", "0.0.0.0")
    setting("SPECVIZ_CUSTOM", "1")
    take = models.others()
    assert (
        take("org/target|org/draft").target == "org/target"
        and take("a/b|early-exit:2").draft == "early-exit:2"
    )
    for name in (
        str(tmp_path),
        "/etc/nothing",
        "~/models",
        "..",
        "app/tabs",
        "org/target|../draft",
    ):
        with pytest.raises(ValueError, match="must be a name on the hub here, such as org/model"):
            take(name)


@pytest.fixture
def form(setting):
    """The form with two menus of pairs: its engine, its components by elem_id, and a call of its
    events."""
    engine = Engine({"This pair": specviz.toy_pair}, models.others())
    with gr.Blocks() as demo:
        menus = [models_menu(engine), models_menu(engine)]
        own_pair.lay_out(engine)
        own_pair.connect(demo, engine)
    parts = {
        block.elem_id: block for block in demo.blocks.values() if getattr(block, "elem_id", None)
    }

    def press(button, target, draft):
        (event,) = (
            one for one in demo.fns.values() if one.targets == [(parts[button]._id, "click")]
        )
        *_, last = event.fn(target, draft)
        return json.loads(last[parts[own_pair.REPORT]]), [last.get(menu) for menu in menus]

    return engine, press


@pytest.mark.adapter
def test_a_pair_is_checked_and_then_used(form, tmp_path):
    from tests.models.test_pair import save

    engine, press = form
    target, draft = save(tmp_path / "big"), save(tmp_path / "small", hidden_size=16)
    said, _ = press(own_pair.CHECK, target, draft)
    assert said["kind"] == "" and not engine.holds(f"{target}|{draft}")
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
    said, menus = press(own_pair.USE, target, draft)
    assert said["text"].startswith("In use: big + small.") and engine.holds(f"{target}|{draft}")
    for menu in menus:
        assert menu.value == f"{target}|{draft}" and ("big + small", menu.value) in menu.choices
    assert "no smaller than the target" in press(own_pair.CHECK, draft, target)[0]["text"]


@pytest.mark.adapter
@pytest.mark.parametrize("local", [True, False])
def test_only_this_machines_own_page_offers_a_visitors_pair_to_others(
    form, tmp_path, monkeypatch, local
):
    from tests.models.test_pair import save

    engine, press = form
    monkeypatch.setattr(own_pair, "local", lambda: local)
    target = save(tmp_path / "big")
    _, (menu, _) = press(own_pair.USE, target, "")
    assert ("big", target) in menu.choices and (("big", target) in offered(engine)[0]) == local


@pytest.mark.adapter
def test_a_pair_that_cannot_be_loaded_is_said_and_not_loaded(form, tmp_path, monkeypatch):
    from tests.models.test_pair import save

    engine, press = form
    target = save(tmp_path / "big")
    for names, sentence in (
        ((" ", ""), "Target must be a folder or a name on the hub"),
        ((["a"], ""), "Target must be"),
        ((target, ["a"]), "Draft must be text"),
        (("a|b", "c"), 'typed like "target|draft"'),
        ((str(tmp_path / "no"), ""), "neither a folder here nor a name on the hub"),
        ((target, str(tmp_path)), "must hold config.json"),
        (("x" * 401, ""), "at most 400"),
    ):
        for button in (own_pair.CHECK, own_pair.USE):
            said, menus = press(button, *names)
            assert said["kind"] == "error" and sentence in said["text"] and menus == [None, None]
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=10))
    said, _ = press(own_pair.USE, target, "")
    assert (
        said["kind"] == "error"
        and "but only 0.0 MB are free" in said["text"]
        and not engine.holds(target)
    )


@pytest.mark.adapter
def test_an_early_exit_is_named_and_damaged_weights_are_found(tmp_path):
    from tests.models.test_pair import save

    target = save(tmp_path / "big")
    assert own_pair.describe(target, "early-exit:1")[0] == "big + early-exit:1"
    (tmp_path / "big" / "model.safetensors").write_bytes(b"x" * 20)
    with pytest.raises(ValueError, match=r"model.safetensors is damaged"):
        own_pair.describe(target, None)
