"""Cost tables, projections and forecasts: exact arithmetic on tables made by hand, and the shape of
a measurement.

No test here looks at a clock's reading but to see that there is one.
"""

import json
from dataclasses import replace

import numpy as np
import pytest

import specviz
from specviz.base.codec import dumps, read
from specviz.base.progress import final_result
from specviz.builders.plans import best_tree
from specviz.builders.static import grow_shape
from specviz.measure import this_machine as clock
from specviz.measure.cost_fit import Pass, fit_costs
from specviz.measure.cost_table import CostTable
from specviz.measure.forecast import forecast, predict
from specviz.measure.machines import MACHINES, flat_up_to, machine, roofline
from specviz.proof import bounds
from specviz.record.step import Timing

VECTOR = (0.6, 0.2, 0.1)
RULE = specviz.VERIFIERS["sequoia"]()
TABLE = CostTable(
    machine="paper",
    projection=True,
    note="made by hand",
    plain_s=10.0,
    sizes=(1, 4, 8),
    target_s=(8.0, 9.0, 13.0),
    overhead_s=(2.0, 2.0, 4.0),
    widths=(1, 4),
    draft_s=(1.0, 2.5),
    row_s=0.25,
)


def test_a_table_is_read_off_straight_lines_and_drawn_on_at_the_end():
    assert [TABLE.target(n) for n in (1, 2, 4, 6, 8, 10)] == pytest.approx(
        [8, 8 + 1 / 3, 9, 11, 13, 15]
    )
    assert [TABLE.draft(w) for w in (1, 3, 4, 8)] == pytest.approx([1, 2, 2.5, 4.5])
    falling = replace(TABLE, target_s=(8.0, 9.0, 7.0))
    assert falling.target(16) == 7.0  # noise must not make large trees free


def test_a_step_pays_for_every_level_and_a_prediction_is_tokens_times_plain_over_step():
    shape = grow_shape([2, 2])  # 7 nodes; the draft reads 1 node, then 2
    assert TABLE.parts(shape) == pytest.approx(
        {"draft": 1.0 + 1.5, "target": 12.0, "overhead": 3.5 + 3 * 0.25}
    )
    assert TABLE.step(shape) == pytest.approx(2.5 + 12 + 4.25)
    assert TABLE.parts(grow_shape([])) == pytest.approx({"draft": 0, "target": 8, "overhead": 2})
    assert TABLE.parts(grow_shape([1, 1, 1]))["draft"] == 3.0
    # Of a builder that asks the draft more often than once a level, every pass counts.
    assert TABLE.parts(shape, 3)["draft"] == pytest.approx(3.0)  # three inner nodes, one each
    assert TABLE.parts(shape, 2) == TABLE.parts(shape)
    assert predict(shape, VECTOR, TABLE, passes=3).speedup < predict(shape, VECTOR, TABLE).speedup
    cell = predict(shape, VECTOR, TABLE)
    assert (cell.size, cell.depth) == (7, 2) and cell.tokens_per_pass == pytest.approx(
        1 + 0.8 + 0.64
    )
    assert cell.speedup == pytest.approx(cell.tokens_per_pass * 10 / TABLE.step(shape))


def test_no_prediction_exceeds_its_tokens_per_pass():
    """A plain step that was measured while the machine was busy cannot make a tree's step cheaper
    than a plain one."""
    busy = replace(TABLE, plain_s=100.0)
    for cell in forecast(VECTOR, busy).trees:
        assert cell.price == 1 and cell.speedup == cell.tokens_per_pass
    assert predict(grow_shape([2, 2]), VECTOR, TABLE).price == pytest.approx(
        TABLE.step(grow_shape([2, 2])) / 10
    )


def test_the_range_of_a_price_comes_from_the_quartiles_of_both_sides():
    target, draft = [[7.0, 9.0], [8.0, 11.0], [12.0, 15.0]], [[0.5, 2.0], [2.0, 3.0]]
    table = replace(TABLE, spread={"plain": [8.0, 12.0], "target": target, "draft": draft})
    shape = grow_shape([1, 1, 1])
    rest = 2.0 + 3 * 0.25
    assert table.price_range(shape) == pytest.approx(
        ((8 + 3 * 0.5 + rest) / 12, (11 + 3 * 2.0 + rest) / 8)
    )
    assert TABLE.price_range(shape) == (TABLE.price(shape),) * 2


def test_several_texts_share_a_pass():
    shared = TABLE.per_text(4)
    assert shared.target(2) == pytest.approx(TABLE.target(8) / 4)
    assert shared.draft(1) == pytest.approx(TABLE.draft(4) / 4)
    assert shared.plain_s == pytest.approx((10 - TABLE.target(1)) + TABLE.target(4) / 4)
    assert TABLE.per_text(1) == replace(TABLE, plain_s=pytest.approx(10.0))


