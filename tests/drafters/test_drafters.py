"""The third family: the drafter. On toy tables, whose rows can be written down."""

import json

import numpy as np
import pytest

import specviz
from specviz.builders.base import Draft
from specviz.config.strategy import strategy_of
from specviz.drafters.base import open_drafter
from specviz.record import vectors as acceptance
from specviz.sampling.children import SequentialProposal, component_of_children, draw_children
from specviz.sampling.distributions import Mixture, Sampling
from specviz.sampling.randomness import Seeded
from specviz.tree import TokenTree

TOY = specviz.toy_pair(vocab=6)


def test_a_run_says_who_drafted_and_reads_back():
    pair = specviz.toy_pair(vocab=5)
    for name, cls in specviz.DRAFTERS.items():
        config = specviz.RunConfig("abab", temperature=1.0, max_new_tokens=8, drafter=cls())
        trace = specviz.run(pair, config)
        again = specviz.Trace.from_json(trace.to_json())
        assert again.config.drafter.name == name
        for step, other in zip(trace.steps, again.steps, strict=True):
            assert step.drafter == other.drafter and step.drafter[0] is None
            assert all(step.drafter[node] for node in range(1, len(step.parents)))


def test_children_of_two_rows_are_drawn_by_the_laws_that_rules_are_told():
    rows = np.array([[0.7, 0.3, 0.0, 0.0], [0.0, 0.2, 0.3, 0.5]])
    blend = Mixture.of(rows, ("a", "b"))
    np.testing.assert_allclose(blend, [0.35, 0.25, 0.15, 0.25])
    offers = SequentialProposal(blend, "distinct")
    np.testing.assert_allclose(offers.row, rows[0])
    offers.advance(0)
    np.testing.assert_allclose(offers.row, rows[1])
    offers.advance(1)
    np.testing.assert_allclose(
        offers.row, [0, 0, 0.375, 0.625]
    )  # the first has nothing left that was not drawn
    assert offers.part == 1
    offers.advance(3)
    np.testing.assert_allclose(offers.row, [0, 0, 1, 0])
    offers.advance(2)
    np.testing.assert_allclose(offers.row, 0)
    iid = SequentialProposal(blend, "iid")
    for part in (0, 1, 0, 1):
        np.testing.assert_allclose(iid.row, rows[part])
        assert iid.part == part
        iid.advance(1)
    assert draw_children(blend, 2, "top", Seeded(0), 0) == [0, 1]
    assert component_of_children(blend, "top", [0, 1, 3]) == [0, 0, 1]


def test_a_merged_child_is_compared_with_the_row_of_who_drew_it_first():
    class Fixed:
        """Draws that were settled beforehand."""

        def __init__(self, *tokens):
            self.tokens = list(tokens)

        def draw(self, row):
            assert row[self.tokens[0]] > 0
            return self.tokens.pop(0)

    rows = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.3, 0.2]])
    blend = Mixture.of(rows, ("a", "b"), merge=True)
    assert draw_children(blend, 6, "iid", Fixed(1, 1, 0, 2, 1, 3), 0) == [1, 0, 2, 3]
    assert component_of_children(blend, "iid", [1, 0, 2, 3]) == [0, 0, 1, 1]
    offers = SequentialProposal(blend, "iid")
    for token, part in ((1, 0), (0, 0), (2, 1), (3, 1)):
        np.testing.assert_allclose(offers.row, rows[part])
        offers.advance(token)


def test_the_levels_of_a_cascade_come_from_whom_it_says():
    pair, tokens = specviz.toy_pair(vocab=6), [2, 0, 1, 4]
    for at in (1, 2, 3):
        rows = rows_of_every_node(pair, specviz.DRAFTERS["cascade"](at=at), [0, 1], tokens)
        assert [row.drafters[0] for row in rows[:5]] == ["model"] * at + ["ngram"] * (5 - at)
        for name, part in (("model", slice(0, at)), ("ngram", slice(at, 5))):
            np.testing.assert_allclose(
                rows[part], rows_of_every_node(pair, name, [0, 1], tokens)[part]
            )


@pytest.mark.parametrize(
    "parts", [{"drafters": ("early-exit",)}, {"first": "early-exit", "at": 16}]
)
def test_early_exit_among_others_takes_the_layers_that_are_asked_for(parts):
    pair, name = specviz.toy_pair(vocab=6), "several" if "drafters" in parts else "cascade"
    for layers in (1, 2):
        rows = rows_of_every_node(
            pair, specviz.DRAFTERS[name](**parts, layers=layers), [0, 1], [2, 0]
        )
        alone = rows_of_every_node(
            pair, specviz.DRAFTERS["early-exit"](layers=layers), [0, 1], [2, 0]
        )
        np.testing.assert_allclose(rows, alone)


def test_a_row_without_mass_has_no_children():
    for scheme in ("iid", "distinct", "top", "race"):
        assert draw_children(np.zeros(4), 3, scheme, Seeded(0), 0) == []


def test_a_drafter_that_a_pair_has_not_is_rejected_in_a_sentence():
    pair = specviz.toy_pair()
    pair.draft = None
    with pytest.raises(ValueError, match="drafter"):
        specviz.run(pair, specviz.RunConfig("ab"))


