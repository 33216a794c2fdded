"""`advise` tries every draft, times the best, answers in one sentence, and names the flags of
engines."""

import argparse
import json
from dataclasses import replace

import pytest

import specviz
from specviz.commands import options
from specviz.commands.advise import choices_of, data_of, faster_way, heads_of, sentence_of
from specviz.commands.cli import main
from specviz.measure import advice
from specviz.measure.advice import Advice, Option, reason
from specviz.measure.choose import Candidate
from specviz.measure.engine_ways import EngineWay
from specviz.measure.forecast import predict
from specviz.measure.machines import flat_up_to
from specviz.measure.timing import TimedRun
from specviz.record.metrics import Counts

BUILDERS = (
    specviz.BUILDERS["sequoia"](size=12, depth=5, acceptance=(0.6, 0.2)),
    specviz.BUILDERS["chain"](depth=4),
    specviz.BUILDERS["chain"](depth=6),
)
TREE, CHAIN, LONG = (
    Candidate(one, predict(one.shape, (0.6, 0.2), flat_up_to(16))) for one in BUILDERS
)


def option(speedup=1.4, margin=0.1, first=0.6, parts=(0.3, 0.6, 0.1), tokens=28, name="org/small"):
    """Ten steps; a plain step takes as long as the speedup asks for."""
    counts = Counts(
        tokens,
        10,
        timed_tokens=tokens,
        timed_passes=10,
        seconds=(*(10 * part for part in parts), 0.0),
    )
    plain = Counts(
        10, 10, timed_tokens=10, timed_passes=10, seconds=(0, speedup / tokens * 100, 0, 0)
    )
    timing = TimedRun(TREE.name, speedup, margin, speedup, speedup, counts, plain)
    config = specviz.RunConfig(builder=TREE.builder)
    return Option(
        config=config,
        tree=TREE,
        predicted=(1.5, 1.2, 1.8),
        timing=timing,
        name=name,
        chain=CHAIN,
        tokens=(2.9, 2.5, 3.3),
        first=first,
        texts=8,
    )


@pytest.mark.parametrize(
    ("speedup", "margin", "verdict", "words"),
    [
        (1.4, 0.1, "pays", "pays: 1.40 x [1.30, 1.50], sequoia:size=12"),
        (0.8, 0.1, "does-not-pay", "does not pay: the best is 0.80 x [0.70, 0.90]"),
        (1.05, 0.1, "undecided", "prompts would decide it"),
        (1.4, None, "undecided", "Give at least 16 prompts"),
    ],
)
def test_the_answer_follows_from_the_interval_of_what_was_timed(speedup, margin, verdict, words):
    best = option(speedup, margin)
    assert best.verdict == verdict and words in sentence_of(best)
    assert sentence_of(replace(best, timing=None)).startswith(
        "predicted, not timed: 1.50 x [1.20, 1.80]"
    )


def test_the_reason_names_the_price_of_a_step_and_what_is_dear():
    assert (
        "writes 2.80 tokens and costs 2.00 plain steps (draft 0.60, target 1.20, overhead 0.20)"
        in reason(option())
    )
    assert "The draft is too expensive" in reason(option(0.7, parts=(0.6, 0.3, 0.1)))
    assert "Reading several tokens" in reason(option(0.7, parts=(0.1, 0.8, 0.1)))
    assert "chat template" in reason(option(0.7, first=0.2))
    assert "costs 1.00 plain" not in reason(replace(option(), timing=None))


def test_engines_get_what_was_predicted_for_their_rule():
    chain, tree, sampled = (
        EngineWay(specviz.RunConfig(builder=one.builder, verifier=rule), one, (1.5, None, None))
        for one, rule in ((CHAIN, "target-match"), (TREE, "target-match"), (LONG, "block"))
    )
    ways = {"chain": chain, "tree": tree, "sampled": sampled}
    rows = data_of(Advice((replace(option(), engines=ways),)))["engines"]
    found = {(row["engine"], row["algorithm"]): row for row in rows}
    vllm, switched = found["vLLM", "own rule"], found["vLLM", "switch"]
    assert '"num_speculative_tokens": 4' in vllm["flags"] and "probabilistic" not in vllm["flags"]
    assert vllm["speedup"] == CHAIN.predicted.speedup
    assert '"draft_sample_method": "probabilistic"' in switched["flags"]
    assert '"num_speculative_tokens": 6' in switched["flags"]
    assert switched["speedup"] == LONG.predicted.speedup
    assert "--spec-draft-n-max 4 --spec-draft-p-min 0" in found["llama.cpp", "own rule"]["flags"]
    sglang = found["SGLang", "own rule"]["flags"]
    assert f"--speculative-num-steps {TREE.predicted.depth} " in sglang
    head = data_of(Advice((option(name="eagle"),)), {"eagle": "my/head"})["engines"]
    flags = {row["engine"]: row["flags"] for row in head if row["algorithm"] == "own rule"}
    assert '"method": "eagle3"' in flags["vLLM"] and '"model": "my/head"' in flags["vLLM"]
    assert "EAGLE3 --speculative-draft-model-path my/head" in flags["SGLang"]
    early = data_of(Advice((option(name="early-exit:3"),)))["engines"]
    assert not any(engine["flags"] for engine in early)


def test_nothing_is_claimed_for_a_rule_that_was_not_measured():
    rows = data_of(Advice((option(),)))["engines"]
    assert all(row["speedup"] is None for row in rows) and any(row["flags"] for row in rows)


