"""The table of growing trees, texts and vocabularies, on toy models."""

import json
from dataclasses import replace

import pytest

import specviz
from specviz.benchmarks.scale import Memory, measure, scale
from specviz.commands.cli import main
from specviz.commands.scale import line_of

RULE = specviz.VERIFIERS["sequoia"]()
FEW = dict(nodes=(4, 8), contexts=(5, 24), vocabularies=(9, 11), steps=2)


@pytest.fixture
def short(monkeypatch):
    """Texts of 16 tokens where 128 are the rule: toy tables take longer the longer a text is."""
    monkeypatch.setattr("specviz.benchmarks.scale.CONTEXT", 16)


def toy(vocab=12):
    pair = specviz.toy_pair(vocab=vocab)
    pair.max_positions = 160
    return pair


def test_each_thing_grows_alone(short):
    rows = list(scale(toy(), toy, RULE, **FEW))
    assert [(row.grows, row.nodes, row.context, row.vocabulary, row.random) for row in rows] == [
        ("tree", 4, 16, 12, False), ("tree", 8, 16, 12, False), ("text", 4, 5, 12, False), ("text", 4, 24, 12, False),
        ("vocabulary", 4, 16, 9, True), ("vocabulary", 4, 16, 11, True),
    ]  # fmt: skip
    assert all(min(row.draft_s, row.target_s, row.verify_s, row.other_s) > 0 for row in rows)
    assert all(0 < row.overhead < 1 for row in rows)


def test_texts_double_up_to_the_limit(short):
    pair = toy()
    pair.max_positions = 45
    rows = scale(pair, toy, RULE, nodes=(4,), vocabularies=(9,), steps=1)
    assert [row.context for row in rows if row.grows == "text"] == [16, 32, 45 - 2 - 3 * 3]


def test_a_row_counts_no_step_that_reads_the_text_or_lacks_room_for_its_tree(monkeypatch):
    seen = []

    def speculate(pair, config):
        for step in specviz.speculate(pair, config):
            seen.append(step)
            yield step

    monkeypatch.setattr("specviz.benchmarks.scale.speculate", speculate)
    row = measure("tree", toy(), 8, 150, RULE, 0.8, 2)
    counted = [step for step in seen if step.index > 0 and len(step.parents) == 8]
    assert row.nodes == 8 and len(counted) >= 2


def test_the_overhead_is_what_no_pass_takes():
    row = next(scale(toy(), toy, RULE, **FEW))
    row = replace(row, draft_s=0.003, target_s=0.005, verify_s=0.0005, other_s=0.0015, memory=3 << 20)
    assert row.overhead == pytest.approx(0.2)
    heading, line = line_of(row).splitlines()
    assert "overhead" in heading
    assert " ".join(line.split()) == "tree 4 128 12 3.00 5.00 0.50 1.50 20.0% 3.0"
    assert line_of(replace(row, memory=None, random=True), row).split()[-2:] == ["–", "random"]


def test_memory_that_is_taken_is_seen():
    memory = Memory()
    block = bytearray(64 << 20)
    grown = memory.growth()
    assert grown is None or grown >= len(block)
    del block
    after = Memory().growth()
    assert after is None or after < 32 << 20, "what was given back before counts no more"


@pytest.mark.parametrize("context", [0, 159])
def test_a_text_that_leaves_no_room_gets_a_sentence(context):
    with pytest.raises(ValueError, match="contexts must be from 1 to 157 tokens with trees of 4 nodes"):
        measure("text", toy(), 4, context, RULE, 0.8, 1)


def test_a_rule_that_cannot_go_with_trees_and_models_that_end_at_once_get_a_sentence():
    with pytest.raises(ValueError, match="defined for chains"):
        next(scale(toy(), toy, specviz.VERIFIERS["block"](), **FEW))
    silent = toy()
    silent.eos_ids = frozenset(range(12))
    with pytest.raises(ValueError, match="end every text at once"):
        measure("tree", silent, 4, 20, RULE, 0.8, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sizes", "1"], "--sizes must be whole numbers from 2 to 1024"),
        (["--contexts", "a,b"], "--contexts must be whole numbers from 1"),
        (["--vocabularies", "10"], "--vocabularies must be whole numbers from 256"),
        (["--steps", "0"], "--steps must be at least 1"),
        (["--verifier", "oak"], "--verifier must be one of"),
    ],
)
def test_a_bad_option_gets_a_sentence(arguments, words, capsys):
    assert main(["scale", *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.adapter
def test_the_command_measures_the_embedded_pair_and_random_weights(capsys):
    few = ["--sizes", "4", "--contexts", "20", "--vocabularies", "300", "--steps", "1"]
    assert main(["scale", *few, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["grows"], row["vocabulary"], row["random"]) for row in rows] == [
        ("tree", 4096, False), ("text", 4096, False), ("vocabulary", 300, True)
    ]  # fmt: skip
    assert all(0 < row["overhead"] < 1 for row in rows)
