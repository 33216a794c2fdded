"""The command `check`, its quick rows, and a counterexample of two levels."""

import json
from fractions import Fraction
from typing import ClassVar

import pytest

import specviz
from specviz.commands.check import _proven
from specviz.commands.cli import main
from specviz.config import run_config as configuration
from specviz.config.strategy import VERIFIERS
from specviz.proof import greedy, lossless, search
from specviz.proof.counterexample import exact_text
from specviz.proof.cover import cover
from specviz.proof.greedy import search_greedy
from specviz.proof.lossless import cases, drafter_cases
from specviz.proof.search import find_counterexample, search_drawn
from specviz.verifiers.base import Verifier
from specviz.verifiers.decisions import Decisions, ratio


@pytest.fixture
def few_drawn(monkeypatch):
    """Above temperature 0 the search looks at the smallest trees alone."""
    monkeypatch.setattr(search, "SHAPES", search.SHAPES[:1])
    monkeypatch.setattr(search, "DEEP", ())


@pytest.fixture
def few_trees(few_drawn, monkeypatch):
    """The search that comes before a table looks at the smallest trees alone."""
    monkeypatch.setattr(greedy, "EVERY", 1)
    monkeypatch.setattr(greedy, "RANDOM_TREES", 5)


def test_several_processes_find_the_same_in_the_same_order():
    few = list(cases(["chain"], ["specinfer"]))[:3]
    assert list(_proven(few, jobs=2)) == [case.prove() for case in few]


def test_the_quick_cases_meet_every_builder_rule_drafter_and_sampling():
    everything = [
        *cases(),
        *cases(
            ["chain", "sequoia"], drafters=[name for name in drafter_cases() if name != "model"]
        ),
    ]
    chosen = list(cover(everything))
    assert len(chosen) < len(everything) / 5
    for of in (
        lambda case: case.builder,
        lambda case: case.drafter,
        lambda case: (
            case.config.verifier.name,
            specviz.compatible(case.config, case.scheme).lossless,
        ),
        lambda case: (case.config.draft_temperature, case.config.top_k, case.config.top_p),
    ):
        assert {of(case) for case in chosen} == {of(case) for case in everything}


