"""Heads with random weights against the library that trains and publishes them: the same logits.

Needs `pip install speculators`, which the project does not: without it nothing runs here.
"""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from specviz.passes.huggingface import HuggingFaceModel
from specviz.training.pair import new_model
from specviz.tree import TokenTree
from tests.models.test_eagle3 import (
    FLAGS,
    LAYERS,
    WIDTH,
    V,
    open_head,
    speculators_config,
    write_head,
)

pytestmark = [pytest.mark.adapter, pytest.mark.nightly]
LEVELS = 3


def published(folder, features, embeddings, tokens):
    """The library's draft logits of each level at each place, [LEVELS, n, draft vocabulary]."""
    core = pytest.importorskip("speculators.models.eagle3.core")
    config = pytest.importorskip("speculators.models.eagle3").Eagle3SpeculatorConfig
    config = config.from_pretrained(folder)
    config.transformer_layer_config._attn_implementation = "eager"
    model = core.Eagle3DraftModel(config).eval()
    tensors = load_file(folder / "model.safetensors")
    _, left_over = model.load_state_dict(tensors, strict=False)
    assert not left_over
    model.embed_tokens.weight.data.copy_(embeddings)
    found = []
    model.lm_head.register_forward_hook(lambda module, inputs, output: found.append(output[0]))
    document = torch.zeros(1, len(tokens), dtype=torch.long)
    model(features[None], torch.tensor([tokens]), document, ttt_steps=LEVELS)
    return torch.stack(found).numpy()


@pytest.mark.parametrize("kind", ["llama", "qwen3"])
@pytest.mark.parametrize("flags", FLAGS)
@torch.no_grad()
def test_logits_are_those_of_the_library(tmp_path, flags, kind):
    torch.manual_seed(0)
    weights = new_model(V, 128, (WIDTH, LAYERS, 4, 48))
    config = speculators_config(**dict.fromkeys(flags, True))
    config["transformer_layer_config"] |= {"model_type": kind, "attention_bias": False}
    folder = write_head(tmp_path, config, ("midlayer.", "layers.0."))
    model, target = open_head(folder, HuggingFaceModel(weights))
    text = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
    features = target.open(text).watch()
    states = features.unflatten(-1, (-1, WIDTH))[:, model.parts].flatten(1)
    expected = published(folder, states, weights.get_input_embeddings().weight, text[1:])
    ids = model.ids.numpy()
    for place in (0, 3, 7):
        session = model.open(text[: place + 2])
        session.take(features[: place + 1])
        tree = TokenTree(text[place + 1], start=place + 1)
        for level in range(LEVELS):
            logits = session.forward(tree, [level])[0][ids]
            np.testing.assert_allclose(logits, expected[level, place], atol=2e-4)
            tree.add(level, text[place + 2 + level])
