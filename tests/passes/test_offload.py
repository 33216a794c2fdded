"""Models larger than one device: trees read through accelerate's hooks, and a cache that is spread with the layers."""

import numpy as np
import pytest
import torch
import transformers

import specviz
from specviz.models.loading import load_model
from specviz.passes import cache, offload
from specviz.passes.huggingface import HuggingFaceModel
from tests.passes.test_huggingface import FAMILIES, make, random_run

pytestmark = pytest.mark.adapter
CPU = torch.device("cpu")


def saved(family, folder, dtype=torch.float32):
    make(family, dtype=dtype).model.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("family", ["llama", "qwen2", "gpt2", "gpt_neox", "opt"])
def test_every_layer_is_placed_and_nothing_twice(family):
    config = FAMILIES[family]
    places = offload.device_map(config, "disk", CPU)
    model = transformers.AutoModelForCausalLM.from_config(config)
    for name, _ in model.named_parameters():
        owners = [place for place in places if name.startswith(f"{place}.")]
        assert len(owners) == 1, name
        assert (places[owners[0]] == "disk") == any(f"s.{i}." in f"{name}" or f"h.{i}." in name for i in range(3))
    assert offload.device_map(config, "auto", CPU) == "auto"


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 2e-4), (torch.bfloat16, 0.08)])
@pytest.mark.parametrize("family", ["llama", "gpt2", "opt"])
def test_trees_are_read_through_hooks(family, dtype, tolerance, tmp_path):
    folder = saved(family, tmp_path / "model", dtype)
    model = HuggingFaceModel(load_model("target", folder, CPU, dtype, "disk", str(tmp_path / "offload")))
    away = [name for name, weight in model.model.named_parameters() if weight.is_meta]
    assert away and all(".layers." in name or ".h." in name for name in away)
    assert model.device == CPU and model.direct is None and model.static is None
    random_run(model, np.random.default_rng(1), tolerance=tolerance)


def test_a_model_that_fits_is_read_directly(tmp_path):
    if torch.cuda.is_available():
        pytest.skip("this is about a machine where everything goes to the CPU")
    model = HuggingFaceModel(load_model("target", saved("llama", tmp_path), CPU, torch.float32, "auto"))
    assert model.direct is not None and not model.spread
    random_run(model, np.random.default_rng(3))


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_a_spread_cache_reads_as_one_block(family, monkeypatch):
    monkeypatch.setattr(offload, "CHUNK", 4)
    monkeypatch.setattr(cache, "CHUNK", 4)
    model, rng = make(family), np.random.default_rng(2)
    model.spread = True
    assert isinstance(model.new_cache(), offload.SpreadCache)
    for _ in range(8):
        random_run(model, rng)


def test_only_layers_on_several_gpus_spread_the_cache():
    class Model:
        def __init__(self, **places):
            self.hf_device_map = places

    assert offload.layer_devices(torch.nn.Linear(1, 1)) == set()
    assert offload.layer_devices(Model(a=0, b="cpu", c="disk")) == {"0"}
    assert offload.layer_devices(Model(a=0, b=1)) == {"0", "1"}


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("gpu", "offload must be one of auto, balanced, cpu, disk; got 'gpu'"),
        ("cpu", 'Leave it out, or use "disk"'),
    ],
)
def test_what_cannot_be_placed_is_a_sentence(where, message):
    with pytest.raises(ValueError, match=message):
        specviz.load_pair(device="cpu", offload=where)


def test_without_accelerate_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr(offload, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="pip install"):
        offload.check_offload("disk", CPU)
