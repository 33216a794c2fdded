"""Traces and links from strangers: whatever they hold, the answer is a sentence, and text stays text."""

import json
import re
from urllib.parse import quote

import gradio as gr
import httpx
import pytest

import specviz
from app.parts import links
from app.parts import shelf as keeping
from app.parts.controls import controls
from specviz.player.offline import offline_page
from specviz.player.payload import recorded_message
from tests.loops import in_a_loop

SCRIPT = "</script><img src=x onerror=window.hacked=1>${window.hacked=1}{{window.hacked=1}}`"


@pytest.fixture(scope="module")
def text():
    config = specviz.RunConfig("abc", specviz.BUILDERS["sequoia"](size=9), temperature=0.7, max_new_tokens=16)
    return specviz.run(specviz.toy_pair(vocab=9), config).to_json()


# ---- traces ----


def put(*path_and_value):
    """A change that sets what stands at a path of keys."""
    *path, value = path_and_value

    def change(data):
        *keys, last = path
        for key in keys:
            data = data[key]
        data[last] = value

    return change


def drop(*path):
    def change(data):
        *keys, last = path
        for key in keys:
            data = data[key]
        del data[last]

    return change


def many_steps(data):
    data["steps"] = [0] * 20_001


def many_nodes(data):
    step = data["steps"][0]
    n = 5000
    step |= {
        "parents": [-1, *range(n - 1)],
        "tokens": [0] * n,
        "texts": [""] * n,
        "outcome": ["root"] + ["unreached"] * (n - 1),
    }
    step |= {
        name: [None] * n for name in ("draft_prob", "target_prob", "target_prob_plain", "accept_prob", "coin", "keys")
    }


def deep(levels):
    nested = 1
    for _ in range(levels):
        nested = {"a": [nested]}
    return nested


STEP = ("steps", 0)
DAMAGES = {
    "a parent that comes later": put(*STEP, "parents", 1, 3),
    "a node that is its own parent": put(*STEP, "parents", 1, 1),
    "a second root": put(*STEP, "parents", 2, -1),
    "a cycle of two": lambda data: (put(*STEP, "parents", 1, 2)(data), put(*STEP, "parents", 2, 1)(data)),
    "a parent far away": put(*STEP, "parents", 1, 10**9),
    "a fractional parent": put(*STEP, "parents", 1, 0.5),
    "a column too short": lambda data: data["steps"][0]["texts"].pop(),
    "a column too long": lambda data: data["steps"][0]["coin"].append(0.5),
    "no nodes at all": put(*STEP, "parents", []),
    "more nodes than fit": many_nodes,
    "more steps than fit": many_steps,
    "steps that are an object": put("steps", {"0": 1}),
    "a step that is nothing": put("steps", 0, None),
    "no steps": put("steps", []),
    "another schema": put("schema", 2),
    "a schema that is text": put("schema", "1 or 1=1"),
    "a schema as long as a book": put("schema", "x" * 10**6),
    "no schema": drop("schema"),
    "no configuration": drop("config"),
    "a pair without a name": put("pair", {}),
    "a pair whose name is a list": put("pair", "name", [1]),
    "a pair that is text": put("pair", SCRIPT),
    "a huge token": put(*STEP, "tokens", 1, 10**30),
    "a token as large as a whole number can be written": put(*STEP, "tokens", 1, int("9" * 4000)),
    "a huge probability": put(*STEP, "draft_prob", 1, 1e300),
    "a probability below zero": put(*STEP, "target_prob", 1, -0.1),
    "a probability that is a huge whole number": put(*STEP, "coin", 1, int("9" * 4000)),
    "a huge key": put(*STEP, "keys", 1, int("9" * 4000)),
    "huge seconds": put(*STEP, "seconds", "draft", int("9" * 4000)),
    "seconds that are missing": drop(*STEP, "seconds", "draft"),
    "a huge number in a detail": put(*STEP, "detail", {"0": {"facts": {"rho": int("9" * 4000)}}}),
    "a detail that is a list": put(*STEP, "detail", [1]),
    "a detail as deep as a well": put(*STEP, "detail", deep(30)),
    "growth as deep as a well": put(*STEP, "growth", deep(30)),
    "half a character": put(*STEP, "texts", 1, "\ud800"),
    "half a character in a piece": put(*STEP, "pieces", 0, "\udfff"),
    "half a character in a detail": put(*STEP, "detail", {"0": {"texts": ["\ud800"]}}),
    "half a character as a name": put(*STEP, "detail", {"\ud800": {"rho": 1}}),
    "an enormous text": put(*STEP, "texts", 1, "x" * 300_000),
    "texts that are numbers": put(*STEP, "texts", 1, 1),
    "an unknown outcome": put(*STEP, "outcome", 1, SCRIPT),
    "an accepted node off the path": put(*STEP, "outcome", -1, "accepted"),
    "a text that was not decided": put(*STEP, "emitted", [1, 2, 3, 4, 5, 6, 7]),
    "a builder nobody knows": put("config", "builder", "name", SCRIPT),
    "a builder that is a path": put("config", "builder", "name", "../../etc/passwd"),
    "a builder that is a list": put("config", "builder", "name", ["sequoia"]),
    "a verifier nobody knows": put("config", "verifier", "name", "__class__"),
    "a parameter nobody knows": put("config", "builder", "parameters", {"__init__": 1}),
    "a parameter out of range": put("config", "builder", "parameters", {"size": 10**9}),
    "a parameter of a wrong kind": put("config", "builder", "parameters", {"size": {"a": 1}}),
    "a vector of text": put("config", "builder", "parameters", {"acceptance": ["x"]}),
    "a vector that is an object": put("config", "builder", "parameters", {"acceptance": {"a": 1}}),
    "a vector with a huge number": put("config", "builder", "parameters", {"acceptance": [int("9" * 4000)]}),
    "parameters that are a list": put("config", "builder", "parameters", [1]),
    "a temperature below zero": put("config", "temperature", -1),
    "a huge temperature": put("config", "temperature", int("9" * 4000)),
    "a top-k of zero": put("config", "top_k", 0),
    "a seed that is text": put("config", "seed", "0"),
    "an empty prompt": put("config", "prompt", ""),
    "a prompt of letters": put("config", "prompt", ["a"]),
}

