"""The entries of the five sources: each measures, judges and shows itself; what it claims follows from the data."""

import json
import math
import re
from urllib.parse import parse_qs

import pytest

import specviz
from specviz import codec, papers
from specviz.papers import store
from specviz.papers.bench import Bench
from specviz.papers.entry import Lines, Table, compare, judge, lab, live
from specviz.papers.races import equation_7, equation_8
from specviz.papers.races.on_text import spread
from specviz.papers.survey.families import ways
from specviz.papers.survey.printed import METHODS, NONE, PRINTED, in_others, in_survey
from specviz.paths import PUBLISHED
from specviz.randomness import Seeded
from specviz.registry import parse_strategy
from specviz.theory.mask_order import count_blocks, random_tree

ALL = papers.entries()
IDS = [f"{source}-{one.name}" for source, one in ALL]
SLOW = {"sequoia-algorithm-1", "sequoia-figure-2", "dyspec-block-counts"}  # exact at full size


@pytest.fixture(scope="module")
def bench():
    return Bench(specviz.toy_pair(vocab=12), texts_each=2, tokens=14, seconds=0.3)


@pytest.fixture(scope="module")
def measured(bench):
    """The data of every entry that is measured, made with a toy pair; each as a file would have it."""
    return {
        (source, one.name): json.loads(json.dumps(codec.plain(one.measure(bench)), allow_nan=False))
        for source, one in ALL
        if one.measurable and f"{source}-{one.name}" not in SLOW
    }


def test_there_are_enough_entries_with_names_of_their_own():
    assert len(ALL) >= 45 and sum(one.measure is not None for _, one in ALL) >= 35
    assert len(set(IDS)) == len(IDS) and all(re.fullmatch(r"[a-z0-9-]+", name) for name in IDS)
    for source, part in papers.SOURCES.items():
        assert part.TITLE and part.ABOUT and sum(of == source for of, _ in ALL) >= 9


def test_every_entry_judges_and_shows_what_it_measured(measured):
    assert len(measured) >= 30
    for (source, name), data in measured.items():
        one = papers.entry(source, name)
        verdict = one.verdict(data)
        assert verdict.status in (papers.REPRODUCED, papers.DIFFERS), one.name
        assert verdict.sentence.endswith(".") and "None" not in verdict.sentence and "nan" not in verdict.sentence
        blocks = one.shown(data)
        assert blocks, f"{source}-{one.name} shows nothing"
        for block in blocks:
            if isinstance(block, Lines):
                assert all(len(point) == 2 for series in block.series for point in series.points)
            else:
                assert isinstance(block, Table) and all(len(row) == len(block.columns) for row in block.rows), one.name
        assert one.how in ("exact", "counted", "timed")


def test_an_entry_that_cannot_be_measured_gives_its_reason():
    without = [one for _, one in ALL if one.measure is None]
    assert without and all(one.verdict(None).status == papers.IMPOSSIBLE and one.quoted for one in without)
    assert all(len(one.verdict(None).sentence) > 60 for one in without)


def test_what_needs_a_gpu_says_so_and_judges_what_one_measured(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "PAPERS", tmp_path)
    one = papers.entry("dyspec", "attention-time")
    if one.lacks():
        look = papers.look("dyspec", one)
        assert look.verdict.status == papers.IMPOSSIBLE and "needs one" in look.verdict.sentence
        assert not one.measurable and papers.measure_all(bench.pair, ["dyspec-attention-time"]) == 0
        with pytest.raises(ValueError, match="no CUDA GPU"):
            papers.measured(bench.pair, "dyspec", "attention-time")
    data = codec.plain(one.measure(bench, device="cpu", sizes=(40, 96), heads=2, width=16))
    assert [row[:2] for row in data["rows"]] == [[40, "no"], [40, "yes"], [96, "no"], [96, "yes"]]
    for size, reordered, blocks, *took in data["rows"]:
        tree = random_tree(size, Seeded(0))
        assert blocks == count_blocks(tree, tree.heavy_path if reordered == "yes" else range(size))
        assert all(milliseconds > 0 for milliseconds in took)
    assert data["off"] < 1e-5 and one.shown(data)[0].rows == data["rows"]
    drawn, along = [96, "no", 12, 2.0, 1.5, 9.0], [96, "yes", 6, 1.0, 1.5, 9.0]
    good = {"device": "a GPU", "rows": [drawn, along], "off": 1e-3}
    assert (
        one.verdict(good).status == papers.REPRODUCED and "2.0 times less for 2.0 times" in one.verdict(good).sentence
    )
    assert one.verdict(good | {"rows": [along, drawn]}).status == papers.DIFFERS
    assert one.verdict(good | {"off": 0.5}).sentence.endswith("more than rounding.")


