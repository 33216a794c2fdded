"""The endpoint `/generate`, called by gradio_client as another program would, and what it
rejects."""

import json
import re
import threading
from itertools import pairwise
from pathlib import Path

import gradio as gr
import gradio_client
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from pages import Gated

import specviz
from app import api
from app.page import build_demo
from tests.loops import in_a_loop

ROOT = Path(__file__).resolve().parents[2]
CONFIG = specviz.RunConfig(prompt="abc", max_new_tokens=20)


@pytest.fixture
def client(serve):
    """A function that serves a pair and connects to it."""
    clients = []

    def connect(pair=None, url=None):
        clients.append(
            gradio_client.Client(url or serve(pair or specviz.toy_pair(vocab=12)), verbose=False)
        )
        return clients[-1]

    yield connect
    for one in clients:
        one.close()


@pytest.fixture(scope="module")
def generate():
    """The endpoint as a function."""
    demo = build_demo(lambda: specviz.toy_pair(vocab=12))
    (fn,) = [fn for fn in demo.fns.values() if fn.api_name == "generate"]
    assert fn.concurrency_limit is None, "the service has a queue of its own"

    def call(**arguments):
        async def items():
            return [item async for item in fn.fn(None, **arguments)]

        return in_a_loop(items())

    return call


def test_it_streams_the_text_every_step_and_then_the_trace(client):
    builder, verifier = (
        specviz.BUILDERS["k-ary"](width=3, depth=2),
        specviz.VERIFIERS["specinfer"](),
    )
    job = client().submit(
        "abc",
        builder="k-ary:width=3,depth=2",
        verifier="specinfer",
        temperature=0.9,
        top_p=0.95,
        top_k=9,
        draft_temperature=0.7,
        max_new_tokens=20,
        seed=3,
        api_name="/generate",
    )
    items = list(job)
    while not any(items[0]):  # the pair was being loaded
        items.pop(0)
    config = specviz.RunConfig("abc", builder, verifier, 0.9, 0.95, 9, 0.7, 20, 3)
    expected = specviz.run(specviz.toy_pair(vocab=12), config)
    *steps, (text, none, whole) = items
    trace = specviz.Trace.from_json(whole)
    assert (
        text == trace.text == expected.text
        and none == ""
        and trace.config.to_dict() == config.to_dict()
    )
    assert [step[2] for step in steps] == [""] * len(steps) and len(steps) == len(expected.steps)
    assert [json.loads(step[1])["tokens"] for step in steps] == [
        list(step.tokens) for step in expected.steps
    ]
    assert [json.loads(step[1]) for step in steps] == json.loads(whole)["steps"]
    texts = [step[0] for step in steps]
    assert texts[-1] == text and all(later.startswith(sooner) for sooner, later in pairwise(texts))


def test_only_the_prompt_must_be_given_and_it_is_the_only_public_endpoint(client):
    connected = client()
    endpoints = connected.view_api(return_format="dict", print_info=False)
    assert (
        list(endpoints["named_endpoints"]) == ["/generate"] and not endpoints["unnamed_endpoints"]
    )
    endpoint = endpoints["named_endpoints"]["/generate"]
    assert [
        p["parameter_name"] for p in endpoint["parameters"] if not p["parameter_has_default"]
    ] == ["prompt"]
    assert all(
        part["python_type"]["type"] != "Any"
        for part in [*endpoint["parameters"], *endpoint["returns"]]
    )
    defaults = {p["parameter_name"]: p["parameter_default"] for p in endpoint["parameters"]}
    assert "tree speculative decoding" in endpoint["description"]
    text, _, whole = connected.predict("abc", api_name="/generate")
    config = specviz.Trace.from_json(whole).config
    assert text and all(
        getattr(config, name) == defaults[name]
        for name in ("temperature", "top_p", "top_k", "seed")
    )
    assert (
        config.builder.name == defaults["builder"] and config.verifier.name == defaults["verifier"]
    )


