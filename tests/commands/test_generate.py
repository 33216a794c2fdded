"""`generate` from options to text, with the embedded pair."""

import pytest

import specviz
from specviz.commands.cli import main

pytestmark = pytest.mark.adapter
ARGUMENTS = [
    "generate",
    "--prompt",
    "Once upon a time",
    "--max-new-tokens",
    "12",
    "--dtype",
    "float32",
]


@pytest.fixture(scope="module", autouse=True)
def one_pair():
    """Load the pair once for all tests of this file."""
    import specviz.models.pair as module

    pair = module.load_pair(dtype="float32")
    patch = pytest.MonkeyPatch()
    patch.setattr(module, "load_pair", lambda *args, **kwargs: pair)
    yield pair
    patch.undo()


def test_the_text_is_streamed_with_what_it_took_beside_a_trace(capsys, tmp_path):
    path = tmp_path / "run.json"
    assert main([*ARGUMENTS, "--temperature", "0", "--trace", str(path)]) == 0
    shown = capsys.readouterr().out
    assert (
        f"Once upon a time{specviz.Trace.from_json(path.read_text(encoding='utf-8')).text}" in shown
    )
    assert (
        shown.startswith("Once upon a time")
        and "12 tokens in" in shown
        and "tokens/s; ended by length" in shown
    )
    assert "\x1b[" not in shown


def test_json_is_a_trace_and_the_only_output(capsys, one_pair):
    options = [
        "--builder",
        "dyspec:size=9",
        "--verifier",
        "traversal",
        "--temperature",
        "0.7",
        "--seed",
        "4",
    ]
    assert main([*ARGUMENTS, *options, "--json"]) == 0
    trace = specviz.Trace.from_json(capsys.readouterr().out)
    assert (trace.config.builder.name, trace.config.builder.parameters["size"]) == ("dyspec", 9)
    assert (
        trace.config.verifier.name == "traversal"
        and trace.config.seed == 4
        and len(trace.tokens) == 12
    )
    again = specviz.run(one_pair, trace.config)
    assert again.tokens == trace.tokens and again.text == trace.text


def test_colours_say_where_each_token_came_from(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main([*ARGUMENTS, "--temperature", "0"]) == 0
    shown = capsys.readouterr().out
    assert "\x1b[32m" in shown and ("\x1b[33m" in shown or "\x1b[34m" in shown)


def test_without_a_rule_the_suited_one_is_taken(capsys):
    assert main([*ARGUMENTS, "--builder", "eagle2", "--json"]) == 0
    assert specviz.Trace.from_json(capsys.readouterr().out).config.verifier.name == "target-match"
    assert main([*ARGUMENTS, "--temperature", "0", "--json"]) == 0
    assert specviz.Trace.from_json(capsys.readouterr().out).config.verifier.name == "exact-match"


def test_a_lossy_pair_is_told_before_the_text_and_after(capsys):
    assert main([*ARGUMENTS, "--verifier", "typical"]) == 0
    shown = capsys.readouterr()
    assert (
        shown.out.endswith(" (lossy)\n")
        and shown.err.startswith("lossy: ")
        and shown.err.count("\n") == 1
    )
    assert main([*ARGUMENTS, "--verifier", "traversal"]) == 0
    shown = capsys.readouterr()
    assert "lossy" not in shown.out and not shown.err


def test_a_prompt_of_bytes_that_are_no_text_gets_a_sentence(capsys):
    assert main(["generate", "--prompt", "ab\udcff\udcfe"]) == 2
    assert "character 3 is not" in capsys.readouterr().err
