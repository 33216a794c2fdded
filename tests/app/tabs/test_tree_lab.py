"""The Tree lab without a browser: trees from a vector and sizes, and what it answers to any request."""

import json

import pytest

from app.tabs.labs import tree_lab
from app.tabs.labs.tree_lab import OTHERS, SIX, presets, tree_of, trees
from specviz.acceptance.vectors import expected_tokens
from specviz.tree import Topology

VECTOR = (0.6, 0.2, 0.1)
GOOD = {"vector": list(VECTOR), "nodes": 16, "levels": 5, "width": 3}


def answer(**changes):
    return json.loads(trees(GOOD | changes))


@pytest.mark.parametrize("sizes", [(2, 1, 1), (16, 5, 3), (64, 11, 3), (200, 4, 16)])
@pytest.mark.parametrize("name", [*SIX, *OTHERS])
def test_every_tree_keeps_to_its_sizes_and_brings_what_its_shape_is_worth(name, sizes):
    tree, (nodes, levels, width) = tree_of(name, VECTOR, *sizes), sizes
    shape = Topology(tuple(tree["parents"]))
    assert tree["nodes"] == len(shape) <= nodes and tree["levels"] == shape.depth.max() <= levels
    assert tree["tokens"] == pytest.approx(expected_tokens(shape, VECTOR)) == pytest.approx(sum(tree["chance"]))
    if name in ("k-ary", "svip"):
        assert max(map(len, shape.children)) <= width


@pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset["title"])
def test_no_tree_is_worth_more_than_sequoias(preset):
    data = json.loads(trees({name: preset[name] for name in ("vector", "nodes", "levels")}))["trees"]
    best = next(tree for tree in data if tree["name"] == "sequoia")
    assert [tree["name"] for tree in data] == list(SIX)
    assert all(tree["tokens"] <= best["tokens"] + 1e-9 for tree in data) and best["nodes"] == preset["nodes"]


def test_another_builder_stands_beside_the_six():
    data = answer(builder="optimal")["trees"]
    assert [tree["name"] for tree in data] == [*SIX, "optimal"]
    assert data[-1]["tokens"] == pytest.approx(data[2]["tokens"]), "the optimal tree is Sequoia's"


BAD = [
    None, 7, [], "vector", {}, GOOD | {"vector": []}, GOOD | {"vector": [0.7, 0.7]}, GOOD | {"vector": [-0.1]},
    GOOD | {"vector": [0.01] * 65}, GOOD | {"vector": ["x"]}, GOOD | {"vector": [float("nan")]}, GOOD | {"nodes": 1},
    GOOD | {"nodes": 10**9}, GOOD | {"levels": 2.5}, GOOD | {"width": None}, GOOD | {"builder": "nobody"},
    GOOD | {"builder": "lookahead"}, GOOD | {"builder": ["chain"]},
]  # fmt: skip


@pytest.mark.parametrize("request_", BAD, ids=lambda bad: str(bad)[:50])
def test_any_request_gets_a_sentence(request_):
    error = json.loads(trees(request_))["error"]
    assert error.endswith((".", ")")) and len(error) < 400


def test_a_failure_is_told_without_its_trace(monkeypatch, caplog):
    def fail(*arguments):
        raise RuntimeError("secret")

    monkeypatch.setattr(tree_lab, "tree_of", fail)
    assert "secret" not in answer()["error"] and "secret" in caplog.text
