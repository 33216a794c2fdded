"""The endpoint as a tool for agents, called by the protocol's own client."""

import json

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

import specviz
from tests.loops import in_a_loop


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
    assert tool.inputSchema["required"] == ["prompt"] and "drafter" in tool.inputSchema["properties"]

    asked = {"prompt": "abc", "builder": "chain", "verifier": "block", "max_new_tokens": 9, "seed": 4}
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
    assert answer.isError and answer.content[0].text.startswith("temperature must be 0 or a number from 0.001;")


def test_a_call_that_makes_no_sense_is_answered_by_a_sentence(serve, capfd):
    url = serve(specviz.toy_pair(vocab=12))
    for arguments, sentence in (({"prompt": "abc", "sise": 1}, "'sise' is not a"), ({}, "prompt is required")):
        answer = talk(url, lambda session, arguments=arguments: session.call_tool("generate", arguments))
        assert answer.isError and sentence in answer.content[0].text
    assert "Traceback" not in capfd.readouterr().err
