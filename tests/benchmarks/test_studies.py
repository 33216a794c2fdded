"""Studies on toy models against what they are made of, and the published numbers against their schema."""

import json
import re

import pytest

import specviz
from specviz.acceptance.in_traces import depth_acceptance
from specviz.acceptance.on_text import acceptance_vector, own_texts
from specviz.acceptance.vectors import expected_tokens, find_acceptance
from specviz.benchmarks import studies
from specviz.planning.cost_table import flat_up_to
from specviz.plots import PLOTS
from specviz.plots.export import to_json

PAIR = specviz.toy_pair(vocab=8, seed=2, closeness=0.7)
CONFIG = specviz.RunConfig(temperature=1.0, max_new_tokens=30, seed=1)
KINDS = {"prose": ["ab", "ca", "dd"], "code": ["ba", "ac", "ef"]}


def last(steps):
    """What is known at the end of a study, whose progress never falls and ends at its end."""
    news = list(steps)
    counts = [done for done, _, _ in news]
    assert counts == sorted(counts) and news[-1][0] == news[-1][1]
    return news[-1][2]


def test_levels_are_those_of_the_runs():
    found = last(studies.levels(PAIR, CONFIG, ["ab", "ca"], size=8, depth=3))
    builder = specviz.BUILDERS["sequoia"](size=8, depth=3)
    runs = [specviz.run(PAIR, studies.prepared(CONFIG, builder, p, turn)) for turn, p in enumerate(["ab", "ca"])]
    assert found == depth_acceptance(runs)
    assert [run.config.seed for run in runs] == [1, 2]


def test_policies_run_every_policy_on_every_prompt():
    found = last(studies.policies(PAIR, CONFIG, KINDS))
    assert {key: len(runs) for key, runs in found.items()} == {
        (policy, kind): 3 for policy in studies.POLICIES for kind in KINDS
    }
    info = PLOTS["policies"].info(found)
    constant = next(bar for bar in info.bars if bar.policy == "constant 5" and bar.kind == "prose")
    assert constant.drafted <= 5 and constant.share == pytest.approx(constant.accepted / constant.drafted)


def test_top_p_is_the_expectation_of_each_rules_vector():
    found = last(studies.top_p(PAIR, CONFIG, ["ab"], values=(0.6, 1.0)))
    shape = specviz.BUILDERS["sequoia"](size=16, depth=6, acceptance=find_acceptance("sequoia", 1.0)).shape
    for place, value in enumerate((0.6, 1.0)):
        cut = specviz.RunConfig(temperature=1.0, max_new_tokens=30, seed=1, top_p=value)
        texts = list(own_texts(PAIR, ["ab"], cut))
        for rule in studies.TOP_P_RULES:
            vector = acceptance_vector(PAIR, specviz.VERIFIERS[rule](), texts, cut, 8).acceptance
            assert found.tokens[rule][place] == pytest.approx(expected_tokens(shape, vector))
    greedy = last(studies.top_p(PAIR, specviz.RunConfig(temperature=0.0, max_new_tokens=30), ["ab"], values=(0.6, 1.0)))
    assert greedy.tokens["exact-match"][0] == greedy.tokens["exact-match"][1]  # there top-p cuts nothing that counts


def test_a_transfer_holds_every_tree_on_every_kind():
    rows = last(studies.transfer(PAIR, CONFIG, KINDS, size=6, depth=3))
    assert [(row.run_on, row.planned_for) for row in rows] == [
        ("prose", "prose"), ("prose", "code"), ("code", "prose"), ("code", "code"),
    ]  # fmt: skip
    promised = {row.planned_for: row.predicted for row in rows}
    assert all(row.predicted == promised[row.planned_for] and 1 <= row.measured <= 4 for row in rows)


def test_temperatures_hold_predictions_against_timed_runs():
    found = last(studies.temperatures(PAIR, CONFIG, flat_up_to(8), ["ab", "ca", "dd", "ba"], (0.0, 1.0), size=4))
    assert list(found) == [0.0, 1.0] and all(one.predicted.size == 4 for one in found.values())
    assert [point.size for point in PLOTS["temperature"].info(found).points] == [0.0, 1.0]


def test_a_strip_is_one_run():
    trace = last(studies.strip(PAIR, CONFIG, "ab"))
    assert trace.config.builder.name == "dyspec-threshold" and len(trace.steps) > 2


# The page's side: recorded studies and published numbers.


def test_every_study_is_recorded_and_comes_back_whole():
    from app.parts import recorded
    from app.parts.study_list import STUDIES

    past = recorded.read()
    assert {name for name, study in STUDIES.items() if not study.timed} <= set(past.studies) <= set(STUDIES)
    for name, info in past.studies.items():
        again = recorded.study(name, json.loads(to_json(info)))
        assert again == info and type(again) is type(info)
        assert PLOTS[name].draw(info).data


def test_published_numbers_name_their_place():
    from app.tabs.speedup.published import published

    data = published()
    kinds = {
        "source": str, "url": str, "place": str, "method": str, "target": str, "draft": str, "setting": str,
        "baseline": str, "machine": str, "speedup": float | int,
    }  # fmt: skip
    for row in data["rows"]:
        assert row.keys() == {*kinds, "temperature", "data", "tokens_per_pass"}
        assert all(isinstance(row[name], kind) and row[name] for name, kind in kinds.items()), row
        assert row["url"] == data["sources"][row["source"]]["url"]
        assert re.fullmatch(r"https://arxiv\.org/(abs|html)/\d{4}\.\d{5}(v\d)?", row["url"])
        assert re.fullmatch(r"(Table|Figure|Section) \d+", row["place"])
        assert 0.5 < row["speedup"] < 20 and (row["tokens_per_pass"] or 1) >= 1
        assert row["temperature"] is None or 0 <= row["temperature"] <= 1
    assert len({json.dumps(row) for row in data["rows"]}) == len(data["rows"])
    for row in data["rows"]:
        if row["source"] == "DySpec":  # the paper prints seconds: the speedup is their ratio
            mine, plain = (float(re.search(r"([\d.]+) (?:ms|s) a token", row[of])[1]) for of in ("setting", "baseline"))
            assert row["speedup"] == pytest.approx(plain / mine, abs=0.01)


def test_measured_and_published_share_no_block():
    from app.parts.card import Source
    from app.tabs.speedup.published import published, value
    from specviz.plots.predicted import Point

    text = value([Point("<b>", 4, 1.5, 1.4, 1.2, 1.6)], Source("measured", "measured here"), "With a pair.")
    here, *papers = json.loads(text)["blocks"]
    assert "<" not in text and here["rows"] == [["<b>", "1.50", "1.40", "1.20 to 1.60"]] and here["kind"] == "here"
    assert [block["title"] for block in papers] == [source["title"] for source in published()["sources"].values()]
    assert sum(len(block["rows"]) for block in papers) == len(published()["rows"])
    assert all(len(row) == len(block["columns"]) for block in [here, *papers] for row in block["rows"])
