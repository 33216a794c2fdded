"""The figures: every info exactly, every drawing from JSON to axis titles, and nothing to see for nothing."""

import csv
import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import specviz
from specviz import plots
from specviz.acceptance.in_traces import DepthAcceptance, depth_acceptance
from specviz.acceptance.on_nodes import draft_uncertainty, rejection_rates
from specviz.acceptance.on_text import acceptance_vector, own_texts
from specviz.acceptance.vectors import expected_tokens
from specviz.benchmarks.predictions import SpeedupPrediction
from specviz.benchmarks.studies import TopP, Transfer
from specviz.benchmarks.trials import Trial
from specviz.builders.sequoia import best_tree
from specviz.planning.cost_table import machine
from specviz.planning.forecast import forecast, predict
from specviz.plots import PLOTS, export, plot, theme
from specviz.plots.predicted import Point
from specviz.plots.step_tree import place
from specviz.theory.bounds import chain_tokens, entropy_estimate, fit_power_law
from specviz.tree import Topology

PAIR = specviz.toy_pair(vocab=6, seed=3)
CONFIG = specviz.RunConfig("ab", temperature=1.0, max_new_tokens=40)
TEXTS = list(own_texts(PAIR, ["abc", "bca"], CONFIG))
VECTOR = (0.6, 0.2, 0.1, 0.1)
ACCEPTANCE = acceptance_vector(PAIR, specviz.VERIFIERS["sequoia"](), TEXTS, CONFIG, width=5)
RATES = rejection_rates(PAIR, TEXTS, CONFIG, widths=(1, 2, 4, 6))
DOUBT = draft_uncertainty(PAIR, TEXTS, CONFIG)
TRACE = specviz.run(PAIR, CONFIG)
FORECAST = forecast(VECTOR, machine("a100"), sizes=[2, 4, 8, 16], depths=[1, 2, 4, 8])
POINTS = [Point("a", 16, 2.0, 1.9, 1.8, 2.0), Point("b", 4, 1.5, 0.9, 0.8, 1.0)]
TOP_P = TopP((0.5, 1.0), {"sequoia": (2.0, 2.5), "specinfer": (2.0, 2.0)}, 16, 40, 0.8)
TRANSFERS = (
    Transfer("prose", "prose", 2.5, 2.4, 0.1), Transfer("code", "prose", 2.9, 2.0, 0.1),
    Transfer("prose", "code", 2.5, 3.0, 0.1), Transfer("code", "code", 2.9, 3.0, 0.1),
)  # fmt: skip
PROMISES = {
    value: SpeedupPrediction(
        "tree", predict(Topology((-1, 0)), VECTOR, machine("a100")), Trial("tree", 1.2, 1.0, 1.5, *[0.1] * 3, {}, 9)
    )
    for value in (0.6, 0.0)
}
DATA = {
    "acceptance": ([ACCEPTANCE],),
    "depth": (depth_acceptance([TRACE]),),
    "rejection": (RATES,),
    "probability": (DOUBT,),
    "doubt": (DOUBT,),
    "bounds": (DOUBT,),
    "ratio": (DOUBT,),
    "shapes": (VECTOR, (2, 4, 8, 16, 32)),
    "cost": (machine("a100"),),
    "speedup": (FORECAST,),
    "predicted": (POINTS,),
    "marginal": (VECTOR, machine("a100"), (2, 4, 8, 16)),
    "sweep": (VECTOR, machine("a100"), (1, 2, 5), (1, 4, 8)),
    "policies": ({("chain 4", "prose"): [TRACE], ("heuristic", "code"): [TRACE, TRACE], ("svip", "code"): [TRACE]},),
    "length": (DOUBT,),
    "top_p": (TOP_P,),
    "transfer": (TRANSFERS,),
    "temperature": (PROMISES,),
    "lengths": (TRACE,),
    "ribbon": (TRACE,),
    "tree": (max(TRACE.steps, key=lambda step: len(step.path)),),
    "blocks": ([best_tree(VECTOR, size, 6, 4)[0] for size in (4, 16, 64)], 8),
}
NOTHING = {
    "acceptance": ([],),
    "depth": (depth_acceptance([]),),
    "rejection": (replace(RATES, rates={}, floors={}),),
    "probability": (replace(DOUBT, **{name: () for name in DOUBT.__dataclass_fields__}),),
    "predicted": ([],),
    "temperature": ({},),
    "transfer": ((),),
    "top_p": (replace(TOP_P, values=(), tokens={}),),
    "policies": ({},),
    "marginal": (VECTOR, machine("a100"), (2,)),
    "blocks": ([],),
    "lengths": (replace(TRACE, steps=()),),
    "ribbon": (replace(TRACE, steps=()),),
}
NOTHING |= dict.fromkeys(("doubt", "length", "bounds", "ratio"), NOTHING["probability"])


