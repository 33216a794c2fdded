"""Tokens per pass of whole trees, and prompts cut from the target's own text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from ..acceptance.in_traces import with_room
from ..acceptance.on_text import own_texts
from ..acceptance.progress import SoFar
from ..acceptance.text_units import Window, sources
from ..config import RunConfig
from ..metrics import Counts, estimate
from ..models.base import Pair
from ..trace import Trace

WINDOW = 24  # tokens of a prompt that is cut from a continuation


def tokens_with_room(traces: Sequence[Trace], levels: int) -> tuple[float, float | None, int]:
    """Tokens per pass over the steps that had room for a tree of so many levels, its margin, and how many steps.

    An end of text cuts what was accepted, which is not the tree's doing, so a step counts with all that its rule
    accepted. Texts are the unit of the margin.
    """
    counted = [
        (trace.config.prompt, Counts.of(steps, whole=True)) for trace in traces if (steps := with_room(trace, levels))
    ]
    if not counted:
        raise ValueError(f"max_new_tokens must allow a tree of {levels} levels. Increase it.")
    rows = [(one.tokens, one.passes) for _, one in counted]
    tokens, margin = estimate(rows, texts=sources([prompt for prompt, _ in counted]))
    return tokens, margin, sum(one.passes for _, one in counted)


def prompts_like(pair: Pair, prompts: Sequence[str], wanted: int, seed: int = 0) -> Iterator[SoFar[list[str]]]:
    """As many prompts as wanted: the ones given, then windows cut from what the target writes after them.

    Args:
        pair: the models.
        prompts: texts to begin with.
        wanted: how many are needed.
        seed: of the continuations, at temperature 1.

    Returns:
        How many there are, of how many, and the prompts; all windows behind one of the given ones are one text.

    Raises:
        ValueError: if the target ends every text before a window is full.
    """
    found = list(prompts[:wanted])
    each = max(1, -(-(wanted - len(found)) // max(1, len(prompts))))
    config = RunConfig(temperature=1.0, max_new_tokens=each * WINDOW)
    for turn in count():
        yield SoFar(min(len(found), wanted), wanted, found[:wanted])
        if len(found) >= wanted:
            return
        if turn >= 8 * len(prompts):
            raise ValueError("the models end their texts too early to cut more prompts from them. Give more prompts.")
        prompt = prompts[turn % len(prompts)]
        (text,) = own_texts(pair, [prompt], replace(config, seed=seed + turn))
        new = [token for token in text[len(pair.encode(prompt)) :] if token not in pair.eos_ids]
        windows = (Window(pair.decode(new[at : at + WINDOW]), prompt) for at in range(0, len(new) - WINDOW + 1, WINDOW))
        found += [window for window in windows if window.strip()]
