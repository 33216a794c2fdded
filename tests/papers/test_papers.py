"""The claims of the five sources: decided by arithmetic, each able to fail, each with what it is decided from."""

import json
import math
import re
from functools import partial
from itertools import chain
from urllib.parse import parse_qs

import numpy as np
import pytest

import specviz
from specviz import papers
from specviz.acceptance.along_text import ends_along, renewals
from specviz.builders.static import grow_shape
from specviz.files import PUBLISHED
from specviz.papers import in_runs, races_memory, store
from specviz.papers.claim import (
    DIFFERS,
    MISSING,
    PROVEN,
    REPRODUCED,
    UNDECIDED,
    Data,
    claim,
    find,
    over_texts,
    proof,
    totals,
    verdict,
)
from specviz.papers.entry import Lines, Table, compare, in_others, lab, live, printed
from specviz.papers.numbers import correlation
from specviz.papers.on_rows import moments
from specviz.papers.proofs import corrected_law
from specviz.papers.survey import METHODS, PRINTED, WAYS
from specviz.papers.workbench import Workbench
from specviz.strategy import parse_strategy

ALL = papers.entries()
CLAIMS = [(f"{source}-{one.name} {place}", claim) for source, one in ALL for place, claim in enumerate(one.claims, 1)]
CAN_FAIL = {name: claim for name, claim in CLAIMS if claim.data}
DATA = dict.fromkeys(data for _, one in ALL for data in one.data)
ONE_EACH = list({data.make: data for data in DATA if data.how != "proof" and not data.lacks()}.values())
FIELDS = [
    "source", "entry", "claim", "place", "estimate", "low", "high", "relation", "bound", "seeds", "texts", "verdict",
]  # fmt: skip


class Asked(dict):
    """Sums that are whatever a claim asks for."""

    def __missing__(self, name):
        self[name] = 50.0 if name.endswith(("xx", "yy")) else 1.0 + 0.37 * len(self) % 1.3
        return self[name]


def columns(one):
    """The sums of a claim's measurements: those that are stored, or some of the names that it asks for."""
    tables = [papers.shipped().read(data) for data in one.data]
    if all(tables):
        return tables
    asked = [Asked() for _ in one.data]
    one.of(*asked)
    return [{f"{seed}:0": dict(table) for seed in (1, 2, 3)} for table in asked]


def test_there_are_enough_claims_with_what_decides_them():
    assert len(CLAIMS) >= 110 and sum(bool(one.data) for _, one in CLAIMS) >= 85
    names = [f"{source}-{one.name}" for source, one in ALL]
    assert len(set(names)) == len(names) and all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)
    for name, one in CLAIMS:
        assert one.relation in (">", "<", "within") and isinstance(one.bound, tuple) == (one.relation == "within"), name
        assert bool(one.data) != (len(one.reason) > 30), name
    for _, one in ALL:
        assert len({claim.says for claim in one.claims}) == len(one.claims) >= 1, one.name


# ---- verdicts ----


@pytest.mark.parametrize(
    ("low", "high", "relation", "bound", "wanted"),
    [
        (1.1, 1.3, ">", 1, REPRODUCED), (0.9, 1.3, ">", 1, UNDECIDED), (0.7, 0.9, ">", 1, DIFFERS),
        (1, 1, ">", 1, DIFFERS),
        (0.7, 0.9, "<", 1, REPRODUCED), (0.9, 1.1, "<", 1, UNDECIDED), (1, 1.1, "<", 1, DIFFERS),
        (1.1, 1.2, "within", (1, 2), REPRODUCED), (0.9, 1.2, "within", (1, 2), UNDECIDED),
        (0.5, 2.5, "within", (1, 2), UNDECIDED), (0.1, 0.9, "within", (1, 2), DIFFERS),
        (2.1, 3, "within", (1, 2), DIFFERS),
    ],
)  # fmt: skip
def test_a_verdict_is_arithmetic_on_the_interval(low, high, relation, bound, wanted):
    assert verdict(low, high, relation, bound) == wanted
    assert verdict(low, high, relation, bound, proven=True) == (PROVEN if wanted == REPRODUCED else wanted)


