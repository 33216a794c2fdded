"""Runs as GraphML and DOT: read back by a parser, whatever texts hold."""

import html
import re
from dataclasses import replace
from io import BytesIO

import networkx
import pytest

import specviz
from specviz.player.graph import dot, graphml, run_graph

HOSTILE = (
    'a"];b->c [x="', "\\", '\\"', "</node>&amp;<!--]]>", "\x00\x08\x1b", "\r\n\t", "\ud800", "\uffff", "é🌳", "\\N"
)  # fmt: skip
WRITTEN = (
    'a"];b->c [x="', "\\", '\\"', "</node>&amp;<!--]]>", "\\x00\\x08\\x1b", "\\r\n\t", "\\ud800", "\\uffff", "é🌳",
    "\\N",
)  # fmt: skip
STRING = r'"(?:[^"\\]|\\["\\n])*"'
NODE = re.compile(rf"({STRING}) \[((?:\w+={STRING}(?:, |\]$))+)")
EDGE = re.compile(rf"({STRING}) -> ({STRING})")


@pytest.fixture(scope="module")
def trace():
    """A run whose first tree has hostile texts."""
    config = specviz.RunConfig("abc", builder=specviz.BUILDERS["sequoia"](size=16), max_new_tokens=30)
    trace = specviz.run(specviz.toy_pair(vocab=12), config)
    first = trace.steps[0]
    texts = (*HOSTILE, *first.texts[len(HOSTILE) :])
    return replace(trace, prompt_text="".join(HOSTILE), steps=(replace(first, texts=texts), *trace.steps[1:]))


def unquoted(text):
    return html.unescape(re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), text[1:-1]))


def read_dot(text):
    """Nodes with their data, and edges; a line that is neither is an error."""
    first, direction, *lines, last = text.split("\n")[:-1]
    assert (first, direction, last) == ("digraph run {", "rankdir=LR", "}")
    nodes, edges = {}, []
    for line in lines:
        if edge := EDGE.fullmatch(line):
            edges.append((unquoted(edge[1]), unquoted(edge[2])))
        else:
            name, data = NODE.fullmatch(line).groups()
            nodes[unquoted(name)] = {key: unquoted(value) for key, value in re.findall(rf"(\w+)=({STRING})", data)}
    return nodes, edges


def test_a_step_is_a_networkx_tree_with_its_columns(trace):
    step = trace.steps[1]
    graph = step.to_networkx()
    assert networkx.is_arborescence(graph) and set(graph.nodes) == set(range(len(step.parents)))
    assert [graph.nodes[node]["outcome"] for node in graph] == list(step.outcome)
    assert "draft_prob" not in graph.nodes[0] and graph.nodes[1]["draft_prob"] == step.draft_prob[1]
    assert graph.nodes[1]["drafter"] == "model"


def test_a_run_is_one_tree_whose_roots_and_accepted_nodes_are_the_text(trace):
    graph = run_graph(trace)
    assert networkx.is_arborescence(graph)
    path = networkx.shortest_path(graph, "0.0", f"{len(trace.steps)}.0")
    assert tuple(graph.nodes[node]["tokens"] for node in path[1:]) == trace.tokens


def test_graphml_reads_back_with_every_text(trace):
    back, graph = networkx.read_graphml(BytesIO(graphml(trace).encode())), run_graph(trace)
    assert [back.nodes[f"0.{node}"]["texts"] for node in range(len(HOSTILE))] == list(WRITTEN)
    assert dict(back.nodes.data()) == dict(graph.nodes.data()) and set(back.edges) == set(graph.edges)
    assert back.graph["prompt"] == "".join(WRITTEN)


def test_dot_reads_back_with_every_text(trace):
    nodes, edges = read_dot(dot(trace))
    graph = run_graph(trace)
    assert [nodes[f"0.{node}"]["label"] for node in range(len(HOSTILE))] == list(WRITTEN)
    assert set(nodes) == set(graph) and set(edges) == set(graph.edges)
    assert nodes["1.1"]["draft_prob"] == str(trace.steps[1].draft_prob[1])


def test_a_run_without_steps_is_an_empty_graph(trace):
    empty = replace(trace, steps=())
    assert not run_graph(empty) and read_dot(dot(empty)) == ({}, [])
    assert not networkx.read_graphml(BytesIO(graphml(empty).encode()))
