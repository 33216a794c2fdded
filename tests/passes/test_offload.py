"""Models larger than one device: trees read through accelerate's hooks, and a cache that is spread
with the layers."""

import numpy as np
import pytest
import torch
import transformers

import specviz
from specviz.models import loading
from specviz.passes.huggingface import HuggingFaceModel, is_spread
from tests.passes.test_huggingface import FAMILIES, make, random_run

pytestmark = pytest.mark.adapter
CPU = torch.device("cpu")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_layer_is_placed_and_nothing_twice(family):
    config = FAMILIES[family]
    places = loading.device_map(config, "disk", CPU)
    model = transformers.AutoModelForCausalLM.from_config(config)
    for name, _ in model.named_parameters():
        owners = [place for place in places if name.startswith(f"{place}.")]
        assert len(owners) == 1, name
        assert (places[owners[0]] == "disk") == any(
            f"s.{i}." in f"{name}" or f"h.{i}." in name for i in range(3)
        )
    assert loading.device_map(config, "auto", CPU) == "auto"


def test_a_model_that_fits_is_read_directly(tmp_path):
    if torch.cuda.is_available():
        pytest.skip("this is about a machine where everything goes to the CPU")
    make().model.save_pretrained(tmp_path)
    model = HuggingFaceModel(
        loading.load_model("target", str(tmp_path), CPU, torch.float32, "auto")
    )
    assert model.direct is not None and not model.spread
    random_run(model, np.random.default_rng(3))


def test_only_layers_on_several_gpus_spread_the_cache():
    class Model:
        def __init__(self, **places):
            self.hf_device_map = places

    assert not is_spread(torch.nn.Linear(1, 1))
    assert not is_spread(Model(a=0, b="cpu", c="disk"))
    assert is_spread(Model(a=0, b=1))


@pytest.mark.parametrize("where", ["gpu", "cpu"])
def test_what_cannot_be_placed_is_rejected(where):
    with pytest.raises(ValueError, match="offload"):
        specviz.load_pair(device="cpu", offload=where)