CUT = {
    "nothing": "",
    "a space": " ",
    "a word": "hello",
    "null": "null",
    "a number": "1",
    "a list": "[]",
    "an object": "{}",
    "text": '"trace"',
    "a brace": "{",
    "zero bytes": "\x00" * 100,
    "a byte order mark": "\ufeff{}",
    "a picture": "\x89PNG\r\n",
    "a page": "<!doctype html><script>alert(1)</script>",
    "a thousand brackets": "[" * 1000,
    "a mountain": "[" * 10**6,
    "a mountain of objects": '{"a":' * 10**5,
    "a huge literal": "9" * 10**5,
    "nan": '{"schema":NaN}',
    "infinity": '{"schema":3,"steps":[Infinity]}',
    "a twin key": '{"schema":1,"schema":2}',
}


def rejected(text):
    """What the page gets, where it must be an error; nothing but a ValueError may come out of the library."""
    for reader in (specviz.Trace.from_json, lambda text: offline_page(specviz.Trace.from_json(text))):
        try:
            reader(text)
        except ValueError as error:
            assert "Traceback" not in str(error) and len(str(error)) < 600, error
    answer = json.loads(in_a_loop(keeping.open_trace(text)))
    assert set(answer) == {"error"}, "it was opened"
    sentence = answer["error"]
    assert sentence.startswith("This file was not opened. ") and "\n" not in sentence and len(sentence) < 600
    assert not re.search(r"codec|max\(\)|float\(\)|NoneType|argument|unpack|iterable", sentence), sentence
    return sentence


@pytest.mark.parametrize("change", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_trace_is_answered_by_a_sentence(text, change):
    data = json.loads(text)
    change(data)
    rejected(json.dumps(data))


@pytest.mark.parametrize("text", CUT.values(), ids=CUT.keys())
def test_what_is_no_trace_is_answered_by_a_sentence(text):
    rejected(text)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3, 0.5, 0.9, 0.999])
