"""Other engines beside this one: what is opened, counted and refused, without the engines."""

import sys
from types import SimpleNamespace

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

import specviz
from specviz.commands.cli import main
from specviz.measure import against_engines
from specviz.measure.against_engines import check_engine, engine_of, side_of
from specviz.measure.against_transformers import _continue
from specviz.measure.grid import cells_of, measure_cell


def test_an_engine_is_named_with_its_model(tmp_path):
    model = tmp_path / "a.gguf"
    model.touch()
    assert engine_of(f"llama.cpp:{model}") == ("llama.cpp", str(model))
    assert engine_of("sequoia:size=4") == ("", "")
    assert check_engine(f"openvino:{model}")
    for wrong in ("vllm:x", "llama.cpp", "llama.cpp:nowhere.gguf"):
        with pytest.raises(ValueError, match="--against must"):
            check_engine(wrong)


def test_a_wrong_engine_is_a_sentence_before_anything_is_loaded(capsys):
    assert main(["bench", "--against", "vllm:model"]) == 2
    assert "--against must be llama.cpp:MODEL or openvino:MODEL" in capsys.readouterr().err


@pytest.mark.parametrize("engine", ["llama.cpp", "openvino"])
def test_without_its_package_the_sentence_names_it(engine, monkeypatch):
    for module in ("xllamacpp", "openvino", "openvino_genai"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ValueError, match=f"pip install {against_engines.PACKAGES[engine]}"):
        next(side_of(f"{engine}:model.gguf", {})[1]())


def test_llama_cpp_gets_the_same_tokens_and_its_first_token_is_not_timed(monkeypatch):
    requests = []

    class Server:
        def __init__(self, settings):
            self.settings = settings

        def handle_completions(self, request):
            requests.append(request)
            return {"timings": {"predicted_n": 11, "predicted_ms": 500.0}}

    def parameters():
        return SimpleNamespace(model=SimpleNamespace(), cpuparams=SimpleNamespace())

    fake = SimpleNamespace(CommonParams=parameters, Server=Server)
    monkeypatch.setitem(sys.modules, "xllamacpp", fake)
    pair = specviz.toy_pair()
    monkeypatch.setattr(against_engines, "_text_side", lambda spec: pair)
    ((setting, generate),) = side_of("llama.cpp:small.Q4_1.gguf", {})[1]()
    counts = generate(specviz.RunConfig("ab", temperature=0.0, max_new_tokens=11))
    assert requests[0]["prompt"] == pair.encode("ab") and requests[0]["temperature"] == 0.0
    assert (counts.tokens, counts.timed_tokens, counts.tokens_per_s) == (11, 10, 20.0)
    assert setting["dtype"] == "Q4_1"


def test_a_cell_of_an_engine_has_no_rule_and_fails_with_a_sentence(monkeypatch):
    grid = {"pairs": ["embedded"], "builders": ["openvino:x.gguf"], "max_new_tokens": 4}
    (cell,), prompts = cells_of(grid, ["ab"])
    assert "verifier" not in cell.data and "drafter" not in cell.data

    def fails(spec, other, side, *rest):
        # The side loads the pair as `spec` says: a chat model is asked, as by this engine.
        assert spec["chat"] is None and side.args[0] == spec
        raise ValueError(f"{other} is not installed")

    monkeypatch.setattr("specviz.measure.against_transformers.time_beside", fails)
    assert measure_cell(cell, prompts)["failed"] == "openvino is not installed"


def test_settings_of_a_checkpoint_do_not_change_one_side():
    """A repetition penalty, suppressed tokens and a forbidden n-gram, which `generate` would
    obey."""
    torch.manual_seed(0)
    shape = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=1, vocab_size=24)
    model = LlamaForCausalLM(LlamaConfig(**shape, num_attention_heads=2)).eval()
    model.generation_config.eos_token_id = None
    pair = SimpleNamespace(
        encode=lambda text: [3, 1, 2],
        eos_ids=frozenset(),
        max_positions=64,
        vocab_size=24,
        target=SimpleNamespace(device=torch.device("cpu")),
        info={},
    )
    config = specviz.RunConfig("a", temperature=0.0, max_new_tokens=16)
    tokens = [3, 1, 2]
    for _ in range(16):
        with torch.inference_mode():
            tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
    written = tokens[3:]
    own = model.generation_config
    own.repetition_penalty, own.no_repeat_ngram_size = 5.0, 2
    own.suppress_tokens = [written[0]]
    assert _continue(model, pair, config) == written
    assert model.generation_config is own and own.repetition_penalty == 5.0
