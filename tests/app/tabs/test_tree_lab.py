"""The Tree lab without a browser: what is typed, what is fitted, what is drawn."""

import csv
import io
import json
from typing import ClassVar

import pytest
from pydantic import Field

import specviz
from app.tabs.labs.asked import OWN, choices, in_text, preset_from, sizes_from, vector_from
from app.tabs.labs.forest import LEAST, Sizes, every_builder, fitted, in_words, tree_of
from app.tabs.labs.paper_trees import PRESETS, printed
from app.tabs.labs.pictures import Look, blocks_card, look_at, picture, stats, to_csv
from specviz import DRAFTERS
from specviz.acceptance.on_text import Acceptance
from specviz.acceptance.vectors import expected_tokens, measured, published
from specviz.builders.filling import StaticBuilder, grow_shape
from specviz.builders.sequoia import best_tree
from specviz.theory.mask_order import ORDERS, count_blocks, fewest_blocks
from tests.growing import BUILDERS

VECTOR = (0.5, 0.25, 0.1)
SMALL = Sizes(nodes=14, levels=3, width=2, branching=(2, 1))
NUMBERS = {"nodes": 14, "levels": 3, "width": 2, "children": 8, "spread": 0.5, "seed": 0}


# ---- what is typed ----


@pytest.mark.parametrize(
    "text", ["0.5, 0.25, 0.1", "[0.5, 0.25, 0.1]", "0.5 0.25\n.1", "0.5;0.25;0.1;", "5e-1,0.25,0.1"]
)
def test_a_vector_may_be_typed_in_many_ways(text):
    assert vector_from(text) == VECTOR


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "is empty"), (None, "is empty"), ("[]", "is empty"), ("0.5, x", 'Number 2 .* got "x"'),
     ("-0.1", "Number 1"), ("1.5", "Number 1"), ("nan", "Number 1"), ("inf", "Number 1"), ("0.7, 0.7", "got 1.4"),
     ("0.01 " * 65, "up to 64 numbers; it has 65"), ("0.5, " + "9" * 500, "Number 2"), ({"a": 1}, "Number 1"),
     ("${alert(1)}", "Number 1")],
)  # fmt: skip
def test_what_is_no_vector_gets_a_sentence(text, words):
    with pytest.raises(ValueError, match=words) as error:
        vector_from(text)
    assert len(str(error.value)) < 200


def test_stored_vectors_have_names_and_sources_and_survive_the_box():
    named = choices()
    assert OWN not in named and len(named) > 10
    for name, (vector, source) in named.items():
        assert vector_from(in_text(vector)) == pytest.approx(vector, abs=1e-6), name
        assert "published in" in source or "embedded pair over" in source
    assert next(iter(named)) == published()["llama3-8b-70b-cnn"]["title"]
    assert sum("embedded pair" in name for name in named) < len(measured())  # rules for chains have no tree
    for drafter in ("eagle", "ngram"):
        (row,) = (row for row in measured(drafter) if (row["verifier"], row["temperature"]) == ("sequoia", 0.8))
        by = f"Sequoia, T 0.8, by {DRAFTERS[drafter].title}"
        assert named[by].vector == tuple(row["acceptance"]) and DRAFTERS[drafter].title in named[by].source
    loaded = Acceptance(VECTOR, VECTOR, VECTOR, 9, "counted", "race", "race", 0.6, None)
    assert list(choices((loaded, loaded)))[:2] == ["Race, T 0.6, loaded", "Race, T 0.6, loaded again"]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("nodes", 1, r"Tree size \(nodes\) must be a whole number from 2 to 768; got 1."), ("nodes", 10**9, "Tree"),
     ("nodes", 3.5, "Tree size"),
     ("levels", 0, "Max depth"), ("width", None, "Width"), ("children", "4", "Max b"), ("children", True, "M"),
     ("spread", 1.2, "Spread must be a number from 0 to 1; got 1.2."), ("spread", float("nan"), "Spread"),
     ("seed", -1, "Seed of the distributions")],
)  # fmt: skip
def test_sizes_out_of_range_get_a_sentence(name, value, words):
    with pytest.raises(ValueError, match=words):
        sizes_from("2, 1", **NUMBERS | {name: value})


@pytest.mark.parametrize("branching", ["", "many", "0", "65", "3.5", "64, 64, 64", None, "9" * 5000])
def test_a_wrong_branching_gets_a_sentence(branching):
    with pytest.raises(ValueError, match="Children per level must be whole numbers") as error:
        sizes_from(branching, **NUMBERS)
    assert len(str(error.value)) < 200


def test_sizes_are_read_as_they_are():
    assert sizes_from("2 1", **NUMBERS | {"nodes": 14.0}) == Sizes(14, 3, 2, 8, (2, 1), 0.5, 0)
    for wrong in (None, "nothing", ["builders"]):
        with pytest.raises(ValueError, match="Choose which trees"):
            preset_from(wrong)


