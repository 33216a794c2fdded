"""A target whose layers are read from disk for every pass; only a few of them are in memory at a
time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm
from transformers import GenerationConfig, PreTrainedModel

from ...passes.compiled import compiler_for
from ...passes.direct import DirectForward, direct_forward
from ...passes.families import is_known
from ...passes.huggingface import HuggingFaceModel
from ...passes.layers import Layer, raw_layer, read_layer, tensor_of
from ..early_exit import shortened
from ..formats.checkpoint import (
    check_format,
    check_names,
    hash_of,
    left_over_names,
    quantisation_of,
)
from ..formats.tensors import Checkpoint
from ..hub import RANDOM, Report, model_folder
from ..loading import empty_model, load_config
from ..selftest import check_tree_reading
from .layer_file import LayerFile, layout
from .stream import LayerStream

ReadWeight = Callable[[str], Tensor]  # the numbers of a parameter, by its name


def random_weight(model: torch.nn.Module, dtype: torch.dtype, name: str) -> Tensor:
    """A parameter of a model: ones for a norm, zeros for a bias, random for a matrix; the same
    whenever asked for."""
    shape = model.get_parameter(name).shape
    if len(shape) == 1:
        return torch.full(shape, float("norm" in name), dtype=dtype)
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "little")
    return torch.empty(shape, dtype=dtype).normal_(
        0, 0.02, generator=torch.Generator().manual_seed(seed)
    )


def stored_layer(model: PreTrainedModel, weight: ReadWeight, number: int) -> Layer:
    """The weights of a layer of a model that is not in memory, by what reads each of them."""
    module = model.model.layers[number]
    return read_layer(module, lambda name: weight(f"model.layers.{number}.{name}"))


class StreamedForward(DirectForward):
    """A forward pass whose layers come from disk."""

    def __init__(self, model: PreTrainedModel, layers: LayerStream, weight: ReadWeight) -> None:
        super().__init__(model, layers)
        self.weight = weight

    def each_layer(self) -> Iterator[Layer]:
        for number in range(len(self.model.model.layers)):
            yield stored_layer(self.model, self.weight, number)

    def of(self, layer_ids: Sequence[int], model: PreTrainedModel) -> DirectForward | None:
        """The forward pass of some of the layers, which are brought to memory."""
        _fill(model, layer_ids, self.weight, self.embed.device)
        return direct_forward(model)


def stream_target(
    name: str, dtype: torch.dtype, device: torch.device, report: Report
) -> HuggingFaceModel | None:
    """A target whose layers are read from disk for every pass; None where its family is left to
    transformers."""
    config = load_config("target", name)
    model = empty_model(config, dtype=dtype, attn_implementation="sdpa").eval()
    if not is_known(model):
        return None
    if name.startswith(RANDOM):
        weight: ReadWeight = partial(random_weight, model, dtype)
        identity = str(config)
    else:
        folder = model_folder("target", name)
        if quantisation_of(config) is not None:
            return None
        check_format("target", name, folder, config)
        weights = Checkpoint(folder)
        missing = {parameter for parameter, _ in model.named_parameters()} - weights.keys()
        check_names("target", name, missing, left_over_names(model, weights))

        def weight(name: str) -> Tensor:
            return weights[name].to(dtype)

        identity = hash_of(folder)
        with suppress(OSError, ValueError):  # a model without settings of its own
            model.generation_config = GenerationConfig.from_pretrained(
                folder, local_files_only=True
            )
    # Embeddings, final norm and head stay in memory; layers stay "meta".
    names = []
    for parameter, _ in model.named_parameters():
        if ".layers." not in parameter:
            names.append(parameter)
    model.load_state_dict(
        {parameter: weight(parameter).to(device) for parameter in names}, strict=False, assign=True
    )
    model.tie_weights()
    # What is not among the weights is computed anew.
    model.model.rotary_emb = type(model.model.rotary_emb)(config=config).to(device)
    embed = model.get_input_embeddings()
    if hasattr(embed, "embed_scale"):
        embed.embed_scale = embed.weight.new_tensor(embed.scalar_embed_scale)

    # One layer shows whether they are computed as transformers computes them; all are alike.
    shallow = shortened(model, ["model", "layers"], [0])
    _fill(shallow, [0], weight, device)
    trial = HuggingFaceModel(shallow)
    trial.weights_hash = f"{identity} layer 0"
    check_tree_reading("target", trial)
    if trial.direct is None:
        return None
    depth = len(model.model.layers)
    compiler = None
    if trial.direct.compiled:
        compiler = compiler_for(model)
    model.model.layers[0].to("meta")
    del shallow, trial

    def arranged(number: int) -> Layer:
        """The arrays of a layer, as compiled passes or torch's read them."""
        layer = stored_layer(model, weight, number)
        if compiler:
            return compiler.compiled_layer(layer)
        return raw_layer(layer)

    def layers() -> Iterator[Layer]:
        for number in tqdm(
            range(depth), "Writing the layers to disk", disable=None
        ):  # None: without a terminal
            report(0.1 + 0.5 * number / depth, f"Writing the layers to disk: {number} of {depth}")
            yield arranged(number)

    def tensor(array: np.ndarray) -> Tensor | None:
        if array.size:
            return tensor_of(array[0]).to(device)
        return None

    kind = layout(arranged(0))
    # Whatever changes the bytes is in the name, so an old file is never read as a new one.
    key = json.dumps([identity, str(dtype), bool(compiler), str(kind)])
    file = LayerFile(hashlib.sha256(key.encode()).hexdigest(), kind, depth)
    file.write(layers)
    stream = LayerStream(file) if compiler else LayerStream(file, tensor)
    with torch.inference_mode():
        direct = StreamedForward(model, stream, weight)
    direct.compiled = compiler and compiler.CompiledPasses(direct, stream)
    streamed = HuggingFaceModel(model, direct=direct)
    streamed.static = None
    streamed.disk_speed = stream.speed
    streamed.weights_hash = identity
    return streamed


def _fill(
    model: PreTrainedModel, layer_ids: Sequence[int], weight: ReadWeight, device: torch.device
) -> None:
    for number, layer in zip(layer_ids, model.model.layers, strict=True):
        weights = {}
        for name, _ in layer.named_parameters():
            weights[name] = weight(f"model.layers.{number}.{name}").to(device)
        layer.load_state_dict(weights, assign=True)
