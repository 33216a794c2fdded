"""ZeroGPU of Hugging Face Spaces: a GPU for one call, in a separate process.

`spaces` exists only on a Space and must be imported before torch; arguments and items travel
between processes.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import gradio as gr

from specviz.base.codec import JsonObject
from specviz.models.base import Pair

from . import limits

try:
    import spaces
except ImportError:
    spaces = None

log = logging.getLogger(__name__)
ON = spaces is not None and os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")


class _Rejected(NamedTuple):
    sentence: str


def gpu(duration: Callable[..., int]) -> Callable[[Any], Any]:
    """A decorator for the generator that decodes, with the seconds to borrow; outside a Space it
    changes nothing."""
    return (lambda work: work) if spaces is None else spaces.GPU(duration=duration)


# Decorated when the module is imported: a Space looks for such functions as it starts.
@gpu(lambda tokens, *job: limits.gpu_seconds(tokens))
def _computed(
    tokens: int, load: Callable[[], Pair], work: Callable[..., Iterator[object]], *args: object
) -> Iterator[object]:
    """The items of work(load(), *args), in the process that has the GPU."""
    try:
        yield from work(load(), *args)
    except ValueError as error:
        yield _Rejected(str(error))  # of an exception only the name would travel back


def compute(
    tokens: int, load: Callable[[], Pair], work: Callable[..., Iterator[object]], *args: object
) -> Iterator[Any]:
    """The items of work(pair, *args) on a GPU that is borrowed to decode so many `tokens`,
    where `load` returns the pair.

    Raises:
        ValueError: from the work, or because no GPU is lent.
    """
    try:
        for item in _computed(tokens, load, work, *args):
            if isinstance(item, _Rejected):
                raise ValueError(item.sentence)
            yield item
    except gr.Error as error:
        raise ValueError(re.sub(r"<[^>]*>", "", f"{error.title}: {error.message}")) from error


def place(offers: JsonObject) -> None:
    """Load the weights of these pairs now, where GPUs are lent; one that fails is left to its first
    run, which tells the visitor why.

    What was preloaded before anybody borrows a GPU is on it as soon as somebody does.
    """
    if not ON:
        return
    # Only here: `spaces` must be imported before torch, and most pages need neither.
    from specviz.models.early_exit import count_layers
    from specviz.models.loading import choose_device, choose_dtype, load_model, preloaded
    from specviz.models.pair import pair_names

    device = choose_device("auto")
    dtype = choose_dtype("auto", device)
    for models in offers:
        target, _, draft = models.partition("|")
        try:
            names = pair_names(None if target == "tales" else target, draft or None)
            for role, name in zip(("target", "draft"), names, strict=True):
                if name is not None and not count_layers(name):
                    preloaded[name, device, dtype] = load_model(role, name, device, dtype)
        except Exception:
            log.exception("%s cannot be loaded at the start", models)
