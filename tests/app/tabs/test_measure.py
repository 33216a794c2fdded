"""The tab Measure without a browser."""

import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from app.service.pair_ref import LABELS, SMOLLM2, TALES
from app.tabs import measure
from app.tabs.measure.answers import HOLDS, fastest_tree, four_rates, prediction_answer
from app.tabs.parts import recorded
from specviz.base.files import CURVES
from specviz.measure.forecast import forecast
from specviz.measure.this_machine import MachineMeasurement, Point
from specviz.view.payload import described, page_json
from specviz.view.theme import MACHINES


def test_recorded_measurements_open_and_are_of_this_form(tmp_path, monkeypatch):
    past = recorded.read()
    assert (
        past.costs["memory"].sizes[0] == 1 and past.points["memory"] and past.date[:4] in past.label
    )
    damaged = tmp_path / "curves.json"
    damaged.write_text(CURVES.read_text("utf-8").replace('"date"', '"day"'), "utf-8")
    monkeypatch.setattr(recorded, "CURVES", damaged)
    with pytest.raises(ValueError, match="curves"):
        recorded.read.__wrapped__()


@pytest.mark.parametrize("value", ["0.8", None, [], {}, 0.7])
def test_only_a_temperature_at_which_acceptance_was_measured_is_taken(value):
    with pytest.raises(ValueError, match="Temperature must be one of 0, "):
        measure.checked(value)


def test_a_rule_looks_the_same_at_every_temperature():
    lines = [measure.draw_acceptance(value).data for value in (0.0, 0.6)]
    for cold, warm in zip(*lines, strict=True):
        assert (cold.line, cold.marker) == (warm.line, warm.marker)


def test_acceptance_and_costs_are_of_one_drafter():
    for cost in recorded.read().costs.values():
        assert cost.settings["drafter"] == measure.DRAFTER
        assert cost.settings["pair"] == measure.PAIR


def test_answers_follow_the_temperature_and_name_what_was_measured_here():
    answers = {
        value: {name: content[0] for name, content in measure.contents(value, None).items()}
        for value in (0.0, 1.0)
    }
    assert answers[0.0].keys() == measure.QUESTIONS.keys()
    for name in ("sizes", "acceptance", "positions"):
        assert answers[0.0][name] != answers[1.0][name], name
    for name in ("cost", "predicted"):
        assert answers[0.0][name] == answers[1.0][name], "what was timed"
    assert all(re.search(r"\d.*\.$", text) for text in answers[1.0].values())
    table = recorded.read().costs["memory"]
    here = measure.contents(1.0, MachineMeasurement(table))
    assert "On this machine: a tree" in here["sizes"].answer
    assert "in memory" not in here["sizes"].answer.lower(), "what was recorded gives way"
    assert (
        measure.MEASURED in here["cost"].source and measure.MEASURED not in here["positions"].source
    )
    assert "this machine" not in here["predicted"].source, "until trees were timed here"
    assert here["predicted"].source.endswith("temperature 0.8")


def test_no_answer_speaks_of_sizes_beyond_those_that_were_timed_here():
    table = recorded.read().costs["memory"]
    columns = {"sizes": (1, 2, 4), "target_s": (0.01, 0.011, 0.02), "overhead_s": (0.0,) * 3}
    short = replace(table, spread={}, **columns)
    cards = measure.contents(0.6, MachineMeasurement(short))
    start = (
        "On this machine: 2.0 times as long for a pass over 4 nodes as for one over a single node"
    )
    assert cards["cost"].answer.startswith(start)
    for line in cards["sizes"].figure.data[:2]:
        assert max(line.x) <= 4, "the line of this machine and its star"
    for content in measure.contents(0.6, None)["sizes"].figure.data:
        assert max(content.x) <= table.sizes[-1], "nor where all is recorded"


