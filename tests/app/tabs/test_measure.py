"""The tabs Measure and Papers without a browser."""

import pytest

from app.parts import recorded
from app.parts.web import dumps
from app.tabs import measure, papers
from specviz.base.files import CURVES


def test_recorded_measurements_open_and_are_of_this_form(tmp_path, monkeypatch):
    past = recorded.read()
    assert past.costs["memory"].sizes[0] == 1 and past.points["memory"] and past.date in past.label
    damaged = tmp_path / "curves.json"
    damaged.write_text(CURVES.read_text("utf-8").replace('"date"', '"day"'), "utf-8")
    monkeypatch.setattr(recorded, "CURVES", damaged)
    with pytest.raises(ValueError, match="curves"):
        recorded.read.__wrapped__()


@pytest.mark.parametrize(
    "values", [(0.5, "memory"), (0.8, "toaster"), ("0.8", "memory"), (None, None), ([], {})]
)
def test_only_the_choices_of_the_page_are_accepted(values):
    with pytest.raises(ValueError, match="choices"):
        measure.check_choices(*values)


def test_the_map_follows_temperature_and_machine():
    titles = {
        measure.draw_map(temperature, measure.cost_table(name)).layout.title.text
        for temperature in (0.0, 1.0)
        for name in ("memory", "a100")
    }
    assert len(titles) == 4


def test_a_papers_table_is_escaped_filtered_and_complete(monkeypatch):
    html = papers.render("sequoia", papers.ALL)
    assert html.count("<tr data-state") == len(papers.papers.table("sequoia"))
    assert papers.render("sequoia", "differs").count("<tr data-state") < html.count(
        "<tr data-state"
    )
    hostile = papers.papers.table("svip")[0]._replace(claim="<img src=x onerror=alert(1)>")
    monkeypatch.setattr(papers.papers, "table", lambda source: (hostile,))
    assert "<img" not in papers.render("svip", papers.ALL)
    assert papers.render(["x"], {"y": 1})  # a visitor may send anything


def test_json_for_the_page_cannot_be_markup():
    assert "<" not in dumps({"text": "<script>"})
