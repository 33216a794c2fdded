"""Several texts in one loop, with one pass of the target for all of them in every step.

Each text is decoded by `speculate` itself, in a coroutine of its own that waits whenever it needs a pass of a model.
While any text still drafts, the draft's passes are made for those that wait for one; once all wait for the target, it
reads all trees in one pass. So each text depends on its own seed and tokens alone, and is what it would be without the
others, up to the rounding of larger matrix products.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

from greenlet import getcurrent, greenlet

from ..config import RunConfig
from ..decode import speculate
from ..models.base import Pair
from ..models.waiting import PairForTexts, Request, answers
from ..record import Step

Steps = tuple[tuple[int, Step], ...]


def speculate_together(pair: Pair, configs: Sequence[RunConfig]) -> Generator[Steps, None, None]:
    """Decode several texts; stop iterating to stop it. All of it belongs to one thread.

    Args:
        pair: the models.
        configs: of each text what to run; they may differ in anything.

    Returns:
        After every pass of the target the steps that it completed, each with the number of its text.

    Raises:
        ValueError: as `speculate`, or if the models cannot read several texts in one pass.

    >>> configs = [specviz.RunConfig(prompt, "chain:depth=2", max_new_tokens=4) for prompt in ("ab", "ba")]
    >>> for steps in speculate_together(specviz.toy_pair(), configs):
    ...     print([(text, "".join(step.pieces)) for text, step in steps])
    [(0, 'cbb'), (1, 'bac')]
    [(0, 'a'), (1, 'c')]
    """
    found: list[tuple[int, Step]] = []

    def decode(text: int, config: RunConfig) -> None:
        for step in speculate(together, config):
            found.append((text, step))

    together: Any = PairForTexts(pair, len(configs), lambda request: getcurrent().parent.switch(request))
    texts = [greenlet(partial(decode, text, config)) for text, config in enumerate(configs)]
    waiting: dict[int, Request] = {}
    try:
        resume(texts, waiting, dict.fromkeys(range(len(texts)), ()))
        while waiting:
            drafting = [text for text, request in waiting.items() if not request.target]
            served = [text for text in drafting if waiting[text].model is waiting[drafting[0]].model] or [*waiting]
            logits = answers([waiting.pop(text) for text in served])  # ONE pass for all of them
            resume(texts, waiting, {text: (rows,) for text, rows in zip(served, logits, strict=True)})
            if found:
                yield tuple(found)
                found.clear()
    finally:
        for text in texts:
            text.throw()


def resume(texts: Sequence[greenlet], waiting: dict[int, Request], given: dict[int, tuple]) -> None:
    """Let texts go on with what they were given until each waits for its next pass or has ended."""
    for text, values in given.items():
        request = texts[text].switch(*values)
        if request is not None:
            waiting[text] = request
