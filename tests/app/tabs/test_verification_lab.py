"""What the Verification lab answers, and that its examples are what their sentences say. No browser."""

import json
import math

import pytest

from app.tabs.labs import verification_lab
from app.tabs.labs.lab_presets import PRESETS
from app.tabs.labs.microscope import Node
from app.tabs.labs.microscope_rules import compare
from app.tabs.labs.verification_lab import RULES, look, table

GOOD = {
    "p": [0.5, 0.3, 0.2],
    "q": [0.2, 0.3, 0.5],
    "children": 2,
    "levels": 1,
    "rule": "sequoia",
    "scheme": None,
    "seed": 0,
}


def asked(**news):
    return GOOD | news


def preset(title):
    return next(one for one in PRESETS if one.title.startswith(title))


def rows(one):
    node = Node(tuple(one.p), tuple(one.q), one.children, one.levels)
    return {row.rule: row for row in compare(node, one.scheme)}


# ---- the examples ----


@pytest.mark.parametrize("one", PRESETS, ids=lambda one: one.title)
def test_every_example_can_be_run_and_is_proven(one):
    data = json.loads(look(vars(one)))
    assert "error" not in data and data["run"]["tries"], data
    assert data["exact"]["proof"] == "enumeration"
    assert (data["exact"]["deviation"] <= 1e-12) == (data["kind"] == "lossless")
    assert data["said"] == [] and one.why.endswith(".")
    assert [row["rule"] for row in json.loads(table(vars(one)))["rows"]] == RULES


@pytest.mark.parametrize("one", PRESETS, ids=lambda one: one.title)
def test_a_raced_child_lies_between_lemma_and_ceiling_and_is_what_the_race_is_worth(one):
    node = {**vars(one), "children": 1, "levels": 1, "scheme": "race"}
    data = json.loads(table(node))
    ceiling, race, coupling, lemma = (value for _, value in data["first"])
    assert max(coupling, lemma) <= race + 1e-6 and race <= ceiling + 1e-6
    worth = next(row for row in data["rows"] if row["rule"] == "race")
    assert race == pytest.approx(worth["accepted"], abs=1e-5)


def test_the_first_example_shows_what_it_is_there_for():
    tries = json.loads(look(vars(PRESETS[0])))["run"]["tries"]
    assert len(tries) >= 2 and tries[0]["outcome"] == "rejected" and tries[0]["after"]["draft"]


def test_the_sentences_of_the_examples_are_true():
    cover = rows(preset("Cover: [1, 0]"))
    assert (cover["sequoia"].accepted, cover["specinfer"].accepted, cover["spectr"].accepted) == pytest.approx(
        (1, 0.75, 0.75)
    )
    everything = rows(preset("Cover: as many"))
    assert everything["sequoia"].accepted == everything["traversal"].accepted == pytest.approx(1)
    assert max(everything[name].accepted for name in ("specinfer", "spectr")) < 0.999
    one = preset("Optimal transport")
    distance = 0.5 * sum(abs(p - q) for p, q in zip(one.p, one.q, strict=True))
    child = rows(one)
    for name in ("sequoia", "dyspec", "traversal", "specinfer", "spectr", "speculative-sampling", "block"):
        assert child[name].accepted == pytest.approx(1 - distance)
    assert child["target-match"].accepted < child["race"].accepted < 1 - distance
    itself = rows(preset("Top-k"))
    assert (itself["target-match"].accepted, itself["sequoia"].accepted) == pytest.approx((0.6, 1))
    used = rows(preset("A draft"))
    assert used["dyspec"].accepted < used["sequoia"].accepted == pytest.approx(1)
    block = rows(preset("A block"))
    assert block["block"].accepted == block["traversal"].accepted == pytest.approx(11 / 9)
    assert block["speculative-sampling"].accepted == pytest.approx(10 / 9)
    one = preset("SpecTr")
    assert rows(one)["spectr"].accepted == pytest.approx(0.5)
    assert json.loads(look(vars(one)))["run"]["facts"]["rho"] == pytest.approx(1 + 1 / math.sqrt(2), abs=1e-3)
    assert rows(preset("The wrong sampling scheme"))["specinfer"].deviation > 0.05
    typical = rows(preset("Biased rule"))["typical"]
    assert typical.accepted > typical.ceiling
    assert list(typical.texts.values()) == pytest.approx([0, 0, 1])  # the draft's favourite, always