def test_the_example_of_the_readme(serve, tmp_path, monkeypatch, capsys):
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text("utf-8"), re.DOTALL
    )
    (code,) = [block for block in blocks if "gradio_client" in block]
    assert "http://127.0.0.1:7860" in code
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(code.replace("http://127.0.0.1:7860", serve(specviz.toy_pair(vocab=12))), names)
    names["client"].close()
    trace = specviz.Trace.from_json((tmp_path / "run.json").read_text("utf-8"))
    assert trace.text in capsys.readouterr().out and trace.config.builder.name == "dyspec"


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"prompt": ["a"]}, "prompt"),
        ({"prompt": "x" * 20_001}, "prompt"),
        ({"builder": "sequioa"}, "builder"),
        ({"builder": {"name": "chain"}}, "builder"),
        ({"builder": f"sequoia:acceptance={__file__}"}, "sequoia.acceptance"),
        ({"temperature": "warm"}, "temperature"),
        ({"temperature": None}, "temperature"),
        ({"seed": 1e300}, "seed"),
        ({"max_new_tokens": True}, "max_new_tokens"),
        ({"max_new_tokens": 10**9}, "max_new_tokens"),
        ({"builder": "k-ary", "verifier": "block"}, "Block"),
        ({"models": ["This pair"]}, "models"),
        ({"weights": "disk"}, "weights"),
        ({"plain_rounds": -1}, "plain_rounds"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_wrong_gets_a_sentence(generate, wrong, name):
    with pytest.raises(gr.Error) as error:
        list(generate(**({"prompt": "abc"} | wrong)))
    assert error.value.message.startswith(name) and not error.value.print_exception


def test_an_error_reaches_the_program_as_its_sentence(client):
    connected = client()
    with pytest.raises(Exception, match="max_new_tokens must be at most 512 here"):
        connected.predict("abc", max_new_tokens=10**6, api_name="/generate")
    assert connected.predict("abc", max_new_tokens=5, api_name="/generate")[0]


def test_a_crash_tells_no_secrets_and_the_next_run_is_served(client, caplog):
    connected = client(Gated(fail_at=3))
    job = connected.submit("abc", api_name="/generate")
    with pytest.raises(
        Exception, match=r"^The run failed\. See the server's log for the reason\.$"
    ):
        job.result()
    assert sum(bool(step) for _, step, _ in job.outputs()) == 2, (
        "what was decoded before has arrived"
    )
    assert connected.predict("abc", max_new_tokens=5, api_name="/generate")[2]
    assert "the target broke" in caplog.text


def test_it_waits_in_line_with_others_and_a_client_that_leaves_frees_the_machine(serve, client):
    pair = Gated(permits=2)
    url = serve(pair)
    first, second = client(url=url), client(url=url)
    running = first.submit("abc", max_new_tokens=50, api_name="/generate")
    while pair.passes < 2:
        threading.Event().wait(0.01)
    waiting = second.submit("abc", max_new_tokens=5, api_name="/generate")
    while not waiting.outputs():  # it is told that it waits
        assert not waiting.done()
    leaving = threading.Thread(target=running.cancel)  # is answered when the pass under way is over
    leaving.start()
    pair.gate.release(10**6)
    leaving.join()
    assert waiting.result()[0]


# ---- the same as a tool for agents, called by the protocol's own client ----


def talk(url, what):
    """The answer of `what(session)` in a conversation of its own."""

    async def conversation():
        async with (
            streamable_http_client(f"{url}gradio_api/mcp/") as (reads, writes, _),
            ClientSession(reads, writes) as session,
        ):
            await session.initialize()
            return await what(session)

    return in_a_loop(conversation())


def test_the_one_tool_writes_what_the_library_writes(serve):
    url = serve(specviz.toy_pair(vocab=12))
    (tool,) = talk(url, lambda session: session.list_tools()).tools
    assert tool.name == "generate" and "tree speculative decoding" in tool.description
    assert (
        tool.inputSchema["required"] == ["prompt"] and "drafter" in tool.inputSchema["properties"]
    )

    asked = {
        "prompt": "abc",
        "builder": "chain",
        "verifier": "block",
        "max_new_tokens": 9,
        "seed": 4,
    }
    answer = talk(url, lambda session: session.call_tool("generate", asked))
    config = specviz.RunConfig("abc", "chain", "block", 0.8, max_new_tokens=9, seed=4)
    text = specviz.run(specviz.toy_pair(vocab=12), config).text
    assert not answer.isError and text in answer.content[0].text
    assert json.dumps(config.prompt) in answer.content[0].text, "the whole trace is handed over"


def test_what_is_wrong_reaches_an_agent_as_a_sentence(serve):
    answer = talk(
        serve(specviz.toy_pair(vocab=12)),
        lambda session: session.call_tool("generate", {"prompt": "abc", "temperature": -3}),
    )
    assert answer.isError and answer.content[0].text.startswith(
        "temperature must be 0 or a number from 0.001;"
    )


def test_a_call_that_makes_no_sense_is_answered_by_a_sentence(serve, capfd):
    url = serve(specviz.toy_pair(vocab=12))
    for arguments, sentence in (
        ({"prompt": "abc", "sise": 1}, "'sise' is not a"),
        ({}, "prompt is required"),
    ):
        answer = talk(
            url, lambda session, arguments=arguments: session.call_tool("generate", arguments)
        )
        assert answer.isError and sentence in answer.content[0].text
    assert "Traceback" not in capfd.readouterr().err


def test_messages_take_the_place_of_the_prompt():
    chat = [{"role": "user", "content": "Why?"}]
    assert api.messages_of(json.dumps(chat)) == chat
    config = api.config_of(
        prompt=chat, builder="chain", verifier="naive", drafter="model", temperature=0
    )
    assert config == specviz.RunConfig(chat, "chain", "naive", 0)
    for wrong in ("Why?", "{}", '["Why?"]', "[", None):
        with pytest.raises(ValueError, match="messages must be a JSON list"):
            api.messages_of(wrong)


def test_messages_for_a_pair_that_knows_no_chats_get_a_sentence(generate):
    chat = json.dumps([{"role": "user", "content": "Why?"}])
    with pytest.raises(gr.Error, match="without a chat template"):
        generate(prompt="", messages=chat)
