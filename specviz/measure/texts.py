"""Texts that are measured on: the target's own continuations of prompts, or windows of a given
text.

Texts are the unit of every interval: where a text is easy all of it is, so its tokens, and windows
of one text, are not independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..config.run_config import RunConfig
from ..decode import speculate
from ..decode.session import prompt_tokens
from ..models.base import Pair

WINDOW = 256  # tokens that are read together


@dataclass(frozen=True)
class Text:
    """Token ids to measure on.

    Args:
        tokens: the ids, [n].
        start: index of the first token that is measured, from 1; those before it are the prompt's.
        source: texts with the same source count as one text; "" for a text of its own.
    """

    tokens: tuple[int, ...]
    start: int = 1
    source: str = ""

    @property
    def positions(self) -> int:
        """How many positions are measured: one for each token from `start` on."""
        return max(0, len(self.tokens) - self.start)


AnyText = Text | Sequence[int]


def text_of(tokens: AnyText) -> Text:
    """Token ids as a `Text` that is measured from its second token on."""
    if isinstance(tokens, Text):
        return tokens
    return Text(tuple(tokens))


def continuations(pair: Pair, prompts: Iterable[str], config: RunConfig) -> Iterator[Text]:
    """The target's own continuations of prompts, one by one: what it verifies when it decodes.

    Args:
        pair: the models.
        prompts: texts to continue; the same prompt gives the same source.
        config: temperatures, length and seed; prompt `i` is continued with seed + i, since noise is
            keyed by position.
    """
    for number, prompt in enumerate(prompts):
        # Noise is keyed by position, so prompts with one seed would share their draws.
        own = replace(config, prompt=prompt, seed=config.seed_after(number)).autoregressive()
        tokens = prompt_tokens(pair, own)
        start = len(tokens)
        for step in speculate(pair, own):
            tokens += step.emitted
        yield Text(tuple(tokens), start, prompt)


def windows(pair: Pair, text: str, source: str) -> Iterator[Text]:
    """A text in pieces that the models can read; they stay one text, named by `source`."""
    tokens = pair.encode(text)
    # Longer windows cost more memory for a mask, shorter ones lose more first positions.
    length = min(WINDOW, pair.max_positions)
    for start in range(0, len(tokens), length):
        yield Text(tuple(tokens[start : start + length]), 1, source)


def limited(texts: Iterable[Text], positions: int) -> Iterator[Text]:
    """The first texts that have `positions` positions together, the last one cut; texts without any
    are left out."""
    for text in texts:
        if text.positions:
            yield replace(text, tokens=text.tokens[: text.start + positions])
            positions -= text.positions
        if positions <= 0:
            return
