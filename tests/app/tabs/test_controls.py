"""Controls of a run: what the pickers offer and mark, what the controls are read as, and the
sentences of bad input."""

import json
import re
from typing import Annotated, ClassVar, Literal

import gradio as gr
import pytest
from pydantic import Field

import specviz
from app.tabs.parts import controls, menus
from specviz.config.strategy import Strategy


@pytest.fixture(scope="module")
def settings():
    with gr.Blocks():
        return controls.controls(
            gr.Textbox("a b c", label="Prompt"), specviz.RunConfig(max_new_tokens=96)
        )


def read(settings, **changes):
    """What the controls are read as with some values changed."""
    return settings.read(
        [changes.get(name, control.value) for name, control in settings.named.items()]
    )


class Sample(Strategy):
    """One field of every kind."""

    name: ClassVar[str] = "sample"
    title: ClassVar[str] = "Sample"
    size: int = Field(16, ge=1, le=64, title="Nodes", description="How many.")
    ratio: float = Field(0.5, ge=0.0, le=1.0, title="Ratio")
    greedy: bool = Field(True, title="Greedy")
    shape: tuple[Annotated[int, Field(ge=1, le=8)], ...] = Field(
        (4, 2, 1), min_length=1, title="Widths"
    )
    vector: Literal["auto"] | tuple[float, ...] = Field("auto", title="Vector")
    order: Literal["first", "last"] = "first"
    nodes: Literal["auto"] | Annotated[int, Field(ge=2, le=32)] = 8


def test_a_parameter_is_drawn_from_its_schema():
    size, ratio, greedy, shape, vector, order, nodes = menus.fields(Sample())
    assert size == {
        "name": "size",
        "label": "Nodes",
        "help": "How many.",
        "value": "16",
        "type": "number",
        "min": 1,
        "max": 64,
        "step": 1,
    }
    assert (ratio["type"], ratio["step"], greedy["type"], greedy["value"]) == (
        "number",
        0.01,
        "flag",
        "true",
    )
    assert (shape["type"], shape["value"], vector["type"]) == ("text", "4,2,1", "text")
    assert (order["type"], order["options"]) == ("choice", ["first", "last"])
    # A slider, whose box takes the word too.
    assert [nodes[name] for name in ("type", "min", "max", "word")] == ["number", 2, 32, "auto"]


@pytest.mark.parametrize("kind", ["builder", "verifier", "drafter"])
def test_every_strategy_but_plain_decoding_is_offered_and_read(settings, kind):
    drawn = menus.drawn_menus()[kind]
    registry = {
        "builder": specviz.BUILDERS,
        "verifier": specviz.VERIFIERS,
        "drafter": specviz.DRAFTERS,
    }[kind]
    assert [one["name"] for one in drawn] == list(registry)
    for one in drawn:
        if one["name"] == "plain":
            continue
        assert getattr(read(settings, **{kind: one["name"]}), kind) == registry[one["name"]]()
        parts = [f"{field['name']}={field['value']}" for field in one["fields"]]
        text = f"{one['name']}:{','.join(parts)}".rstrip(":")
        assert getattr(read(settings, **{kind: text}), kind) == registry[one["name"]](), (
            "its defaults, written out"
        )


def test_the_page_opens_with_the_library_s_defaults(settings):
    assert read(settings) == specviz.RunConfig("a b c", max_new_tokens=96)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("temperature", None, "Temperature must .* The box is empty"),
        ("temperature", "hot", "Temperature must"),
        ("temperature", True, "Temperature must"),
        ("top_k", "1.5", "Top-k must"),
        ("seed", -4, "Seed must"),
        ("max_new_tokens", 10**9, "New tokens must be at most 512"),
        ("builder", "plain", "Tree builder must be one of"),
        ("builder", "sequoia:size=5000", r"Sequoia: Tree size \(nodes\) must"),
        ("drafter", {"name": "model"}, "Drafter must"),
        ("verifier", "sequoia:size", "Verification rule must be written like"),
        ("prompt", " \n", "Prompt must not be empty"),
        ("prompt", {"a": 1}, "Prompt must not"),
        ("prompt", "a" * 30_000, "Prompt must have at most"),
    ],
)
def test_bad_input_gets_one_sentence(settings, name, value, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        read(settings, **{name: value})


def test_optional_numbers_may_be_left_empty(settings):
    config = read(settings, draft_temperature=" ", top_k="")
    assert config.draft_temperature is None and config.top_k is None
    config = read(settings, draft_temperature="0.5", top_k="40")
    assert config.draft_temperature == 0.5 and config.top_k == 40


@pytest.mark.parametrize("temperature", [0, 0.6])
@pytest.mark.parametrize("builder", ["sequoia", "sequoia:size=2", "chain", "dyspec", "lookahead"])
@pytest.mark.parametrize("rule", ["sequoia", "race", "speculative-sampling", "typical"])
def test_the_marks_say_what_compatible_says(builder, rule, temperature):
    config = specviz.RunConfig("any", builder, rule, temperature=temperature)
    for kind, found in menus.marks(config).items():
        for name, cls in menus.offered(kind).items():
            values = {
                "builder": config.builder,
                "verifier": config.verifier,
                "drafter": config.drafter,
            } | {kind: cls()}
            match = specviz.compatible(specviz.RunConfig("any", temperature=temperature, **values))
            fine = match.possible and match.lossless and match.useful
            assert (name in found) == (not fine and name != getattr(config, kind).name)
            assert name not in found or match.reason in found[name]


def test_an_impossible_configuration_gets_the_nearest_that_is_possible():
    fix = menus.nearest(specviz.RunConfig("any", "sequoia", "speculative-sampling"))
    assert fix["search"].startswith("?verifier=") and fix["label"].startswith("Use ")


def test_the_button_of_an_engine_sets_its_tree_and_rule_in_the_browser(settings):
    with gr.Blocks() as page:
        pickers = {kind: controls.picker(kind, specviz.RunConfig()) for kind in controls.LABELS}
        controls.engines_menu(pickers)
    (event,) = page.fns.values()
    chosen = json.loads(re.search(r"\((\{.*\})\)", event.js)[1])
    assert event.outputs[1:] == [pickers["builder"], pickers["verifier"]]
    assert chosen.keys() == controls.ENGINE_PRESETS.keys()
    for name, values in chosen.items():
        builder, verifier = values
        config = read(settings, builder=builder, verifier=verifier, temperature=1)
        assert specviz.compatible(config).possible, name
        assert [builder, verifier] == [
            controls.ENGINE_PRESETS[name][kind] for kind in ("builder", "verifier")
        ]
