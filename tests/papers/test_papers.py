"""The claims of the five sources: decided by arithmetic, each able to fail, each with what it is
decided from."""

import json
import math
import re
from functools import partial
from itertools import chain

import numpy as np
import pytest

import specviz
from specviz import papers
from specviz.base.progress import final_result
from specviz.commands.cli import main
from specviz.measure import quiet
from specviz.papers import workbench
from specviz.papers.along import ends_along, renewals, shares_of
from specviz.papers.claim import Claim
from specviz.papers.on_positions import moments
from specviz.papers.verdict import (
    DIFFERS,
    MISSING,
    PROVEN,
    REPRODUCED,
    UNDECIDED,
    compare,
    find,
    number_of,
    over_texts,
)
from specviz.papers.workbench import MEASUREMENTS, Workbench, parse_key
from specviz.sampling.randomness import Seeded
from specviz.tree import Topology

CLAIMS = {
    f"{source}-{entry.name} {number}": claim
    for source, entry in papers.entries()
    for number, claim in enumerate(entry.claim, 1)
}
CAN_FAIL = [name for name, claim in CLAIMS.items() if claim.data]
KEYS = list(dict.fromkeys(key for claim in CLAIMS.values() for key in claim.data))
ONE_EACH = list(
    {parse_key(key)[0].function: key for key in KEYS if parse_key(key)[0].kind != "proof"}.values()
)


def claim(relation=">", bound=2, **fields):
    fields = {"data": ("passes",), "value": "tokens_per_pass"} | fields
    return Claim(text="a claim", relation=relation, bound=bound, **fields)


def kinds(one):
    return {parse_key(key)[0].kind for key in one.data}


def bench(**more):
    return Workbench(
        specviz.toy_pair(vocab=40),
        **{"texts_each": 1, "seeds": (1,), "tokens": 50, "seconds": 0.2} | more,
    )


def last(measuring):
    return final_result(measuring)


# ---- the files ----


def test_every_source_has_claims_that_are_decided_and_few_are_timed():
    assert 100 <= len(CLAIMS) <= 130 and all(papers.table(source) for source in papers.SOURCES)
    timed = [
        one
        for one in CLAIMS.values()
        if "timed" in kinds(one) and "offload=disk" not in one.data[0]
    ]
    assert len(timed) == 6
    names = [f"{source}-{entry.name}" for source, entry in papers.entries()]
    assert len(set(names)) == len(names) and all(
        re.fullmatch(r"[a-z0-9-]+", name) for name in names
    )
    assert all(
        len({one.text for one in entry.claim}) == len(entry.claim) >= 1
        for _, entry in papers.entries()
    )


def test_every_claim_of_losslessness_links_to_a_row_of_check():
    linked = [row for source in papers.SOURCES for row in papers.table(source) if row.check]
    assert len(linked) >= 6 and {row.verdict for row in linked} == {PROVEN}
    assert all(
        re.fullmatch(r"specviz check --builder [a-z0-9-]+ --verifier [a-z-]+", row.check)
        for row in linked
    )


def test_what_differs_says_why_and_what_is_stored_is_of_these_claims():
    rows = [row for source in papers.SOURCES for row in papers.table(source)]
    assert all(row.reason for row in rows if row.verdict in (DIFFERS, UNDECIDED, MISSING))
    assert not [
        row for row in rows if "cannot be read" in row.reason or "Not measured" in row.reason
    ]
    stored = {
        key
        for name in ("counted", "timed")
        for key in json.loads((papers.shipped().folder / f"{name}.json").read_text())
    }
    assert stored == set(KEYS)


@pytest.mark.parametrize(
    "wrong",
    [
        *(
            lambda fields=fields: claim(**fields)
            for fields in (
                {"data": ()},
                {"bound": (1, 2)},
                {"missing": "no GPU"},
                {"relation": "is"},
            )
        ),
        lambda: parse_key("passess"),
        lambda: parse_key("tokens"),
        lambda: number_of(claim(value="tokens"))({}),
    ],
)
def test_a_claim_that_is_written_wrongly_is_rejected(wrong):
    with pytest.raises(ValueError, match=r"data|bound|relation|runs|tokens_per_pass"):
        wrong()


def test_a_key_names_its_arguments():
    ways = ("chain:depth=2 | block", "svip:h=0.4")
    measured, arguments = parse_key(f"speeds ways={ways} temperature=0.6 tokens=32 kind=")
    assert measured == MEASUREMENTS["speeds"] and measured.kind == "timed"
    assert arguments == {
        "ways": ways,
        "temperature": 0.6,
        "tokens": 32,
        "kind": "",
    }
    assert parse_key("bound_holds kind=lemma 3.1")[1] == {"kind": "lemma 3.1"}


# ---- verdicts ----