def test_what_is_recorded_beside_what_was_measured_here_is_named_as_recorded():
    past = recorded.read()
    cards = measure.contents(0.6, MachineMeasurement(past.costs["memory"]))
    for name in ("sizes", "cost"):
        assert "on disk, recorded" in cards[name].answer.lower()
        assert f"measured on this machine; on disk: {past.label}" in cards[name].source
        (line,) = [line for line in cards[name].figure.data if "recorded" in (line.name or "")]
        assert line.line.color == MACHINES["on disk"], "one colour for the disk"
    assert past.label in cards["predicted"].source, "until trees were timed here"


def test_every_number_names_its_model_as_the_menu_does_and_where_the_weights_are():
    cards = measure.contents(0.6, None)
    for name, content in cards.items():
        assert content.source.startswith(f"{LABELS[SMOLLM2]}, drafted by "), name
        assert not re.search("smollm2|tales|embedded", content.answer + content.source)
        if name in ("sizes", "cost", "predicted"):
            assert "recorded on 2 cores" in content.source, "the machine"
    for name in ("sizes", "cost"):
        answer = cards[name].answer.lower()
        assert "in memory" in answer and "on disk" in answer
    assert "weights" in measure.QUESTIONS["sizes"][1], "what is in memory or on disk"
    assert "as for one over a single node" in cards["cost"].answer
    assert "times as fast as plain decoding" in cards["sizes"].answer
    assert LABELS[TALES] in described({"name": "embedded pair"})


def test_what_acceptance_means_is_counted_in_one_run():
    text = four_rates([0, 2, 2, 1], 2)  # 7 guesses were tried of 8, 5 accepted
    assert "Tokens per pass: 2.2." in text and "71\u00a0% of the guesses tried" in text
    assert "62\u00a0% of all," in text and "50\u00a0% at position 2" in text


def test_whether_a_prediction_holds():
    near = Point("a", 16, 1.9, 2.0, 1.8, 2.0)
    text = prediction_answer({"in memory": (near,)}, 0.8)
    assert text == "Yes at temperature 0.8, within 5\u00a0% of the timed speedups."
    off = Point("c", 32, 1.5, 0.9, 0.8, 1.0)
    assert abs(off.predicted / off.measured - 1) > HOLDS
    text = prediction_answer({"on this machine": (near, off)}, 1.0)
    assert text == (
        "No at temperature 1, off by 67\u00a0% for 32 nodes on this machine. "
        "If the machine was busy, measure again."
    )


def test_a_star_stands_on_its_own_line():
    """Also where the trees that were timed here are faster or slower than predicted."""
    points = (Point("a", 2, 0.9, 1.52, 1.1, 2.1), Point("b", 16, 0.8, 1.1, 0.9, 3.0))
    result = MachineMeasurement(recorded.read().costs["memory"], points)
    for figure in (
        measure.contents(0.8, result)["sizes"].figure,
        measure.contents(0, None)["sizes"].figure,
    ):
        lines = [trace for trace in figure.data if trace.mode == "lines+markers"]
        stars = [trace for trace in figure.data if trace.marker.symbol == "star"]
        for line, star in zip(lines, stars, strict=True):
            assert dict(zip(line.x, line.y, strict=True))[star.x[0]] == star.y[0] == max(line.y)


def test_where_no_tree_is_faster_the_answer_says_so():
    slow = replace(recorded.read().costs["memory"], target_s=(10.0,) * 7, spread={})
    text = fastest_tree({"in memory": forecast((0.5,), slow, (2, 4), (1, 2))})
    assert text == "In memory: none is faster than plain decoding."


def test_whoever_looks_from_elsewhere_reads_of_the_server():
    code = "from app.tabs.measure.answers import HERE; print(HERE)"
    for name, words in (("127.0.0.1", "on this machine"), ("0.0.0.0", "on the server")):
        settings = os.environ | {"GRADIO_SERVER_NAME": name}
        run = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True)
        assert run.stdout.decode().strip() == words
        assert words in MACHINES, "one colour"


def test_json_for_the_page_cannot_be_markup():
    assert "<" not in page_json({"text": "<script>"})