def test_on_a_flat_machine_a_chain_is_leviathans_formula():
    ideal = flat_up_to(1000, draft_cost=0.1)
    for length in (1, 4, 10):
        cell = predict(grow_shape([1] * length), (0.8,), ideal)
        assert cell.speedup == pytest.approx(bounds.chain_tokens(0.8, length) / (1 + 0.1 * length))
    found = forecast((0.8,), ideal, sizes=range(2, 30), depths=range(1, 30)).best
    assert found.depth == max(
        range(65), key=lambda length: bounds.chain_tokens(0.8, length) / (1 + 0.1 * length)
    )


def test_a_forecast_is_the_best_tree_of_every_size_and_depth():
    grid = forecast(VECTOR, TABLE, sizes=[2, 5, 9], depths=[1, 2, 4])
    for size, row in zip((2, 5, 9), grid.cells, strict=True):
        for cell in row:
            best, tokens = best_tree(VECTOR, size, cell.depth, 32)
            assert cell.size == len(best) == size
            assert cell.tokens_per_pass == pytest.approx(tokens)
        depths = [cell.depth for cell in row]
        assert depths == sorted(set(depths))
    assert len(grid.cells[0]) == 1  # two nodes have one level
    assert grid.best.speedup == max(cell.speedup for cell in grid.best_of_sizes)
    assert {cell.speedup for cell in grid.best_of_sizes} <= {cell.speedup for cell in grid.trees}
    far = forecast(VECTOR, TABLE, sizes=[2, 400], depths=[3])  # far beyond what was measured
    assert [cell.size for cell in far.trees] == [2]


def test_projections_say_so_and_give_back_the_papers_numbers():
    for name in MACHINES:
        table = machine(name)
        assert table.projection and table.note.startswith("Projection")
    # Sequoia, table 1: 5.08 tokens with (128, 10) on the A100 are 4.04 times plain; table 2: 11.68
    # with (768, 18), 9.5
    assert _speedup(machine("a100"), 5.08, 128, 10) == pytest.approx(4.04, rel=0.03)
    assert _speedup(machine("a100"), 3.92, 128, 7) == pytest.approx(3.18, rel=0.03)
    assert _speedup(machine("l40-offload"), 11.68, 768, 18) == pytest.approx(9.5, rel=0.03)
    assert _speedup(machine("l40-offload"), 9.91, 768, 18) == pytest.approx(8.4, rel=0.03)


def _speedup(table, tokens, size, depth):
    return (
        tokens
        * table.plain_s
        / (table.target(size) + depth * table.draft(1) + table.overhead_s[-1])
    )


def test_flat_up_to_n_bends_at_n():
    table = machine("flat:100")
    assert table.target(100) == 1.0 and table.target(200) == pytest.approx(2.0)
    assert table.target(1) == table.target(64) == 1.0
    big = forecast(VECTOR, machine("flat:768")).best
    small = forecast(VECTOR, machine("flat:8")).best
    assert big.size > small.size and big.speedup > small.speedup
    with pytest.raises(ValueError, match="at least 1"):
        roofline("x", "x", 1, 1, 0, 0.5)


@pytest.mark.parametrize("name", ["", "h100", "flat", "flat:0", "flat:x", "a100:3"])
def test_unknown_machines_get_a_sentence(name):
    with pytest.raises(ValueError, match="machine must be one of"):
        machine(name)


def test_a_measurement_reports_progress_and_a_table():
    seen = list(
        clock.measure_cost(specviz.toy_pair(vocab=20), sizes=(1, 2, 4, 8), rounds=2, burst=2)
    )
    assert [p.done for p in seen] == list(range(1, seen[0].total + 1))
    assert seen[0].result is None
    table = seen[-1].result
    assert (
        table.sizes == (1, 2, 4, 8)
        and not table.projection
        and table.settings["verifier"] == "sequoia"
    )
    assert (
        min(*table.target_s, *table.draft_s, table.plain_s) > 0
        and min(*table.overhead_s, table.row_s) >= 0
    )
    assert table.widths[0] == 1 and list(table.widths) == sorted(set(table.widths))
    for part, middle in (("target", table.target_s), ("draft", table.draft_s)):
        assert all(
            low <= mid <= high for (low, high), mid in zip(table.spread[part], middle, strict=True)
        )
    assert read(CostTable, dumps(table, all_digits=True), "cost table") == table


def test_a_measurement_stopped_early_keeps_what_it_has():
    stopped = None
    for progress in clock.measure_cost(
        specviz.toy_pair(vocab=20), sizes=(1, 2, 4, 8), rounds=3, burst=1
    ):
        if progress.result is not None and len(progress.result.sizes) == 3:
            stopped = progress.result
            break
    assert stopped.sizes == (1, 2, 4)
    assert predict(grow_shape([2, 1]), VECTOR, stopped).speedup > 0
    late = list(
        clock.measure_cost(specviz.toy_pair(vocab=20), sizes=(1, 2, 4), burst=1, seconds=0.0)
    )
    assert len(late) == 3 and late[-1].result is not None


def test_sizes_that_the_vocabulary_cannot_fill_are_what_they_are():
    table = final_result(
        clock.measure_cost(specviz.toy_pair(vocab=2), sizes=(1, 64), rounds=1, burst=1)
    )
    assert table.sizes[0] == 1 and max(table.sizes) <= 64


