"""Papers: the files, the numbers, the verdicts, what is measured, and the command."""

import json
import math
import re
from functools import partial

import numpy as np
import pytest

import specviz
from specviz import papers
from specviz.base.progress import final_result
from specviz.commands.cli import main
from specviz.measure import quiet
from specviz.papers import bounds, proofs, workbench
from specviz.papers.along import child_acceptance, ends_along, renewals
from specviz.papers.claim import Claim
from specviz.papers.number import calls_in, evaluate, is_timed, parse_call
from specviz.papers.positions import moments
from specviz.papers.verdict import (
    DIFFERS,
    MISSING,
    PROVEN,
    REPRODUCED,
    UNDECIDED,
    compare,
    estimate,
    find,
)
from specviz.papers.workbench import Workbench
from specviz.sampling.randomness import Seeded
from specviz.tree import Topology

CLAIMS = {
    f"{source}-{entry.name} {number}": claim
    for source, entry in papers.entries()
    for number, claim in enumerate(entry.claim, 1)
}
CALLS = list(dict.fromkeys(call for claim in CLAIMS.values() for call in claim.data))
ONE_EACH = list(
    {parse_call(call)[0]: call for call in CALLS if parse_call(call)[0].kind != "proof"}.values()
)
ENTRY = papers.entries()[0][1]
PASSES = "passes()"  # a measurement without arguments, for claims of these tests
RATIO = f"ratio({PASSES}, 'tokens', 'passes')"


def claim(relation=">", bound=2, number=RATIO, **fields):
    return Claim(text="a claim", number=number, relation=relation, bound=bound, **fields)


def decided(one, *columns):
    return find(ENTRY, one, dict(zip(one.data, columns, strict=True)))


def bench(**more):
    return Workbench(
        specviz.toy_pair(vocab=40),
        **{"texts_each": 1, "seeds": (1,), "tokens": 50, "seconds": 0.2} | more,
    )


def last(measuring):
    return final_result(measuring)


# ---- the files ----


def test_every_source_has_claims_that_are_decided_and_few_are_timed():
    assert len(CLAIMS) >= 115 and all(papers.table(source) for source in papers.SOURCES)
    timed = [
        one
        for one in CLAIMS.values()
        if any(is_timed(call) and "disk" not in call for call in one.data)
    ]
    assert len(timed) == 8
    names = [f"{source}-{entry.name}" for source, entry in papers.entries()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)
    for _, entry in papers.entries():
        assert len({one.text for one in entry.claim}) == len(entry.claim) >= 1


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
    assert set(papers.Store().measured) == set(CALLS)


@pytest.mark.parametrize(
    "fields",
    [{"number": ""}, {"bound": (1, 2)}, {"missing": "no GPU"}, {"relation": "is"}],
)
def test_a_claim_that_is_written_wrongly_is_rejected(fields):
    with pytest.raises(ValueError, match=r"number|bound|relation"):
        claim(**fields)


# ---- numbers ----


def test_a_number_is_arithmetic_on_measurements():
    number = f"1 - ratio({PASSES}, 'a', 'b') / 4 + 2 * ratio(runs(builder='chain'), 'a', 'b')"
    assert set(calls_in(number)) == {PASSES, "runs(builder='chain')"}
    sums = {PASSES: {"a": 2.0, "b": 1.0}, "runs(builder='chain')": {"a": 3.0, "b": 2.0}}
    assert evaluate(number, sums) == 3.5
    assert evaluate("queue()", {"queue()": {"error": 0.25}}) == 0.25


@pytest.mark.parametrize(
    "number",
    ["passess()", "tokens", "().__class__", "open('x')", "[1][0]", "2 < 9", "ratio.__init__(1)"],
)
def test_a_number_calls_nothing_else(number):
    with pytest.raises(ValueError, match="made of"):
        evaluate(number, {})


