"""Benchmarks print figures; here only what they are made of is checked, never a time."""

import json

import pytest

import specviz
from specviz import codec
from specviz.acceptance.progress import SoFar, whole
from specviz.benchmarks.sweep import sized
from specviz.commands.cli import main
from specviz.metrics import Counts


@pytest.mark.parametrize("size", [16, 64])
def test_sized_builders_have_about_that_many_nodes(size):
    for name in ("chain", "k-sequences", "sequoia", "optimal"):
        assert 0.8 * size <= len(sized(name, size).shape) <= size


@pytest.fixture(scope="module")
def pair():
    return specviz.load_pair(dtype="float32")


@pytest.mark.adapter
def test_bench_has_a_row_for_every_method(pair):
    from specviz.benchmarks.against_transformers import bench

    config = specviz.RunConfig(temperature=0.0, max_new_tokens=12)
    builders = [specviz.BUILDERS["chain"](), specviz.BUILDERS["prompt-lookup"]()]
    news = list(bench(pair, builders, prompts=["Once upon a time"], config=config, rounds=2))
    assert [one.done for one in news] == list(range(1, 11)) and news[0].of == 10
    assert [len(one.known) for one in news] == [0] * 4 + [5] * 6  # a row is known once its prompt is done
    rows = news[-1].known
    assert [row.name.split(":")[0].split(" + ")[0] for row in rows] == [
        "plain", "transformers greedy", "transformers assisted", "chain", "prompt-lookup",
    ]  # fmt: skip
    assert all(row.lossless for row in rows)
    assert rows[0].tokens_per_pass == rows[1].tokens_per_pass == 1
    assert rows[0].speedup == rows[0].low == rows[0].high == 1 == rows[1].against["transformers greedy"]
    assert all(row.low <= row.speedup <= row.high and len(row.against) == 2 for row in rows)
    assert rows[1].parts == {} and rows[3].against["transformers greedy"] > 0
    assert rows[3].tokens_per_pass > 1 and set(rows[3].parts) == {"draft", "target", "verify", "other"}


@pytest.mark.adapter
def test_rows_come_with_the_first_prompt_and_transformers_is_quiet(loaded, capsys, tmp_path, caplog):
    import logging

    prompts = tmp_path / "prompts.txt"
    prompts.write_text("Once upon a time\nIn the morning\n")
    logging.Logger.warning_once.cache_clear()  # transformers' own: another test may have had the warning before
    log = logging.getLogger("transformers")
    log.addHandler(caplog.handler)
    try:
        command = ["bench", "--builder", "chain", "--prompts", str(prompts), "--rounds", "1", "--max-new-tokens", "12"]
        assert main([*command, "--temperature", "0"]) == 0
    finally:
        log.removeHandler(caplog.handler)
    first, last = capsys.readouterr().out.split("\n\n")
    assert first.startswith("after 4 of 8 runs:") and first.count("chain:depth=4") == last.count("chain:depth=4") == 1
    assert "deprecated" not in caplog.text


def samples(*runs):
    return [Counts(tokens, 10, timed_tokens=tokens, timed_passes=10, seconds=(0, s, 0, 0)) for tokens, s in runs]


def test_speeds_are_compared_inside_a_round():
    from specviz.benchmarks.against_transformers import _row

    # In the second round the machine was ten times slower, for both.
    rounds = {"plain": samples((20, 1), (20, 10), (20, 1)), "transformers greedy": samples((20, 2), (20, 20), (20, 2)),
              "chain": samples((40, 1), (40, 10), (40, 0.5))}  # fmt: skip
    row = _row("chain", rounds, True)
    assert (row.speedup, row.low, row.high) == (pytest.approx((120 / 11.5) / (60 / 12)), 2, 4)
    assert row.against == {"transformers greedy": pytest.approx(2 * row.speedup)} and row.tokens_per_pass == 4