def test_the_parts_of_planted_times_are_found_again():
    """Times made by a rule come back as its coefficients, whatever the trees."""
    pair, config = specviz.toy_pair(vocab=30), specviz.RunConfig("ab", max_new_tokens=40)
    runs = []
    for size, depth in ((1, 0), (4, 2), (4, 3), (8, 3), (8, 6)):
        planted = []
        builder = specviz.BUILDERS["sequoia"](
            size=size, depth=max(depth, 1), acceptance=(0.6, 0.2, 0.1, 0.05)
        )
        steps = specviz.run(pair, replace(config, builder=builder)).steps[:3]
        for step in steps if size > 1 else specviz.autoregress(pair, config).steps[:3]:
            n, inner = len(step.parents), len(set(step.parents)) - 1
            other = 2.0 + 0.01 * n + (0.05 * inner if size > 1 else 0.0)
            planted.append(
                replace(step, seconds=Timing(0.0, 1 + 0.1 * n, 0.25 * other, 0.75 * other))
            )
        asked = [
            (True, 1, 0.75),
            (False, 1, 0.5),
            (False, 2, 0.7),
            (False, 3, 0.7),
            (False, 4, 1.0),
        ]
        runs.append((planted, [Pass(*one) for one in asked]))
    table = fit_costs(runs, {})
    assert table.sizes == (1, 4, 8) and table.target_s == pytest.approx((1.1, 1.4, 1.8))
    assert table.row_s == pytest.approx(0.05)
    assert table.overhead_s == pytest.approx((2.01, 2.04, 2.08))
    assert table.plain_s == pytest.approx(1.1 + 2.01)
    assert (table.widths, table.draft_s) == ((1, 2, 4), pytest.approx((0.5, 0.7, 1.0)))
    assert table.opening_s == pytest.approx(0.25)
    shape = grow_shape([1, 2])  # the root's row, then that of its child
    assert table.parts(shape)["draft"] == pytest.approx(0.75 + 0.5)
    assert table.parts(grow_shape([]))["draft"] == 0.0


@pytest.mark.parametrize("name", ["medusa", "eagle", "ngram", "retrieval", "early-exit", "several"])
def test_every_drafter_has_a_table_of_its_own(name):
    """Every asking of a drafter is counted, whatever it is made of; the pair needs no draft for one
    that reads none."""
    pair, drafter = specviz.toy_pair(vocab=20), specviz.DRAFTERS[name]()
    pair.draft = pair.draft if name == "several" else None
    seen = []
    config = specviz.RunConfig("abab", drafter=drafter)
    clocked = replace(config, drafter=clock._clocked(drafter, seen), builder="chain:depth=3")
    steps = list(specviz.speculate(pair, replace(clocked, max_new_tokens=6)))
    assert 0 < sum(one.first for one in seen) <= len(steps) <= len(seen)
    assert {one.nodes for one in seen} == {1}
    table = final_result(clock.measure_cost(pair, config, sizes=(1, 2, 8), rounds=1, burst=2))
    assert (
        table.settings["drafter"] == name
        and read(CostTable, dumps(table, all_digits=True), "cost table") == table
    )
    assert predict(grow_shape([2, 1]), VECTOR, table).speedup > 0


def test_a_pair_without_a_draft_gets_a_sentence():
    pair = specviz.toy_pair()
    pair.draft = None
    with pytest.raises(ValueError, match="must have a draft"):
        next(clock.measure_cost(pair))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sizes": [1, 4]}, "a cost for each"),
        ({"sizes": [4, 1, 8]}, "rising sizes"),
        ({"plain_s": -1}, "plain_s"),
        ({"plain_s": float("inf")}, "plain_s"),
        ({"sizes": 3}, "sizes"),
    ],
)
def test_damaged_tables_get_a_sentence(change, words):
    with pytest.raises(ValueError, match=words):
        read(
            CostTable, json.dumps(json.loads(dumps(TABLE, all_digits=True)) | change), "cost table"
        )


@pytest.mark.parametrize(("active", "experts"), [(8, 128), (2, 8), (1, 1)])
def test_a_mixture_of_experts_reads_distinct_experts(active, experts):
    """The mean number of distinct experts of m tokens, against drawing them."""
    cost = machine(f"moe:{active}/{experts}")
    rng = np.random.default_rng(0)
    for tokens in (1, 2, 8, 24):
        distinct = []
        for _ in range(400):
            chosen = [rng.choice(experts, active, replace=False) for _ in range(tokens)]
            distinct.append(len(np.unique(np.concatenate(chosen))))
        drawn = np.mean(distinct)
        assert cost.target(tokens) * active == pytest.approx(drawn, rel=0.05)
    assert cost.target(1) == cost.plain_s == 1.0


@pytest.mark.parametrize("name", ["moe:9/8", "moe:0/8", "moe:8", "moe:a/b", "moe:1/99999"])
def test_a_mixture_that_cannot_be_is_refused(name):
    with pytest.raises(ValueError, match="moe:"):
        machine(name)