def test_a_trace_that_was_cut_off_is_answered_by_a_sentence(text, share):
    assert "truncated or damaged" in rejected(text[: int(share * len(text))])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize("name", ["draft_prob", "coin", "keys", "draft"])
def test_numbers_that_are_none_are_answered_by_a_sentence(text, name, number):
    name = f'"{name}":'
    at = text.index(name) + len(name)
    at += text[at] == "["
    end = re.compile(r"[,\]}]").search(text, at).start()
    rejected(text[:at] + number + text[end:])


@pytest.mark.parametrize("value", [None, 1, [], {}, True, {"text": "{}"}], ids=str)
def test_what_is_not_even_text_is_answered_by_a_sentence(value):
    rejected_as = json.loads(in_a_loop(keeping.open_trace(value)))
    assert "must be JSON text of at most 4 MB" in rejected_as["error"]


def test_ten_megabytes_are_rejected_before_they_are_read(text, monkeypatch):
    monkeypatch.setattr(specviz.Trace, "from_json", lambda text: pytest.fail("it was read"))
    assert "at most 4 MB" in json.loads(in_a_loop(keeping.open_trace(text + " " * 10_000_000)))["error"]


def test_all_text_of_a_trace_stays_text(text):
    data = json.loads(text)
    data["prompt_text"] = data["pair"]["name"] = SCRIPT
    for step in data["steps"]:
        step["texts"] = [SCRIPT] * len(step["texts"])
        step["pieces"] = [SCRIPT] * len(step["pieces"])
        step["scheme"] = SCRIPT
    found = in_a_loop(keeping.open_trace(json.dumps(data)))
    assert "<" not in found and json.loads(found)["head"]["prompt"] == SCRIPT
    page = offline_page(specviz.Trace.from_json(json.dumps(data)))
    assert page.count("<script") == 2 and "<img" not in page


def test_fields_nobody_knows_are_left_behind(text):
    data = json.loads(text) | {"__proto__": {"hacked": 1}, "html": SCRIPT}
    trace = specviz.Trace.from_json(json.dumps(data))
    assert SCRIPT not in trace.to_json() and "hacked" not in recorded_message(trace)


@pytest.mark.parametrize(
    "name", [None, 1, [], {}, "../story", "recorded\x00", "run 1", "x" * 10**5], ids=lambda name: str(name)[:20]
)
@pytest.mark.parametrize("kind", ["json", "html"])
def test_only_a_run_on_the_screen_can_be_saved(name, kind):
    assert json.loads(in_a_loop(keeping.save({"run": name, "kind": kind}))) == {"error": keeping.GONE}


@pytest.mark.parametrize(
    "asked", [None, [], "recorded", {}, {"run": "recorded", "kind": "py"}, {"kind": ["html"]}], ids=str
)
def test_a_save_that_makes_no_sense_gets_a_sentence(asked):
    keeping.SHELF.always("recorded", lambda: "{}")
    assert set(json.loads(in_a_loop(keeping.save(asked)))) == {"error"}


# ---- links ----


@pytest.fixture(scope="module")
def page():
    with gr.Blocks():
        settings = controls(gr.Textbox("a b c", label="Prompt"))
        models = gr.Dropdown(["Embedded pair"], value="Embedded pair", label="Model pair")
    return links.Together({"models": models}, {"": settings})


