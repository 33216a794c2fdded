"""What is known of a pair before it is loaded: sizes, licences, texts, and whether it fits here.

A visitor may name any models, so their configurations and tokenizers are read in another process,
with limits of time and memory (`service.process`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

import psutil
from huggingface_hub import HfApi
from huggingface_hub.utils import filter_repo_objects
from safetensors import SafetensorError, safe_open

from specviz.base.errors import cause
from specviz.config.prompt import Message
from specviz.models.hub import FILES, RANDOM, SUBFOLDERS

ROOM = 1.3  # memory that loading takes beyond the weights
LONGEST_TOKEN = 4_000  # characters
LONGER = 8  # times as many tokens as characters that a text may have, and some


@dataclass(frozen=True)
class ModelFiles:
    """A model's name, the bytes of its files, its parameters where they are counted, and its
    licence."""

    name: str
    bytes: int
    parameters: int | None
    licence: str = "unknown"


@dataclass(frozen=True)
class Description:
    """What there is to say of a pair, and whether it fits here."""

    text: str
    fits: bool


def model_files(name: str) -> ModelFiles:
    """The size, parameters and licence of a folder or of a hub model."""
    folder = Path(name).expanduser()
    # A folder is measured by its files; of a hub only what it says is asked, so nothing is fetched.
    if folder.is_dir():
        files = chain.from_iterable(map(folder.glob, FILES))
        size = sum(file.stat().st_size for file in files)
        parameters = sum(prod(shape) for shape in weight_shapes(folder).values())
        return ModelFiles(folder.resolve().name, size, parameters)
    info = HfApi().model_info(name, files_metadata=True, timeout=5.0)
    files = filter_repo_objects(
        info.siblings or (),
        allow_patterns=FILES,
        ignore_patterns=SUBFOLDERS,
        key=lambda file: file.rfilename,
    )
    total = getattr(info.safetensors, "total", None)
    licence = "unknown"
    for tag in info.tags or ():
        if tag.startswith("license:"):
            licence = tag.removeprefix("license:")
            break
    return ModelFiles(name, sum(file.size or 0 for file in files), total, licence)


def weight_shapes(folder: Path) -> dict[str, list[int]]:
    """The shapes of all weights in a folder by their names, from the headers of its files."""
    shapes = {}
    for file in sorted(folder.glob("*.safetensors")):
        try:
            with safe_open(file, framework="np") as weights:
                for name in weights.keys():  # noqa: SIM118
                    shapes[name] = weights.get_slice(name).get_shape()
        except SafetensorError as error:
            raise ValueError(f"{file.name} is damaged: {error}. Save the model again.") from None
    return shapes


def check_layers(role: str, folder: Path) -> None:
    """Check that a model of a folder has no more layers than its files hold weights of, before
    anything of that size is built.

    Raises:
        ValueError: if it has, or config.json cannot be read.
    """
    file = folder / "config.json"
    if not file.is_file():  # who loads the model says what is missing
        return
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
        counts = [config[name] for name in ("num_hidden_layers", "n_layer") if name in config]
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"{role}: config.json cannot be read: {cause(error)}.") from None
    # Every layer has at least one weight. A configuration may claim a million layers, which would
    # be built with random weights, and take all memory, before a loader looks at the files.
    there = len(weight_shapes(folder))
    for layers in counts:
        if type(layers) is not int or not 0 < layers <= there:
            raise ValueError(
                f"{role}: config.json must have as many layers as the files; got {layers!r:.20} "
                f"layers, where the files hold {there} weights. Save the model again."
            )


def check_folders(target: str, draft: str) -> None:
    """`check_layers` for those of a pair's models that are folders.

    It comes before torch is imported and a tokenizer is read, which brings a model's configuration
    of any size with it.
    """
    for role, name in {"target": target, "draft": draft}.items():
        folder = Path(name).expanduser()
        if name and folder.is_dir():
            check_layers(role, folder)


def too_large(models: Sequence[ModelFiles]) -> str:
    """A sentence where models do not fit into this machine's free memory; nothing where they do."""
    free = psutil.virtual_memory().available
    need = needed(models)
    if need <= free:
        return ""
    return (
        f"The models need about {size(need)} of memory, but only {size(free)} are free. Choose "
        "smaller models."
    )