# ---- what is fitted ----


def test_every_builder_keeps_to_the_sizes_and_says_what_it_expects():
    trees = {tree.name: tree for tree in every_builder(VECTOR, SMALL)}
    assert list(trees) == list(BUILDERS)
    for tree in trees.values():
        if tree.kind == "none":
            continue
        assert len(tree.shape) <= SMALL.nodes and tree.shape.depth.max() <= SMALL.levels
        assert len(tree.chance) == len(tree.shape) and tree.chance[0] == 1.0
        if tree.kind == "static":
            assert tree.tokens == pytest.approx(expected_tokens(tree.shape, VECTOR)) and tree.error == 0
            assert tree.passes == tree.shape.depth.max()
        else:
            assert tree.error > 0 and tree.passes >= 1 and "synthetic positions" in tree.note
    sizes = {name: len(tree.shape) for name, tree in trees.items() if tree.kind == "static"}
    assert sizes.items() >= {
        "chain": 4, "k-sequences": 7, "k-ary": 7, "branching": 5, "batch": 14, "sequoia": 14, "optimal": 14,
    }.items()  # fmt: skip
    assert trees["prompt-lookup"].kind == "none" and "without a text" in trees["prompt-lookup"].note
    assert trees["sequoia"].tokens == pytest.approx(best_tree(VECTOR, 14, 3, 13)[1])
    assert trees["sequoia"].tokens == max(tree.tokens for tree in trees.values() if tree.kind == "static")


def test_without_spread_no_builder_beats_the_best_static_tree():
    trees = {tree.name: tree for tree in every_builder(VECTOR, SMALL._replace(spread=0.0))}
    best = trees["sequoia"].tokens
    for tree in trees.values():
        assert tree.tokens <= best + 1e-9
        if tree.kind == "synthetic" and tree.name != "heuristic":  # whose length follows the run
            assert tree.error == pytest.approx(0)


@pytest.mark.parametrize("nodes", [2, 3, 768])
@pytest.mark.parametrize("vector", [(0.65,), (1.0,), (0.0, 0.0), (0.1,) * 10, tuple([1 / 64] * 64)])
def test_extreme_vectors_and_sizes_have_trees(vector, nodes):
    sizes = Sizes(nodes=nodes, levels=5, width=32, children=64)
    for tree in every_builder(vector, sizes):
        if tree.shape is not None:
            assert 2 <= len(tree.shape) <= max(nodes, 22) and tree.tokens >= 1
    assert picture("builders", vector, sizes, look_at("builders", vector, sizes, Look()))


def test_the_threshold_is_as_low_as_the_nodes_allow():
    cls = specviz.BUILDERS["dyspec-threshold"]
    found = [fitted(cls, VECTOR, Sizes(nodes=nodes)).threshold for nodes in (4, 16, 64, 768)]
    assert found == sorted(found, reverse=True) and found[0] > found[-1]


def test_large_trees_are_tried_on_few_positions_and_another_seed_draws_others():
    large = Sizes(nodes=768, levels=20, width=4)
    assert f"The median of {LEAST} synthetic" in tree_of("dyspec", VECTOR, large).note
    one, other = (tree_of("dyspec", VECTOR, SMALL._replace(seed=seed)) for seed in (0, 1))
    assert one.tokens != other.tokens and one == tree_of("dyspec", VECTOR, SMALL)


def test_a_new_builder_is_fitted_without_a_word_here():
    class Comb(StaticBuilder):
        name: ClassVar[str] = "comb"
        title: ClassVar[str] = "Comb"
        width: int = Field(2, ge=1, le=32, title="Teeth", description="")
        depth: int = Field(2, ge=1, le=64, title="Levels", description="")

        @property
        def shape(self):
            return grow_shape([1] * (self.depth - 1) + [self.width])

    builder = fitted(Comb, VECTOR, Sizes(nodes=6, levels=9, width=3))
    assert (builder.width, builder.depth) == (3, 3) and in_words(builder) == "teeth 3, levels 3"


# ---- the papers' trees ----


def test_the_presets_are_what_their_sources_say():
    trees = {name: PRESETS[name].trees(printed(), Sizes()) for name in PRESETS if name != "builders"}
    limited, free = trees["figure-2"]
    assert (len(limited.shape), limited.shape.depth.max()) == (64, 11) and free.tokens > limited.tokens
    assert limited.tokens == pytest.approx(expected_tokens(limited.shape, printed()))
    found = [(len(tree.shape), int(tree.shape.depth.max())) for tree in trees["figure-5"]]
    assert found == [(8, 7), (16, 10), (32, 13), (64, 16), (128, 18), (256, 21)]
    assert [len(tree.shape) for tree in trees["tables"]] == [41, 128, 769, 769, 769, 768]
    assert [int(tree.shape.depth.max()) for tree in trees["tables"]] == [8, 9, 48, 32, 24, 17]
    assert [len(tree.shape) for tree in trees["races"]] == [64, 64, 63, 64]
    parting = trees["races"][2].shape
    assert [len(parting.children[node]) for node in range(4)] == [1, 1, 3, 1]
    assert [len(tree.shape) for tree in trees["table-5"]] == [256, 512, 1024]
    assert all(PRESETS[name].source for name in trees)


