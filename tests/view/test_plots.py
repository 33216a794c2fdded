"""The figures: what every one shows, nothing to see for nothing."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

import specviz
from specviz.measure.forecast import forecast
from specviz.measure.machines import machine
from specviz.measure.texts import continuations
from specviz.measure.this_machine import Point
from specviz.view import export, theme
from specviz.view import figures as plots
from specviz.view.figures import PLOTS, plot
from tests.acceptance import acceptance_vector

PAIR = specviz.toy_pair(vocab=6, seed=3)
CONFIG = specviz.RunConfig("ab", temperature=1.0, max_new_tokens=40)
TEXTS = list(continuations(PAIR, ["abc", "bca"], CONFIG))
VECTOR = (0.6, 0.2, 0.1, 0.1)
ACCEPTANCE = acceptance_vector(PAIR, specviz.VERIFIERS["sequoia"](), TEXTS, CONFIG, width=5)
FORECAST = forecast(VECTOR, machine("a100"), sizes=[2, 4, 8, 16], depths=[1, 2, 4, 8])
POINTS = [Point("a", 16, 2.0, 1.9, 1.8, 2.0), Point("b", 4, 1.5, 0.9, 0.8, 1.0)]
DATA = {
    "acceptance": [ACCEPTANCE],
    "cost": {"A100": machine("a100"), "flat": machine("flat:8")},
    "sizes": {"in memory": FORECAST, "on disk": FORECAST},
    "positions": [0, 2, 5, 1],
    "predicted": {"on this machine": POINTS},
}
EMPTY = {
    "acceptance": [],
    "predicted": {},
}


@pytest.mark.parametrize("name", PLOTS)
def test_every_figure_has_axes_data_and_a_table(name):
    figure = plot(name, DATA[name])
    assert json.loads(figure.to_json())["data"]
    assert figure.layout.xaxis.title.text and figure.layout.yaxis.title.text
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert len(export.to_csv(figure).splitlines()) > 2


@pytest.mark.parametrize("name", EMPTY)
def test_empty_data_gives_a_sentence(name):
    with pytest.raises(ValueError, match="There "):
        plot(name, EMPTY[name])


@pytest.mark.parametrize(
    "arguments", [("pie",), ("sizes", "none"), ("sizes",), ("positions", [1], 1, 2)]
)
def test_wrong_use_is_a_value_error(arguments):
    with pytest.raises(ValueError, match="plot"):
        plot(*arguments)


def test_a_rule_looks_the_same_in_every_figure_and_like_no_other():
    looks = [json.dumps(theme.rule_series(rule)) for rule in specviz.VERIFIERS]
    assert len(set(looks)) == len(looks)
    rules = ("sequoia", "race", "specinfer")
    lines = plot("acceptance", [replace(ACCEPTANCE, verifier=rule) for rule in rules[::-1]]).data
    for rule, line in zip(rules[::-1], lines, strict=True):
        assert line.marker.color == theme.rule_series(rule)["marker"]["color"]
    twice = plot("acceptance", [ACCEPTANCE, replace(ACCEPTANCE, temperature=0.1)]).data
    assert twice[0].line.color == twice[1].line.color and twice[0].line.dash != twice[1].line.dash


def test_acceptance_is_the_vector_with_its_intervals():
    line = plot("acceptance", [ACCEPTANCE]).data[0]
    assert line.y == ACCEPTANCE.acceptance
    assert np.add(ACCEPTANCE.acceptance, line.error_y.array) == pytest.approx(ACCEPTANCE.high)


def test_predicted_orders_points_and_says_what_its_marks_are():
    figure = plot("predicted", DATA["predicted"])
    predicted, timed, plain = figure.data
    assert predicted.x == (4, 16) and timed.y == (0.9, 1.9)
    assert "○ predicted  ■ timed" in figure.layout.annotations[0].text
    assert plain.x == (4, 16) and plain.y == (1, 1)


def test_cost_is_relative_to_one_node():
    gpu, flat = plot("cost", DATA["cost"]).data
    assert gpu.y[0] == flat.y[0] == 1 and dict(zip(flat.x, flat.y, strict=True))[16] == 2


@pytest.mark.parametrize("name", ["cost", "sizes", "predicted"])
def test_an_axis_has_a_number_above_all_that_is_drawn(name):
    figure = plot(name, DATA[name])
    highest = max(y for line in figure.data for y in line.y)
    assert figure.layout.yaxis.autorangeoptions.include >= highest


def test_lines_have_their_names_at_their_ends_in_colours_that_stay():
    both, one = ({"on disk": POINTS, "in memory": POINTS[:1]}, {"in memory": POINTS[:1]})
    for figure in (plot("predicted", both), plot("predicted", one), plot("sizes", DATA["sizes"])):
        named = {note.text: note.font.color for note in figure.layout.annotations}
        for name, colour in named.items():
            if name.endswith("in memory"):
                assert colour == theme.MACHINES["in memory"]
        assert any(name.endswith("in memory") for name in named) and not figure.layout.showlegend


def test_the_names_of_lines_that_end_together_stand_apart():
    points = [POINTS[0]._replace(predicted=1.0 + 0.001 * place) for place in range(3)]
    groups = {name: [point] for name, point in zip("abc", points, strict=True)}
    figure = plot("predicted", groups)
    names = figure.layout.annotations[1:]  # after the line about marks; with that of plain decoding
    heights = sorted(note.y for note in names)
    drawn = [y for line in figure.data for y in line.y]
    apart = theme.LABEL_HEIGHT * (max(drawn) - min(drawn))
    assert len(heights) == 4
    assert min(b - a for a, b in itertools.pairwise(heights)) >= 0.999 * apart > 0


def test_acceptance_by_position_counts_what_was_reached_and_what_was_drafted():
    reached, steps, drafted = plot("positions", [0, 2, 2, 1], depth=2).data
    assert reached.y == (0.75, 2 / 3) and steps.y == (0.75, 0.5) and drafted.y == (0.625, 0.625)


def test_text_in_figures_has_the_contrast_of_wcag_aa_on_white():
    values = [int(theme.TEXT[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values
    ]
    assert 1.05 / (np.dot(linear, (0.2126, 0.7152, 0.0722)) + 0.05) >= 4.5


def test_csv_holds_no_formulas():
    fig = theme.figure("x", "y")
    fig.add_scatter(x=["=1+1", "a"], y=[1, None], name="@x")
    assert export.to_csv(fig).splitlines()[1:] == ["'@x,'=1+1,1", "'@x,a,"]


def test_figures_need_no_torch():
    import subprocess
    import sys

    code = (
        "import sys, specviz.view.figures; print(sorted({'torch', 'transformers', 'gradio'} & "
        "set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert plots.__doc__