def test_help_tells_the_default_that_holds(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    assert "(default 0.8)" in capsys.readouterr().out


def test_every_command_takes_the_same_temperature_unless_told_otherwise(monkeypatch):
    """A vector that one command measured is for the temperature at which another uses it."""
    from specviz.commands.cli import _parser

    required = {"generate": ["--prompt", "a"]}
    names = ("generate", "calibrate", "cost", "optimize", "scale")
    found = {name: _parser([name]).parse_args([name, *required.get(name, [])]).temperature for name in names}
    assert set(found.values()) == {specviz.RunConfig().temperature}
    asked = []
    monkeypatch.setattr(specviz.models.pair, "load_pair", lambda *args, **options: specviz.toy_pair(vocab=6))
    monkeypatch.setattr(
        "specviz.benchmarks.against_transformers.bench", lambda *args: asked.append(args[4]) or iter([SoFar(1, 1, ())])
    )
    main(["bench", "--json"])
    monkeypatch.setattr("specviz.models.random_weights.random_pair", lambda *args, **options: specviz.toy_pair(vocab=6))
    monkeypatch.setattr(
        "specviz.benchmarks.model_shapes.bench_shape", lambda *args: asked.append(args[1]) or iter([SoFar(1, 1, None)])
    )
    assert main(["bench", "--shape", "embedded", "--draft-shape", "embedded"]) == 2, "nothing was measured"
    assert [config.temperature for config in asked] == 2 * [specviz.RunConfig().temperature]


@pytest.mark.adapter
def test_greedy_texts_are_those_of_transformers(pair):
    from specviz.benchmarks.greedy_texts import greedy_differences
    from specviz.commands.bench import built_in_prompts

    assert [one.known for one in greedy_differences(pair, built_in_prompts()[:1], max_new_tokens=12)] == [()]


@pytest.mark.adapter
def test_a_difference_is_found_and_its_margin_told(pair, monkeypatch):
    import specviz.benchmarks.greedy_texts as module

    monkeypatch.setattr(module, "_greedy_tokens", lambda pair, config: [7, 7, 7])
    (_, _, found), *_ = module.greedy_differences(pair, ["Once upon"], 3, [specviz.BUILDERS["chain"]()])
    assert [row.position for row in found] == [0, 0] and all(row.margin >= 0 for row in found)


@pytest.fixture
def loaded(monkeypatch, pair):
    """The commands get this pair."""
    import specviz.models.pair as module

    monkeypatch.setattr(module, "load_pair", lambda *args, **kwargs: pair)
    return pair


def without_draft(pair):
    from specviz.models.pair import HuggingFacePair

    return HuggingFacePair(pair.target, None, pair.text, pair.max_positions, pair.eos_ids, pair.info)


@pytest.mark.adapter
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--builder", "eagle2", "--verifier", "block"], "is defined for chains"),
        (["--verifier", "exact-match", "--temperature", "0.8"], "set the temperature to 0"),
    ],
)
def test_a_pair_that_cannot_run_is_rejected_not_dropped(loaded, capsys, options, words):
    assert main(["bench", *options]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.adapter
def test_a_lossy_row_says_so(loaded, capsys, tmp_path):
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("Once upon a time\n")
    options = ["--builder", "chain", "--verifier", "typical", "--temperature", "0.8", "--prompts", str(prompts)]
    command = ["bench", *options, "--rounds", "1", "--max-new-tokens", "6"]
    assert main([*command, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows if not row["lossless"]] == [rows[-1]["name"]]
    assert main(command) == 0
    assert capsys.readouterr().out.count("(lossy)") == 1


@pytest.mark.adapter
def test_a_pair_without_a_draft_is_timed_with_what_needs_none(pair):
    from specviz.benchmarks.against_transformers import bench
    from specviz.benchmarks.greedy_texts import greedy_differences

    config = specviz.RunConfig(temperature=0.0, max_new_tokens=4)
    alone = without_draft(pair)
    rows = whole(bench(alone, prompts=["Once upon a time"], config=config, rounds=1))
    assert [row.name.split(":")[0].split(" + ")[0] for row in rows] == [
        "plain",
        "transformers greedy",
        "prompt-lookup",
        "lookahead",
    ]
    assert whole(greedy_differences(alone, ["Once upon a time"], 4)) == ()


@pytest.mark.adapter
def test_no_side_writes_past_the_context(pair, monkeypatch):
    from specviz.benchmarks.against_transformers import _generate
    from specviz.benchmarks.greedy_texts import greedy_differences

    prompt = "Once upon a time there was"
    length = len(pair.encode(prompt))
    monkeypatch.setattr(pair, "max_positions", length + 3)
    config = specviz.RunConfig(prompt, temperature=0.0, max_new_tokens=50)
    assert _generate(pair, config, None).tokens == len(specviz.autoregress(pair, config).tokens) == 3
    assert whole(greedy_differences(pair, [prompt], 50, [specviz.BUILDERS["chain"]()])) == ()
    monkeypatch.setattr(pair, "max_positions", length)
    with pytest.raises(ValueError, match=f"shorter than {length} tokens"):
        _generate(pair, config, None)


@pytest.mark.adapter
def test_a_benchmark_that_is_interrupted_prints_the_rounds_that_are_whole(loaded, capsys, monkeypatch):
    import specviz.benchmarks.against_transformers as module

    bench, news = module.bench, []

    def interrupted(*arguments):
        for one in bench(*arguments):
            news.append(one)
            yield one
            if one.known:
                raise KeyboardInterrupt

    monkeypatch.setattr(module, "bench", interrupted)
    command = ["bench", "--builder", "chain", "--rounds", "2", "--max-new-tokens", "12", "--json"]
    assert main(command) == 130
    printed = capsys.readouterr()
    assert json.loads(printed.out) == codec.plain(news[-1].known)
    assert f"results of {news[-1].done} of {20 * news[-1].done} runs" in printed.err
    monkeypatch.setattr(module, "bench", lambda *arguments: (one for one in () if one))
    assert main(command) == 2
    assert "ended without a result" in capsys.readouterr().err


@pytest.mark.adapter
def test_differing_texts_are_an_exit_code_and_json(loaded, capsys, monkeypatch):
    import specviz.benchmarks.greedy_texts as module

    found = [module.Difference("chain", "abc", 4, 0.5), module.Difference("svip", "abc", 4, float("nan"))]
    monkeypatch.setattr(module, "greedy_differences", lambda *args: iter([SoFar(1, 1, tuple(found))]))
    assert main(["bench", "--same-text", "--json"]) == 1
    printed = capsys.readouterr().out
    assert "NaN" not in printed and [row["margin"] for row in json.loads(printed)] == [0.5, None]
    assert main(["bench", "--same-text"]) == 1
    assert "2 differences" in capsys.readouterr().out
    found.clear()
    assert main(["bench", "--same-text", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
