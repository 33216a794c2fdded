"""The direct forward against transformers' own, and the models it leaves to transformers."""

import pytest
import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from specviz.passes.attention import attend, by_products, in_line
from specviz.passes.cache import TreeCache
from specviz.passes.direct import direct_forward

pytestmark = pytest.mark.adapter


SIZES = dict(
    vocab_size=97, hidden_size=48, intermediate_size=80, num_hidden_layers=3, num_attention_heads=6,
    num_key_value_heads=2, max_position_embeddings=256,
)  # fmt: skip
MODELS = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**SIZES)),
    "llama with biases": lambda: LlamaForCausalLM(LlamaConfig(**SIZES, attention_bias=True, mlp_bias=True)),
    "llama with head_dim": lambda: LlamaForCausalLM(LlamaConfig(**SIZES, head_dim=16)),
    "llama 3 rotary": lambda: LlamaForCausalLM(LlamaConfig(**SIZES, rope_parameters={
        "rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 64})),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**SIZES)),
    "mistral": lambda: MistralForCausalLM(MistralConfig(**SIZES, sliding_window=None)),
}  # fmt: skip


def made(name, dtype):
    torch.manual_seed(0)
    model = MODELS[name]().to(dtype).eval()
    for parameter in model.parameters():
        if parameter.dim() == 1:  # biases and norms that are not all 0 and 1
            torch.nn.init.normal_(parameter, 1.0, 0.3)
    return model


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", MODELS)
def test_the_direct_forward_gives_the_logits_of_transformers(name, dtype):
    reference, model = made(name, dtype), made(name, dtype)
    direct = direct_forward(model)
    ids = torch.randint(0, 97, (20,))
    own, theirs = TreeCache(3), TreeCache(3)
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype is torch.float32 else {"rtol": 0.02, "atol": 0.03}

    def compare(span, mask):
        positions = torch.arange(span.start, span.stop)
        with torch.inference_mode():
            wanted = reference(
                input_ids=ids[span][None], position_ids=positions[None], past_key_values=theirs, use_cache=True,
                attention_mask=None if mask is None else mask.to(dtype),
            ).logits[0]  # fmt: skip
            found = direct(ids[span], positions, mask, own, None)
            own.used = theirs.used = span.stop
        torch.testing.assert_close(found, wanted, **tolerance)

    compare(slice(0, 8), None)  # a prompt
    compare(slice(8, 13), None)  # a further causal run
    mask = torch.tensor([[0, 1, 1], [1, 0, 1], [0, 1, 0]]).bool()
    mask = torch.zeros(1, 1, 3, 16).masked_fill(torch.nn.functional.pad(mask, (13, 0)), torch.finfo(dtype).min)
    compare(slice(13, 16), mask)  # a tree of two branches


def test_only_the_rows_asked_for_are_computed():
    model = made("llama", torch.float32)
    direct, ids = direct_forward(model), torch.arange(6)
    with torch.inference_mode():
        every = direct(ids, torch.arange(6), None, TreeCache(3), None)
        some = direct(ids, torch.arange(6), None, TreeCache(3), torch.tensor([5, 2]))
    torch.testing.assert_close(some, every[[5, 2]])


def test_the_weights_are_not_stored_twice():
    model = made("qwen2", torch.float32)
    direct = direct_forward(model)
    attention, fused = model.model.layers[0].self_attn, direct.layers[0].qkv
    assert attention.k_proj.weight.untyped_storage().data_ptr() == fused.untyped_storage().data_ptr()


@pytest.mark.parametrize(
    "model",
    [
        lambda: GPT2LMHeadModel(GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=2)),
        lambda: MistralForCausalLM(MistralConfig(**SIZES, sliding_window=16)),
        lambda: LlamaForCausalLM(LlamaConfig(**SIZES, hidden_act="gelu")),
        lambda: LlamaForCausalLM(LlamaConfig(**SIZES, rope_parameters={
            "rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0})),
    ],
    ids=["gpt2", "sliding window", "another activation", "a rotary that changes with the text"],
)  # fmt: skip
def test_models_of_another_kind_are_left_to_transformers(model):
    assert direct_forward(model()) is None


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_keys_and_values_of_half_precision_are_held_in_float32(dtype):
    model, cache = made("llama", dtype), TreeCache(3)
    with torch.inference_mode():
        direct_forward(model)(torch.arange(4), torch.arange(4), None, cache, None)
    assert cache.blocks[0].dtype == (dtype if dtype.itemsize >= 4 else torch.float32)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("key_heads", [1, 2, 6])
def test_two_products_attend_as_the_fused_kernel(key_heads, masked):
    torch.manual_seed(0)
    m = 5 if masked else 1
    q, k, v = (torch.randn(1, heads, n, 8) for heads, n in ((6, m), (key_heads, 11), (key_heads, 11)))
    mask = torch.where(torch.rand(1, 1, m, 11) < 0.4, torch.finfo(torch.float32).min, 0.0) if masked else None
    wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask, scale=0.3, enable_gqa=True)
    torch.testing.assert_close(by_products(q, k, v, mask, 0.3), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_weights_that_were_changed_are_followed(dtype):
    model, other = made("llama with biases", dtype), made("llama with biases", dtype)
    direct, ids = direct_forward(model), torch.arange(6)
    with torch.inference_mode():
        for parameter in other.parameters():
            parameter.mul_(1.2)
        model.load_state_dict(other.state_dict())
        direct.lay_out_again()
        found, wanted = (one(ids, ids, None, TreeCache(3), None) for one in (direct, direct_forward(other)))
    assert torch.equal(found, wanted)


@pytest.mark.parametrize("key_heads", [1, 2, 6])
def test_query_heads_in_line_attend_as_those_side_by_side(key_heads):
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, heads, m, 8) for heads, m in ((6, 5), (key_heads, 11), (key_heads, 11)))
    mask = torch.where(torch.rand(1, 1, 5, 11) < 0.4, torch.finfo(torch.float32).min, 0.0)
    wanted = attend(q, k, v, mask, False, 0.3)
    torch.testing.assert_close(in_line(q, k, v, mask, 0.3), wanted, rtol=1e-5, atol=1e-6)
