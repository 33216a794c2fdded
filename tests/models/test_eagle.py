"""An EAGLE layer drafts what its own forward computes; one with too many positions is rejected in a
sentence."""

import json
import re

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from specviz.models.heads.eagle import EagleLayer, EagleModel, load_layer
from specviz.models.heads.folder import save_drafter
from specviz.models.heads.medusa import MedusaHeads, load_heads
from specviz.passes.families import MOST_POSITIONS
from specviz.passes.huggingface import HuggingFaceModel
from specviz.training.pair import new_model
from specviz.training.starts import new_layer
from specviz.tree import TokenTree

pytestmark = pytest.mark.adapter


def test_a_layer_with_too_many_positions_is_rejected():
    target = new_model(20, 16, (8, 1, 2, 8))
    sizes = new_layer(target).sizes
    sizes["positions"] = MOST_POSITIONS
    assert EagleModel(HuggingFaceModel(target), EagleLayer(sizes)).direct is not None
    sizes["positions"] = MOST_POSITIONS + 1
    with pytest.raises(ValueError, match="at most 262,144; got 262145"):
        EagleModel(HuggingFaceModel(target), EagleLayer(sizes))


@pytest.mark.parametrize("compiled", [True, False])
@torch.no_grad()
def test_its_logits_are_those_of_the_layers_own_forward_and_the_targets_head(compiled):
    torch.manual_seed(0)
    weights = new_model(20, 64, (32, 2, 2, 48))
    target, layer = HuggingFaceModel(weights), new_layer(weights)
    if not compiled:
        target.direct.compiled = None
    model = EagleModel(target, layer)
    assert (model.compiled is not None) == compiled
    tokens, features = [3, 1, 4, 1, 5, 9], torch.randn(5, 32)
    session = model.open(tokens)
    session.take(features)
    tree = TokenTree(tokens[-1], start=len(tokens) - 1)
    for parent, token in ((0, 7), (0, 8), (2, 2)):
        tree.add(parent, token)

    def guesses(given, read):
        return layer(given[None], weights.get_input_embeddings()(torch.tensor(read))[None])[0]

    root = guesses(features, tokens[1:])[-1:]
    child = guesses(torch.cat([features, root]), [*tokens[1:], 8])[-1:]
    last = guesses(torch.cat([features, root, child]), [*tokens[1:], 8, 2])[-1:]
    found = [
        *session.forward(tree, [0]),
        *session.forward(tree, [1, 2])[1:],
        *session.forward(tree, [3]),
    ]
    wanted = weights.lm_head(torch.cat([root, child, last])).numpy()
    np.testing.assert_allclose(np.array(found), wanted, atol=1e-4 * np.abs(wanted).max())


def drafters():
    """Both drafters of a tiny target by name: a model, and what loads a folder."""
    weights = new_model(20, 16, (32, 2, 2, 48))
    target = HuggingFaceModel(weights)
    return {
        "eagle": (new_layer(weights), lambda folder: load_layer(folder, target)),
        "medusa": (MedusaHeads(3, 32), lambda folder: load_heads(folder, target, 2)),
    }


@pytest.mark.parametrize("kind", ["eagle", "medusa"])
def test_a_saved_drafter_is_read_and_a_damaged_one_is_refused_by_name(tmp_path, kind):
    model, load = drafters()[kind]
    save_drafter(kind, model, tmp_path)
    load(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    for name, tensor in tensors.items():
        others = {other: value for other, value in tensors.items() if other != name}
        for damaged in (others, tensors | {name: tensor[..., :1].contiguous()}):
            if damaged:
                save_file(damaged, tmp_path / "model.safetensors")
                with pytest.raises(ValueError, match=rf"do not agree on {re.escape(name)}: it"):
                    load(tmp_path)
    save_file(tensors | {"other.scale": torch.ones(1)}, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"do not agree on other\.scale: it is left over"):
        load(tmp_path)
    save_file(tensors, tmp_path / "model.safetensors")
    sizes = json.loads((tmp_path / "config.json").read_text())
    for name in sizes.keys() - {"kind", "width"}:
        fewer = {other: value for other, value in sizes.items() if other != name}
        (tmp_path / "config.json").write_text(json.dumps(fewer))
        with pytest.raises(ValueError, match=f"^{kind} has no sizes that fit"):
            load(tmp_path)
