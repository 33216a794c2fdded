"""What the direct forward keeps, and the models it leaves to transformers."""

import pytest
import torch

from specviz.passes.cache import TreeCache
from specviz.passes.direct import attend, direct_forward
from tests.passes.test_huggingface import make

pytestmark = pytest.mark.adapter


def test_the_weights_are_not_stored_twice():
    model = make("qwen2").model
    direct = direct_forward(model)
    attention, fused = model.model.layers[0].self_attn, direct.layers[0].qkv
    assert (
        attention.k_proj.weight.untyped_storage().data_ptr() == fused.untyped_storage().data_ptr()
    )


@pytest.mark.parametrize(
    "family, changes",
    [
        ("gpt2", {}),
        ("gemma3", {"final_logit_softcapping": 30.0}),
        ("gemma3", {"attn_logit_softcapping": 50.0}),
        ("llama", {"hidden_act": "gelu"}),
        (
            "llama",
            {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}},
        ),
    ],
)
def test_models_of_another_kind_are_left_to_transformers(family, changes):
    assert make(family, **changes).direct is None


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_keys_and_values_of_half_precision_are_held_in_float32(dtype):
    model, cache = make(dtype=dtype).model, TreeCache(3)
    with torch.inference_mode():
        direct_forward(model).states(torch.arange(4), torch.arange(4), None, cache, None)
    assert cache.blocks[0].dtype == (dtype if dtype.itemsize >= 4 else torch.float32)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("key_heads", [1, 2, 6])
def test_attention_is_that_of_the_formula(key_heads, masked):
    torch.manual_seed(0)
    m = 5 if masked else 1
    q, k, v = (
        torch.randn(1, heads, n, 8) for heads, n in ((6, m), (key_heads, 11), (key_heads, 11))
    )
    mask = (
        torch.where(torch.rand(1, 1, m, 11) < 0.4, torch.finfo(torch.float32).min, 0.0)
        if masked
        else None
    )
    scores = q @ k.repeat_interleave(6 // key_heads, 1).mT * 0.3 + (0 if mask is None else mask)
    wanted = scores.softmax(-1) @ v.repeat_interleave(6 // key_heads, 1)
    torch.testing.assert_close(attend(q, k, v, mask, False, 0.3), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("family", ["llama-biases", "gemma3"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_weights_that_were_changed_are_followed(dtype, family):
    model, other = (make(family, dtype=dtype).model for _ in range(2))
    direct, ids = direct_forward(model), torch.arange(6)
    with torch.inference_mode():
        for parameter in other.parameters():
            parameter.mul_(1.2)
        model.load_state_dict(other.state_dict())
        direct.refresh_weights()
        found, wanted = (
            one.states(ids, ids, None, TreeCache(3), None)
            for one in (direct, direct_forward(other))
        )
    assert torch.equal(found, wanted)