@pytest.mark.parametrize(
    ("low", "high", "relation", "bound", "verdict"),
    [
        (1.1, 1.3, ">", 1, REPRODUCED),
        (0.9, 1.3, ">", 1, UNDECIDED),
        (0.7, 0.9, ">", 1, DIFFERS),
        (1, 1, ">", 1, DIFFERS),
        (0.7, 0.9, "<", 1, REPRODUCED),
        (0.9, 1.1, "<", 1, UNDECIDED),
        (1, 1.1, "<", 1, DIFFERS),
        (1.1, 1.2, "within", (1, 2), REPRODUCED),
        (0.9, 1.2, "within", (1, 2), UNDECIDED),
        (0.5, 2.5, "within", (1, 2), UNDECIDED),
        (2.1, 3, "within", (1, 2), DIFFERS),
    ],
)
def test_a_verdict_is_arithmetic_on_the_interval(low, high, relation, bound, verdict):
    assert compare(low, high, claim(relation, bound)) == verdict


def test_an_interval_is_over_texts_and_says_how_many_would_decide():
    rows = {f"{1 + text % 3}:{text}": {"tokens": 10 + text % 2, "passes": 5} for text in range(12)}
    number, margin = over_texts(number_of(claim()), [list(rows.values())])
    pairs = [(row["tokens"], row["passes"]) for row in rows.values()]
    assert (number, margin) == pytest.approx(
        specviz.record.metrics.estimate(pairs)
    ) and number == pytest.approx(2.1)
    found = find(claim(), [rows])
    assert (found.verdict, found.texts, found.low) == (REPRODUCED, 12, pytest.approx(2.1 - margin))
    needed = math.ceil(12 * (margin / 0.01) ** 2 / 10) * 10
    close = find(claim(bound=2.09), [rows])
    assert close.verdict == UNDECIDED and f"{needed:,} texts" in close.reason
    assert find(claim(), [dict(list(rows.items())[:1])]).verdict == UNDECIDED
    assert (
        find(claim(), [None]).verdict == find(claim(), [{"1:1": {"other": 1.0}}]).verdict == MISSING
    )
    twice = find(claim(data=("passes", "passes"), over="tokens_per_pass"), [rows, rows])
    assert twice.estimate == pytest.approx(1) and twice.low == twice.high


@pytest.mark.parametrize("name", CAN_FAIL)
def test_every_claim_can_fail(name):
    """Data that say the opposite, a machine of other speeds, a broken implementation: each must
    come out "differs"."""
    one = CLAIMS[name]
    if one.proof:
        key = one.data[0]
        measured, arguments = parse_key(key)
        sums = measured.function(bench(tokens=20), **arguments | one.broken)
        assert find(one, [{"": sums}]).verdict == DIFFERS
        return
    tables = [papers.shipped().read(key) for key in one.data]
    totals = [
        {
            name: sum(row[name] for row in table.values() if row)
            for name in next(filter(None, table.values()))
        }
        for table in tables
    ]
    alike = [
        dict.fromkeys(table, total) for table, total in zip(tables, totals, strict=True)
    ]  # do not scatter
    timed = "timed" in kinds(one)
    changed = chain(opposites(alike, timed), opposites(tables, timed))
    assert any(find(one, tables).verdict == DIFFERS for tables in changed)


def opposites(tables, timed):
    """Measurements with one sum far smaller or larger in every text, or all in proportion to their
    place.

    Of a machine only its seconds change.
    """
    named = [
        (at, name) for at, table in enumerate(tables) for name in next(filter(None, table.values()))
    ]
    named = [(at, name) for at, name in named if not timed or not name.endswith("tokens")]
    for factor in (1e-3, 0.03, 0.3, 0.7, 1.5, 4.0, 30.0, 1e3):
        for chosen in named:
            yield altered(tables, partial(one_changed, chosen, factor))
        for sign in (1, -1):  # curves that rise fall, and the other way round
            yield altered(tables, lambda at, name, place, factor=factor**sign: factor**place)
    for at, name in named:
        if name.endswith(
            " xy"
        ):  # a sum that may be below zero, and stays there whatever it is multiplied by
            yield altered(tables, partial(one_changed, (at, name), -1.0))


def one_changed(chosen, factor, at, name, place):
    return factor if (at, name) == chosen else 1.0


def altered(tables, factor):
    """Every sum times factor(table, name, place of the name from 0 to 1)."""
    changed = []
    for at, table in enumerate(tables):
        names = list(next(filter(None, table.values())))
        by = {name: factor(at, name, place / len(names)) for place, name in enumerate(names)}
        changed.append(
            {text: {name: row[name] * by[name] for name in row} for text, row in table.items()}
        )
    return changed


def test_what_does_not_vary_correlates_with_nothing():
    """Sums are stored to six digits, so what is left of n xx - x x may be rounding."""
    for spread, verdict in ((1, MISSING), (20, REPRODUCED)):
        sizes = np.array([256.0, 256.0 + spread, 256.0])
        sums = {
            key: float(f"{value:.6g}")
            for key, value in moments("tree", np.ones(3), sizes, sizes).items()
        }
        rows = {f"{seed}:0": sums for seed in (1, 2, 3)}
        assert find(claim(bound=0, value="correlation:tree"), [rows]).verdict == verdict


# ---- what is measured ----