def test_an_interval_is_over_texts_and_says_how_many_would_decide():
    data = Data(dict, "counted", (("of", 1),))
    rows = {f"{1 + text % 3}:{text}": {"tokens": 10 + text % 2, "passes": 5} for text in range(12)}
    one = claim("more than two", data, lambda s: s["tokens"] / s["passes"], ">", 2)
    number, margin = over_texts(one.of, [list(rows.values())])
    assert number == pytest.approx(2.1) and margin == pytest.approx(
        specviz.metrics.estimate([(r["tokens"], r["passes"]) for r in rows.values()])[1]
    )
    found = find(one, [rows])
    assert (found.verdict, found.seeds, found.texts, found.low) == (REPRODUCED, 3, 12, pytest.approx(2.1 - margin))
    close = find(claim("more", data, one.of, ">", 2.09), [rows])
    wanted = 12 * (margin / 0.01) ** 2
    assert (
        close.verdict == UNDECIDED and close.sentence == f"About {math.ceil(wanted / 10) * 10:,} texts would decide it."
    )
    assert find(claim("as much", data, one.of, ">", number), [rows]).sentence == "No number of texts would decide it."
    assert find(one, [dict(list(rows.items())[:1])]).verdict == UNDECIDED
    assert find(one, [None]).verdict == MISSING and "--measure." in find(one, [None]).sentence
    assert find(one, [{"1:1": {"other": 1.0}}]).verdict == MISSING


def test_what_is_not_shown_to_fail_has_no_verdict():
    """The test below hands data to every claim but those without a measurement."""
    for name, one in CLAIMS:
        if one not in CAN_FAIL.values():
            assert one.reason and find(one, [None]).verdict == MISSING, name
    assert len(CAN_FAIL) + sum(bool(one.reason) for _, one in CLAIMS) == len(CLAIMS) == len(dict(CLAIMS))


@pytest.mark.parametrize("name", CAN_FAIL)
def test_every_claim_can_fail(name):
    """Data that say the opposite, a machine of other speeds, a broken implementation: each must come out "differs"."""
    one = CAN_FAIL[name]
    if one.how == "proof":
        (data,) = one.data
        broken = Data(data.make, data.how, tuple({**dict(data.args), **one.broken}.items()))
        bench = Workbench(specviz.toy_pair(vocab=40), (1,), 1, tokens=20)
        assert find(one, [bench.measure(broken)]).verdict == DIFFERS
        return
    tables = columns(one)
    alike = [dict.fromkeys(table, totals(table)) for table in tables]  # texts that do not scatter
    changed = chain(opposites(tables, one.how == "timed"), opposites(alike, one.how == "timed"))
    assert any(find(one, tables).verdict == DIFFERS for tables in changed)


def opposites(tables, timed):
    """Measurements with one sum far smaller or larger in every text, all in proportion to their place, or upside down.

    Of a machine only its seconds change.
    """
    factors = (1e-3, 0.03, 0.3, 0.7, 1.5, 4.0, 30.0, 1e3)
    named = [(at, name) for at, table in enumerate(tables) for name in next(iter(table.values()))]
    named = [(at, name) for at, name in named if not timed or not name.endswith(("tokens", "passes"))]
    for factor in factors:
        for chosen in named:
            yield altered(tables, partial(_one, chosen, factor))
        for sign in (1, -1):  # curves that rise fall, and the other way round
            yield altered(tables, partial(_slope, factor**sign))
    for at, name in named:
        if name.endswith(" xy"):  # a sum that may be below zero, and stays there whatever it is multiplied by
            yield altered(tables, partial(_one, (at, name), -1.0))


def _one(chosen, factor, at, name, place):
    return factor if (at, name) == chosen else 1.0


def _slope(factor, at, name, place):
    return factor**place