def rows_of_every_node(pair, choice, context, tokens, sampling=Sampling()):  # noqa: B008
    """The rows of a drafter below a prompt, along a path and beside it."""
    target, draft = pair.open(context)
    drafting = open_drafter(strategy_of("drafter", choice), pair, target, draft, context)
    tree = TokenTree(context[-1], start=len(context) - 1)
    for i, token in enumerate(tokens):
        tree.add(i, token)
    tree.add(0, tokens[-1])
    return Draft(drafting, tree, context, sampling).expand(list(range(len(tree))))


@pytest.mark.parametrize("name", specviz.DRAFTERS)
@pytest.mark.parametrize("sampling", [Sampling(), Sampling(0.6), Sampling(1.0, 0.8, 3)])
def test_rows_sum_to_one_or_say_nothing(name, sampling):
    pair = specviz.toy_pair(vocab=6)
    for row in rows_of_every_node(pair, name, pair.encode("abcabcab"), [2, 0, 1], sampling):
        assert row.shape == (6,) and row.dtype == np.float64 and row.min() >= 0
        assert row.sum() == pytest.approx(1, abs=1e-12) or row.sum() == 0


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Vectors of the embedded pair with its draft and with heads, and of a toy pair with heads."""
    monkeypatch.setattr(
        acceptance, "STORED", {acceptance.EMBEDDED: tmp_path, TOY.info["name"]: tmp_path / "toy"}
    )
    (tmp_path / "toy").mkdir()
    for place, name, vector in (
        (tmp_path, "model", {"acceptance": [0.6, 0.1]}),
        (
            tmp_path,
            "medusa",
            {"acceptance": [0.5, 0.2], "levels": [[0.5, 0.2], [0.3, 0.1], [0.0, 0.0]]},
        ),
        (
            tmp_path / "toy",
            "medusa",
            {"acceptance": [0.4, 0.3], "levels": [[0.4, 0.3], [0.2, 0.1]]},
        ),
    ):
        row = vector | {
            "verifier": "sequoia",
            "drafter": name,
            "parameters": specviz.DRAFTERS[name]().parameters,
        }
        rows = [row | {"temperature": heat} for heat in (0.5, 1.0)]
        (place / f"{name}.json").write_text(json.dumps({"vectors": rows}))
    acceptance.stored.cache_clear()
    yield
    acceptance.stored.cache_clear()


def test_vectors_are_kept_by_pair_and_drafter_and_a_foreign_one_is_named(kept):
    find = acceptance.find_acceptance
    assert find("sequoia", 0.8) == find("sequoia", 0.8, "model", "embedded pair") == (0.6, 0.1)
    assert find("sequoia", 0.8, "medusa") == ((0.5, 0.2), (0.3, 0.1), (0.0, 0.0))
    assert find("dyspec", 0.8, "medusa", TOY.info["name"]) == ((0.4, 0.3), (0.2, 0.1))
    assert find("sequoia", 0.8, "medusa", "mine") == find(
        "sequoia", 0.8, "medusa"
    )  # the nearest there is
    assert find("sequoia", 0.8, "ngram") == (0.6, 0.1)
    planned, (sequoia, chain) = (
        acceptance.planned_with,
        (specviz.BUILDERS[name]() for name in ("sequoia", "chain")),
    )
    model, ngram, medusa = (specviz.DRAFTERS[name]() for name in ("model", "ngram", "medusa"))
    assert (
        planned(sequoia, model, "embedded pair")
        == planned(sequoia, medusa)
        == planned(chain, ngram, "mine")
        == ""
    )
    assert planned(specviz.BUILDERS["sequoia"](acceptance=(0.5, 0.2)), ngram, "mine") == ""
    for of in ((model, "mine"), (medusa, "mine"), (ngram, "embedded pair"), (ngram, "mine")):
        assert planned(sequoia, *of).startswith("Learning: ")
    assert "other parameters" in planned(sequoia, specviz.DRAFTERS["medusa"](heads=2))


def test_a_tree_is_planned_with_the_vector_of_its_pair_and_drafter(kept):
    rule = specviz.VERIFIERS["sequoia"]()
    for name, vector in (("medusa", ((0.4, 0.3), (0.2, 0.1))), ("ngram", (0.6, 0.1))):
        for builder in ("sequoia", "optimal"):
            config = specviz.RunConfig("abab", builder, rule, 1.0, max_new_tokens=8, drafter=name)
            assert specviz.run(TOY, config).steps[0].growth.acceptance == vector


@pytest.mark.parametrize(("name", "learns"), [("medusa", False), ("ngram", True)])
def test_a_pair_without_a_vector_of_its_own_learns_one(kept, name, learns):
    """`auto` is `measured` there: the vector of another pair is only the beginning."""
    rule, steps = specviz.VERIFIERS["sequoia"](), {}
    for source in ("auto", "measured"):
        builder = specviz.BUILDERS["sequoia"](acceptance=source)
        config = specviz.RunConfig("abab", builder, rule, 1.0, max_new_tokens=60, drafter=name)
        steps[source] = [step.growth.acceptance for step in specviz.run(TOY, config).steps]
    assert (len(set(steps["auto"])) > 1) == learns
    assert (steps["auto"] == steps["measured"]) == learns
    config = specviz.RunConfig(
        "abab", "sequoia:acceptance=measured", rule, 1.0, max_new_tokens=8, drafter="medusa"
    )
    assert specviz.run(TOY, config).steps[0].growth.acceptance == (0.4, 0.3)