def test_depth_does_not_limit_figure_5():
    for tree in PRESETS["figure-5"].trees(VECTOR, Sizes()):
        size = len(tree.shape)
        assert tree.tokens == pytest.approx(best_tree(printed(), size, size - 1, 32)[1], abs=1e-12)


@pytest.mark.parametrize("nodes", range(2, 9))
def test_the_races_strategies_fit_any_size(nodes):
    for tree in PRESETS["races"].trees(VECTOR, Sizes(nodes=nodes)):
        assert 2 <= len(tree.shape) <= nodes


# ---- what is drawn ----


def test_the_picture_is_the_library_s_numbers():
    look = look_at("builders", VECTOR, SMALL, Look("k-ary", 16))
    data = json.loads(picture("builders", VECTOR, SMALL, look))
    trees = {tree["name"]: tree for tree in data["forest"]["trees"]}
    shape = specviz.BUILDERS["k-ary"](width=2, depth=2).shape
    assert trees["k-ary"]["parents"] == list(shape.parents) and trees["k-ary"]["chance"][:3] == [1, 0.5, 0.25]
    assert trees["k-ary"]["rows"][:3] == [0, 0, 2]
    assert trees["k-ary"]["stats"] == "7 nodes, 2 levels, 4 leaves, 2 draft passes"
    assert "parents" not in trees["prompt-lookup"]
    assert data["one"]["name"] == "k-ary" and data["one"]["block"] == 16
    assert [order["name"] for order in data["one"]["orders"]] == ["breadth-first", "depth-first", "heavy-path"]


@pytest.mark.parametrize("block", [8, 32])
def test_masks_are_sent_block_by_block(block):
    sizes = Sizes(nodes=100, levels=20)
    data = json.loads(picture("builders", VECTOR, sizes, Look("dyspec", block)))["one"]
    shape = tree_of("dyspec", VECTOR, sizes).shape
    triangle = {8: 91, 32: 10}[block]
    assert [order["name"] for order in data["orders"]] == list(ORDERS)
    for order in data["orders"]:
        made = ORDERS[order["name"]](shape)
        assert order["order"] == list(made) and len(order["blocks"]) == count_blocks(shape, made, block)
        assert order["said"] == f"{len(order['blocks'])} of {triangle} blocks"
        assert sum(count for _, _, count in order["blocks"]) == (shape.depth + 1).sum()
    assert data["bound"].endswith(f"needs fewer than {fewest_blocks(shape, block)}.")


def test_a_look_that_cannot_be_is_another():
    assert look_at("builders", VECTOR, SMALL, Look("prompt-lookup", 7)) == Look("sequoia", None)
    assert look_at("figure-5", VECTOR, SMALL, Look("sequoia", 16)) == Look("figure-5-32", 16)
    assert look_at("builders", VECTOR, SMALL, Look({}, True)) == Look("sequoia", None)
    for nodes, block in ((255, 8), (256, 32)):
        sizes = Sizes(nodes=nodes)
        assert json.loads(picture("builders", VECTOR, sizes, Look()))["one"]["block"] == block


def test_the_table_to_take_along():
    rows = list(csv.DictReader(io.StringIO(to_csv(every_builder(VECTOR, SMALL)))))
    assert [row["name"] for row in rows] == [name for name, builder in specviz.BUILDERS.items() if builder.reads_draft]
    chain = rows[0]
    assert (chain["nodes"], chain["levels"], chain["leaves"], chain["tokens_per_pass"]) == ("4", "3", "1", "1.875")
    (single,) = (tree for tree in every_builder(VECTOR, Sizes(nodes=2, levels=1)) if tree.name == "chain")
    assert stats(single) == "2 nodes, 1 level, 1 leaf, 1 draft pass"


def test_the_card_of_blocks_follows_the_preset_and_the_block():
    words, figure = blocks_card("builders", VECTOR, Sizes(levels=10), Look())
    words = json.loads(words)
    assert "at most 10 levels" in words["made"] and "32 x 32" in figure.layout.yaxis.title.text
    info = json.loads(next(file["text"] for file in words["files"] if file["label"] == "JSON"))
    assert info["block"] == 32 and info["nodes"][-1] == 768 and info["triangle"][-1] == 300
    random = json.loads(blocks_card("table-5", VECTOR, Sizes(), Look(block=64))[0])
    assert "table 5" in random["made"]
    narrow, _ = blocks_card("builders", (0.5,), Sizes(levels=3), Look())
    assert json.loads(json.loads(narrow)["files"][0]["text"])["nodes"] == [4]  # no larger tree is possible