def test_a_call_names_its_arguments():
    builders = ("chain:depth=2", "svip:h=0.4")
    measured, arguments = parse_call(f"speeds(builders={builders}, temperature=0.6, tokens=32)")
    assert measured.kind == "timed"
    assert arguments == {"builders": builders, "temperature": 0.6, "tokens": 32}


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
    number, margin = estimate(RATIO, {PASSES: rows}, list(rows))
    pairs = [(row["tokens"], row["passes"]) for row in rows.values()]
    assert (number, margin) == pytest.approx(specviz.record.metrics.estimate(pairs))
    assert number == pytest.approx(2.1)
    found = decided(claim(), rows)
    assert (found.verdict, found.texts, found.low) == (REPRODUCED, 12, pytest.approx(2.1 - margin))
    needed = math.ceil(12 * (margin / 0.01) ** 2 / 10) * 10
    close = decided(claim(bound=2.09), rows)
    assert close.verdict == UNDECIDED and f"{needed:,} texts" in close.reason
    assert decided(claim(), dict(list(rows.items())[:1])).verdict == UNDECIDED
    assert decided(claim(), {}).verdict == MISSING
    assert decided(claim(), {"1:1": {"other": 1.0}}).verdict == MISSING
    twice = decided(claim(number=f"{RATIO} / {RATIO}"), rows)
    assert twice.estimate == pytest.approx(1) and twice.low == twice.high


def one_sequence(vector, size, depth, width):
    """A plan that knows chains only, with what it is worth."""
    tree = specviz.builders.static.grow_shape([1] * min(depth, size - 1))
    return tree, specviz.record.vectors.expected_tokens(tree, vector)


GROWN = proofs.grown


def shallow(builder):
    """A greedy builder that stops after its first level."""
    return re.sub(r"^(dyspec:size=\d+),depth=\d", r"\1,depth=1", builder)


@pytest.mark.parametrize(
    ("call", "where", "name", "broken"),
    [
        ("best_of_all()", proofs, "best_tree", one_sequence),
        ("scores()", proofs, "expected_tokens", lambda tree, vector: len(tree)),
        ("queue()", proofs, "priority_queue_tree", lambda *plan: one_sequence(*plan)[0]),
        (
            "greedy_sum()",
            proofs,
            "grown",
            lambda text, *more, **named: GROWN(shallow(text), *more, **named),
        ),
        (
            "by_threshold()",
            proofs,
            "grown",
            lambda text, *more, **named: GROWN(shallow(text), *more, **named),
        ),
        ("queue_of_print()", proofs, "best_tree", one_sequence),
        ("one_path()", proofs, "path_ceiling", lambda p, q: len(q)),
        ("tunstall_code()", proofs, "path_acceptance", lambda tree, vector: [1.0] * len(tree)),
        ("tree_bound(name='theorem 4.1')", bounds, "tunstall_bound", lambda vector, k: 1.0),
        ("tree_bound(name='lemma 4.2')", bounds, "tail_bound", lambda vector, k, used: 1.0),
        ("bound_holds(name='pinsker')", bounds, "pinsker_bound", lambda kl: 1 - kl / 4),
        ("bound_holds(name='huber')", bounds, "bretagnolle_huber_bound", lambda kl: 1 - kl / 9),
        ("bound_holds(name='lemma 3.1')", bounds, "harmonic_bound", lambda p, q: p @ q + 0.4),
        (
            "bound_holds(name='acceptance')",
            bounds,
            "total_variation",
            lambda p, q: abs(p - q).max(),
        ),
        ("index_bound(method='rejection')", bounds, "rejection_index_entropy", lambda p, q: 0.1),
    ],
)
def test_a_proof_refutes_a_program_that_is_broken(monkeypatch, call, where, name, broken):
    monkeypatch.setattr(where, name, broken)
    columns = last(bench(tokens=20).measure(call, {}))
    one = next(one for one in CLAIMS.values() if one.number == call)
    assert decided(one, columns).verdict == DIFFERS


def test_a_wrong_residual_a_wrong_rule_and_a_wrong_print_are_seen():
    numbers = [one.number for one in CLAIMS.values()]
    for call in (
        "corrected_law(residual='p')",
        "corrected_law(residual='q - p')",
        "lossless(builder='eagle2', verifier='dyspec')",
        "lossless(builder='chain', verifier='typical')",
    ):
        assert call in numbers
        assert last(bench().measure(call, {}))[""]["error"] > 1e-3
    assert last(bench().measure("corrected_law(residual='p - q')", {}))[""]["error"] < 1e-15