def test_the_faster_of_own_rule_and_switch_is_named():
    """Only where the intervals are apart, of what was timed and of what is predicted."""

    def timed(speedup, margin):
        timing = option(speedup, margin).timing
        return EngineWay(specviz.RunConfig(), CHAIN, (1.0, None, None), timing)

    for own, switch, margin, words in (
        (1.2, 1.5, 0.1, "the switch is faster"),
        (1.5, 1.2, 0.1, "engines' own rule is faster"),
        (1.2, 1.5, 0.2, "not apart here"),
        (1.2, 1.5, None, "not apart here"),
    ):
        ways = {"chain": timed(own, margin), "sampled": timed(switch, margin)}
        assert words in faster_way(ways) and "timed" in faster_way(ways)
    assert faster_way({"chain": timed(1.2, 0.1)}) is None
    low = EngineWay(specviz.RunConfig(), CHAIN, (1.1, 1.0, 1.2))
    high = replace(low, predicted=(1.5, 1.4, 1.6))
    assert "the switch is faster here (predicted)" in faster_way({"chain": low, "sampled": high})


@pytest.fixture
def loaded(monkeypatch, tmp_path):
    """Pairs by the name of their draft; the target is the same."""
    import specviz.models.pair as module

    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))

    def load_pair(target, draft, like=None, **options):
        if draft == "foreign":
            raise ValueError("target and draft must share a vocabulary.")
        return specviz.toy_pair(vocab=8, seed=3, closeness=float(draft or 0.6))

    monkeypatch.setattr(module, "load_pair", load_pair)
    monkeypatch.setattr(advice, "SECONDS", 0.3)


@pytest.fixture
def prompts(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("ab\nbca\ncab\nddc\nbb\nca\n")
    return str(path)


def test_a_head_that_is_named_as_draft_and_drafter_is_tried_once(monkeypatch):
    def load(args, draft, like):
        pair = specviz.toy_pair(vocab=4)
        pair.default_drafter = "eagle" if draft else "model"
        pair.info["draft"] = {"architecture": "EAGLE-3"} if draft else None
        return pair

    drafters = [specviz.DRAFTERS["eagle"](), specviz.DRAFTERS["ngram"]()]
    monkeypatch.setattr(options, "load", load)
    monkeypatch.setattr(options, "strategies", lambda args, kind: drafters)
    for target in (None, "mine"):
        args = argparse.Namespace(target=target, draft=["head"])
        choices, failed = choices_of(args)
        assert list(choices) == ["head", "ngram"] and not failed
        assert heads_of(args, choices) == {"head": "head"}


def test_every_draft_is_tried_and_the_best_three_are_timed(loaded, capsys, prompts):
    names = ["--draft", "0.9", "--draft", "0.1", "--draft", "foreign", "--drafter", "ngram"]
    arguments = [
        "advise",
        "--target",
        "mine",
        *names,
        "--prompts",
        prompts,
        "--each",
        "3",
        "--texts",
        "1,4",
    ]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    timed = [one for one in found["options"] if one["measured"]]
    assert {one["draft"] for one in found["options"]} == {"0.9", "0.1", "ngram"}
    assert len(timed) == 3 and found["best"]["draft"] == timed[0]["draft"]
    assert found["failed"] == {"foreign": "target and draft must share a vocabulary."}
    first = {one["draft"]: one["first_child"] for one in found["options"]}
    assert first["0.9"] > first["0.1"]
    low, high = found["interval"]
    assert found["verdict"] == ("pays" if low > 1 else "does-not-pay" if high < 1 else "undecided")
    assert next(one["engine"] for one in found["engines"]) == "vLLM"
    ways = found["engine_ways"]
    if found["best"]["draft"] != "ngram":
        assert ways["sampled"]["verifier"] == "speculative-sampling"
        assert len({one["measured"] is None for one in ways.values()}) == 1, "all are timed or none"
        assert found["faster"]
    for one in found["options"]:
        speedup, low, high = one["predicted"]
        assert (
            low <= speedup <= high
            and speedup <= one["predicted_tokens_per_pass"][0] / one["predicted_price"] + 1e-9
        )
        assert set(one["batches"]) == {"1", "4"}


def test_a_profile_and_a_machine_take_the_place_of_measuring(
    loaded, capsys, prompts, tmp_path, monkeypatch
):
    profile = tmp_path / "profile.json"
    calibrate = [
        "calibrate",
        "--target",
        "mine",
        "--draft",
        "0.9",
        "--temperature",
        "0.8",
        "--verifier",
        "sequoia",
    ]
    assert (
        main(
            [
                *calibrate,
                "--prompts",
                prompts,
                "--positions",
                "80",
                "--seconds",
                "1",
                "--out",
                str(profile),
            ]
        )
        == 0
    )
    assert "pass ms" in capsys.readouterr().out
    monkeypatch.setattr(advice, "measure_acceptance", None)
    monkeypatch.setattr(advice, "measure_cost", None)
    monkeypatch.setattr(advice, "time_runs", None)
    arguments = [
        "advise",
        "--target",
        "mine",
        "--draft",
        "0.9",
        "--profile",
        str(profile),
        "--no-timing",
    ]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["best"]["measured"] is None and found["verdict"] == "undecided"
    assert main([*arguments, "--machine", "a100"]) == 0
    out = capsys.readouterr().out
    assert "predicted, not timed" in out and "llama.cpp" in out
    assert main([*arguments, "--temperature", "0.3"]) == 0, "a drafter that cannot be used is named"
    assert "temperature 0.8, not 0.3" in capsys.readouterr().out