@pytest.mark.parametrize("key", ONE_EACH)
def test_every_measurement_gives_finite_sums_that_its_claims_can_use(key, monkeypatch):
    monkeypatch.setattr(
        "specviz.models.pair.load_pair", lambda **_: specviz.toy_pair(vocab=40, seed=3)
    )
    found = last(bench().measure(key))
    assert set(found) == {"1:0", "1:1"} and len({frozenset(row) for row in found.values()}) == 1
    assert all(math.isfinite(number) for row in found.values() for number in row.values())
    stored = next(filter(None, papers.shipped().read(key).values()))
    for one in CLAIMS.values():
        if one.data == (key,) and not {name.partition(":")[0] for name in stored}:
            number_of(one)(next(iter(found.values())))


def test_a_measurement_on_the_disk_loads_the_pair_from_there(monkeypatch):
    loaded = []
    monkeypatch.setattr(
        "specviz.models.pair.load_pair",
        lambda **how: loaded.append(how) or specviz.toy_pair(vocab=40),
    )
    found = last(
        bench(tokens=12).measure(
            "speeds ways=('chain:depth=2',) temperature=0.0 tokens=8 offload=disk"
        )
    )
    assert loaded == [{"offload": "disk"}] and found["1:0"]["chain:depth=2 tokens"] > 0


def test_texts_of_different_seeds_have_no_prompt_in_common():
    texts = list(bench(seeds=workbench.SEEDS, texts_each=workbench.MAX_TEXTS).texts())
    assert len({text.prompt for text in texts}) == len(texts) == 2 * 3 * workbench.MAX_TEXTS


@pytest.mark.parametrize("rule", ["sequoia", "specinfer"])
def test_shares_along_a_text_are_the_chances_that_a_child_brings_the_token(rule):
    """Against whole draws and verifications, among those that write the token."""
    rule, p, q = (
        specviz.VERIFIERS[rule](),
        np.array([0.5, 0.2, 0.2, 0.1]),
        np.array([0.2, 0.5, 0.2, 0.1]),
    )
    shares = np.mean([shares_of(rule, p, q, 0, 3, Seeded(seed)) for seed in range(3000)], axis=0)
    chances = specviz.proof.node.ACCEPTANCE[rule.name](p, q, 3)
    assert 0 < shares.sum() <= 1 and (shares > 0).all()
    mean = sum(
        p[x] * np.mean([shares_of(rule, p, q, x, 3, Seeded(s)) for s in range(600)], axis=0)
        for x in range(4)
    )
    assert mean == pytest.approx(chances, abs=0.02)


def test_renewals_of_a_chain_are_counted_by_hand():
    """With each token accepted by chance 1/2, a chain of two brings 1 + 1/2 + 1/4 tokens a step."""
    shares = np.full((60, 1), 0.5)
    tokens, steps = renewals(ends_along(Topology((-1, 0, 1)), shares))
    assert tokens / steps == pytest.approx(1.75)


# ---- the store and the command ----


def test_only_what_is_not_up_to_date_is_measured_and_more_texts_are_added(tmp_path, monkeypatch):
    monkeypatch.setattr(workbench, "SEEDS", (1,))
    store, pair = papers.Store(tmp_path), specviz.toy_pair(vocab=40)
    names = ["svip-correct"]
    assert {update.done for update in papers.measure(pair, names, store=store)} == {0, 1}
    assert not list(papers.measure(pair, names, store=papers.Store(tmp_path)))
    assert {update.total for update in papers.measure(pair, names, again=True, store=store)} == {2}
    verdicts = [
        papers.decide(one, store).verdict
        for _, entry in papers.entries(names)
        for one in entry.claim
    ]
    assert verdicts == [DIFFERS, PROVEN]
    list(papers.measure(pair, ["dyspec-block-counts"], store=store, texts=1))
    before = store.read("random_blocks size=1024")
    list(papers.measure(pair, ["dyspec-block-counts"], store=store, texts=2))
    after = papers.Store(tmp_path).read("random_blocks size=1024")
    assert len(after) == 2 * len(before) and after["1:0"] == before["1:0"]


def test_a_busy_machine_leaves_nothing_in_the_store(tmp_path, monkeypatch):
    spent = iter(range(0, 10**9, 10**6))
    monkeypatch.setattr(quiet, "sleep", lambda seconds: None)
    monkeypatch.setattr(quiet, "used_by_others", lambda: float(next(spent)))
    with pytest.raises(ValueError, match="machine is busy"):
        list(
            papers.measure(
                specviz.toy_pair(vocab=40),
                ["sequoia-figure-8"],
                timed=True,
                store=papers.Store(tmp_path),
            )
        )
    assert not (tmp_path / "timed.json").exists()


def test_the_command_prints_every_claim(capsys):
    assert main(["papers", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["claim"]["text"] for one in found] == [one.text for one in CLAIMS.values()]
    assert {one["verdict"] for one in found} <= set(papers.VERDICTS)
    assert main(["papers", "races-lemma-3-1"]) == 0 and "Lemma 3.1" in capsys.readouterr().out
    for wrong in (["nonsense"], ["--again"], ["--timed"]):
        assert main(["papers", *wrong]) == 2 and wrong[0] in capsys.readouterr().err
