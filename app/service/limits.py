"""Limits for visitors, so that none can block the machine for the others; the environment can
change them."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from specviz.base.errors import ParameterError
from specviz.builders.base import TreeBuilder
from specviz.config.prompt import Message
from specviz.config.run_config import RunConfig


def limit(name: str, default: int, most: int = 10**9) -> int:
    """A setting of the environment: a whole number from 1 to most."""
    text = os.environ.get(name, "").strip() or str(default)
    if not (text.isascii() and text.isdigit() and len(text) < 11 and 1 <= int(text) <= most):
        raise ValueError(
            f"{name} must be a whole number from 1 to {most}; got {text[:40]!r}. "
            f"Omit it for {default}."
        )
    return int(text)


def flag(name: str, default: bool = False) -> bool:
    """Whether a setting of the environment is on, which is 0 or 1."""
    text = os.environ.get(name, "").strip() or f"{default:d}"
    if text not in ("0", "1"):
        raise ValueError(f"{name} must be 1 or 0; got {text[:40]!r}. Omit it for {default:d}.")
    return text == "1"


PROMPT = limit("SPECVIZ_MAX_PROMPT", 20_000)  # characters; turning text into tokens takes time
TOKENS = limit("SPECVIZ_MAX_TOKENS", 512)  # new ones, of one run
NODES = limit("SPECVIZ_MAX_NODES", 1024)  # of a tree, its root included; sliders go as far
QUEUE = limit("SPECVIZ_MAX_QUEUE", 200)  # runs that wait; below, nobody is rejected
PREPARE = flag("SPECVIZ_PREPARE", True)  # whether SmolLM2 is prepared in the background
SECONDS = limit("SPECVIZ_MAX_SECONDS", 20)  # of the processor, for one request that is not a run
BODY = (
    16_000 + 3 * PROMPT
)  # bytes of a request: a prompt, at most three a character, and the other controls
# of a saved run that is opened; one of 64 steps with trees of 33 nodes takes about 300 kB
OPENED_BODY = 4_000_000
BODY_SECONDS = 20.0  # within which a request must arrive
LOADING = limit("SPECVIZ_MAX_LOADING", 1800)  # seconds that a pair may take into memory
SESSIONS = 200  # pages whose controls are kept
GPU_SECONDS = limit("SPECVIZ_GPU_SECONDS", 60)  # of a borrowed GPU, for one run

# Seconds to load a pair there, and a share for each token: 20 for a run of 96. A visitor who has
# less left of the day is sent away, however little a run then takes.
GPU_START = 12.0
GPU_TOKEN = 0.08


def check(config: RunConfig) -> None:
    """Raise a `ParameterError` for a value above its limit."""
    # A chat has messages with texts, a text has characters; else there are token ids.
    length = sum(len(part.content) if isinstance(part, Message) else 1 for part in config.prompt)
    for name, must, got, maximum in (
        ("prompt", "have at most {:,} characters", length, PROMPT),
        ("max_new_tokens", "be at most {:,}", config.max_new_tokens, TOKENS),
        ("tree", "have at most {:,} nodes", max_nodes(config.builder), NODES),
    ):
        if got > maximum:
            raise ParameterError(name, f"{must.format(maximum)} here", got, "Reduce it.")


def max_nodes(builder: TreeBuilder) -> int:
    """How many nodes the trees of a builder may have: its limit or size, or the nodes of its shape,
    or a chain of its length."""
    if hasattr(builder, "limit"):
        return builder.limit
    if hasattr(builder, "size"):
        return builder.size
    if hasattr(builder, "shape"):
        return len(builder.shape.parents)
    return 1 + getattr(
        builder, "longest", getattr(builder, "depth", 0)
    )  # a tree of the root alone has neither


def gpu_seconds(tokens: int) -> int:
    """For how many seconds a GPU is borrowed to decode so many tokens."""
    return min(GPU_SECONDS, round(GPU_START + GPU_TOKEN * tokens))


def number(value: object) -> Any:
    """A number as it came from the browser: whole where it can be, None where a box was left
    empty."""
    # Some numbers are text boxes, because a number box cannot be left empty; and the browser has no
    # whole numbers, so 3 may come as 3.0.
    if isinstance(value, str):
        if not value.strip():
            return None
        with suppress(ValueError):
            value = float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value
