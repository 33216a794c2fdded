"""The files of a model: quantised weights that nothing here reads, and tensors that are missing or
left over, from disk and in memory."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

import specviz
from specviz.models.loading import load_model
from specviz.models.streamed.target import stream_target
from tests.passes.test_huggingface import make

pytestmark = pytest.mark.adapter
CPU = torch.device("cpu")
WEIGHT = "model.layers.1.mlp.down_proj.weight"
FLOAT8 = torch.float8_e4m3fn


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))
    make("llama").model.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def change(folder, tensors=None, config=None, remove=()):
    file = folder / "model.safetensors"
    weights = {name: weight for name, weight in load_file(file).items() if name not in remove}
    save_file(weights | (tensors or {}), file, metadata={"format": "pt"})
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | (config or {})))


def quantised(folder, dtype):
    """One matrix of a folder in a type of 8 bits, and its scale."""
    weight = load_file(folder / "model.safetensors")[WEIGHT]
    scale = weight.abs().max() / (127 if dtype == torch.int8 else 448)
    return {WEIGHT: (weight / scale).to(dtype), f"{WEIGHT}_scale": scale.reshape(1)}


def modelopt(folder):
    method = {"quant_method": "modelopt", "quant_algo": "FP8"}
    change(folder, quantised(folder, FLOAT8), {"quantization_config": method})


def int8_of_an_unknown_method(folder):
    change(folder, quantised(folder, torch.int8), {"quantization_config": {"quant_method": "my8"}})


def bitsandbytes_of_8_bits(folder):
    method = {"quant_method": "bitsandbytes", "load_in_8bit": True}
    change(folder, quantised(folder, torch.int8), {"quantization_config": method})


def float8_without_a_configuration(folder):
    change(folder, quantised(folder, FLOAT8))


def float8_alone(folder):
    weight = load_file(folder / "model.safetensors")[WEIGHT]
    change(folder, {WEIGHT: weight.to(FLOAT8)})


def int8_without_a_configuration(folder):
    change(folder, quantised(folder, torch.int8))


def left_over_scale(folder):
    change(folder, {f"{WEIGHT}_scale": torch.ones(1)})


def left_over_layer(folder):
    change(folder, config={"num_hidden_layers": 1, "layer_types": None})


def missing_matrix(folder):
    change(folder, remove=[WEIGHT])


@pytest.mark.parametrize("offload", [None, "disk"])
@pytest.mark.parametrize(
    "damage, named",
    [
        (modelopt, "modelopt, that transformers does not read"),
        (int8_of_an_unknown_method, "my8, that transformers does not read"),
        # transformers reads it with a package that is missing here
        (bitsandbytes_of_8_bits, r"cannot be loaded: .*bitsandbytes"),
        (float8_without_a_configuration, "type F8_E4M3, for example model.layers.1.mlp.down_proj"),
        (float8_alone, "type F8_E4M3, for example model.layers.1.mlp.down_proj"),
        (int8_without_a_configuration, "type I8, for example model.layers.1.mlp.down_proj"),
        (left_over_scale, r"does not use, for example .*down_proj\.weight_scale"),
        (left_over_layer, r"does not use, for example model\.layers\.1\."),
        (missing_matrix, r"lacks weights of its configuration, for example .*down_proj\.weight"),
    ],
)
def test_weights_that_would_be_read_wrongly_are_refused_by_name(folder, damage, named, offload):
    damage(folder)
    with pytest.raises(ValueError, match=named):
        if offload:
            if stream_target(str(folder), torch.float32, CPU, lambda done, stage: None) is None:
                load_model("target", str(folder), CPU, torch.float32, offload)
        else:
            load_model("target", str(folder), CPU, torch.float32)


@pytest.mark.parametrize("extra", ["model.layers.0.self_attn.rotary_emb.inv_freq", "consolidated"])
def test_what_a_family_saves_and_never_reads_is_no_fault(folder, extra):
    if extra == "consolidated":  # a second copy of the weights, with other names
        save_file({"layers.0.wq.weight": torch.ones(2, 2)}, folder / "consolidated.safetensors")
    else:
        change(folder, {extra: torch.ones(4)})
    load_model("target", str(folder), CPU, torch.float32)
    assert stream_target(str(folder), torch.float32, CPU, lambda done, stage: None) is not None


def test_a_draft_is_looked_at_as_well(folder):
    float8_alone(folder)
    with pytest.raises(ValueError, match=r"^draft .*F8_E4M3"):
        load_model("draft", str(folder), CPU, torch.float32)


def test_an_evicted_pair_leaves_memory_at_once():
    """Without the collector of circles: what a pair holds is given back with its last reference."""
    import gc
    import weakref

    gc.collect()
    gc.disable()
    try:
        pair = specviz.load_pair(device="cpu")
        config = specviz.RunConfig("Once", "chain", drafter="early-exit", max_new_tokens=4)
        specviz.run(pair, config)
        online = specviz.RunConfig("Once", "chain", drafter="online", max_new_tokens=4)
        specviz.run(pair, online)
        left = [weakref.ref(part) for part in (pair, pair.target.model, pair.draft.model)]
        del pair
        assert [ref() for ref in left] == [None, None, None]
    finally:
        gc.enable()
