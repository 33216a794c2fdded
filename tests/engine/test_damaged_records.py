"""Saved runs from strangers: whatever they hold, reading ends in a sentence, and text stays
text."""

import json
import re

import pytest

import specviz
from specviz.view.offline import offline_page
from specviz.view.payload import recorded_message

SCRIPT = "</script><img src=x onerror=window.hacked=1>${window.hacked=1}{{window.hacked=1}}`"


@pytest.fixture(scope="module")
def text():
    config = specviz.RunConfig("abc", "sequoia:size=9", temperature=0.7, max_new_tokens=16)
    return specviz.run(specviz.toy_pair(vocab=9), config).to_json()


def put(*path_and_value):
    """A change that sets what stands at a path of keys."""
    *path, value = path_and_value

    def change(data):
        *keys, last = path
        for key in keys:
            data = data[key]
        data[last] = value

    return change


def many_nodes(data):
    n, step = 5000, data["steps"][0]
    step |= {"parents": [-1, *range(n - 1)], "tokens": [0] * n, "texts": [""] * n}
    step |= {"outcome": ["root"] + ["unreached"] * (n - 1)}
    step |= {
        name: [None] * n
        for name in (
            "draft_prob",
            "target_prob",
            "target_prob_at_1",
            "accept_prob",
            "coin",
            "keys",
        )
    }


def deep(levels):
    nested = 1
    for _ in range(levels):
        nested = {"a": [nested]}
    return nested


STEP = ("steps", 0)
DAMAGES = {
    **{
        f"no {field}": lambda data, field=field: data.pop(field)
        for field in ("schema", "config", "pair", "steps", "stop")
    },
    "a parent that comes later": put(*STEP, "parents", 1, 3),
    "a second root": put(*STEP, "parents", 2, -1),
    "a cycle of two": lambda data: (
        put(*STEP, "parents", 1, 2)(data),
        put(*STEP, "parents", 2, 1)(data),
    ),
    "a fractional parent": put(*STEP, "parents", 1, 0.5),
    "a column too short": lambda data: data["steps"][0]["texts"].pop(),
    "no nodes at all": put(*STEP, "parents", []),
    "more nodes than fit": many_nodes,
    "more steps than fit": put("steps", [0] * 20_001),
    "a step that is nothing": put("steps", 0, None),
    "another schema": put("schema", 2),
    "a schema as long as a book": put("schema", "x" * 10**6),
    "a pair whose name is a list": put("pair", "name", [1]),
    "a pair that is text": put("pair", SCRIPT),
    "a huge token": put(*STEP, "tokens", 1, 10**30),
    "a huge probability": put(*STEP, "draft_prob", 1, 1e300),
    "a probability below zero": put(*STEP, "target_prob", 1, -0.1),
    "a probability that is a huge whole number": put(*STEP, "coin", 1, int("9" * 4000)),
    "a probability that is no number": put(*STEP, "draft_prob", 1, float("nan")),
    "a coin below all numbers": put(*STEP, "coin", 1, -float("inf")),
    "endless seconds": put(*STEP, "seconds", "draft", 1e999),
    "a huge key": put(*STEP, "keys", 1, int("9" * 4000)),
    "huge seconds": put(*STEP, "seconds", "draft", int("9" * 4000)),
    "a huge number in a detail": put(*STEP, "detail", {"0": {"facts": {"rho": int("9" * 4000)}}}),
    "a detail that is a list": put(*STEP, "detail", [1]),
    "a detail as deep as a well": put(*STEP, "detail", deep(30)),
    "true as a number": put(*STEP, "start", True),
    "a detail of no node": put(*STEP, "detail", {"99": {}}),
    "a row that is too short": put(
        *STEP,
        "detail",
        {"0": {"after": {"tokens": [1, 2], "texts": ["a", "b"], "rows": {"p": [0.1]}}}},
    ),
    "a race of numbers": put(*STEP, "detail", {"0": {"race": {"target": 3}}}),
    "slots below no node": put(*STEP, "growth", {"waiting": [[[9999, 0.5]]]}),
    "slots without a key": put(*STEP, "growth", {"waiting": [[[0]]]}),
    "a split of too few nodes": put(*STEP, "growth", {"split": []}),
    "a length that is true": put(*STEP, "growth", {"length": True}),
    "a guess under a key of 5 000 digits": put(*STEP, "growth", {"guesses": {"9" * 5000: {}}}),
    "half a character": put(*STEP, "texts", 1, "\ud800"),
    "half a character as a name": put(*STEP, "detail", {"\ud800": {"rho": 1}}),
    "an enormous text": put(*STEP, "texts", 1, "x" * 300_000),
    "texts that are numbers": put(*STEP, "texts", 1, 1),
    "an unknown outcome": put(*STEP, "outcome", 1, SCRIPT),
    "an accepted node off the path": put(*STEP, "outcome", -1, "accepted"),
    "a text that was not decided": put(*STEP, "emitted", [1, 2, 3, 4, 5, 6, 7]),
    "a builder nobody knows": put("config", "builder", "name", SCRIPT),
    "a builder that is a list": put("config", "builder", "name", ["sequoia"]),
    "a verifier nobody knows": put("config", "verifier", "name", "__class__"),
    "a parameter nobody knows": put("config", "builder", "parameters", {"__init__": 1}),
    "a vector of text": put("config", "builder", "parameters", {"acceptance": ["x"]}),
    "a huge temperature": put("config", "temperature", int("9" * 4000)),
}

CUT = {
    "nothing": "",
    "a word": "hello",
    "null": "null",
    "a list": "[]",
    "zero bytes": "\x00" * 100,
    "a mountain": "[" * 10**6,
    "a huge literal": "9" * 10**5,
    "nan": '{"schema":NaN}',
    "infinity": '{"schema":3,"steps":[Infinity]}',
    "a twin key": '{"schema":1,"schema":2}',
}


def rejected(text):
    """Reading a text ends in one sentence, in words of this project."""
    with pytest.raises(ValueError) as caught:
        recorded_message(specviz.Trace.from_json(text)).encode()
    sentence = str(caught.value)
    assert "Traceback" not in sentence and len(sentence) < 600
    assert not re.search(r"codec|max\(\)|float\(\)|NoneType|argument|unpack|iterable", sentence), (
        sentence
    )


@pytest.mark.parametrize("change", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_run_is_answered_by_a_sentence(text, change):
    data = json.loads(text)
    change(data)
    rejected(json.dumps(data))


@pytest.mark.parametrize(
    "content", [*CUT.values(), 0.01, 0.999], ids=[*CUT, "its beginning", "all but its end"]
)
def test_what_is_no_run_is_answered_by_a_sentence(text, content):
    rejected(content if isinstance(content, str) else text[: int(content * len(text))])


def test_all_text_of_a_run_stays_text_and_unknown_fields_are_left_behind(text):
    data = json.loads(text) | {"__proto__": {"hacked": 1}, "html": SCRIPT}
    data["prompt_text"] = data["pair"]["name"] = SCRIPT
    for step in data["steps"]:
        step["texts"] = [SCRIPT] * len(step["texts"])
        step["emitted_texts"] = [SCRIPT] * len(step["emitted_texts"])
        step["scheme"] = SCRIPT
    trace = specviz.Trace.from_json(json.dumps(data))
    message, page = recorded_message(trace), offline_page(trace)
    assert "<" not in message and json.loads(message)["head"]["prompt"] == SCRIPT
    assert "__proto__" not in message and page.count("<script") == 2 and "<img src" not in page