def test_every_figure_is_tried_here():
    assert set(DATA) == set(PLOTS)


@pytest.mark.parametrize("name", PLOTS)
def test_every_figure_can_be_drawn_read_and_taken_along(name):
    module = PLOTS[name]
    info = module.info(*DATA[name])
    fig = module.draw(info)
    assert json.loads(fig.to_json())["data"]
    assert fig.layout.xaxis.title.text and (fig.layout.yaxis.title.text or name == "tree")
    assert fig.layout.paper_bgcolor == fig.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert fig.layout.font.color == theme.TEXT
    assert module.HOW_TO_READ.endswith(".") and len(module.HOW_TO_READ) > 60 and module.TITLE
    assert set(json.loads(export.to_json(info))) == set(info._fields)
    rows = list(csv.reader(io.StringIO(export.to_csv(fig))))
    assert rows[0] == ["series", "x", "y", "z"] and len(rows) > 2 and all(len(row) == 4 for row in rows)


@pytest.mark.parametrize("name", NOTHING)
def test_nothing_gives_a_sentence_instead_of_an_error(name):
    fig = plot(name, *NOTHING[name])
    assert not fig.data and fig.layout.annotations[0].text.endswith(".")


def test_an_unknown_figure_gets_a_sentence():
    with pytest.raises(ValueError, match="plot must be one of acceptance"):
        plot("pie")


def test_a_rule_looks_the_same_in_every_figure_and_like_no_other():
    looks = [json.dumps(theme.rule_series(rule)) for rule in specviz.VERIFIERS]
    assert len(set(looks)) == len(looks)
    rules = ("sequoia", "race", "specinfer")
    vectors = [replace(ACCEPTANCE, verifier=rule) for rule in rules]
    for figure in (
        plot("acceptance", vectors[::-1]),
        plot("top_p", replace(TOP_P, tokens=dict.fromkeys(rules, TOP_P.tokens["sequoia"]))),
        plot("rejection", replace(RATES, **{part: {rule: getattr(RATES, part)["sequoia"] for rule in rules[:1]}
                                            for part in ("rates", "low", "high", "methods")})),
    ):  # fmt: skip
        for line in figure.data:
            for rule in rules:
                assert rule not in (line.name or "")  # its title stands there
                if (line.name or "").startswith(specviz.VERIFIERS[rule].title) and "markers" in line.mode:
                    assert line.marker.color == theme.rule_series(rule)["marker"]["color"]
    twice = plot("acceptance", [ACCEPTANCE, replace(ACCEPTANCE, temperature=0.1)]).data
    assert theme.titled("target-match, specinfer 12 x 5") == "Target match, SpecInfer 12 x 5"
    assert twice[0].line.color == twice[1].line.color and twice[0].line.dash != twice[1].line.dash


