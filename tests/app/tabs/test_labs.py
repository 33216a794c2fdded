"""The labs without a browser: what is said of a rule is computed, trees come from a vector, any
request is answered."""

import json
import math
from typing import ClassVar

import numpy as np
import pytest

from app.tabs.labs import tree_lab, verification_lab
from app.tabs.labs.rule_answers import sentences
from app.tabs.labs.tree_lab import OTHERS, SIX, presets, tree_of, trees
from app.tabs.labs.verification_lab import EXAMPLES, RULES, preview, table
from app.tabs.parts import recorded
from specviz import BUILDERS, VERIFIERS
from specviz.record.vectors import expected_tokens
from specviz.sampling.distributions import residual
from specviz.tree import Topology
from specviz.verifiers.base import Verdict, Verifier

GOOD = {"p": [0.5, 0.3, 0.2], "q": [0.2, 0.3, 0.5], "children": 2, "rule": "sequoia"}


def request(**changes):
    return GOOD | changes


def example(title):
    found = next(one for one in EXAMPLES if title in one["title"])
    return {name: value for name, value in found.items() if name not in ("title", "about")}


def rows(node):
    return {row["rule"]: row for row in json.loads(table(node))["rows"]}


def test_the_examples_are_what_their_sentences_say():
    cover = rows(example("cover"))
    accepted = [cover[name]["accepted"] for name in ("sequoia", "specinfer", "spectr")]
    assert accepted == pytest.approx([1, 0.75, 0.75])
    block = rows(example("block"))
    assert block["block"]["accepted"] == pytest.approx(11 / 9, abs=1e-5)
    assert block["speculative-sampling"]["accepted"] == pytest.approx(10 / 9, abs=1e-5)
    lossy = rows(example("lossy"))
    assert (
        lossy["typical"]["kind"] == "differs"
        and lossy["typical"]["accepted"] > lossy["sequoia"]["accepted"]
    )
    step = json.loads(preview(example("Several")))["step"]
    assert len(step["order"]) >= 2 and step["outcome"][step["order"][0]] == "rejected"


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("children", "levels"), [(1, 1), (3, 1), (1, 3)])
def test_a_built_in_rule_writes_what_it_declares(rule, children, levels):
    data = json.loads(preview(request(rule=rule, children=children, levels=levels)))
    row = data["row"]
    if row["kind"] == "impossible":
        assert data["step"] is None and data["law"] is None and row["reason"].endswith(".")
        assert row["needs_chain"] and "needs a chain; this node has 3 children" in row["reason"]
        return
    assert row["kind"] in (("equal", "proven") if row["declared"] else ("differs", "equal"))
    assert (row["kind"] == "proven") == (row["accepted"] is None), "only what was not computed"
    if data["law"]:
        off = np.abs(np.subtract(data["law"]["target"], data["law"]["rule"])).max()
        assert off == pytest.approx(row["deviation"], abs=1e-5)


def test_what_is_said_of_a_rule_is_what_was_computed_and_a_declaration_is_called_one():
    row = {"title": "Mine", "declared": True, "reason": "It needs a chain.", "runs": 4}

    def answer_on(kind, deviation=None, **more):
        return " | ".join(sentences(row | {"kind": kind, "deviation": deviation} | more).values())

    assert answer_on("impossible").startswith("It needs a chain. |  | ")
    wrong = answer_on("differs", 0.25)
    assert "does not write" in wrong and "p is 0.25. The rule is declared lossless; this" in wrong
    lucky = answer_on("equal", 0.0, declared=False)
    assert "writes exactly" in lucky and "lossy in general" in lucky and lucky.endswith("= p here")
    assert "Nothing here is random; equal. |" in answer_on("equal", 0.0, runs=1)
    assert "outcomes computed; equal but for rounding. |" in answer_on("equal", 1e-16)
    assert "is only declared. | Not computed" in answer_on("only declared")
    assert answer_on("proven").endswith("= p, by proof")
    assert answer_on("only declared", declared=False).endswith("≠ p, as declared")


class TooKind(Verifier):
    """Accepts every first child, and declares that it is lossless."""

    name: ClassVar[str] = "too-kind"
    title: ClassVar[str] = "Too kind"
    schemes: ClassVar[tuple[str, ...]] = ("iid",)

    def __call__(self, tree, target, rng):
        outcome = ["root", "accepted", *["unreached"] * (len(tree) - 2)]
        return Verdict(
            (1,), rng.draw(target[1]), tuple(outcome), (None,) * len(tree), (None,) * len(tree)
        )

    def explain(self, step, node):
        return "Always accepted."


@pytest.fixture
def too_kind(monkeypatch):
    VERIFIERS.add(TooKind)
    monkeypatch.setattr(verification_lab, "RULES", [*RULES, "too-kind"])
    yield
    VERIFIERS.remove("too-kind")


