"""The browser's code as the page and an exported run get it."""

import json
import re

import pytest

import specviz
from specviz.base import files as shipped
from specviz.view import payload, web, words


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A function that writes modules into a folder of their own."""
    monkeypatch.setattr(web, "WEB", tmp_path)
    web.joined.cache_clear()

    def write(**modules):
        for name, code in modules.items():
            (tmp_path / f"{name}.js").write_text(code, encoding="utf-8")

    yield write
    web.joined.cache_clear()


def test_modules_are_joined_in_the_order_of_their_needs(files):
    files(
        a=(
            "import { one as uno } from './b.js';\nimport {\n  two,\n} from './c.js';\nexport "
            "const sum = uno + two;\n"
        ),
        b="import { two } from './c.js';\nexport const one = two - 1;\n",
        c="const two_ = 2;\nexport const two = two_;\nexport async function later() {}\n",
    )
    code = web.joined("a.js")
    assert [name for name in re.findall(r"^const (\w+) = \(\(\)", code, re.M)] == ["c", "b", "a"]
    assert (
        "const { one: uno } = b; const { two, } = c; const sum = uno + two; return { sum };"
        in " ".join(code.split())
    )
    assert "return { two, later };" in code


def test_comments_on_lines_of_their_own_stay_at_home(files):
    block = "/**\n * four * /\n */\n  /** five */\n"
    files(a=f"// one\nexport const a = '// two'; // three\n{block}const b = /** six */ (a);\n")
    code = web.joined("a.js")
    assert not re.search("one|four|five", code)
    assert "const a = '// two'; // three\nconst b = /** six */ (a);\n" in code


@pytest.mark.parametrize(
    ("modules", "sentence"),
    [
        (
            {"a": "import { b } from './b.js';\n", "b": "import { a } from './a.js';\n"},
            r"in a circle: a\.js imports b\.js imports a\.js",
        ),
        ({"a": "export default 1;\n"}, r"a\.js must only use import"),
        ({"a": "import './b.js';\n"}, r"a\.js must only use import"),
    ],
)
def test_what_cannot_be_joined_is_said(files, modules, sentence):
    files(**modules)
    with pytest.raises(ValueError, match=sentence):
        web.joined("a.js")


@pytest.mark.parametrize("entry", ["index.js", "offline.js"])
def test_the_scripts_stand_inside_a_page(entry):
    code = web.joined(entry)
    assert web.exports(entry)
    assert not re.search("</script|<!--", code, re.IGNORECASE), (
        "it would end the script of an exported page"
    )


def test_the_browser_has_the_same_words():
    served = web.joined("index.js")
    assert (
        "const base_words = (() => {" in served
        and f'"rejected": "{words.OUTCOMES["rejected"]}"' in served
    )


def test_the_browser_has_the_types_of_what_it_is_sent():
    trace = specviz.run(specviz.toy_pair(), specviz.RunConfig("abc", max_new_tokens=8))
    sent = json.loads(payload.recorded_message(trace))
    types = (shipped.WEB / "base/run.d.ts").read_text("utf-8")
    for name, one in (
        ("Head", sent["head"]),
        ("Figures", sent["figures"]),
        ("Sent", sent["steps"][0]),
    ):
        body = re.search(rf"interface {name} \{{\n(.*?)\n\}}", types, re.DOTALL)[1]
        assert set(re.findall(r"^  (\w+)\??:", body, re.M)) == set(one)


@pytest.mark.parametrize(
    "name", sorted(file.relative_to(shipped.WEB).as_posix() for file in shipped.WEB.rglob("*.css"))
)
def test_no_selector_has_a_list_in_brackets(name):
    """Gradio prefixes what stands between two commas, so that such a list would outrank rules that
    come after it."""
    rules = re.sub(r"/\*.*?\*/", "", (shipped.WEB / name).read_text("utf-8"), flags=re.DOTALL)
    assert not re.findall(r":(?:is|not|has|where)\([^){}]*,[^{}]*\{", rules)