def altered(tables, factor):
    """Every sum times factor(table, name, place of the name from 0 to 1)."""
    changed = []
    for at, table in enumerate(tables):
        names = list(next(iter(table.values())))
        by = {name: factor(at, name, place / len(names)) for place, name in enumerate(names)}
        changed.append({text: {name: row[name] * by[name] for name in names} for text, row in table.items()})
    return changed


def test_a_misprint_is_found():
    one = proof("the printed residual is lossless", corrected_law(residual="q - p"), {})
    assert find(one, [Workbench(specviz.toy_pair()).measure(one.data[0])]).verdict == DIFFERS


# ---- what is measured and shown ----


@pytest.mark.parametrize("data", ONE_EACH, ids=[data.make.__name__ for data in ONE_EACH])
def test_every_measurement_gives_finite_sums_of_the_same_names(data):
    found = Workbench(specviz.toy_pair(vocab=40), (1,), 1, tokens=50, seconds=0.2).measure(data)
    assert set(found) == {"1:0", "1:1"} and len({frozenset(row) for row in found.values()}) == 1
    assert all(math.isfinite(number) for row in found.values() for number in row.values())


def test_every_figure_is_drawn_from_what_was_measured():
    for source, one in ALL:
        result = papers.stored(source, one.name)
        kept = [all(map(papers.shipped().read, f.data)) for f in one.figures]
        assert len(result.blocks) == sum(kept), one.name
        for block in result.blocks:
            if isinstance(block, Lines):
                assert block.series and all(len(point) == 2 for series in block.series for point in series.points)
            else:
                assert isinstance(block, Table) and all(len(row) == len(block.columns) for row in block.rows), one.name


def test_texts_of_all_seeds_differ():
    bench = Workbench(specviz.toy_pair(), texts_each=6)
    texts = list(bench.texts())
    for of in ("prompt", "name", "seed"):
        assert len({getattr(text, of) for text in texts}) == 36
    assert len(list(bench.texts("code"))) == 18


def test_the_map_of_families_says_what_is_printed_of_each():
    assert set(PRINTED) <= set(WAYS) and set(METHODS) <= set(WAYS)
    rows = json.loads(PUBLISHED.read_text(encoding="utf-8"))["rows"]
    assert {name for names in METHODS.values() for name in names} <= {row["method"] for row in rows}
    lengths = [row["speedup"] for row in rows if row["method"] == "SVIP"]
    adaptive = in_others(METHODS["Adaptive threshold"], "speedup")
    assert adaptive.startswith(f"{min(lengths):g} to {max(lengths):g} (SVIP table 1")
    assert in_others((), "speedup") == "none"
    table = printed("DySpec", "Table 1")
    assert table.columns[:4] == ("Target", "Text", "T", "DySpec, speedup (tokens)") and len(table.rows) == 4
    assert table.rows[0] == ["Llama2-7B", "C4", 0, "3.15 x (5.25)", "2.64 x (4.99)", "1.79 x (3.32)"]


def test_links_open_what_they_name():
    for _, one in ALL:
        assert len({link.label for link in one.opens}) == len(one.opens), one.name
        for link in one.opens:
            named = {name: values[0] for name, values in parse_qs(link.query, keep_blank_values=True).items()}
            assert named["tab"] in ("explore", "compare", "labs", "acceptance", "speedup", "lessons")
            for name in ("builder", "verifier", "drafter"):
                for prefix in ("", "a.", "b.", "c."):
                    assert named.get(prefix + name) is None or parse_strategy(name, named[prefix + name])
    eagle = papers.entry("svip", "table-4").opens[0].query
    assert "a.drafter=eagle" in eagle and "b.drafter=eagle" in eagle and "drafter=model" not in eagle
    way = ("branching:widths=2,1", "sequoia")
    assert "&builder=branching:widths=2,1" in live(*way).query and "a.builder=branching:" in compare(way).query
    assert "lab=tree&preset=races" in lab("tree", preset="races").query


# ---- what is stored ----


