"""The tab Measure without a browser."""

import re

import pytest

from app.service.pair_ref import LABELS, SMOLLM2, TALES
from app.tabs import measure
from app.tabs.parts import recorded
from app.tabs.parts.web import dumps
from specviz.base.files import CURVES
from specviz.measure.this_machine import MachineMeasurement
from specviz.view.payload import described


def test_recorded_measurements_open_and_are_of_this_form(tmp_path, monkeypatch):
    past = recorded.read()
    assert past.costs["memory"].sizes[0] == 1 and past.points["memory"] and past.date in past.label
    damaged = tmp_path / "curves.json"
    damaged.write_text(CURVES.read_text("utf-8").replace('"date"', '"day"'), "utf-8")
    monkeypatch.setattr(recorded, "CURVES", damaged)
    with pytest.raises(ValueError, match="curves"):
        recorded.read.__wrapped__()


@pytest.mark.parametrize("value", ["0.8", None, [], {}, True])
def test_only_a_number_is_a_temperature(value):
    with pytest.raises(ValueError, match="Temperature must be a number"):
        measure.nearest(value)


def test_answers_follow_the_temperature_and_name_what_was_measured_here():
    answers = {
        value: {name: content[0] for name, content in measure.contents(value, [], None).items()}
        for value in (0.0, 1.0)
    }
    assert answers[0.0].keys() == measure.QUESTIONS.keys()
    assert answers[0.0]["sizes"] != answers[1.0]["sizes"]
    assert all(re.search(r"\d.*\.$", text) for text in answers[1.0].values())
    table = recorded.read().costs["memory"]
    here = measure.contents(1.0, [], MachineMeasurement(table))
    assert "on this machine, with the weights in memory, a tree" in here["sizes"][0]
    assert here["sizes"][0].count("in memory") == 1, "what was recorded gives way"
    assert here["cost"][3] == "measured" and here["positions"][3] == "recorded"
    assert measure.nearest(0.05) == 0.0


def test_every_number_names_its_model_as_the_menu_does_and_where_the_weights_are():
    shown = measure.contents(0.6, [], None)
    for name, content in shown.items():
        label = LABELS[TALES if name == "positions" else SMOLLM2]
        assert label in content.answer and content.source.startswith(label), name
        assert not re.search("smollm2|tales|embedded", content.answer + content.source)
    for name in ("sizes", "cost", "predicted"):
        assert "weights in memory" in shown[name].answer and "weights on disk" in shown[name].answer
    assert "takes as long as" in shown["cost"].answer
    assert "times as fast as plain decoding" in shown["sizes"].answer
    assert LABELS[TALES] in described({"name": "embedded pair"})


def test_what_acceptance_means_is_counted_in_one_run():
    text = measure.counted([0, 2, 2, 1], 2)  # 7 tokens were reached of 8 drafted, 5 accepted
    assert "2.2 tokens per pass" in text and "71\u00a0% of the tokens that were" in text
    assert "62\u00a0% of those drafted" in text


def test_json_for_the_page_cannot_be_markup():
    assert "<" not in dumps({"text": "<script>"})
