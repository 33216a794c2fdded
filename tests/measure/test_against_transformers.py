"""Generation with transformers beside this engine, from the command line; no time is asserted."""

import json

import pytest

from specviz.commands.cli import main

pytestmark = [pytest.mark.adapter, pytest.mark.nightly]  # processes that load the pair
OPTIONS = ["--max-new-tokens", "8", "--json", "--prompts"]


@pytest.fixture
def prompts(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("Once upon a time\n")
    return str(path)


def test_each_side_has_the_setting_that_is_fastest_for_it(prompts, capsys):
    assert main(["bench", "--builder", "plain", "--transformers", *OPTIONS, prompts]) == 0
    _, alone, assisted = json.loads(capsys.readouterr().out)
    for outcome in (alone, assisted):
        settings = outcome["result"]["settings"]
        assert (
            list(settings) == ["specviz", "transformers"]
            and settings["transformers"]["threads"] >= 1
        )
        assert all(one["dtype"] in ("float32", "bfloat16") for one in settings.values())
    assert alone["result"]["tokens_per_pass"] == 1 <= assisted["result"]["tokens_per_pass"]


def test_greedy_texts_in_float32_are_equal(prompts, capsys):
    assert (
        main(
            [
                "bench",
                "--same-text",
                "--builder",
                "sequoia",
                "--dtype",
                "float32",
                *OPTIONS,
                prompts,
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out) == []
