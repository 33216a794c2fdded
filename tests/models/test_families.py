"""Families of models, tiny and with random weights: each writes transformers' own text to the end
of its context, or is rejected when it is loaded.
"""

import copy
import inspect
import warnings

import pytest
import torch
import transformers

import specviz
from specviz.models.huggingface_pair import HuggingFacePair
from specviz.models.loading import longest_text
from specviz.models.selftest import check_tree_reading
from specviz.models.table import NumberText
from specviz.passes.huggingface import HuggingFaceModel

pytestmark = pytest.mark.adapter

V, CONTEXT = 61, 64
SIZES = dict(
    vocab_size=V,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=8,
    intermediate_size=48,
    max_position_embeddings=CONTEXT,
    initializer_range=0.3,
    init_std=0.3,
    n_embd=32,
    n_layer=2,
    n_head=4,
    n_positions=CONTEXT,
    d_model=32,
    n_heads=4,
    n_layers=2,
    ffn_dim=48,
    word_embed_proj_dim=32,
    bos_token_id=None,
    eos_token_id=None,
    pad_token_id=None,
    tie_word_embeddings=False,
)
ROTARY = {"rope_theta": 10000.0}
YARN = dict(rope_type="yarn", factor=2.0, original_max_position_embeddings=32)
LONG = dict(
    short_factor=[1.0] * 4, long_factor=[2.0, 2.5, 3.0, 4.0], original_max_position_embeddings=40
)
LOCAL = dict(num_layers=2, attention_types=[[["global", "local"], 1]])
DECODER = dict(is_decoder=True, pad_token_id=1)
EXPERTS = dict(num_experts=4, num_local_experts=4, num_experts_per_tok=2, moe_intermediate_size=16)

PLAIN = (
    "llama",
    "qwen2",
    "qwen3",
    "gemma",
    "phi",
    "phi3",
    "gpt2",
    "gpt_bigcode",
    "gpt_neox",
    "opt",
    "falcon",
    "stablelm",
    "starcoder2",
    "olmo",
    "olmo2",
    "cohere",
    "granite",
    "glm",
    "nemotron",
    "persimmon",
    "smollm3",
    "helium",
    "ernie4_5",
    "biogpt",
)
# family -> what its configuration needs beside SIZES, and the length of text to which it equals
# transformers.
EQUAL = {family: ({}, CONTEXT) for family in PLAIN} | {
    "llama with yarn": ({"rope_parameters": ROTARY | YARN}, CONTEXT),
    "llama with dynamic rotary": (
        {"rope_parameters": ROTARY | dict(rope_type="dynamic", factor=2.0)},
        CONTEXT,
    ),
    "mistral": ({"sliding_window": 24}, CONTEXT),
    "mistral without a window": ({"sliding_window": None}, CONTEXT),
    "mixtral": (EXPERTS, CONTEXT),
    "qwen2_moe": (EXPERTS | {"shared_expert_intermediate_size": 16}, CONTEXT),
    "qwen3_moe": (EXPERTS, CONTEXT),
    "gemma2": ({"sliding_window": 32}, CONTEXT),
    "gemma3_text": ({"sliding_window": 32}, CONTEXT),
    "olmo3": ({"sliding_window": 32}, CONTEXT),
    "gemma4_text": (
        {
            "sliding_window": 32,
            "global_head_dim": 16,  # layers with heads of two sizes
            "hidden_size_per_layer_input": 8,
            "vocab_size_per_layer_input": V,
        },
        CONTEXT,
    ),
    "phi3 with longrope": (
        {"rope_parameters": ROTARY | dict(rope_type="longrope") | LONG, **LONG},
        40,
    ),
    "gptj": ({"rotary_dim": 4}, CONTEXT),
    "codegen": ({"rotary_dim": 4}, CONTEXT),
    "xglm": (dict(num_layers=2, attention_heads=4), CONTEXT),
    "bert": (DECODER, CONTEXT),
}
# Those that are computed without transformers; small ones in compiled passes.
FAST = {
    "llama",
    "llama with yarn",
    "mistral",
    "mistral without a window",
    "qwen2",
    "qwen3",
    "smollm3",
    "olmo2",
    "olmo3",
    "gemma3_text",
}
# family -> what its configuration needs, and why it is rejected.
REJECTED = {
    "gpt_neo": (LOCAL | {"window_size": 16}, "differently"),  # a window of slots
    "gpt_neo with a wide window": (
        LOCAL | {"window_size": 256},
        "fails when it reads a tree",
    ),  # a mask of slots that ends
    "roberta": (DECODER, "differently"),  # positions start behind an offset
    "xlm-roberta": (DECODER, "differently"),
    "camembert": (DECODER, "differently"),
    "bert that sees what follows": ({}, "reads what follows"),
    "bloom": ({}, "fails when it reads a tree"),
    "mpt": ({}, "fails when it reads a tree"),
    "falcon with alibi": ({"alibi": True}, "fails when it reads a tree"),
    "deepseek_v3": (
        {"first_k_dense_replace": 2, "num_key_value_heads": 4},
        "keys and values must have the same shape",
    ),
    "mamba": ({}, "linear_attention"),
    "jamba": ({}, "linear_attention"),
    "llama4_text": ({}, "chunked_attention"),
}