def test_the_store_holds_most_claims_in_little_space():
    findings = [found for source, one in ALL for found in papers.stored(source, one.name).findings]
    decided = [found for found in findings if found.verdict != MISSING]
    assert len(decided) >= 85 and all("cannot be read" not in found.sentence for found in findings)
    assert all(found.seeds >= 3 and found.texts >= 6 for found in decided if found.seeds)
    assert sum(file.stat().st_size for file in papers.shipped().folder.glob("*.json")) < 2_500_000


def test_only_what_is_not_up_to_date_is_measured(tmp_path, monkeypatch):
    sentences, names, kept = [], ["svip-correct"], store.Store(tmp_path)
    pair = specviz.toy_pair()
    assert papers.measure_all(pair, names, store=kept, report=sentences.append) == 2 and sentences[0].startswith(
        "1 of 2"
    )
    assert papers.measure_all(pair, names, store=store.Store(tmp_path)) == 0
    assert papers.measure_all(pair, names, again=True, store=kept) == 2
    look = papers.look("svip", papers.entry("svip", "correct"), store.Store(tmp_path))
    assert look.state == DIFFERS and "toy" in look.made and [one.verdict for one in look.findings] == [DIFFERS, PROVEN]
    assert papers.look("svip", papers.entry("svip", "table-1"), kept).state == MISSING


def test_more_texts_are_added_to_those_that_are_stored_and_short_ones_do_not_count(tmp_path):
    kept, pair, names = store.Store(tmp_path), specviz.toy_pair(vocab=40), ["dyspec-block-counts"]
    assert papers.measure_all(pair, names, store=kept, seeds=(1, 2), texts=1) == 5
    data = papers.entry("dyspec", "block-counts").claims[0].data[0]
    before = kept.read(data)
    kept.write(data, before | {"2:1": {}}, "toy")
    assert papers.look("dyspec", papers.entry("dyspec", "block-counts"), kept).findings[0].texts == 3
    assert papers.measure_all(pair, names, store=kept, seeds=(1, 2), texts=1) == 0
    assert papers.measure_all(pair, names, store=kept, seeds=(1, 2), texts=2) == 5
    after = store.Store(tmp_path).read(data)
    assert len(after) == 8 and after["2:1"] == {} and after["1:0"] == before["1:0"]


def test_a_busy_machine_leaves_nothing_in_the_store(tmp_path, monkeypatch):
    from specviz.benchmarks import quiet

    kept, pair, names = store.Store(tmp_path), specviz.toy_pair(vocab=40), ["dyspec-figure-4"]
    spent = iter(range(0, 10**9, 10**6))
    monkeypatch.setattr(quiet, "sleep", lambda seconds: None)
    monkeypatch.setattr(papers, "SEEDS", (1,))
    monkeypatch.setattr(quiet, "used_by_others", lambda: float(next(spent)))
    with pytest.raises(ValueError, match="machine is busy"):
        papers.measure_all(pair, names, timed=True, store=kept, seeds=(1,))
    assert not (tmp_path / "timed.json").exists()
    monkeypatch.setattr(quiet, "used_by_others", lambda: 0.0)
    assert (
        papers.measure_all(pair, names, timed=True, store=kept, seeds=(1,)) == 1 and (tmp_path / "timed.json").exists()
    )


def test_verdicts_of_several_stores_are_counted_and_changed_ones_listed(tmp_path, capsys):
    from specviz.commands.cli import main

    claim = papers.entry("survey", "nine-passes").claims[0]
    for name, tokens in (("more", 9.0), ("fewer", 2.0)):
        columns = {f"{seed}:{text}": {"tokens": tokens, "passes": 1.0} for seed in (1, 2, 3) for text in (0, 1)}
        store.Store(tmp_path / name).write(claim.data[0], columns, "toy")
    asked = ["papers", "survey-nine-passes", "--store", str(tmp_path / "more"), "--beside"]
    for folders, changed in ((["fewer"], 1), (["more", "more"], 0)):
        assert main([*asked, *(str(tmp_path / folder) for folder in folders)]) == 0
        said = capsys.readouterr().out.splitlines()
        assert said[:2] == [f"Counted claims that all {1 + len(folders)} stores decide: 1", "store 1: 1 reproduced"]
        assert f"Reproduced with some seeds and different with others: {changed}" in said
        assert sum(claim.says in line for line in said) == changed


