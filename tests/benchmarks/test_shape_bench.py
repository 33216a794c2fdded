"""Random models in real shapes: their shapes and memory exactly, and what a measurement is made of, never a time."""

import json

import pytest
import torch

import specviz
from specviz.acceptance.vectors import expected_tokens
from specviz.benchmarks.model_shapes import as_dict, bench_shape, project
from specviz.builders.sequoia import best_tree
from specviz.commands.cli import main
from specviz.models import random_weights
from specviz.models.random_weights import SHAPES, bytes_needed, random_pair, shape_config
from specviz.passes.graphs import StaticPass

pytestmark = pytest.mark.adapter
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def pair():
    return random_pair("tiny", "tiny", "cpu", "float32")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("llama-68m", 68_030_208), ("llama-160m", 162_417_408), ("tinyllama-1.1b", 1_100_048_384),
        ("llama-3.2-1b", 1_235_814_400), ("llama-2-7b", 6_738_415_616), ("llama-2-13b", 13_015_864_320),
        ("llama-2-70b", 68_976_648_192), ("llama-3-8b", 8_030_261_248),
    ],
)  # fmt: skip
def test_shapes_have_the_published_number_of_weights(name, parameters):
    assert bytes_needed(shape_config(name, "target"), torch.bfloat16, 0) == 2 * parameters


def test_every_shape_can_be_read_directly():
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as CLASSES

    from specviz.passes.direct import FAMILIES, ROTARIES

    for name in SHAPES:
        config = shape_config(name, "target")
        assert CLASSES[config.model_type] in FAMILIES and config.rope_parameters.get("rope_type", "default") in ROTARIES
        assert config.eos_token_id is None
    assert shape_config("embedded", "target").eos_token_id is None
    assert shape_config("embedded", "target").num_hidden_layers == 8
    assert shape_config("embedded", "draft").num_hidden_layers == 1


def test_memory_counts_keys_values_and_rows():
    config = shape_config("tiny", "target")  # 2 layers of 2 key heads, 8 wide; 97 tokens
    with_room = bytes_needed(config, torch.float16, 10) - bytes_needed(config, torch.float16, 0)
    assert with_room == 10 * (2 * 2 * 2 * 8 * 2 + 4 * 97)


def test_models_are_random_in_their_format_and_the_seed_fixes_them(pair):
    again, other = random_pair("tiny", "tiny", "cpu", "float32"), random_pair("tiny", "tiny", "cpu", "bfloat16", seed=5)
    state = torch.random.get_rng_state()
    weights = [model.target.model.lm_head.weight for model in (pair, again, other)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2].float())
    assert weights[2].dtype == torch.bfloat16 and weights[0].std() > 0
    assert not torch.equal(weights[0], pair.draft.model.lm_head.weight)
    random_pair("tiny", "tiny", "cpu", "float32")
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("llama-8b", "tiny"), "target shape must be one of tiny, llama-68m, .*embedded; got 'llama-8b'"),
        (("tiny", "x"), "draft shape must be one of"),
        (("llama-3-8b", "llama-68m"), "llama-3-8b has 128256 tokens and llama-68m 32000"),
    ],
)
def test_shapes_that_cannot_go_together_are_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        random_pair(*options, "cpu", "float32")


def test_want_of_memory_is_a_sentence_with_both_numbers(monkeypatch):
    monkeypatch.setattr(random_weights, "free_bytes", lambda device: 3 * 2**30)
    with pytest.raises(
        ValueError, match=r"need [\d,]+ bytes \(\d\d\.\d GiB\) in bfloat16 and 3,221,225,472 \(3\.0 GiB"
    ):
        random_pair("llama-2-7b", "llama-68m", "cpu", "bfloat16")
    monkeypatch.setattr(random_weights, "free_bytes", lambda device: None)
    random_pair("tiny", "tiny", "cpu", "float32")


def test_free_memory_is_known_here_or_unknown(monkeypatch):
    assert random_weights.free_bytes(CPU) is None or random_weights.free_bytes(CPU) > 2**20
    monkeypatch.setattr(random_weights, "Path", lambda name: _Missing())
    assert random_weights.free_bytes(CPU) is None


class _Missing:
    def read_text(self, encoding):
        raise FileNotFoundError


def test_any_prompt_is_numbers(pair):
    text = pair.text
    assert text.encode("aé") == [97 % 97, 195 % 97, 169 % 97] and text.encode("\udce9") == [63]
    assert text.decode([3, 96]) == "<3><96>" and text.stream([1])(7) == "<7>"


