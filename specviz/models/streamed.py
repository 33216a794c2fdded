"""A target whose layers are read from disk for every pass; only a few of them are in memory at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from ..files import from_cache, to_cache
from ..passes.compiled import worth_compiling
from ..passes.direct import DirectForward, direct_forward, is_known
from ..passes.huggingface import HuggingFaceModel
from ..passes.layers import Layer, read_layer
from ..passes.streamed.layer_file import LayerFile, Layout
from ..passes.streamed.stream import LayerStream, TensorLayers
from .early_exit import shortened
from .hub import model_folder
from .loading import RANDOM, load_config
from .selftest import check_tree_reading


class Checkpoint:
    """The weights of a folder of safetensors, one at a time."""

    def __init__(self, folder: Path, dtype: torch.dtype) -> None:
        self.files, self.dtype = sorted(folder.glob("*.safetensors")), dtype
        self._file_of: dict[str, Path] = {}
        for file in self.files:
            with safe_open(file, "pt") as weights:
                self._file_of |= dict.fromkeys(weights.keys(), file)

    def __call__(self, name: str) -> torch.Tensor:
        if name not in self._file_of:
            raise ValueError(
                f"target lacks weights of its configuration, for example {name}; config.json and *.safetensors must "
                "belong to the same model."
            )
        with safe_open(self._file_of[name], "pt") as weights:
            return weights.get_tensor(name).to(self.dtype)

    def hash(self) -> str:
        """A hash of all files; known files are not read again."""
        digests = from_cache("weights.json", lambda path: json.loads(path.read_text("utf-8"))) or {}
        hashes = {}
        for file in self.files:
            status = file.stat()
            key = f"{file.resolve()} {status.st_size} {status.st_mtime_ns}"
            if key not in digests:
                with open(file, "rb") as content:
                    digests[key] = hashlib.file_digest(content, "sha256").hexdigest()
            hashes[file.name] = digests[key]
        to_cache("weights.json", json.dumps(digests))
        return hashlib.sha256(json.dumps(hashes).encode()).hexdigest()


class RandomWeights:
    """Random weights, one at a time, the same whenever they are asked for."""

    def __init__(self, model: torch.nn.Module, dtype: torch.dtype) -> None:
        self.model, self.dtype = model, dtype

    def __call__(self, name: str) -> torch.Tensor:
        """The weights of a parameter: ones for a norm, zeros for a bias, small numbers for a matrix."""
        shape = self.model.get_parameter(name).shape
        if len(shape) == 1:
            return torch.full(shape, float("norm" in name), dtype=self.dtype)
        seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "little")
        return torch.empty(shape, dtype=self.dtype).normal_(0, 0.02, generator=torch.Generator().manual_seed(seed))

    def hash(self) -> str:
        """A hash of what the weights follow from."""
        shapes = {name: list(part.shape) for name, part in self.model.named_parameters()}
        return hashlib.sha256(json.dumps(["random", shapes]).encode()).hexdigest()


class StreamedForward(DirectForward):
    """A forward pass whose layers come from disk."""

    def __init__(self, model: Any, layers: TensorLayers, weight: Callable[[str], torch.Tensor]) -> None:
        super().__init__(model, layers)
        self.weight = weight

    def of(self, layer_ids: Sequence[int], model: Any) -> DirectForward | None:
        """The forward pass of some of the layers, which are brought to memory."""
        _fill(model, layer_ids, self.weight, self.embed.device)
        return direct_forward(model)


def stream_target(
    name: str, dtype: torch.dtype, device: torch.device, report: Callable[[float, str], None]
) -> HuggingFaceModel | None:
    """A target whose layers are read from disk for every pass; None where its family is left to transformers."""
    from transformers import AutoModelForCausalLM, GenerationConfig

    config = load_config("target", name)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa").eval()
    if not is_known(model):
        return None
    if name.startswith(RANDOM):
        weight: Any = RandomWeights(model, dtype)
    else:
        folder = model_folder("target", name)
        weight = Checkpoint(folder, dtype)
        with suppress(OSError, ValueError):  # a model without settings of its own
            model.generation_config = GenerationConfig.from_pretrained(folder, local_files_only=True)
    for name, _ in list(model.named_parameters()):
        if ".layers." not in name:
            _assign(model, name, weight(name).to(device))
    model.tie_weights()
    model.model.rotary_emb = type(model.model.rotary_emb)(config=config).to(device)

    depth, small = len(model.model.layers), worth_compiling(model)
    # One layer shows whether they are computed as transformers computes them; all are alike.
    shallow = shortened(model, ["model", "layers"], [0])
    _fill(shallow, [0], weight, device)
    trial = HuggingFaceModel(shallow)
    check_tree_reading("target", trial)
    if trial.direct is None:
        return None
    compiled, arrange = small and trial.direct.compiled is not None, _as_they_are
    if compiled:
        from ..passes.compiled.passes import CompiledPasses, compiled_layer

        arrange = compiled_layer
    model.model.layers[0].to("meta")
    del shallow, trial

    def arranged(number: int) -> Layer:
        return arrange(read_layer(model.model.layers[number], lambda name: weight(f"model.layers.{number}.{name}")))

    layout = Layout(arranged(0))
    kind = json.dumps([weight.hash(), str(dtype), arrange.__name__, layout.bytes, [str(p) for p in layout.parts]])
    file = LayerFile(hashlib.sha256(kind.encode()).hexdigest(), layout, depth)
    file.write(
        lambda: map(arranged, range(depth)),
        lambda done, total: report(0.1 + 0.5 * done / total, f"Writing the layers to disk: {done} of {total}"),
    )
    stream = LayerStream(file)
    with torch.inference_mode():
        direct = StreamedForward(model, TensorLayers(stream, dtype, device), weight)
    if compiled:
        direct.compiled = CompiledPasses(direct, stream)
    streamed = HuggingFaceModel(model, direct=direct)
    streamed.static, streamed.disk_speed = None, stream.speed
    return streamed


def _as_they_are(layer: Layer) -> Layer:
    none = torch.empty(0, dtype=layer.input_norm.dtype)
    weights = [none if weight is None else weight.contiguous() for weight in layer]
    return Layer(*((w.view(torch.int16) if w.dtype == torch.bfloat16 else w).numpy() for w in weights))


def _fill(model: Any, layer_ids: Sequence[int], weight: Any, device: torch.device) -> None:
    for number, layer in zip(layer_ids, model.model.layers, strict=True):
        for name, _ in list(layer.named_parameters()):
            _assign(layer, name, weight(f"model.layers.{number}.{name}").to(device))


def _assign(module: torch.nn.Module, name: str, weight: torch.Tensor) -> None:
    parent, _, last = name.rpartition(".")
    setattr(module.get_submodule(parent), last, torch.nn.Parameter(weight, requires_grad=False))