def test_a_wrong_rule_of_ones_own_is_shown_as_wrong_whatever_it_declares(too_kind):
    row = rows(request(rule="too-kind"))["too-kind"]
    assert row["declared"] and row["kind"] == "differs" and row["deviation"] == pytest.approx(0.3)
    data = json.loads(preview(request(rule="too-kind")))
    assert data["row"] == row and data["law"]["rule"] == pytest.approx(GOOD["q"])


def test_what_was_not_computed_of_it_is_only_declared(too_kind, monkeypatch):
    monkeypatch.setattr(verification_lab, "MOST_RUNS", 0)
    found = rows(request(rule="too-kind"))
    assert found["too-kind"]["kind"] == "only declared" and found["sequoia"]["kind"] == "proven"
    assert all(row["deviation"] is None for row in found.values())


def test_a_rule_that_fails_does_not_hide_the_others(too_kind, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("no verdict")

    monkeypatch.setattr(TooKind, "__call__", fail)
    found = rows(request())
    assert found["too-kind"]["kind"] == "failed" and found["sequoia"]["kind"] == "equal"
    assert found["too-kind"]["word"] == "The rule failed: no verdict."
    alone = json.loads(preview(request(rule="too-kind")))
    assert alone["row"]["verdict"] == "The rule failed: no verdict." and alone["step"] is None


def test_the_tries_tell_what_the_rule_compared():
    p, q = np.array(GOOD["p"]), np.array(GOOD["q"])
    for seed in range(12):
        step = json.loads(preview(request(seed=seed)))["step"]
        first = step["order"][0]
        token, outcome = step["tokens"][first], step["outcome"][first]
        assert step["accept"][first] == pytest.approx(min(1, p[token] / q[token]), abs=1e-5)
        assert (step["coin"][first] < step["accept"][first]) == (outcome == "accepted")
        if outcome == "rejected":
            following = step["order"][1:2]
            chart = step["detail"][str(following[0])]["tried"] if following else None
            chart = chart or step["detail"]["0"]["after"]
            row = [chart["rows"]["residual"][chart["tokens"].index(token)] for token in range(3)]
            assert row == pytest.approx(residual(p, q), abs=1e-5)
        assert step["own"] in range(3)


def test_numbers_are_normalised_and_a_seed_repeats_its_run():
    assert json.loads(preview(request(p=[1, 1, 2])))["p"] == [0.25, 0.25, 0.5]
    runs = [preview(request(seed=seed, children=3)) for seed in (*range(6), 0)]
    assert runs[0] == runs[-1] and len(set(runs)) > 1


HOSTILE = [
    None,
    7,
    [],
    {},
    request(p=None),
    request(p=[1]),
    request(p=[1] * 13),
    request(p=["x", 1]),
    request(p=[0, 0, 0]),
    request(q=[1, 2]),
    request(p=[-1, 1, 1]),
    request(p=[1e300] * 3),
    request(p=[math.nan, 1, 1]),
    request(p={"a": 1}),
    request(children=0),
    request(children=7),
    request(children=1.5),
    request(levels=9),
    request(levels=2),
    request(rule="nobody"),
    request(rule="exact-match"),
    request(rule=["sequoia"]),
    request(scheme="none"),
    request(scheme=3),
    request(seed=-1),
    request(seed=0.5),
    request(seed=10**30),
    request(rule="<script>"),
]


# ---- the Tree lab ----

VECTOR = (0.6, 0.2, 0.1)
TREE = {"vector": "0.6, 0.2 0.1", "nodes": 16, "levels": 5, "width": 3}


def answer(**changes):
    return json.loads(trees(TREE | changes))


@pytest.mark.parametrize("sizes", [(2, 1, 1), (16, 5, 3), (64, 11, 3), (128, 4, 16)])
@pytest.mark.parametrize("name", [*SIX, *OTHERS])
def test_every_tree_keeps_to_its_sizes_and_brings_what_its_shape_is_worth(name, sizes):
    tree, (nodes, levels, width) = tree_of(name, VECTOR, *sizes), sizes
    shape = Topology(tuple(tree["parents"]))
    assert tree["nodes"] == len(shape) <= nodes and tree["levels"] == shape.depth.max() <= levels
    assert (
        tree["tokens"]
        == pytest.approx(expected_tokens(shape, VECTOR))
        == pytest.approx(sum(tree["chance"]))
    )
    if name == "k-ary":
        assert max(map(len, shape.children)) <= width


@pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset["title"])
def test_no_tree_is_worth_more_than_sequoias(preset):
    data = json.loads(trees({name: preset[name] for name in ("vector", "nodes", "levels")}))[
        "trees"
    ]
    best = next(tree for tree in data if tree["name"] == "sequoia")
    assert [tree["name"] for tree in data] == list(SIX)
    assert len({tuple(tree["parents"]) for tree in data}) == len(SIX), "no tree stands there twice"
    assert (
        all(tree["tokens"] <= best["tokens"] + 1e-9 for tree in data)
        and best["nodes"] == preset["nodes"]
    )