def test_what_does_not_vary_correlates_with_nothing():
    """Sums are stored to six digits, so what is left of n xx - x x may be rounding."""
    for spread, wanted in ((1, MISSING), (20, REPRODUCED)):
        sizes = np.array([256.0, 256.0 + spread, 256.0])
        sums = {key: float(f"{value:.6g}") for key, value in moments("tree", np.ones(3), sizes, sizes).items()}
        one = claim("correlates", Data(dict, "counted"), correlation("tree"), ">", 0)
        assert find(one, [{f"{seed}:0": sums for seed in (1, 2, 3)}]).verdict == wanted


def test_other_processes_are_told_from_this_one(monkeypatch, tmp_path):
    from specviz.benchmarks import quiet

    watch = quiet.Watch()
    sum(range(3_000_000))
    assert watch.cores >= 0
    monkeypatch.setattr(quiet, "STAT", tmp_path / "none")
    assert quiet.used_by_others() is None


def test_the_command_prints_every_claim_with_exactly_its_fields(capsys):
    from specviz.commands.cli import main

    assert main(["papers", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found) == len(CLAIMS) and all(list(one) == FIELDS for one in found)
    assert {one["verdict"] for one in found} <= set(papers.VERDICTS) and {one["source"] for one in found} == set(
        papers.SOURCES
    )
    assert main(["papers", "races-lemma-3-1"]) == 0 and "Lemma 3.1" in capsys.readouterr().out
    assert main(["papers", "nonsense"]) == 2 and "nonsense" in capsys.readouterr().err
    assert main(["papers", "--again"]) == 2 and main(["papers", "--timed"]) == 2
    assert main(["papers", "--measure", "--seeds", "4"]) == 2 and "--store" in capsys.readouterr().err


def test_a_measurement_from_the_disk_times_the_pair_that_lies_there(monkeypatch):
    asked, bench = [], Workbench(specviz.toy_pair(vocab=40), (1,), 1, tokens=12)
    monkeypatch.setattr(
        "specviz.models.pair.load_pair", lambda **how: asked.append(how) or specviz.toy_pair(vocab=40, seed=3)
    )
    data = in_runs.speeds(ways=("chain:depth=2",), temperature=0.0, tokens=8, offload="disk")
    found = bench.measure(data)
    assert asked == [{"offload": "disk"}] and found["1:0"]["chain:depth=2 tokens"] > 0


def test_merging_and_pruning_only_take_away():
    bench = Workbench(specviz.toy_pair(vocab=6), (1,), 1, tokens=30)
    found = bench.measure(in_runs.merged(width=6, depth=3, temperature=1.0))["1:0"]
    assert 0 < found["kept"] < found["merged"] < found["drafted"] and found["drafted"] % 6 == 0
    assert 0 < found["accepted kept"] <= found["accepted"]


def test_trees_by_context_that_are_one_tree_bring_what_it_brings():
    rng, shape = np.random.default_rng(0), grow_shape([2, 1, 1])
    shares, sure = rng.dirichlet(np.ones(4), 40)[:, :3], rng.random(40) < 0.5
    tokens, steps = renewals(ends_along(shape, shares[: 40 - races_memory.LEVELS + 3]))
    assert races_memory._follow([shape, shape], shares, sure) == pytest.approx((tokens, steps))
    root = grow_shape([1])
    never = races_memory._follow([root, shape], shares, np.zeros(40, bool))
    always = races_memory._follow([root, shape], shares, np.ones(40, bool))
    assert always == pytest.approx((tokens, steps)) and never[0] / never[1] < always[0] / always[1]
