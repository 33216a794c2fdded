"""Links: what the controls hold survives the way through an address, and a stranger's address does
no harm."""

from urllib.parse import quote, urlencode

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
SCRIPT = "</script><img src=x onerror=window.hacked=1>${window.hacked=1}{{window.hacked=1}}`"


@pytest.fixture(scope="module")
def page():
    with gr.Blocks():
        settings = controls(
            gr.Textbox("a b c", label="Prompt"), specviz.RunConfig(max_new_tokens=96)
        )
        models = gr.Dropdown(["Embedded pair", "Other"], value="Embedded pair", label="Model pair")
    return links.Linked({"models": models}, settings)


def start(page):
    return {name: control.value for name, control in page.named.items()}


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
def test_every_parameter_of_everything_survives_the_way_through_a_link(page, kind, cls):
    texts = {name: changed(name, schema) for name, schema in cls.parameter_schema().items()}
    strategy = f"{cls.name}:{','.join(f'{name}={text}' for name, text in texts.items())}".rstrip(
        ":"
    )
    values = start(page) | OTHER | {"prompt": PROMPT, "models": "Other", kind: strategy}
    opened = links.read(page, "?" + links.write(page, list(values.values())))
    assert opened.changes == [] and page.read(list(opened.values.values())) == page.read(
        list(values.values())
    )
    assert opened.values["models"] == "Other" and opened.values["prompt"] == PROMPT
    for name, text in texts.items():  # as older links have it
        opened = links.read(page, urlencode({kind: cls.name, f"{kind}.{name}": text}))
        assert opened.changes == [] and opened.values[kind] == f"{cls.name}:{name}={text}"


def test_one_wrong_value_is_named_once_and_costs_nothing_else(page):
    for search, valid in (("?top_k=1.5", []), ("?top_k=1.5&seed=3", ["seed"])):
        opened = links.read(page, search)
        assert opened.changed == valid and len(opened.changes) == 1
        assert opened.changes[0].startswith("Top-k must be a whole number")


def test_what_the_page_opens_with_makes_a_link_too(page):
    opened = links.read(page, links.write(page, list(start(page).values())))
    assert opened.values == start(page) and opened.changes == []
    for value, text in ((0.6, "0.6"), (1.0, "1"), (1e-07, "1e-07")):
        assert links.text_of(gr.Slider(), value) == text, "as short as it can be"


def test_controls_may_stand_in_several_columns():
    with gr.Blocks():
        columns = lay_out(gr.Textbox("a b c", label="Prompt"))
    query = "c.builder=k-ary:width=3&b.builder.size=40&b.builder=dyspec"
    older = "a.decodes=plain&a.builder=chain&b.decodes=speculation"
    opened = links.read(columns, f"{query}&{older}&seed=4&builder=chain")
    _, b, c = (entry.config for entry in columns.read(list(opened.values.values())))
    assert (c.builder, c.seed) == (specviz.BUILDERS["k-ary"](width=3), 4)
    assert (b.builder, b.seed) == (specviz.BUILDERS["dyspec"](size=40), 4)
    assert opened.changes == ["“builder” is unknown and was ignored."]


LINKS = {  # each with a part of what is said
    f"builder={quote(SCRIPT)}": "Tree builder must be one of",
    f"{quote(SCRIPT)}=1&seed=2": "is unknown",
    "verifier=my-rule:size=3": "If it is a plugin",
    "builder=sequoia:16": "must be written like",
    "builder=sequoia:size=0": "Tree size",
    "builder=sequoia:acceptance=/etc/passwd": "Acceptance",
    f"builder.acceptance={'[' * 400}1{']' * 400}": "Acceptance",
    "builder=sequoia:size=3&builder.size=4": "each parameter",
    "builder=k-ary:width=32,depth=64": "at most 1024",
    "models=%2Fetc%2Fpasswd": "is not one of the choices",
    "temperature=9": "from 0 to 2; “9” was set to 2",
    "temperature=1e999": "set to 2",
    "temperature=nan": "be a number",
    "seed=1.5": "Seed must be",
    f"seed={'9' * 5000}": "Seed must be",
    "top_k=many": "Top-k must be",
    "prompt=": "Prompt must not be empty",
    f"prompt={'x' * 21_000}": "Prompt must have",
    "__proto__=1&constructor=1&seed=x": "“constructor” is unknown",
}


@pytest.mark.parametrize(("query", "words"), LINKS.items(), ids=lambda text: text[:30])
def test_a_hostile_link_gets_a_sentence_and_a_page_that_can_run(page, query, words):
    opened = links.read(page, "?" + query)
    said = links.sentence(opened)
    assert words in said and "\n" not in said and "Traceback" not in said and len(said) < 1500
    page.read(list(opened.values.values()))


def test_what_is_valid_in_a_link_is_used_and_the_rest_is_counted(page):
    opened = links.read(
        page, "&".join(f"a{i}=1" for i in range(100)) + "&seed=1&top_k=-3&temperature=0.5"
    )
    assert (opened.values["seed"], opened.values["temperature"], opened.values["top_k"]) == (
        1,
        0.5,
        "",
    )
    assert links.sentence(opened).count("ignored.") == 4, "of 101"


@pytest.mark.parametrize(
    "search",
    [None, {}, "?" + "seed=1&" * 300, "?prompt=" + "x" * 100_000],
    ids=lambda s: str(s)[:9],
)
def test_a_flood_is_not_opened_and_gets_a_sentence(page, search):
    with pytest.raises(ValueError, match=r"^The link was not opened: it .*\.$"):
        links.read(page, search)
    with pytest.raises(ValueError, match="too long for a link"):
        links.write(page, list((start(page) | {"prompt": "x" * 9000}).values()))


@pytest.mark.parametrize(
    "search", ["", "?&&&", "?%", "?utm_source=x", "?__theme=dark", "?tab=compare&step=5&node=2"]
)
def test_what_is_no_link_of_this_page_changes_nothing(page, search):
    opened = links.read(page, search)
    assert opened.changed == [] and opened.changes == []