# ---- answers ----


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("children", "levels"), [(1, 1), (4, 1), (1, 3)])
def test_every_rule_is_answered(rule, children, levels):
    text = look(asked(rule=rule, children=children, levels=levels))
    data = json.loads(text)
    assert "NaN" not in text and "error" not in data
    assert ("run" in data) == (data["kind"] != "impossible") and data["reason"].endswith(".")
    if "run" in data:
        assert len(data["run"]["drafted"]) <= children * levels
        assert sum(data["exact"]["own"]) == pytest.approx(1, abs=0.5)


def test_numbers_are_normalised_and_it_is_said():
    data = json.loads(look(asked(p=[1, 1, 2])))
    assert data["p"] == [0.25, 0.25, 0.5]
    assert data["said"] == ["The target p summed to 4, so it was normalised."]


def test_the_same_question_has_the_same_answer_and_another_seed_another():
    runs = [look(asked(seed=seed, children=3)) for seed in (*range(6), 0)]
    assert runs[0] == runs[-1] and len(set(runs)) > 1


def test_what_cannot_be_enumerated_is_said_and_closed_forms_stand_in():
    big = asked(p=[1 + i for i in range(12)], q=[12 - i for i in range(12)], children=6)
    assert "texts" not in json.loads(look(big))["exact"]
    found = {row["rule"]: row for row in json.loads(table(big))["rows"]}
    assert found["specinfer"]["proof"] == "closed form" and found["sequoia"]["accepted"] is None
    chain = json.loads(look(asked(children=1, levels=3)))["exact"]
    assert chain["of"] == 27 and len(chain["texts"]) == verification_lab.MOST_TEXTS


HOSTILE = [
    None, 7, "p", [], {}, asked(p=None), asked(p=[1]), asked(p=[1] * 13), asked(p=["0.5", "0.5"]),
    asked(p=[0, 0, 0]), asked(q=[1, 2]), asked(p=[-1, 1, 1]), asked(p=[None, 1, 1]), asked(p=[1e300] * 3),
    asked(p=[float("nan"), 1, 1]), asked(p={"a": 1}), asked(p=[[1], [2], [3]]), asked(children=0),
    asked(children=7), asked(children=1.5), asked(children="2"), asked(children=True), asked(children=None),
    asked(levels=9), asked(levels=2), asked(levels="x"), asked(rule="nobody"), asked(rule="exact-match"),
    asked(rule=None), asked(rule=["sequoia"]), asked(rule="<script>"), asked(scheme="none"), asked(scheme=3),
    asked(scheme=["iid"]), asked(seed=-1), asked(seed=0.5), asked(seed="1"), asked(seed=None), asked(seed=True),
    asked(seed=float("inf")), asked(seed=10**30), asked(p="${1}" * 10**4),
]  # fmt: skip


@pytest.mark.parametrize("question", HOSTILE, ids=lambda question: str(question)[:60])
def test_any_question_gets_a_sentence(question):
    for answer in (look, table):
        data = json.loads(answer(question))
        if answer is look or "rows" not in data:  # the table needs no seed
            assert data["error"].endswith(".") and len(data["error"]) < 300 and "log" not in data["error"]
            assert data["error"][0].isupper()


def test_a_broken_rule_is_told_without_its_trace(monkeypatch, caplog):
    def broken(*arguments):
        raise RuntimeError("secret")

    monkeypatch.setattr(verification_lab, "explain_node", broken)
    assert json.loads(look(GOOD)) == {"error": "The computation failed. See the server's log for the reason."}
    assert "secret" in caplog.text
