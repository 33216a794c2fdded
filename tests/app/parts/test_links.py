"""Links: what the controls hold survives the way through an address, and a stranger's address does no harm."""

from urllib.parse import urlencode

import gradio as gr
import pytest

import specviz
from app.parts import links
from app.parts.controls import controls
from tests.growing import BUILDERS, VERIFIERS

PROMPT = 'He said: "100 % & more?"\n\tdef f(x):  # über 🌳 <b>${x}</b>'
OTHER = {
    "temperature": 0.35, "max_new_tokens": 40, "seed": 2**53, "draft_temperature": "0.25", "top_p": 0.9, "top_k": "17",
}  # fmt: skip


@pytest.fixture(scope="module")
def page():
    with gr.Blocks():
        settings = controls(gr.Textbox("a b c", label="Prompt"))
        models = gr.Dropdown(["Embedded pair", "Other"], value="Embedded pair", label="Model pair")
    return links.Together({"models": models}, {"": settings})


def start(page):
    return [control.value for control in page.inputs]


def fill(page, **wanted):
    """The values of all controls with some of them changed, by the names of links."""
    values = start(page)
    for _ in range(2):
        for i, name in enumerate(page.names(values)):
            if name in wanted:
                values[i] = wanted[name]
    return values


def other(name, schema):
    """A value of a parameter that is not its default, as its control holds it, and as its field does."""
    default, low, high = schema["default"], schema.get("minimum"), schema.get("maximum")
    match schema.get("type"):
        case "integer":
            return (default + 1 if default < high else default - 1,) * 2
        case "number":
            return ((default + high) / 2 if default < high else (default + low) / 2,) * 2
        case "boolean":
            return (not default,) * 2
        case "array":
            return "3, 1", (3, 1)
    return ("0.5, 0.25", (0.5, 0.25)) if name == "acceptance" else ("0.25", 0.25)


ALL = [("builder", cls) for cls in BUILDERS.values()] + [("verifier", cls) for cls in VERIFIERS.values()]


@pytest.mark.parametrize(("kind", "cls"), ALL, ids=lambda item: item if isinstance(item, str) else item.name)
def test_every_parameter_of_everything_survives_the_way_through_a_link(page, kind, cls):
    changed = {name: other(name, schema) for name, schema in cls.parameter_schema().items()}
    wanted = {kind: cls.name} | {f"{kind}.{name}": shown for name, (shown, _) in changed.items()}
    values = fill(page, prompt=PROMPT, models="Other", **OTHER, **wanted)
    opened = links.read(page, "?" + links.write(page, values))
    assert opened.changes == []
    assert page.read(opened.values) == page.read(values)
    assert getattr(page.read(opened.values)[0], kind) == cls(**{name: held for name, (_, held) in changed.items()})
    assert opened.values[0] == "Other" and opened.values[1] == PROMPT


@pytest.mark.parametrize(("kind", "cls"), ALL, ids=lambda item: item if isinstance(item, str) else item.name)
def test_every_parameter_may_stand_alone(page, kind, cls):
    for name, schema in cls.parameter_schema().items():
        shown, held = other(name, schema)
        query = urlencode({kind: cls.name, f"{kind}.{name}": str(shown).lower() if isinstance(shown, bool) else shown})
        opened = links.read(page, query)
        assert opened.changes == [] and getattr(getattr(page.read(opened.values)[0], kind), name) == held


def test_what_the_page_opens_with_makes_a_link_too(page):
    opened = links.read(page, links.write(page, start(page)))
    assert opened.values == start(page) and opened.changes == []


def test_controls_may_stand_in_several_columns():
    with gr.Blocks():
        prompt = gr.Textbox("a b c", label="Prompt")
        columns = links.Together({}, {"a.": controls(prompt), "b.": controls(prompt)})
    query = "a.builder=k-ary:width=3&b.builder=dyspec&b.builder.size=40&b.seed=4&builder=chain"  # b as older links are
    opened = links.read(columns, query)
    a, b = columns.read(opened.values)
    assert (a.builder, a.seed) == (specviz.BUILDERS["k-ary"](width=3), 0)
    assert (b.builder, b.seed) == (specviz.BUILDERS["dyspec"](size=40), 4)
    assert opened.changes == ["“builder” is unknown and was ignored."]
    again = links.read(columns, links.write(columns, opened.values))
    assert again.values == opened.values and again.changes == []


def test_a_choice_of_buttons_decides_which_parameters_there_are():
    class Switch:
        """A choice between a number and nothing."""

        def __init__(self):
            with gr.Blocks():
                kind = gr.Radio(["speculation", "off"], value="off", label="Kind")
                menu = gr.Dropdown(["one", "two"], value="one", label="Menu")
                self.inputs = [kind, menu, gr.Slider(1, 9, value=3, label="Number")]

        def names(self, values):
            on = values[0] == "speculation"
            return ["kind", "menu" if on else None, "number" if on and values[1] == "two" else None]

        def read(self, values):
            return values

    assert links.read(Switch(), "kind=speculation&menu=two&number=7").values == ["speculation", "two", 7]
    assert links.read(Switch(), "kind=off&menu=two&number=7").values == ["off", "one", 3]
    assert links.write(Switch(), ["speculation", "one", 4]) == "kind=speculation&menu=one"
    sentence = links.sentence(links.read(Switch(), "kind=maybe&number=70"))
    assert "Kind “maybe” is not one of the choices" in sentence


def test_a_link_to_an_unknown_rule_says_that_it_may_be_a_plugin(page):
    opened = links.read(page, "?verifier=my-rule:size=3&temperature=0.5")
    assert len(opened.given) == 1 and opened.changes[0] == (
        "Verification rule “my-rule” is not one of the choices and was ignored; "
        "if it is a plugin, start the page with it."
    )
