"""Links: what the controls hold survives the way through an address."""

from urllib.parse import parse_qs

import gradio as gr
import pytest

import specviz
from app.tabs.compare.settings import lay_out
from app.tabs.parts import links
from app.tabs.parts.controls import controls
from tests.growing import BUILDERS, VERIFIERS

PROMPT = 'He said: "100 % & more?"\n\tdef f(x):  # über 🌳 <b>${x}</b>'
OTHER = {
    "temperature": 0.35,
    "max_new_tokens": 40,
    "seed": 2**53,
    "draft_temperature": "0.25",
    "top_p": 0.9,
    "top_k": "17",
}


@pytest.fixture(scope="module")
def settings():
    with gr.Blocks():
        return controls(gr.Textbox("a b c", label="Prompt"), specviz.RunConfig(max_new_tokens=96))


def start(settings):
    return {name: control.value for name, control in settings.named.items()}


def changed(name, schema):
    """The text of a value of a parameter that is not its default."""
    default, low, high = schema.get("default"), schema.get("minimum"), schema.get("maximum")
    if high is None and isinstance(default, float):
        high = default + 1  # it has no end
    match schema.get("type"):
        case "integer":
            return str(default + 1 if default < high else default - 1)
        case "number":
            return str((default + high) / 2 if default < high else (default + low) / 2)
        case "boolean":
            return str(not default).lower()
        case "array":
            return "3.0,1.0" if name == "costs" else "3,1"
    lists = {"acceptance": "0.5,0.25", "costs": "1.0,1.5", "draft_cost": "0.25,0.5", "size": "auto"}
    return lists.get(name, "0.25")


ALL = [("builder", cls) for cls in BUILDERS.values()] + [
    ("verifier", cls) for cls in VERIFIERS.values()
]


@pytest.mark.parametrize(
    ("kind", "cls"), ALL, ids=lambda item: item if isinstance(item, str) else item.name
)
def test_every_parameter_of_everything_survives_the_way_through_a_link(settings, kind, cls):
    texts = {name: changed(name, schema) for name, schema in cls.parameter_schema().items()}
    strategy = f"{cls.name}:{','.join(f'{name}={text}' for name, text in texts.items())}".rstrip(
        ":"
    )
    values = start(settings) | OTHER | {"prompt": PROMPT, kind: strategy}
    query = parse_qs(links.write(settings.named, list(values.values())), keep_blank_values=True)
    opened = [text for name in settings.named for text in query[name]]
    assert settings.read(opened) == settings.read(list(values.values()))


def test_controls_may_stand_in_several_columns():
    with gr.Blocks():
        columns = lay_out(gr.Textbox("a b c", label="Prompt"))
    values = start(columns) | {"b.builder": "k-ary:width=3"}
    query = parse_qs(links.write(columns.named, list(values.values())), keep_blank_values=True)
    opened = [text for name in columns.named for text in query[name]]
    assert columns.read(opened) == columns.read(list(values.values()))


def test_numbers_are_as_short_as_they_can_be():
    for value, text in ((0.6, "0.6"), (1.0, "1"), (1e-07, "1e-07"), (None, "")):
        assert links.text_of(gr.Slider(), value) == text