def test_what_does_not_vary_correlates_with_nothing():
    """Sums are stored to six digits, so what is left of n xx - x x may be rounding."""
    for spread, verdict in ((1, MISSING), (20, REPRODUCED)):
        sizes = np.array([256.0, 256.0 + spread, 256.0])
        sums = {
            key: float(f"{value:.6g}")
            for key, value in moments("tree", np.ones(3), sizes, sizes).items()
        }
        rows = {f"{seed}:0": sums for seed in (1, 2, 3)}
        one = claim(bound=0, number=f"correlation({PASSES}, 'tree')")
        assert decided(one, rows).verdict == verdict


# ---- what is measured ----


@pytest.mark.parametrize("call", ONE_EACH)
def test_every_measurement_gives_finite_sums_that_its_claims_can_use(call, monkeypatch):
    monkeypatch.setattr(
        "specviz.models.pair.load_pair", lambda **_: specviz.toy_pair(vocab=40, seed=3)
    )
    found = last(bench().measure(call, {}))
    assert set(found) == {"1:0", "1:1"} and len({frozenset(row) for row in found.values()}) == 1
    assert all(math.isfinite(number) for row in found.values() for number in row.values())
    for one in CLAIMS.values():
        if one.data == (call,):
            assert isinstance(evaluate(one.number, {call: next(iter(found.values()))}), float)


def test_every_race_that_is_won_is_counted():
    for sums in last(bench().measure("raced(temperature=1.0)", {})).values():
        assert sums["won"] == pytest.approx(sums["exact"], rel=0.4)


def test_a_measurement_on_the_disk_loads_the_pair_from_there(monkeypatch):
    loaded = []
    monkeypatch.setattr(
        "specviz.models.pair.load_pair",
        lambda **how: loaded.append(how) or specviz.toy_pair(vocab=40),
    )
    call = "speeds(builders=('chain:depth=2',), temperature=0.0, tokens=8, offload='disk')"
    found = last(bench(tokens=12).measure(call, {}))
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
    shares = np.mean(
        [child_acceptance(rule, p, q, 0, 3, Seeded(seed)) for seed in range(3000)], axis=0
    )
    chances = specviz.proof.node.ACCEPTANCE[rule.name](p, q, 3)
    assert 0 < shares.sum() <= 1 and (shares > 0).all()
    mean = sum(
        p[x] * np.mean([child_acceptance(rule, p, q, x, 3, Seeded(s)) for s in range(600)], axis=0)
        for x in range(4)
    )
    assert mean == pytest.approx(chances, abs=0.02)


def test_renewals_of_a_chain_are_counted_by_hand():
    """With each token accepted by chance 1/2, a chain of two brings 1 + 1/2 + 1/4 tokens a step."""
    shares = np.full((60, 1), 0.5)
    tokens, steps = renewals(ends_along(Topology((-1, 0, 1)), shares))
    assert tokens / steps == pytest.approx(1.75)


# ---- the store and the command ----


def test_only_what_is_not_up_to_date_is_measured_and_more_texts_are_added(tmp_path):
    measure = partial(papers.measure, seeds=(1,))
    store, pair = papers.Store(tmp_path), specviz.toy_pair(vocab=40)
    names = ["svip-correct"]
    assert {update.done for update in measure(pair, names, store=store)} == {0, 1}
    assert len(list(measure(pair, names, store=papers.Store(tmp_path)))) == 1  # none is made
    assert {update.total for update in measure(pair, names, again=True, store=store)} == {2}
    ((_, entry),) = papers.entries(names)
    assert [one.verdict for one in papers.decide(entry, store)] == [DIFFERS, PROVEN]
    list(measure(pair, ["dyspec-block-counts"], store=store, texts=1))
    before = store.read("random_blocks(size=1024)")
    list(measure(pair, ["dyspec-block-counts"], store=store, texts=2))
    after = papers.Store(tmp_path).read("random_blocks(size=1024)")
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