LINKS = {  # each with a part of what is said
    "seed=%3Cscript%3Ealert(1)%3C/script%3E": "Seed must be a number",
    f"builder={quote(SCRIPT)}": "Tree builder “</script>",
    f"{quote(SCRIPT)}=1&seed=2": "is unknown",
    "builder=": "is not one of the choices",
    "builder=Sequoia": "is not one of the choices",
    "verifier=../../x": "not one of the choices",
    "models=org/model": "Model pair “org/model” is not one of",
    "models=%2Fetc%2Fpasswd": "is not one of the choices",
    "temperature=9": "from 0 to 2; “9” was set to 2",
    "temperature=-1": "set to 0",
    "temperature=1e999": "set to 2",
    "temperature=nan": "must be a number",
    "temperature=inf": "must be a number",
    "temperature=0x1": "must be a number",
    "temperature=%EF%BC%92": "must be a number",
    "temperature=1_0": "must be a number",
    "temperature=": "must be a number",
    f"temperature=1{'0' * 5000}": "set to 2",
    "seed=-4": "Seed must be a whole number from 0",
    "seed=1.5": "Seed must be",
    f"seed={'9' * 5000}": "Seed must be",
    "seed=true": "must be a number",
    "seed=%00": "must be a number",
    "seed=1&seed=2": "“seed” is given more than once",
    "seed=1;seed=2": "must be a number",
    "seed": "must be a number",
    "max_new_tokens=100000": "New tokens must be at most",
    "max_new_tokens=0": "New tokens must be",
    "top_p=0": "set to 0.05",
    "top_k=0": "Top-k must be",
    "top_k=1.5": "Top-k must be",
    "top_k=many": "Top-k must be",
    "draft_temperature=-1": "Draft temperature must be",
    "draft_temperature=warm": "Draft temperature must be",
    "builder.size=99999999": "set to 1024",
    "builder=sequoia:size=0": "set to 1",
    "builder=sequoia:16": "is not one of the choices",
    "builder=sequoia:acceptance=/etc/passwd": "must list numbers",
    "builder=sequoia:depht=3": "“builder.depht” is unknown",
    "builder=sequoia:size=3&builder.size=4": "given more than once",
    "builder.size=2.5": "must be a whole number",
    "builder=branching&builder.widths=a,b": "must list whole numbers",
    f"builder=branching&builder.widths={'9' * 5000}": "must",
    f"builder.acceptance={'[' * 9000}": "Acceptance must list",
    "builder.acceptance=NaN": "must list numbers",
    f"builder.acceptance={'[' * 400}1{']' * 400}": "must list",
    "builder.acceptance=__import__('os')": "must list numbers",
    "builder=k-ary&builder.width=32&builder.depth=64": "at most 1024 nodes",
    "builder.nonsense=1&seed=1": "is unknown",
    "verifier.threshold=1&verifier=race": "“verifier.threshold” is unknown",
    "prompt=": "Prompt must not be empty",
    f"prompt={'x' * 21_000}": "Prompt must have at most",
    "__proto__=1&constructor=1&seed=x": "“constructor” is unknown",
}


@pytest.mark.parametrize(("query", "sentence"), LINKS.items(), ids=lambda text: text[:30])
def test_a_hostile_link_gets_a_sentence_and_a_page_that_can_run(page, query, sentence):
    opened = links.read(page, "?" + query)
    said = links.sentence(opened)
    assert sentence in said and "\n" not in said and "Traceback" not in said and len(said) < 1500
    page.read(opened.values)


@pytest.mark.parametrize(
    "search",
    [None, 1, [], {}, "?" + "seed=1&" * 300, "?prompt=" + "x" * 100_000, "&".join(f"a{i}=1" for i in range(201))],
    ids=lambda search: str(search)[:12],
)
def test_a_flood_is_not_opened_and_gets_a_sentence(page, search):
    with pytest.raises(ValueError, match=r"^The link was not opened: it .*\.$"):
        links.read(page, search)


@pytest.mark.parametrize(
    "search", ["", "?", "?&&&", "?%", "?utm_source=x", "?__theme=dark", "?tab=compare", "?step=5&node=2"]
)
def test_what_is_no_link_of_this_page_changes_nothing(page, search):
    opened = links.read(page, search)
    assert opened.given == [] and opened.changes == []


@pytest.mark.parametrize("prompt", ["%ff%fe", "%ED%A0%80", "%00", "%E2%80%AE", "%F0%9F%8C%B3", "a%0Ab"])
def test_prompts_of_any_bytes_become_text(page, prompt):
    opened = links.read(page, f"prompt={prompt}")
    assert opened.changes == [] and opened.values[1].encode()


def test_many_changes_are_counted_not_listed(page):
    said = links.sentence(links.read(page, "&".join(f"a{i}=1" for i in range(100)) + "&seed=1"))
    assert said.endswith("96 more changes.")


def test_an_address_of_this_page_makes_no_sentence_of_its_own(page):
    start = [control.value for control in page.inputs]
    with pytest.raises(ValueError, match="too long for a link"):
        links.write(page, ["Embedded pair", "x" * 9000, *start[2:]])


