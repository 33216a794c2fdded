"""The EAGLE-3 head that training begins with, and the folder that it is written to."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel

from ..base.codec import JsonObject
from ..base.files import write_bytes, write_text
from ..models.heads.eagle3_head import Eagle3Head
from ..models.heads.folder import layer_config
from ..models.heads.format import IDS, HeadFormat, read_format, read_tensors
from ..models.heads.loading import target_ids
from .conversations import Conversation
from .starts import copy_weights, layer_sizes

DRAFT_VOCABULARY = 8192  # tokens at most
PROPOSED = 4  # tokens a step that engines are told to ask for


def begin(
    out: Path, state: Path, teacher: PreTrainedModel, conversations: list[Conversation]
) -> tuple[Eagle3Head, HeadFormat, Tensor]:
    """The head that training begins with, its format, and the target's ids of its tokens.

    It goes on from the head in `out`, or begins as the target's last layer and output rows.
    """
    config = teacher.config.get_text_config()
    table = state / "draft_tokens.npy"
    if (out / "model.safetensors").is_file() and not table.exists():
        form = read_format(out)
        if form is None:
            raise ValueError(f"out must be new or hold an EAGLE-3 head; {str(out)!r} does not.")
        tensors = read_tensors(out)
        ids = target_ids(tensors, form)
        head = Eagle3Head(form, tensors["fc.weight"].shape[1])
        head.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
        np.save(table, ids.numpy())
        return head, form, ids
    ids = frequent_tokens(table, conversations, config.vocab_size)
    form = HeadFormat(layer_of(teacher), len(ids), None, frozenset(), None)
    return new_head(form, teacher, ids), form, ids


def frequent_tokens(table: Path, conversations: list[Conversation], vocabulary: int) -> Tensor:
    """The ids that answers contain most often, ascending, at most `DRAFT_VOCABULARY`.

    Args:
        table: the file that keeps them, so that more conversations change nothing later.
        conversations: what is counted where there is no such file.
        vocabulary: how many tokens the target has.
    """
    if not table.exists():
        counted = np.zeros(vocabulary, np.int64)
        for one in conversations:
            counted += np.bincount(one.tokens[one.answer :], minlength=vocabulary)
        most = np.argsort(-counted, kind="stable")[:DRAFT_VOCABULARY]
        np.save(table, np.sort(most))
    return torch.from_numpy(np.load(table, allow_pickle=False))


def layer_of(target: PreTrainedModel) -> PreTrainedConfig:
    """The configuration of a layer of a target's own sizes."""
    config = target.config.get_text_config()
    sizes = layer_sizes(target)
    return layer_config(
        sizes,
        head_dim=getattr(config, "head_dim", None) or sizes["width"] // sizes["heads"],
        vocab_size=config.vocab_size,
        rope_parameters=getattr(config, "rope_parameters", None),
    )


@torch.no_grad()
def new_head(form: HeadFormat, teacher: PreTrainedModel, ids: Tensor) -> Eagle3Head:
    """A head that begins as the target's last layer, fed with the latest state, and its output
    rows."""
    width = form.layer.hidden_size
    head = Eagle3Head(form, 3 * width)
    head.fc.weight.normal_(0, 0.01)
    head.fc.weight[:, 2 * width :] += torch.eye(width)
    weights = dict(teacher.base_model.named_parameters())
    last = f"layers.{teacher.config.num_hidden_layers - 1}."

    def source(name: str) -> str:
        # The state goes through the norm of the layer's input; that of the embedding is its own.
        is_own = name == "input_layernorm.weight"
        if is_own:
            return ""
        return last + name.replace("hidden_norm", "input_layernorm")

    copy_weights(head.midlayer, weights, source)
    for name, parameter in head.midlayer.named_parameters():
        wide = weights.get(source(name))
        if wide is not None and 2 * wide.shape[-1] == parameter.shape[-1]:
            # Embedding first, then the state.
            parameter.copy_(torch.cat([0.5 * wide, wide], dim=1))
    if "norm.weight" in weights:
        head.norm.weight.copy_(weights["norm.weight"])
    head.lm_head.weight.copy_(teacher.get_output_embeddings().weight[ids.to(teacher.device)])
    return head


def save_head(head: Eagle3Head, form: HeadFormat, ids: Tensor, out: Path, target: str) -> None:
    """Write a head in the form of the `speculators` library, which engines load as well.

    Args:
        head, form, ids: what was trained, and the target's ids of its tokens.
        out: the folder.
        target: the name of its target.
    """
    out.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for name, weight in head.state_dict().items():
        weight = weight.detach().to("cpu", torch.bfloat16).contiguous()
        tensors[name.replace("midlayer.", "layers.0.")] = weight
    # The published form says both ways which tokens the head can propose.
    is_drafted = torch.zeros(form.layer.vocab_size, dtype=torch.bool)
    is_drafted[ids] = True
    tensors |= {"d2t": ids - torch.arange(len(ids)), "t2d": is_drafted}
    layer = form.layer.to_dict() | {"model_type": form.layer.model_type}
    config: JsonObject = {
        "architectures": ["Eagle3Speculator"],
        "speculators_model_type": "eagle3",
        "speculators_version": "0.9.0",
        "dtype": "bfloat16",
        "draft_vocab_size": len(ids),
        **dict.fromkeys(sorted(form.flags), True),
        "transformer_layer_config": layer,
        "speculators_config": {
            "algorithm": "eagle3",
            "default_proposal_method": "greedy",
            "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": PROPOSED}],
            "verifier": {"name_or_path": target, "architectures": []},
        },
    }
    if form.ids is not None:
        config[IDS] = list(form.ids)
    write_bytes(out / "model.safetensors", save(tensors))
    write_text(out / "config.json", json.dumps(config, indent=1) + "\n")