def test_a_report_holds_what_was_measured_and_projections_apart(pair):
    rule = specviz.VERIFIERS["exact-match"]()
    config = specviz.RunConfig(temperature=0.0, max_new_tokens=6, verifier=rule)
    trees = [specviz.BUILDERS["sequoia"](size=8)]
    news = list(bench_shape(pair, config, trees, 16, (1, 4, 16, 2000), rounds=1, seconds=9))
    assert [one.done for one in news] == list(range(1, len(news) + 1)) and news[-1].of == len(news)
    assert [len(one.known.passes) for one in news[:3]] == [1, 2, 3] and news[2].known.table is None
    with pytest.raises(ValueError, match="must have costs"):
        project(news[2].known, (0.5,))
    report = news[-1].known
    assert [one.nodes for one in report.passes] == [1, 4, 16]  # 2000 nodes do not fit
    assert all(one.ratio == one.engine_s / one.bare_s > 0 for one in report.passes)
    assert [row.name.split(":")[0] for row in report.methods] == [
        "plain", "transformers greedy", "transformers assisted", "sequoia",
    ]  # fmt: skip
    for one in report.steps:
        assert one.share == pytest.approx(one.parts["overhead"] / sum(one.parts.values()))
    data = json.loads(json.dumps(as_dict(report)))
    assert data["projection"] is None and "are meaningless" in data["warning"]
    vector = (0.6, 0.2, 0.1)
    found = project(report, vector)
    assert found["note"].startswith("Projection")
    shape, tokens = best_tree(vector, found["size"], found["depth"], 32)
    assert found["tokens_per_pass"] == pytest.approx(tokens) == pytest.approx(expected_tokens(shape, vector))
    assert found["step_s"] == pytest.approx(report.table.step(shape))
    assert found["tokens_per_s"] == pytest.approx(tokens / found["step_s"])
    assert not set(found) & set(data["measured"])


def test_a_context_that_leaves_no_room_is_rejected(pair):
    config = specviz.RunConfig(temperature=0.0, verifier=specviz.VERIFIERS["exact-match"]())
    for context in (0, 1024):
        with pytest.raises(ValueError, match=f"context must be from 1 to 1023 tokens.*got {context}"):
            next(bench_shape(pair, config, [], context))


def test_the_command_prints_tables_and_keeps_the_projection_apart(capsys, tmp_path, monkeypatch):
    import specviz.benchmarks.model_shapes as module

    monkeypatch.setattr(module, "SIZES", (1, 4))
    honest = module.measure_cost
    monkeypatch.setattr(module, "measure_cost", lambda *args, **more: honest(*args, **(more | {"seconds": 1.0})))
    vector = tmp_path / "vector.json"
    vector.write_text('{"acceptance": [0.7, 0.1]}')
    command = ["bench", "--shape", "tiny", "--draft-shape", "tiny", "--device", "cpu", "--dtype", "float32"]
    command += ["--context", "8", "--max-new-tokens", "4", "--rounds", "1", "--builder", "chain"]
    assert main([*command, "--acceptance", str(vector)]) == 0
    printed = capsys.readouterr().out
    measured, projected = printed.split("Projection:")
    for words in ("acceptance, tokens per pass", "engine / bare", "verify + other", "transformers assisted", "chain"):
        assert words in measured
    assert "tokens per pass" in projected and "8 tokens of context" in measured
    assert main([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["projection"] is None and data["measured"]["context"] == 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shape", "tiny"], "--shape needs --draft-shape"),
        (["--draft-shape", "tiny"], "--draft-shape needs --shape"),
        (["--context", "9"], "--context needs --shape"),
        (["--shape", "tiny", "--draft-shape", "tiny", "--target", "x"], "Omit --target"),
        (["--shape", "tiny", "--draft-shape", "tiny", "--same-text"], "Omit --same-text"),
        (["--shape", "tiny", "--draft-shape", "tiny", "--acceptance", "nowhere.json"], "cannot be read"),
    ],
)
def test_options_that_make_no_sense_are_sentences(options, message, capsys):
    assert main(["bench", *options]) == 2
    assert message in capsys.readouterr().err


def test_a_pass_exactly_as_long_as_its_slots_needs_one_more_for_padding(pair):
    one = StaticPass(pair.target.direct, torch.zeros(4, 1, 2, 9, 8), 4, 8)
    one.fill([1, 2], [0, 1], None, 0, [1])
    assert one.numbers.tolist() == [[1, 2, 0, 0], [0, 1, 0, 0], [0, 1, 8, 8], [1, 0, 0, 0]]
    seen = ~one.hidden.numpy()
    assert seen.astype(int).tolist() == [[1, *[0] * 7], [1, 1, *[0] * 6], [1, *[0] * 7], [1, *[0] * 7]]