# ---- requests ----

BIG = int("9" * 400)
FILE = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}


def asked(client, body):
    """The status and the text that an event ends with, whichever way it is asked for."""
    done = client.post("run/predict" if body.pop("direct") else "queue/join", json=body)
    if "event_id" not in done.text:
        return done.status_code, done.text
    with client.stream("GET", "queue/data", params={"session_hash": body["session_hash"]}) as lines:
        return next((200, line) for line in lines.iter_lines() if "process_completed" in line)


@pytest.fixture
def client(serve):
    with httpx.Client(base_url=f"{serve()}gradio_api/", timeout=60, trust_env=False) as client:
        yield client


@pytest.mark.parametrize("value", [BIG, ["a"], {"a": 1}, [[[[]]]], None, "x", True, FILE], ids=lambda v: str(v)[:12])
def test_no_event_stumbles_over_a_value(client, sites, value, capfd):
    for event in sites[None].demo.fns.values():
        if event.fn and event.inputs and event.api_name != "generate":
            body = {"data": [value] * len(event.inputs), "fn_index": event._id, "session_hash": "values"}
            status, text = asked(client, body | {"direct": not event.queue})
            assert status < 500 and '"error":null' not in text, (event.name, text)
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err


@pytest.mark.parametrize("data", [None, 1, "x", [1], [], {"a": BIG}, FILE], ids=lambda v: str(v)[:12])
def test_no_event_stumbles_over_what_it_is_told(client, sites, data, capfd):
    told = [event for event in sites[None].demo.fns.values() if event.collects_event_data]
    assert len(told) > 3
    for event in told:
        body = {"data": [None] * len(event.inputs), "fn_index": event._id, "session_hash": "told", "event_data": data}
        status, text = asked(client, body | {"direct": not event.queue})
        assert 400 <= status < 500 and '"error":' in text, (event.name, text)
    assert "Traceback" not in capfd.readouterr().err


REQUESTS = {  # path -> bodies that make no sense, each with a part of what is said
    "queue/join": (
        ([1], "an object in JSON"), ({"dta": []}, "fn_index must be"), ({"data": [], "fn_index": BIG}, "fn_index"),
        ({"data": [], "fn_index": 9, "session_hash": "x" * 65}, "session_hash must be text of at most 64"),
        ({"data": "x", "fn_index": 9, "session_hash": "a"}, "data must be a list of"),
    ),
    "call/v2/generate": (
        ({"prompt": "abc", "sise": 3}, "'sise' is not a parameter. The parameters are"), ({}, "prompt must be given"),
        ({"prompt": "abc", "temperature": BIG}, "temperature must contain only finite numbers of at most 300 digits"),
        ({"prompt": "abc", "builder": {"size": BIG}}, "builder must contain only finite numbers"),
        ({"prompt": "abc", "builder": {"a": [1] * 9000}}, "at most 4,000 characters"),
    ),
    "call/generate": (({"data": ["abc"]}, "data must be a list of 12 values"),),
    "component_server": (
        ({"data": 1}, "component_id, fn_name"), ({"data": 1, "component_id": [1], "fn_name": "save"}, "component_id"),
        ({"data": 1, "component_id": 0, "fn_name": "__init__", "session_hash": "a"}, "component_id, fn_name"),
    ),
    "mcp/": (([1], "an object in JSON"),),
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body", "sentence"), [(path, *case) for path, cases in REQUESTS.items() for case in cases]
)
def test_a_request_that_makes_no_sense_gets_a_sentence(client, path, body, sentence, capfd):
    done = client.post(path, json=body)
    assert 400 <= done.status_code < 500 and sentence in done.json()["error"]
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("body", [b"{", b'{"data": ' + b"[" * 5000, b"\xff", b"NaN"])
def test_a_body_that_is_no_json_gets_a_sentence(client, body, capfd):
    for path in ("queue/join", "component_server/", "call/v2/generate", "mcp/"):
        done = client.post(path, content=body, headers={"content-type": "application/json"})
        assert 400 <= done.status_code < 500 and done.json()["error"].endswith(".")
    assert "Traceback" not in capfd.readouterr().err