def test_each_tree_has_its_speed_and_the_answer_names_the_fastest():
    data = answer(**{name: presets()[0][name] for name in ("vector", "nodes", "levels")})
    costs = recorded.read().costs
    for place, words in recorded.PLACES.items():
        for tree in data["trees"]:
            price = costs[place].price(Topology(tuple(tree["parents"])), tree["passes"])
            assert tree["speeds"][words] == pytest.approx(tree["tokens"] / price, rel=1e-4)
        most = max(tree["speeds"][words] for tree in data["trees"])
        # Two that show the same speed are both named.
        best = [
            tree_lab.named(tree)
            for tree in data["trees"]
            if f"{tree['speeds'][words]:.2f}" == f"{most:.2f}"
        ]
        words = words.replace("on", "On")  # the second sentence
        names = " and ".join(", ".join(best).rsplit(", ", 1))
        assert f"{words}: {names}, {most:.2f} times" in data["answer"]


def test_a_tree_of_the_most_probable_children_is_called_lossy_with_the_rule_of_the_vector():
    for name in (*SIX, *OTHERS):
        is_lossy = "distinct" not in BUILDERS[name].schemes
        assert tree_of(name, VECTOR, 16, 5, 3)["mark"] == ("≠ lossy" if is_lossy else ""), name
    alone = tree_lab.fastest([tree_of("ddtree", VECTOR, 16, 5, 3)])
    assert "On disk: DDTree (≠ lossy with Sequoia’s rule), " in alone


def test_a_vector_of_wrong_guesses_makes_no_tree_faster():
    data = answer(vector="0.01", nodes=64)
    assert "none is faster than plain decoding" in data["answer"]


def test_another_builder_stands_beside_the_six():
    data = answer(builder="optimal")["trees"]
    assert [tree["name"] for tree in data] == [*SIX, "optimal"]
    assert data[-1]["tokens"] == pytest.approx(data[2]["tokens"]), "the optimal tree is Sequoia's"


BAD = [
    None,
    7,
    [],
    "vector",
    {},
    TREE | {"vector": []},
    TREE | {"vector": ""},
    TREE | {"vector": "0.7, 0.7"},
    TREE | {"vector": "0.5 -0.1"},
    TREE | {"vector": "0.01 " * 65},
    TREE | {"vector": "0.5, x"},
    TREE | {"vector": "nan"},
    TREE | {"nodes": 1},
    TREE | {"nodes": 10**9},
    TREE | {"levels": 2.5},
    TREE | {"width": None},
    TREE | {"builder": "nobody"},
    TREE | {"builder": "lookahead"},
    TREE | {"builder": ["chain"]},
]


def test_a_failure_is_told_without_its_trace(monkeypatch, caplog):
    def fail(*arguments):
        raise RuntimeError("secret")

    monkeypatch.setattr(tree_lab, "tree_of", fail)
    assert "secret" not in answer()["error"] and "secret" in caplog.text


@pytest.mark.parametrize(
    ("ask", "bad"),
    [*((ask, bad) for ask in (preview, table) for bad in HOSTILE), *((trees, bad) for bad in BAD)],
)
def test_any_request_gets_a_sentence(ask, bad):
    error = json.loads(ask(bad))["error"]
    assert error.endswith((".", ")")) and len(error) < 400 and "log" not in error


def test_a_wrong_number_is_named_with_its_range_and_what_was_typed():
    assert answer(nodes=500)["error"] == "Nodes must be a whole number from 2 to 128; got 500."
    typed = answer(vector="0.5, <b>")["error"]
    assert typed == "The acceptance of child 2 must be a number from 0 to 1; got <b>."
    deeper = answer(vector="0.9, 0.1; 0.5", levels=3)["trees"][0]
    assert deeper["tokens"] == pytest.approx(1 + 0.9 + 0.9 * 0.5 + 0.9 * 0.5 * 0.5)
    weight = json.loads(preview(request(p=["x", 1])))["error"]
    assert weight == "The target p, entry 1 must be a valid number; got 'x'."


def test_an_acceptance_profile_beside_a_checkpoint_gives_its_vector_to_the_trees():
    """A chain's rates, by position: the trees have first children only, and the best is a chain."""
    profile = {
        "schema_version": "1.0",
        "conditional_accept_rates": [0.8, 0.75, 0.5],
        "marginal_accept_rates": [0.8, 0.6, 0.3],
    }
    found = json.loads(trees({"vector": json.dumps(profile), "nodes": 8}))
    best = next(tree for tree in found["trees"] if tree["name"] == "sequoia")
    assert best["tokens"] == pytest.approx(1 + 0.8 + 0.6 + 0.3)
    assert best["parents"][:4] == [-1, 0, 1, 2]
    assert "The file must contain" in json.loads(trees({"vector": "{]"}))["error"]