def test_exact_entries_reproduce_with_any_pair(measured):
    """Mathematics does not depend on the models; what is misprinted is shown to be."""
    wanted = {
        ("sequoia", "algorithm-2"), ("sequoia", "theorem-3-7"), ("dyspec", "algorithm-1"), ("dyspec", "algorithm-2"),
        ("dyspec", "algorithm-3"), ("dyspec", "appendix-d"), ("svip", "algorithm-1"), ("races", "algorithm-1"),
        ("races", "algorithm-3"), ("races", "algorithm-5"), ("races", "theorem-4-1"), ("races", "lemma-3-1"),
        ("races", "lemma-4-2"), ("races", "equation-6"), ("races", "equation-8"), ("races", "appendix-c"),
        ("survey", "distribution"), ("svip", "equation-5"),
    }  # fmt: skip
    for source, name in wanted:
        assert papers.entry(source, name).verdict(measured[source, name]).status == papers.REPRODUCED, (source, name)
    assert papers.entry("svip", "correct").verdict(measured["svip", "correct"]).status == papers.DIFFERS


def test_a_sentence_follows_the_data(measured):
    """Data that say the opposite are judged the opposite."""
    entry = papers.entry("races", "section-5")
    turned = {
        "GSD": measured["races", "section-5"]["ERSD"],
        "ERSD": [[k, v - 0.3] for k, v in measured["races", "section-5"]["GSD"]],
    }
    assert entry.verdict(turned).status == papers.DIFFERS
    exact = papers.entry("dyspec", "algorithm-3")
    spoilt = {"rows": [[name, 0.2, runs] for name, _, runs in measured["dyspec", "algorithm-3"]["rows"]]}
    assert exact.verdict(spoilt).status == papers.DIFFERS
    figure = papers.entry("sequoia", "figure-4-left")
    level = {"sequoia": [[8, 2.0]], "sequences": [[8, 2.5]]}
    assert figure.verdict(level).status == papers.DIFFERS and "-20 %" in figure.verdict(level).sentence
    paths = papers.entry("survey", "batched-paths")
    quick = {"rows": [[8, 3, 4, 11, 0.02, 0.01]], "run": 1.5, "prefix": 64}
    assert paths.verdict(quick).status == papers.DIFFERS
    assert paths.verdict(quick | {"rows": [[8, 3, 4, 11, 0.01, 0.03]]}).status == papers.REPRODUCED
    stop = papers.entry("svip", "table-4")
    slower = {"tried": [[0.5, 9.0]], "best": 0.5, "prompts": 4, "rows": [["a", 1.5, 2, 15, 6], ["b", 1.2, 2, 15, 3]]}
    assert stop.verdict(slower).status == papers.DIFFERS and "-20 %" in stop.verdict(slower).sentence
    assert judge(False, "a", "b").sentence == "b" and judge(True, "a", "b").sentence == "a"


def test_the_bounds_on_text_are_means_over_its_positions(measured):
    """What a sentence says of a text is the mean of the points, and a single point above the bound turns it."""
    for name, bound in (("equation-7", equation_7.bound), ("equation-8", equation_8.bound)):
        one, data = papers.entry("races", name), measured["races", name]
        points = data["text"]["points"]
        texts = {text for text, *_ in points}
        gaps = [entropy - bound(kl) for _, kl, entropy in points]
        held = spread(points, lambda kl, entropy, bound=bound: entropy - bound(kl))
        assert held.mean == pytest.approx(sum(gaps) / len(gaps)) and (held.low, held.high) == (min(gaps), max(gaps))
        assert all(kl <= entropy + 1e-3 for _, kl, entropy in points)
        sentence = one.verdict(data).sentence
        assert f"{len(points)} positions of {len(texts)} texts" in sentence
        assert f"{abs(held.mean):.2f} ± {held.margin:.2f}" in sentence
        high = [0, 1.0, bound(1.0) + 9]
        assert one.verdict(data | {"text": data["text"] | {"points": [*points, high]}}).status == papers.DIFFERS
        assert "2 more have no" in one.verdict(data | {"text": data["text"] | {"left_out": 2}}).sentence