def test_text_in_figures_has_the_contrast_of_wcag_aa_on_white():
    shares = [int(theme.TEXT[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    assert 1.05 / (np.dot(linear, (0.2126, 0.7152, 0.0722)) + 0.05) >= 4.5


# Infos, figure by figure.


def test_acceptance_info_is_the_vector_with_its_intervals():
    info = PLOTS["acceptance"].info([ACCEPTANCE])
    assert info.vectors[0].ranks == (1, 2, 3, 4, 5)
    assert (info.vectors[0].chance, info.vectors[0].low) == (ACCEPTANCE.acceptance, ACCEPTANCE.low)
    assert info.totals == (pytest.approx(sum(ACCEPTANCE.acceptance)),)
    bars = PLOTS["acceptance"].draw(info).data[0].error_y
    assert np.add(ACCEPTANCE.acceptance, bars.array) == pytest.approx(ACCEPTANCE.high)


def test_rejection_info_leaves_out_zeros_and_fits_the_rest():
    planted = replace(
        RATES, widths=(1, 2, 4), rates={"a": (0.5, 0.25, 0.125), "b": (0.5, None, 0.0), "c": (0.0, 0.0, 0.0)},
        low=dict.fromkeys("abc", (0.0, 0.0, 0.0)), high=dict.fromkeys("abc", (1.0, 1.0, 1.0)),
        methods=dict.fromkeys("abc", "exact"), floors={"iid": (0.4, 0.1, 0.0)},
    )  # fmt: skip
    info = PLOTS["rejection"].info(planted)
    assert [curve.name for curve in info.curves] == ["a", "b"]
    assert (info.curves[0].scale, info.curves[0].exponent) == (pytest.approx(0.5), pytest.approx(1.0))
    assert info.curves[1].widths == (1,) and math.isnan(info.curves[1].exponent)
    assert info.floors == {"iid": ((1, 2), (0.4, 0.1))}
    real = {curve.name: curve for curve in PLOTS["rejection"].info(RATES).curves}
    assert "sequoia, dyspec, traversal" in real and "speculative-sampling, block" in real
    found = [(w, r) for w, r in zip(RATES.widths, RATES.rates["specinfer"], strict=True) if r]
    assert real["specinfer"].exponent == pytest.approx(fit_power_law(*zip(*found, strict=True))[1])


def test_shapes_info_is_closed_forms_under_bounds():
    sizes = (2, 3, 5, 9, 17)
    info = PLOTS["shapes"].info(VECTOR, sizes, width=2)
    assert info.curves["chain"] == tuple((n, pytest.approx(chain_tokens(0.6, n - 1))) for n in sizes)
    best = dict(info.curves["sequoia"])
    assert best == {n: pytest.approx(best_tree(VECTOR, n, n - 1, 32)[1]) for n in sizes}
    assert set(info.bounds) == {"lemma 4.2, best m", "theorem 4.1, by leaves"}  # this vector sums to 1
    for points in info.bounds.values():
        assert all(bound >= best[n] - 1e-9 for n, bound in points)
    assert info.plateaus["chain"] == pytest.approx(2.5) and info.plateaus["k-ary"] == pytest.approx(5)
    partial = PLOTS["shapes"].info((0.6, 0.2), sizes)
    assert set(partial.bounds) == {"lemma 4.2, best m"}
    levels = PLOTS["shapes"].info(((0.9, 0.1), (0.2, 0.2)), sizes)
    assert levels.bounds == {} and levels.plateaus == {} and levels.curves["sequoia"]
    for _, tokens in levels.curves["chain"][:1]:
        assert tokens == pytest.approx(expected_tokens(Topology((-1, 0)), ((0.9, 0.1),)))


def test_speedup_info_is_the_forecast_with_its_best_cell():
    info = PLOTS["speedup"].info(FORECAST)
    assert info.best_speedup == FORECAST.best.speedup and info.best_size == FORECAST.best.size
    row, column = info.sizes.index(info.best_size), info.depths.index(info.best_depth)
    assert info.speedup[row][column] == info.best_speedup == max(v for row in info.speedup for v in row if v)
    assert info.tokens[row][column] == FORECAST.best.tokens_per_pass
    assert info.projection and "projection" in PLOTS["speedup"].draw(info).layout.title.text
    losing = PLOTS["speedup"].info(forecast((0.1,), machine("flat:1"), [2, 4], [1, 3]))
    assert not losing.pays and "plain decoding is fastest" in PLOTS["speedup"].draw(losing).layout.title.text


def test_predicted_info_orders_judges_and_measures_the_error():
    info = PLOTS["predicted"].info(POINTS)
    assert [point.name for point in info.points] == ["b", "a"]
    assert info.ratios == (pytest.approx(0.6), pytest.approx(0.95)) and info.loses == (True, False)
    assert info.worst == pytest.approx(0.4)
    assert {"measured", "measured, slower than plain"} <= {trace.name for trace in PLOTS["predicted"].draw(info).data}


def test_sweep_info_is_the_prediction_of_k_sequences():
    info = PLOTS["sweep"].info(VECTOR, machine("a100"), (1, 3), (1, 2, 5))
    shape = specviz.BUILDERS["k-sequences"](width=3, depth=2).shape
    cell = predict(shape, VECTOR, machine("a100"))
    assert (info.speedup[1][1], info.tokens[1][1]) == (pytest.approx(cell.speedup), pytest.approx(cell.tokens_per_pass))
    assert info.tokens[0][2] == pytest.approx(chain_tokens(0.6, 5))
    assert info.best_speedup == max(v for row in info.speedup for v in row)
    place = info.widths.index(info.best_width), info.lengths.index(info.best_length)
    assert info.speedup[place[0]][place[1]] == info.best_speedup
    assert PLOTS["sweep"].info(VECTOR, machine("a100"), (2, 64), (4, 64)).speedup[1][1] is None


def test_policies_info_is_means_over_steps():
    info = PLOTS["policies"].info({("a", "prose"): [TRACE, TRACE], ("b", "code"): [TRACE], ("c", "code"): []})
    assert [(bar.policy, bar.kind) for bar in info.bars] == [("b", "code"), ("a", "prose")]
    steps = [step for step in TRACE.steps if len(step.parents) > 1]
    for bar, times in zip(info.bars, (1, 2), strict=True):
        assert bar.steps == times * len(steps)
        assert bar.drafted == pytest.approx(np.mean([len(step.parents) - 1 for step in steps]))
        assert bar.accepted == pytest.approx(np.mean([len(step.path) for step in steps]))
        assert bar.share == pytest.approx(bar.accepted / bar.drafted)


def test_predicted_speedup_by_temperature_has_its_own_axis():
    fig = plot("predicted", [Point("t", 0.6, 1.2, 1.1, 1.0, 1.2)], axis="temperature")
    assert fig.layout.xaxis.title.text == "temperature" and fig.layout.xaxis.type is None


def test_cost_info_is_in_milliseconds():
    table = replace(machine("a100"), projection=False, spread={"target": [[0.02, 0.03]] * len(machine("a100").sizes)})
    info = PLOTS["cost"].info(table)
    assert info.lines[0].time == tuple(1000 * t for t in table.target_s) and info.plain == pytest.approx(24.2)
    assert set(info.lines[0].low) == {20.0} and info.lines[1].low == info.lines[1].time
    assert "measured" in PLOTS["cost"].draw(info).layout.title.text


def test_doubt_info_bins_equally_and_draws_both_estimates():
    info = PLOTS["doubt"].info(DOUBT, bins=4)
    assert sum(count for _, _, count in info.bins) == len(DOUBT.entropy)
    assert max(count for *_, count in info.bins) - min(count for *_, count in info.bins) <= 1
    assert [x for x, _, _ in info.bins] == sorted(x for x, _, _ in info.bins)
    assert sum(y * count for _, y, count in info.bins) == pytest.approx(sum(DOUBT.acceptance))
    assert set(info.estimates) == {0.15, round(DOUBT.c, 3)}
    for c, points in info.estimates.items():
        assert all(value == entropy_estimate(h, c) and value >= 0 for h, value in points)
    lengths = PLOTS["doubt"].info(DOUBT, against="accepted_length")
    assert lengths.value == tuple(n for n in DOUBT.accepted_length if n is not None) and lengths.estimates == {}


def test_bounds_info_falls_and_bounds_hold():
    info = PLOTS["bounds"].info(DOUBT)
    assert list(info.acceptance) == sorted(DOUBT.acceptance, reverse=True)
    for acceptance, *bounds in zip(info.acceptance, info.pinsker, info.bretagnolle_huber, strict=True):
        assert all(0 <= bound <= acceptance + 1e-9 for bound in bounds)
    above = sum(e > a for a, e in zip(info.acceptance, info.estimate, strict=True))
    assert info.overestimated == above / len(info.acceptance)
    endless = replace(DOUBT, cross_entropy=(math.inf,) * len(DOUBT.entropy))
    assert set(PLOTS["bounds"].info(endless, c=0.15).pinsker) == {0.0}


def test_ratio_info_counts_every_position():
    info = PLOTS["ratio"].info(DOUBT)
    assert sum(info.counts) + info.beyond == len(DOUBT.ratios)
    assert info.median == pytest.approx(np.median(DOUBT.ratios)) and info.c == DOUBT.c
    assert len(info.edges) == len(info.counts) + 1


def test_probability_info_is_min_one_p_over_q():
    info = PLOTS["probability"].info(DOUBT)
    for q, p, chance in zip(DOUBT.draft_prob, DOUBT.target_prob, info.accept_prob, strict=True):
        assert chance == min(1, p / q)


def test_lengths_and_ribbon_infos_add_up_to_the_run():
    strip = PLOTS["lengths"].info(TRACE)
    assert sum(strip.written) == len(TRACE.tokens) and strip.mean_written == pytest.approx(TRACE.tokens_per_pass)
    assert strip.drafted == tuple(len(step.parents) - 1 for step in TRACE.steps)
    long = replace(TRACE, steps=TRACE.steps * 40)
    lately, written = PLOTS["lengths"].info(long).lately, [len(step.emitted) for step in long.steps]
    assert len(lately) == len(written) and lately[0] == written[0] and lately[-1] == sum(written[-16:]) / 16
    ribbon = PLOTS["ribbon"].info(TRACE)
    assert len(ribbon.tokens) == len(TRACE.tokens) == sum(ribbon.counts.values())
    assert ribbon.counts["accepted"] == sum(len(step.emitted) - (step.bonus is not None) for step in TRACE.steps)
    assert (ribbon.tokens_per_pass, ribbon.tokens_per_s) == (TRACE.tokens_per_pass, TRACE.tokens_per_s)


def test_top_p_info_says_how_far_a_rule_moves():
    info = PLOTS["top_p"].info(TOP_P)
    assert info.span == {"sequoia": pytest.approx(0.2), "specinfer": 0} and info.tokens == TOP_P.tokens


def test_transfer_info_is_what_the_own_tree_gains():
    assert PLOTS["transfer"].info(TRANSFERS).gain == {"prose": pytest.approx(0.2), "code": 0}
    assert PLOTS["transfer"].info(TRANSFERS[:1]).gain == {}


def test_temperature_info_is_in_order_and_on_its_own_axis():
    info = PLOTS["temperature"].info(PROMISES)
    assert [point.size for point in info.points] == [0.0, 0.6] and info.axis == "temperature"
    assert info.points[0].predicted == PROMISES[0.0].predicted.speedup == pytest.approx(1.6 * 24.2 / (24.2 + 0.5 + 1.7))
    assert (info.points[0].measured, info.points[0].low, info.points[0].high) == (1.2, 1.0, 1.5)


def test_length_info_is_the_other_axis_of_the_doubt():
    info = PLOTS["length"].info(DOUBT)
    assert info.value == tuple(n for n in DOUBT.accepted_length if n is not None) and not info.estimates


def test_a_machine_without_a_clock_is_told_in_passes():
    info = PLOTS["cost"].info(machine("flat:8"))
    assert (info.unit, info.plain) == ("target passes", 1.0) and info.lines[0].time[0] == 1.0
    assert "target passes" in PLOTS["cost"].draw(info).layout.yaxis.title.text


def test_depth_info_keeps_untried_cells_empty():
    info = PLOTS["depth"].info(DepthAcceptance(((10, 4), (5, 0)), ((6, 1), (5, 0))))
    assert info.rates == ((0.6, 0.25), (1.0, None)) and info.labels[1][1] == "not tried"
    assert info.labels[0][0] == "6 of 10 accepted"  # of runs that are not distinguished there is no interval


def test_tree_info_puts_the_accepted_path_on_top():
    for step in TRACE.steps:
        info = PLOTS["tree"].info(step)
        assert sum(info.counts.values()) == len(step.parents) == len(info.nodes)
        straight = [info.nodes[node] for node in (0, *step.path)]
        assert {node.y for node in straight} == {0} and [node.x for node in straight] == list(range(len(straight)))
        assert (info.added is None) == (step.bonus is None)
        if info.added:
            assert (info.added.x, info.added.y) == (len(straight), 0)
        taken = [(node.x, node.y) for node in (*info.nodes, info.added) if node]
        assert len(set(taken)) == len(taken)


# Layout and text.


@st.composite
def trees_with_a_path(draw):
    parents = [-1, *(draw(st.integers(0, node - 1)) for node in range(1, draw(st.integers(1, 40))))]
    shape, node, path = Topology(tuple(parents)), 0, []
    while shape.children[node] and draw(st.booleans()):
        node = draw(st.sampled_from(shape.children[node]))
        path.append(node)
    return shape, path


@given(trees_with_a_path())
def test_layout_crosses_nothing_and_keeps_the_path_straight(tree):
    shape, path = tree
    places = place(shape, path)
    assert len(set(places)) == len(shape)
    assert [x for x, _ in places] == shape.depth.tolist()
    assert min(y for _, y in places) == 0 and {places[node][1] for node in (0, *path)} == {0}
    for node, children in enumerate(shape.children):
        if children:
            assert places[node][1] == min(places[child][1] for child in children)
    # Edges between two neighbouring columns cross where their ends are in opposite order.
    edges = [(places[parent], places[node]) for node, parent in enumerate(shape.parents) if parent >= 0]
    for (ax, ay), (_, ad) in edges:
        for (bx, by), (_, bd) in edges:
            if ax == bx and ay < by:
                assert ad < bd


def test_layout_packs_subtrees_side_by_side():
    # 0 -> 1, 2; 1 -> 3; 2 has nothing below it: it can stand right under 1
    assert place(Topology((-1, 0, 0, 1, 1))) == [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1)]


@pytest.mark.parametrize("text", ["<img src=x onerror=alert(1)>", "a\n\t b", "\x00\u202e", "", "x" * 99, "<b>&"])
def test_token_text_is_harmless_and_visible(text):
    shown = theme.visible(text)
    assert shown and "<" not in shown and "\n" not in shown and "\x00" not in shown and "\u202e" not in shown
    step = replace(TRACE.steps[0], texts=(text,) * len(TRACE.steps[0].parents))
    drawn = plot("tree", step).to_json()
    assert "<img" not in drawn and "\\u003cimg" not in drawn


def test_csv_holds_no_formulas():
    fig = theme.figure("x", "y")
    fig.add_scatter(x=["=1+1", "a"], y=[1, None], name="@x")
    assert export.to_csv(fig).splitlines()[1:] == ["'@x,'=1+1,1,", "'@x,a,,"]


def test_figures_need_no_torch():
    import subprocess
    import sys

    code = "import sys, specviz.plots; print(sorted({'torch', 'transformers', 'gradio'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert plots.__doc__