SAMPLE = {
    "llama",
    "gemma2",
    "gemma3_text",
    "gemma4_text",
    "olmo2",
    "gpt2",
    "phi3 with longrope",
    "gpt_neo",
    "roberta",
    "bloom",
    "mamba",
}


def sampled(families):
    """The families of `make test`; the others run nightly."""
    return [
        pytest.param(name, marks=() if name in SAMPLE else pytest.mark.nightly) for name in families
    ]


def made(family, more):
    """A tiny model: of SIZES those that its configuration knows."""
    kind = type(transformers.AutoConfig.for_model(family.split(" ")[0]))
    bases = (vars(base).get("__annotations__", ()) for base in kind.__mro__)
    known = set().union(inspect.signature(kind).parameters, *bases)
    renamed = {name for name, other in getattr(kind, "attribute_map", {}).items() if other in SIZES}
    sizes = {name: value for name, value in SIZES.items() if name in known and name not in renamed}
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transformers.AutoModelForCausalLM.from_config(kind(**(sizes | more))).eval()


def near(model):
    """A draft that is right often but not always: the same model with its weights shaken."""
    draft = copy.deepcopy(model)
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in draft.parameters():
            if weight.dim() > 1:
                weight += 0.15 * weight.std() * torch.randn_like(weight)
    return draft


@pytest.mark.parametrize("family", sampled(EQUAL))
def test_a_family_writes_the_text_of_transformers_to_the_end_of_its_context(family):
    more, longest = EQUAL[family]
    model, prompt = made(family, more), [7, 3, 19, 4, 11]
    assert longest_text("target", model.config) == longest
    with torch.inference_mode():
        wanted = model.generate(
            torch.tensor([prompt]), do_sample=False, max_length=longest, eos_token_id=None
        )
    wanted = wanted[0, len(prompt) :].tolist()
    target, draft = HuggingFaceModel(model), HuggingFaceModel(near(model))
    check_tree_reading("target", target)
    check_tree_reading("draft", draft)
    assert (target.compiled is not None) == (family in FAST)
    pair = HuggingFacePair(target, draft, NumberText(V), longest, frozenset(), {"name": family})
    config = specviz.RunConfig(
        prompt,
        specviz.BUILDERS["sequoia"](size=10, depth=3, width=4, acceptance=(0.5, 0.2, 0.1, 0.05)),
        specviz.VERIFIERS["exact-match"](),
        0.0,
        max_new_tokens=CONTEXT,
    )
    trace = specviz.run(pair, config)
    assert list(trace.tokens) == wanted and len(set(wanted)) > 3  # no text that repeats one token
    assert trace.stop == "context" and any(len(step.path) for step in trace.steps)


@pytest.mark.parametrize("family", sampled(REJECTED))
def test_a_family_that_cannot_be_read_rightly_is_rejected(family):
    more, why = REJECTED[family]
    with pytest.raises(ValueError, match=why):
        check_tree_reading("target", HuggingFaceModel(made(family, more)))
