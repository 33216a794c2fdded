"""EAGLE-3 heads as they are published: what config.json says, and the tensors under one spelling.

There are two spellings: "raw" (the EAGLE repository, SpecForge, NVIDIA), with every setting at top
level, and that of the `speculators` library, with the layer's sizes in `transformer_layer_config`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import LlamaConfig, PreTrainedConfig, Qwen3Config

from ...base.codec import JsonObject
from ...base.errors import ParameterError, cause
from ...base.files import parse_json, read_table, read_text
from ...passes.families import ROTARIES
from ..formats.tensors import Checkpoint

TABLES = read_table("models.toml")["eagle3"]
LAYERS: dict[str, type[PreTrainedConfig]] = {"llama": LlamaConfig, "qwen3": Qwen3Config}
FLAGS: list[str] = TABLES["flags"]
IDS = "eagle_aux_hidden_state_layer_ids"
FIXED: JsonObject = TABLES["fixed"]
# All settings that are read, or may stand there, besides those of a layer.
KNOWN = {*FIXED, *TABLES["without_effect"], *FLAGS, IDS, "draft_vocab_size", "target_hidden_size"}


@dataclass(frozen=True)
class HeadFormat:
    """What the config.json of an EAGLE-3 head says.

    Args:
        layer: sizes of its decoder layer, and of the target's vocabulary.
        draft_vocab: how many tokens it can propose.
        ids: which hidden states of the target it reads, 0 the embedding; None for the usual three.
        flags: those of `FLAGS` that are on.
        target: the name of its target, where it says so.
    """

    layer: PreTrainedConfig
    draft_vocab: int
    ids: tuple[int, ...] | None
    flags: frozenset[str]
    target: str | None

    def feature_layers(self, depth: int) -> tuple[int, ...]:
        """The layers, counted from 0, whose inputs it reads of a target with `depth` layers."""
        ids = self.ids or usual_layers(depth)
        if self.ids and self.ids[0] == 1:  # SGLang's rule: such ids count outputs of layers
            ids = tuple(layer + 1 for layer in self.ids)
        if not all(0 <= layer < depth for layer in ids):
            must = f"read hidden states 0 to {depth - 1} of the target, which has {depth} layers"
            raise ParameterError("draft", must, list(ids), "Give the head's own target.")
        return ids


def usual_layers(depth: int) -> tuple[int, ...]:
    """The layers of a target with `depth` of them whose inputs an EAGLE-3 head reads."""
    return 2, depth // 2, depth - 3


def read_format(folder: Path) -> HeadFormat | None:
    """The format of the head in a folder; None where it holds no draft head.

    Raises:
        ValueError: if it is a head of another kind, or one with settings that this reader lacks.
    """
    try:
        config = parse_json(read_text(folder / "config.json", "draft"))
    except ValueError:
        return None  # whoever loads it as a model says what is wrong
    if not isinstance(config, dict) or not is_eagle3(config):
        return None
    eagle = _mapping(config.get("eagle_config"), "eagle_config")
    nested = _mapping(config.get("transformer_layer_config"), "transformer_layer_config")
    settings = _merged(config, eagle)
    kind = nested.get("model_type", "llama")
    if kind not in LAYERS:
        must = f"have a layer of kind {' or '.join(LAYERS)}"
        raise ParameterError("draft", must, kind, "Choose another draft.")
    known = set(LAYERS[kind]().to_dict())
    _check(settings, known)
    _check(nested, known)
    layer = nested
    if not nested:
        layer = {name: settings[name] for name in known & settings.keys()}
    layer = layer | {"rope_parameters": _rotary(settings, nested)}
    for name in ("rope_theta", "rope_scaling", "model_type"):
        layer.pop(name, None)
    try:
        sizes = LAYERS[kind](**layer)
        ids = settings.get(IDS) or None
        vocabulary = int(settings.get("draft_vocab_size") or sizes.vocab_size)
        verifier = _mapping(config.get("speculators_config"), "speculators_config").get("verifier")
        return HeadFormat(
            layer=sizes,
            draft_vocab=vocabulary,
            ids=None if ids is None else tuple(map(int, ids)),
            flags=frozenset(flag for flag in FLAGS if settings.get(flag)),
            target=_mapping(verifier, "verifier").get("name_or_path"),
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"draft config.json cannot be read: {cause(error)}.") from None


def is_eagle3(config: JsonObject) -> bool:
    """Whether a config.json is that of an EAGLE-3 head; False for a model that is no head.

    Raises:
        ValueError: for other heads, by name.
    """
    architectures = list(map(str, config.get("architectures") or ()))
    kind = config.get("speculators_model_type")
    names = " ".join([*architectures, str(kind or "")]).lower()
    others = []
    for sign, other in TABLES["other_names"].items():
        if sign in names:
            others.append(other)
    for setting, other in TABLES["other_settings"].items():
        if config.get(setting):
            others.append(other)
    # The raw form names no algorithm; its own architecture or a vocabulary of its own tells it.
    is_raw = not set(TABLES["architectures"]).isdisjoint(architectures) or (
        architectures == ["LlamaForCausalLM"] and "draft_vocab_size" in config
    )
    if not others and (kind == "eagle3" or is_raw):
        return True
    if others or kind is not None or "eagle" in names:
        got = others[0] if others else kind or architectures[0]
        raise ParameterError("draft", "be a model or an EAGLE-3 head", got, "Choose another draft.")
    return False


def read_tensors(folder: Path) -> dict[str, torch.Tensor]:
    """The tensors of a head by the names of the raw spelling; a `ValueError` if they cannot be
    read."""
    tensors = {}
    try:
        for name, tensor in Checkpoint(folder).items():
            raw_name = name.removeprefix("model.").replace("layers.0.", "midlayer.")
            tensors[raw_name] = tensor
        return tensors
    except ValueError as error:
        raise ValueError(f"draft cannot be loaded: {error}") from error


def _mapping(value: object, name: str) -> JsonObject:
    if not isinstance(value, dict | None):
        raise ParameterError(f"draft config.json: {name}", "be an object", value)
    return value or {}


def _merged(config: JsonObject, eagle: JsonObject) -> JsonObject:
    """The settings at top level and those of `eagle_config`, which must not contradict them."""
    for name in config.keys() & eagle.keys():
        if config[name] != eagle[name]:
            must = "be the same at top level and in eagle_config"
            got = f"{config[name]} and {eagle[name]}"
            raise ParameterError(f"draft config.json: {name}", must, got)
    return eagle | config


def _check(settings: JsonObject, known: set[str]) -> None:
    """Refuse a setting that is on and unknown: it would change what the head computes."""
    for name, value in settings.items():
        if name in FIXED and value not in (None, FIXED[name]):
            raise ParameterError(
                f"draft config.json: {name}", f"be {FIXED[name]!r}", value, "Choose another draft."
            )
        is_off = value is None or value is False or value in ([], {}, "")
        if name not in known | KNOWN and not is_off:
            must = "be a setting that this reader knows"
            raise ParameterError(f"draft config.json: {name}", must, value, "Choose another draft.")


def _rotary(*places: JsonObject) -> JsonObject:
    """The rotary parameters, which stand in several places of a config.json; they must agree."""
    found: JsonObject = {}
    for settings in places:
        scaling = settings.get("rope_parameters") or settings.get("rope_scaling") or {}
        theta = settings.get("rope_theta")
        alone = {}
        if theta is not None:
            alone = {"rope_theta": theta}
        for part in (alone, scaling):
            for name, value in part.items():
                if found.setdefault(name, value) != value:
                    must = "be the same wherever it stands in config.json"
                    raise ParameterError(f"draft {name}", must, f"{found[name]} and {value}")
    found.setdefault("rope_theta", 10000.0)
    found.setdefault("rope_type", found.pop("type", "default"))
    if found["rope_type"] not in ROTARIES:
        must = f"have rotary positions of type {', '.join(ROTARIES)}"
        raise ParameterError("draft", must, found["rope_type"], "Choose another draft.")
    return found
