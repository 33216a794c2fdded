"""What is in the files of a model: no tensor may be missing or left over, and each is of a type
that its configuration names.

A scale that nobody applies, or packed numbers that are read as they are, give other text without a
word.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from transformers import PreTrainedConfig, PreTrainedModel
from transformers.quantizers.auto import AUTO_QUANTIZATION_CONFIG_MAPPING

from ...base.files import from_cache, to_cache
from ..hub import weight_files
from .tensors import Checkpoint

PLAIN_TYPES = {"F64", "F32", "F16", "BF16"}  # of weights that are not quantised
UNNAMED = "unnamed"  # stands for a method that a configuration does not name
# Types that masks, counters and tables of positions may have, which families save and never read.
UNREAD = re.compile(
    r"rotary_emb\.inv_freq|\.masked_bias|attn\.bias|position_ids|num_batches_tracked"
)


def check_format(role: str, name: str, folder: Path, config: PreTrainedConfig) -> None:
    """Raise a `ValueError` where the weights of a folder are quantised in a way that nothing here
    reads.

    Args:
        role: "target" or "draft", as errors name it.
        name: the model, as errors name it.
        folder: its files.
        config: its configuration.
    """
    method = quantisation_of(config)
    if method is None:
        try:
            types = Checkpoint(folder).types
        except ValueError as error:
            raise ValueError(f"{role} {name!r} cannot be loaded: {error}") from error
        # Eight bits without a word in the configuration: scales would be missing or left over.
        for tensor, kind in types.items():
            if kind not in PLAIN_TYPES and not UNREAD.search(tensor):
                raise ValueError(
                    f"{role} {name!r} has tensors of type {kind}, for example {tensor}, and its "
                    "config.json names no quantisation that explains them. Choose the checkpoint "
                    "in bfloat16, or one with its quantization_config."
                )
    elif method == UNNAMED:
        raise ValueError(
            f"{role} {name!r} has a quantization_config without a quant_method. Choose the "
            "checkpoint in bfloat16, or one whose config.json names its method."
        )
    elif method not in AUTO_QUANTIZATION_CONFIG_MAPPING:
        raise ValueError(
            f"{role} {name!r} has a quantisation, {method}, that transformers does not read. "
            "Choose the checkpoint in bfloat16, or one that is quantised by another method."
        )


def check_names(role: str, name: str, missing: Iterable[str], left_over: Iterable[str]) -> None:
    """Raise a `ValueError` that names a tensor that is missing, or left over."""
    belong = "config.json and *.safetensors must belong to the same model."
    if names := sorted(missing):
        raise ValueError(
            f"{role} {name!r} lacks weights of its configuration, for example {names[0]}; {belong}"
        )
    if names := sorted(left_over):
        scales = " Without its scales a weight is another number." * ("scale" in names[0])
        raise ValueError(
            f"{role} {name!r} has tensors that its configuration does not use, for example "
            f"{names[0]}; {belong}{scales}"
        )


def quantisation_of(config: PreTrainedConfig) -> str | None:
    """The method by which a configuration says that weights are quantised; None for none."""
    settings = getattr(config.get_text_config(), "quantization_config", None)
    settings = settings or getattr(config, "quantization_config", None)
    if not settings:
        return None
    if not isinstance(settings, dict):
        settings = settings.to_dict()
    method = settings.get("quant_method") or UNNAMED
    method = str(getattr(method, "value", method))
    if method == "bitsandbytes":  # one name in files, two methods in transformers
        method += "_4bit" if settings.get("load_in_4bit") else "_8bit"
    return method


def left_over_names(model: PreTrainedModel, names: Iterable[str]) -> set[str]:
    """Those of the names of a checkpoint that a model neither has nor says that it ignores."""
    ignored = [*(model._keys_to_ignore_on_load_unexpected or ()), UNREAD.pattern]
    others = set(names) - model.state_dict().keys()
    return {name for name in others if not any(re.search(pattern, name) for pattern in ignored)}


def hash_of(folder: Path) -> str:
    """A hash of the weights in a folder; known files are not read again."""
    digests = from_cache("weights.json", lambda path: json.loads(path.read_text("utf-8"))) or {}
    hashes = {}
    for file in weight_files(folder):
        status = file.stat()
        # Name, size and time stand for the content, as hashing gigabytes takes longer than loading
        # them.
        key = f"{file.resolve()} {status.st_size} {status.st_mtime_ns}"
        if key not in digests:
            with open(file, "rb") as content:
                digests[key] = hashlib.file_digest(content, "sha256").hexdigest()
        hashes[file.name] = digests[key]
    to_cache("weights.json", json.dumps(digests))
    return hashlib.sha256(json.dumps(hashes).encode()).hexdigest()