def needed(models: Sequence[ModelFiles]) -> float:
    """Bytes of memory that models need while they are loaded: in bfloat16 where the processor
    computes in it."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        flags = ""
    # As `models.loading` chooses the number format, without importing torch.
    width = 2 if "avx512_bf16" in flags or "amx_bf16" in flags else 4
    total = 0
    for model in models:
        total += width * model.parameters if model.parameters else model.bytes
    return ROOM * total


def size(count: float) -> str:
    """Bytes in words."""
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.1f} MB"


# ---- in the other process ----


def describe(target: str, draft: str) -> Description:
    """What is known of a pair that a visitor names; torch comes with it.

    Only configurations, tokenizers and headers are read.

    Raises:
        ValueError: if a model cannot be had, or cannot be what it says.
    """
    check_folders(target, draft)
    from specviz.models.early_exit import count_layers
    from specviz.models.loading import load_config, longest_text
    from specviz.models.pair import read_tokenizers
    from specviz.models.vocabulary import translation

    # Early exit is layers of the target: no other files, and no other tokenizer.
    has_draft = draft and not count_layers(draft)
    roles = {"target": target} | ({"draft": draft} if has_draft else {})
    tokenizer, draft_tokenizer = read_tokenizers(target, draft or None)
    tokens = tokenizer.vocab_size if target.startswith(RANDOM) else len(tokenizer)
    sentences = [f"The vocabulary has {tokens:,} tokens."]
    if draft_tokenizer is not None:
        common = translation(tokenizer, draft_tokenizer, tokens, len(draft_tokenizer)).target_ids
        sentences = [
            f"The vocabularies differ: the draft proposes only the {len(common):,} common tokens "
            f"of {tokens:,}."
        ]
    longest = min(longest_text(role, load_config(role, name)) for role, name in roles.items())
    sentences.append(f"Texts may have up to {longest:,} tokens.")
    models = [_files(name) for name in roles.values()]
    counts = [model.parameters or 0 for model in models]
    if all(counts):
        sentences.append(f"Parameters: {' and '.join(f'{count:,}' for count in counts)}.")
        if len(counts) > 1 and counts[0] <= counts[1]:
            sentences.append("The draft is no smaller than the target, so it cannot save time.")
    need = needed(models)
    problem = too_large(models)
    if need and not problem:
        free = psutil.virtual_memory().available
        sentences.append(f"About {size(need)} of memory are needed; {size(free)} are free.")
    return Description(" ".join(filter(None, [*sentences, problem])), not problem)


def try_tokenizers(target: str, draft: str, prompts: Sequence[str | Sequence[Message]]) -> None:
    """Turn prompts into tokens and back as a run would: whoever made a tokenizer, or the template
    of a chat, may have made it to grow without end, or to fail.

    Raises:
        ValueError: if a text gets far too many tokens, a token is far too long, or a chat does not
            fit the template.
    """
    from specviz.models.text import TokenText

    texts = [TokenText(tokenizer) for tokenizer in _tokenizers(target, draft)]
    for text in texts[:1]:  # the target reads the prompt, by its template where it has one
        text.end_of_turn()  # loading asks for it
        for prompt in prompts if text.is_chat else ():
            text.encode([Message("user", prompt)] if isinstance(prompt, str) else prompt)
    for text in texts:
        for prompt in prompts:
            if isinstance(prompt, str):
                # A token may be shorter than a character (a byte of it), but not by much.
                ids = text.encode(prompt)
                if len(ids) > LONGER * len(prompt) + 100:
                    raise ValueError(
                        f"The tokenizer makes {len(ids):,} tokens of {len(prompt):,} characters."
                    )
                text.tokenizer.decode(ids)


@cache  # of the other process, which may ask for the same pair once for every run
def _tokenizers(target: str, draft: str) -> list[Any]:
    """The tokenizers of a pair, every token of which was looked at once."""
    check_folders(target, draft)
    from specviz.models.pair import read_tokenizers

    found = [one for one in read_tokenizers(target, draft or None) if hasattr(one, "get_vocab")]
    # A token that a few kilobytes of file decode to megabytes of text would fill the page.
    for tokenizer in found:
        for token in range(len(tokenizer)):
            if len(tokenizer.decode([token])) > LONGEST_TOKEN:
                raise ValueError(
                    f"Token {token} must have at most {LONGEST_TOKEN:,} characters as text."
                )
    return found


def _files(name: str) -> ModelFiles:
    """The files of a model; without sizes for random weights, and where the hub does not answer."""
    with suppress(OSError):  # its tokenizer lies in the cache
        if not name.startswith(RANDOM):
            return model_files(name)
    return ModelFiles(name, 0, None)
