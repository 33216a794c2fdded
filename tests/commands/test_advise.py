"""`advise` tries every draft, times the best, answers in one sentence, and names the flags of engines."""

import json
from dataclasses import replace

import pytest

import specviz
from specviz.benchmarks import drafter_advice
from specviz.benchmarks.drafter_advice import Advice, Option, engines_for, reason, verdict_of
from specviz.benchmarks.trials import Trial
from specviz.commands.advise import sentence_of
from specviz.commands.cli import main
from specviz.planning.choose import Candidate
from specviz.planning.cost_table import flat_up_to
from specviz.planning.forecast import predict

TREE, CHAIN = (
    Candidate(builder, predict(builder.shape, (0.6, 0.2), flat_up_to(16)))
    for builder in (specviz.BUILDERS["sequoia"](size=12, depth=5, acceptance=(0.6, 0.2)), specviz.BUILDERS["chain"](4))
)


def option(speedup=1.4, margin=0.1, first=0.6, parts=(0.3, 0.6, 0.1), tokens=2.8, name="org/small"):
    times = dict(zip(("draft", "target", "verify"), parts, strict=True)) | {"other": 0.0}
    trial = Trial(TREE.name, speedup, speedup, speedup, margin, tokens, sum(parts), times, 99)
    return Option(name, "model", "sequoia", TREE, CHAIN, first, trial)


@pytest.mark.parametrize(
    ("speedup", "margin", "verdict", "says"),
    [
        (1.4, 0.1, "pays", "pays: 1.40 x [1.30, 1.50], sequoia:size=12"),
        (0.8, 0.1, "does-not-pay", "does not pay: the best is 0.80 x [0.70, 0.90]"),
        (1.05, 0.1, "undecided", "undecided, the interval holds 1"),
        (1.4, None, "undecided", "undecided, one text gives no interval"),
    ],
)
def test_the_answer_follows_from_the_interval(speedup, margin, verdict, says):
    best = option(speedup, margin)
    assert verdict_of(best)[0] == verdict
    assert sentence_of(Advice("", (replace(best, trial=None), best))).startswith(says)


def test_the_reason_names_the_price_of_a_step_and_what_is_dear():
    assert "writes 2.80 tokens and costs 2.00 plain steps (draft 0.60, target 1.20, overhead 0.20)" in reason(option())
    slow = option(0.7, parts=(0.6, 0.3, 0.1))
    assert reason(slow).endswith("The draft is too expensive for what is accepted.")
    assert reason(option(0.7, parts=(0.1, 0.8, 0.1))).endswith("tokens at once is expensive on this machine.")
    assert "chat template" in reason(option(0.7, first=0.2))


def test_engines_get_the_chain_or_the_tree_of_the_best_option():
    vllm, sglang, llama = engines_for(option())
    assert '"num_speculative_tokens": 4' in vllm.flags and "--spec-draft-n-max 4" in llama.flags
    depth = TREE.predicted.depth
    assert f"--speculative-num-steps {depth} " in sglang.flags and "--speculative-num-draft-tokens 12" in sglang.flags
    assert not any(engine.flags for engine in engines_for(option(name="early-exit:3")))


@pytest.fixture
def loaded(monkeypatch):
    """Pairs by the name of their draft; the target is the same."""
    import specviz.models.pair as module

    def load_pair(target, draft, like=None, **options):
        if draft == "foreign":
            raise ValueError("target and draft must share a vocabulary.")
        assert (draft is None) == (like is None), "the target is loaded once"
        return specviz.toy_pair(vocab=8, seed=3, closeness=float(draft or 0.6))

    monkeypatch.setattr(module, "load_pair", load_pair)
    monkeypatch.setattr(drafter_advice, "SECONDS", 0.3)


def test_every_draft_is_tried_and_the_best_three_are_timed(loaded, capsys, tmp_path):
    prompts = tmp_path / "mine.txt"
    prompts.write_text("ab\nbca\ncab\nddc\n")
    names = ["--draft", "0.9", "--draft", "0.1", "--draft", "foreign", "--drafter", "ngram"]
    assert main(["advise", "--target", "mine", *names, "--prompts", str(prompts), "--each", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    timed = [one for one in found["options"] if one["measured"]]
    assert {one["draft"] for one in found["options"]} == {"0.9", "0.1", "ngram"}
    assert len(timed) == 3 and found["best"]["draft"] == timed[0]["draft"]
    assert found["failed"] == {"foreign": "target and draft must share a vocabulary."}
    first = {one["draft"]: one["first_child"] for one in found["options"]}
    assert first["0.9"] > first["0.1"]
    low, high = found["interval"]
    assert found["verdict"] == ("pays" if low > 1 else "does-not-pay" if high < 1 else "undecided")
    assert [one["engine"] for one in found["engines"]] == ["vLLM", "SGLang", "llama.cpp"]


def test_the_answer_is_printed_with_the_table_and_the_flags(loaded, capsys):
    assert main(["advise", "--draft", "0.9", "--each", "2"]) == 0
    out = capsys.readouterr().out
    assert "0.9 " in out and "tokens and costs" in out and "llama.cpp" in out


def test_a_target_without_anything_to_draft_with_gets_a_sentence(capsys):
    assert main(["advise", "--target", "x"]) == 2
    assert "--target needs a draft" in capsys.readouterr().err