def test_the_map_of_families_says_what_is_printed_of_each(measured):
    """A figure of a family that is not on the map would never be seen; what none printed has says so."""
    families = [title for title, *_ in ways()]
    assert {one.family for one in PRINTED} <= set(families) and set(METHODS) <= set(families)
    assert all(re.fullmatch(r"\d(\.\d)+", one.place) for one in PRINTED)
    rows = json.loads(PUBLISHED.read_text(encoding="utf-8"))["rows"]
    assert {name for names in METHODS.values() for name in names} <= {row["method"] for row in rows}
    lengths = [row["speedup"] for row in rows if row["method"] == "SVIP"]
    assert in_others("Adaptive threshold", "speedup").startswith(f"{min(lengths):g} to {max(lengths):g} (SVIP, table 1")
    assert in_others("Adaptive threshold", "tokens_per_pass") == NONE == in_survey("Heuristic rule", "acceptance")
    entry, data = papers.entry("survey", "families"), measured["survey", "families"]
    (table,) = entry.shown(data)
    assert [row[: len(mine)] for row, mine in zip(table.rows, data["rows"], strict=True)] == data["rows"]
    printed = sum(row[5] != NONE for row in table.rows)
    assert f"an acceptance for {printed} of them and a speedup for none" in entry.verdict(data).sentence


def test_stored_measurements_are_what_their_entries_can_read():
    found = {(source, one): store.read(source, one.name) for source, one in ALL if one.measure is not None}
    stored = {key: kept for key, kept in found.items() if kept is not None}
    assert len(stored) >= 30
    for (source, one), kept in stored.items():
        assert {"pair", "machine", "weights", "data"} <= set(kept)
        assert one.verdict(kept["data"]).sentence.endswith(".") and one.shown(kept["data"])
        assert store.path(source, one.name).stat().st_size < 40_000


def test_links_open_what_they_name():
    for _, one in ALL:
        assert len({link.label for link in one.opens}) == len(one.opens), one.name
        for link in one.opens:
            named = {name: values[0] for name, values in parse_qs(link.query, keep_blank_values=True).items()}
            assert named["tab"] in ("explore", "compare", "labs", "acceptance", "speedup")
            for name in ("builder", "verifier", "drafter"):
                for prefix in ("", "a.", "b.", "c."):
                    assert named.get(prefix + name) is None or parse_strategy(name, named[prefix + name])
    eagle = papers.entry("svip", "table-4").opens[0].query
    assert "a.drafter=eagle" in eagle and "b.drafter=eagle" in eagle and "drafter=model" not in eagle
    strategy = (specviz.BUILDERS["branching"](widths=(2, 1)), specviz.VERIFIERS["sequoia"]())
    assert (
        "&builder=branching:widths=2,1" in live(*strategy).query and "a.builder=branching:" in compare(strategy).query
    )
    assert "lab=tree&preset=races" in lab("tree", preset="races").query


def test_numbers_are_stored_short_and_finite(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "PAPERS", tmp_path)
    assert store.read("svip", "table-1") is None and not store.current("svip", "table-1")
    store.write("svip", "table-1", {"a": 1.23456789, 2: (math.inf, [math.nan, 3])}, "toy")
    assert store.read("svip", "table-1")["data"] == {"a": 1.23457, "2": [None, [None, 3]]}
    assert store.current("svip", "table-1")


def test_only_what_is_not_up_to_date_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "PAPERS", tmp_path)
    sentences, names = [], ["dyspec-algorithm-2", "svip-correct"]
    pair = specviz.toy_pair()
    assert papers.measure_all(pair, names, report=sentences.append) == 2 and any(
        "1 of 2" in sentence for sentence in sentences
    )
    assert papers.measure_all(pair, names) == 0
    assert papers.measure_all(pair, names, again=True) == 2
    look = papers.look("svip", papers.entry("svip", "correct"))
    assert look.data and "recorded with toy" in look.made
    assert papers.look("svip", papers.entry("svip", "table-1")).verdict == papers.NOT_YET


def test_the_command_prints_what_the_page_shows(capsys):
    from specviz.commands.cli import main

    assert main(["papers", "sequoia", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert sum(data["counts"].values()) == len(data["entries"]) == sum(source == "sequoia" for source, _ in ALL)
    assert main(["papers", "races-lemma-3-1"]) == 0 and "Lemma 3.1" in capsys.readouterr().out
    assert main(["papers", "nonsense"]) == 2 and "nonsense" in capsys.readouterr().err
    assert main(["papers", "--again"]) == 2