@pytest.mark.usefixtures("few_trees")
def test_a_rule_named_twice_gets_its_own_rows_and_no_row_is_stored(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))
    arguments = ["check", "--builder", "chain", "--drafter", "model", "--quick", "--json"]
    assert (
        main(
            [
                *arguments,
                *(f"--verifier={name}" for name in ("greedy-draft", "greedy-draft", "exact-match")),
            ]
        )
        == 0
    )
    twice = [row for row in json.loads(capsys.readouterr().out) if row["verifier"] == "exact-match"]
    assert main([*arguments, "--verifier", "exact-match"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert (
        all(row["verifier"] == "exact-match" for row in alone)
        and [row for row in alone if row in twice] == twice
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("few_trees")
def test_json_rows_name_their_sampling_and_a_wrong_declaration_is_marked(capsys, monkeypatch):
    arguments = ["check", "--builder", "chain", "--verifier", "block", "--drafter", "several"]
    assert main([*arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {(row["draft_temperature"], row["top_k"], row["top_p"]) for row in rows} == {
        (None, None, 1.0),
        (0.0, None, 1.0),
        (0.6, None, 1.0),
        (None, 2, 1.0),
        (None, None, 0.9),
    }
    monkeypatch.setattr(specviz.DRAFTERS["several"], "blends", False)
    configuration.compatible.cache_clear()
    assert main(arguments) == 1
    wrong = [line for line in capsys.readouterr().out.splitlines() if "DECLARED WRONGLY" in line]
    assert wrong and all(" top-draw " in line or "T draft 0" in line for line in wrong)
    assert {line.split()[3] for line in wrong} == {"top", "top-draw"}


@pytest.mark.usefixtures("few_trees")
def test_a_rule_that_no_row_shows_lossy_is_named(capsys, monkeypatch):
    monkeypatch.setattr(lossless, "SAMPLINGS", lossless.SAMPLINGS[:1])
    monkeypatch.setattr(specviz.VERIFIERS["target-match"], "lossless", False)
    assert (
        main(["check", "--builder", "chain", "--verifier", "target-match", "--drafter", "model"])
        == 1
    )
    assert "target-match, top, chain, model" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--jobs", "0"], ["--builder", "sequoa"]])
def test_bad_options_are_rejected(option, capsys):
    assert main(["check", *option]) == 2 and option[0].strip("-") in capsys.readouterr().err


class Behind(Verifier):
    """Speculative sampling whose last token comes from the row of the node before."""

    name: ClassVar[str] = "behind"
    title: ClassVar[str] = "Behind"
    schemes: ClassVar[tuple[str, ...]] = ("iid",)
    chain_only: ClassVar[bool] = True

    def __call__(self, tree, p, rng):
        decisions, row, node = Decisions(tree), p[0], 0
        while tree.children[node]:
            (child,), q, row = tree.children[node], tree.draft_distributions[node], p[node]
            if not decisions.accept(
                child, ratio(row[tree.tokens[child]], q[tree.tokens[child]]), rng
            ):
                return decisions.verdict(rng.draw(specviz.sampling.distributions.residual(row, q)))
            node = child
        return decisions.verdict(rng.draw(row))


def test_a_rule_that_mixes_up_levels_gets_the_smallest_tree_that_shows_it():
    found = find_counterexample(Behind())
    assert (found.children, found.levels, len(found.p), len(found.q)) == (1, 1, 2, 1)
    assert found.p[0] != found.p[1] and len(found.text) == 2 and found.link == ""
    assert "depth 1" in str(found) and found.to_dict()["p"] == [
        [str(part) for part in row] for row in found.p
    ]


class Wrong(Verifier):
    """Speculative sampling with one mistake at a time, most of which are seen at temperature 0
    alone."""

    name: ClassVar[str] = "wrong"
    title: ClassVar[str] = "Wrong"
    schemes: ClassVar[tuple[str, ...]] = ("iid",)
    mistake: str = ""

    def __call__(self, tree, p, rng):
        decisions, node = Decisions(tree), 0
        greedy = p.sampling.temperature == 0
        while tree.children[node]:
            r, q = p[node], tree.draft_distributions[node]
            if self.mistake == "overwritten":
                r *= 0.5
            for place, child in enumerate(tree.children[node]):
                token = tree.tokens[child]
                free = {
                    "greedy": greedy,
                    "third level": greedy and tree.depths[child] == 3,
                    "second sibling": greedy and place == 1,
                    "ties": greedy and p.logits[node][token] == p.logits[node].max(),
                    "other branch": greedy and node > 0 and p[node - 1][token] == 1,
                    "third level above 0": tree.depths[child] == 3 and place == 1,
                }
                accept = 1.0 if free.get(self.mistake) else ratio(r[token], q[token])
                if decisions.accept(child, accept, rng):
                    break
                r = specviz.sampling.distributions.residual(r, q)
            else:
                return decisions.verdict(rng.draw(r))
            node = child
        if self.mistake == "last of ties" and greedy:
            row = p.logits[node]
            return decisions.verdict(len(row) - 1 - int(row[::-1].argmax()))
        return decisions.verdict(rng.draw(p[node]))


@pytest.mark.parametrize(
    "mistake",
    ["greedy", "third level", "second sibling", "ties", "other branch", "last of ties"],
)
def test_a_rule_that_is_wrong_at_temperature_0_alone_is_refuted(mistake):
    found = search_greedy(Wrong(mistake)).counterexample
    assert found.target == 0 and found.probability > 1e-3
    assert len(found.text) <= len(found.parents) and found.link == ""
    assert found.rule in str(found) and found.to_dict()["tokens"] == list(found.tokens)


def test_a_mistake_on_a_branch_of_the_third_level_is_found_above_temperature_0():
    assert search_drawn(Wrong("third level above 0")).counterexample.levels == 3
    assert search_greedy(Wrong("")).counterexample is None


def test_a_rule_that_writes_into_its_input_is_told_so():
    found = find_counterexample(Wrong("overwritten"))
    assert "change a copy" in found.failure and "fails  it writes into" in str(found)


@pytest.mark.parametrize("off", [1e-3, 1e-7, 1e-11])
def test_the_two_numbers_of_a_counterexample_differ(off):
    half = Fraction(1, 2)
    assert float(Fraction(exact_text(0.5 + off, half))) != 0.5
    assert exact_text(1 / 3, half) == "1/3"


class Shortcut(Wrong):
    """A rule that is wrong at temperature 0 alone, by default."""

    name: ClassVar[str] = "shortcut"
    mistake: str = "second sibling"


@pytest.mark.usefixtures("few_drawn")
def test_check_refutes_a_rule_that_is_wrong_at_temperature_0_alone(capsys):
    assert search_drawn(Shortcut()).counterexample is None
    VERIFIERS.add(Shortcut)
    try:
        assert main(["check", "--builder", "chain", "--verifier", "shortcut", "--quick"]) == 1
    finally:
        VERIFIERS.remove("shortcut")
    out = capsys.readouterr().out
    assert "DECLARED WRONGLY" in out and "at temperature 0 it must write" in out
