"""Time and memory of a step as trees, texts and vocabularies grow.

One measurement a row, each with the loop itself. Trees and texts grow with the pair that is given; vocabularies with
models of random weights, whose passes cost what real ones cost, while what they accept means nothing.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, log2
from statistics import median

from ..acceptance.vectors import find_acceptance
from ..builders.sequoia import Sequoia
from ..compatibility import compatible
from ..config import RunConfig
from ..decode import speculate
from ..metrics import PARTS
from ..models.base import Pair
from ..record import Step
from ..verifiers.base import Verifier
from .measure_cost import PROMPT

NODES = (16, 32, 64, 128, 256, 512, 768)
CONTEXT = 128
VOCABULARIES = (4096, 16384, 32768, 65536, 150_000)
BURST = 3  # steps of a run that count; the first, which reads the text, never does


@dataclass(frozen=True)
class Cost:
    """One row: medians over steps.

    Attributes:
        grows: "tree", "text" or "vocabulary", what this row is compared with others by.
        nodes, context, vocabulary: of the tree, of the text in tokens, of the models.
        draft_s, target_s, verify_s, other_s: where a step's seconds went.
        memory: bytes by which the process grew at most while it ran; None where the system does not tell.
        random: whether the models' weights are random.
    """

    grows: str
    nodes: int
    context: int
    vocabulary: int
    draft_s: float
    target_s: float
    verify_s: float
    other_s: float
    memory: int | None
    random: bool

    @property
    def overhead(self) -> float:
        """Verify and other, as a part of the step."""
        rest = self.verify_s + self.other_s
        return rest / (rest + self.draft_s + self.target_s)


def scale(
    pair: Pair,
    random_pair: Callable[[int], Pair],
    verifier: Verifier,
    temperature: float = 0.8,
    nodes: Sequence[int] = NODES,
    contexts: Sequence[int] | None = None,
    vocabularies: Sequence[int] = VOCABULARIES,
    steps: int = 6,
) -> Iterator[Cost]:
    """Measure row by row; stop iterating to stop it.

    Args:
        pair: for trees and texts.
        random_pair: makes a pair with a vocabulary of so many tokens, each of which is let go before the next is made.
        verifier: the rule.
        temperature: of target and draft.
        nodes: sizes of trees, tried with `CONTEXT` tokens of text.
        contexts: lengths of text, tried with the smallest tree; None doubles up to the longest that the pair can hold.
        vocabularies: tried with the smallest tree.
        steps: how many steps each row counts.

    Raises:
        ValueError: if the rule cannot go with a tree, the pair has no draft, or a text is too long for the pair.
    """
    compatible(RunConfig(builder=Sequoia(), verifier=verifier, temperature=temperature)).required()
    least = min(nodes)
    longest = pair.max_positions - _depth(least) - BURST * (_depth(least) + 1)
    if contexts is None:
        doubled = [CONTEXT << i for i in range(32) if CONTEXT << i < longest]
        contexts = [*doubled, longest]
    short = min(CONTEXT, longest)
    for size in sorted(set(nodes)):
        yield measure("tree", pair, size, short, verifier, temperature, steps)
    for context in sorted(set(contexts)):
        yield measure("text", pair, least, context, verifier, temperature, steps)
    for vocabulary in sorted(set(vocabularies)):
        yield measure("vocabulary", random_pair(vocabulary), least, short, verifier, temperature, steps, random=True)


def measure(
    grows: str, pair: Pair, nodes: int, context: int, verifier: Verifier, temperature: float, steps: int,
    random: bool = False,
) -> Cost:  # fmt: skip
    """One row: runs of a few steps each after the same text, until enough of them had a whole tree."""
    if not 1 <= context < pair.max_positions - _depth(nodes):
        longest = pair.max_positions - _depth(nodes) - 1
        raise ValueError(f"contexts must be from 1 to {longest} tokens with trees of {nodes} nodes; got {context}.")
    builder = Sequoia(nodes, _depth(nodes), 64, find_acceptance(verifier.name, temperature))
    text = pair.encode(PROMPT) or [0]
    text = (text * (context // len(text) + 1))[:context]
    memory, seed = Memory(), 0
    found: list[Step] = []
    while len(found) < steps:
        config = RunConfig(
            text, builder, verifier, temperature, max_new_tokens=pair.max_positions - context, seed=seed
        )  # fmt: skip
        counted = _burst(pair, config)
        found += counted
        seed += 1
        if not counted and seed > 3 * steps:
            raise ValueError(f"the models end every text at once after {context} tokens, so there is no step to time.")
    draft, target, verify, other = (median(getattr(step.seconds, part) for step in found) for part in PARTS)
    size = int(median(len(step.parents) for step in found))
    return Cost(grows, size, context, pair.vocab_size, draft, target, verify, other, memory.growth(), random)


def _burst(pair: Pair, config: RunConfig) -> list[Step]:
    """The steps of one run that count: behind the first, and with room for a whole tree."""
    found = []
    for step in speculate(pair, config):
        if step.index > 0 and pair.max_positions - step.start > config.builder.depth + 1:
            found.append(step)
        if step.index == BURST:
            break
    return found


def _depth(nodes: int) -> int:
    return max(1, min(nodes - 1, ceil(log2(nodes))))


class Memory:
    """How much more memory the process held at most since this was made, as Linux counts it."""

    def __init__(self) -> None:
        gc.collect()
        with suppress(OSError, AttributeError, TypeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)  # what earlier work has freed is not to hide what this takes
        try:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")  # the peak begins anew
            self._before = _kilobytes("VmRSS")
        except OSError:
            self._before = None

    def growth(self) -> int | None:
        """Bytes; None where the system does not tell."""
        if self._before is None or (peak := _kilobytes("VmHWM")) is None:
            return None
        return 1024 * max(0, peak - self._before)


def _kilobytes(name: str) -> int | None:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        found = [line.split()[1] for line in file if line.startswith(f"{name}:")]
    return int(found[0]) if found else None
