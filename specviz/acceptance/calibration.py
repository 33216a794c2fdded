"""Calibration piece by piece: texts, all measures on each of them, and the vectors as a file.

Texts are held-out presets, a visitor's text, or continuations by the target, which it verifies during decoding; any
other text shows what would be accepted if the target had written it. Results are updated after each, so that the page
can show partial ones, and a visitor can stop at any time.
"""

from __future__ import annotations

import calendar
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from .. import codec
from ..config import LARGEST, RunConfig
from ..files import CLOCKMAKER, HELD_OUT, parse_json
from ..verifiers import VERIFIERS
from .on_nodes import DraftUncertainty, RejectionRates, draft_uncertainty, rates_together, rejection_rates
from .on_text import Acceptance, acceptance_vector, own_texts, together
from .positions import ReadOnce
from .text_units import Written, limited, positions_of
from .vectors import MOST

WINDOW = 128  # tokens that are read together
WIDTH = 16


@dataclass(frozen=True)
class Calibration:
    """What is known so far: a vector for each rule, the draft entropy, and rejection rates; None before the first."""

    vectors: tuple[Acceptance, ...] = ()
    uncertainty: DraftUncertainty | None = None
    rates: RejectionRates | None = None

    @property
    def positions(self) -> int:
        """How many positions were measured."""
        return self.vectors[0].positions if self.vectors else 0


@dataclass(frozen=True)
class Progress:
    """How far a calibration is: what is being measured, positions done, of how many, texts done, of how many."""

    stage: str
    done: int
    of: int
    texts: int
    of_texts: int
    calibration: Calibration


def windows(tokens: Sequence[int], positions: int, most: int) -> list[list[int]]:
    """A text in pieces that the models can read, about `positions` positions in all; they stay one text."""
    length = max(2, min(WINDOW, most))
    pieces = [Written(tokens[start : start + length], 1, "one") for start in range(0, len(tokens), length)]
    return list(limited(pieces, positions))


def calibrate(pair: Any, texts: Sequence[Sequence[int]], rules: Sequence[str], config: RunConfig) -> Iterator[Progress]:
    """Measure all rules; stop iterating to stop it.

    Args:
        pair: the models.
        texts: token ids, two and more of each.
        rules: menu names.
        config: drafter, temperature, top-p and seed; each text gets a seed of its own.

    Raises:
        ValueError: if there is no text to measure on, or the pair lacks the drafter's model.
    """
    if not texts:
        raise ValueError("text to calibrate on must have at least two tokens. Use a longer text.")
    calibration, of, width = Calibration(), sum(map(positions_of, texts)), min(WIDTH, pair.vocab_size)
    vectors: list[list[Acceptance]] = []  # of each text: texts are the unit of what is said of all
    rates: list[RejectionRates] = []
    # The closed forms of rejection rates take children for granted that were never seen; such a drafter draws none.
    stages = ("Acceptance",) if config.drafter.sparse else ("Acceptance", "Rejection rates")
    for stage in stages:
        done = 0
        for number, text in enumerate(texts, 1):
            own, once = replace(config, seed=(config.seed + number) % (LARGEST + 1)), ReadOnce()
            if stage == "Acceptance":
                vectors.append(
                    [acceptance_vector(pair, VERIFIERS[rule](), [text], own, width, read=once) for rule in rules]
                )
                uncertainty = joined_uncertainties(
                    calibration.uncertainty, draft_uncertainty(pair, [text], own, read=once)
                )
                calibration = replace(
                    calibration,
                    vectors=tuple(together(parts, texts[:number]) for parts in zip(*vectors, strict=True)),
                    uncertainty=uncertainty,
                )
            else:
                rates.append(rejection_rates(pair, [text], own))
                calibration = replace(calibration, rates=rates_together(rates, texts[:number]))
            done += positions_of(text)
            yield Progress(stage, done, of, number, len(texts), calibration)


def joined_uncertainties(one: DraftUncertainty | None, two: DraftUncertainty) -> DraftUncertainty:
    """The columns of both, one after the other."""
    if one is None:
        return two
    return DraftUncertainty(*((*getattr(one, f.name), *getattr(two, f.name)) for f in fields(DraftUncertainty)))


CONTINUED = 96  # tokens of each continuation
LONGEST = 20_000  # characters of a visitor's text
SOURCES = {
    "Target's own prose": "own-prose",
    "Target's own code": "own-code",
    "A tale (prose)": "prose",
    "calendar.py (code)": "code",
    "Your text": "yours",
}


def preset(kind: str) -> str:
    """A text by kind: "prose" is a tale, "code" a module of the standard library kept out of training."""
    return (CLOCKMAKER if kind == "prose" else Path(calendar.__file__)).read_text(encoding="utf-8")


def gather(
    pair: Any, kind: str, yours: str, positions: int, config: RunConfig
) -> Iterator[tuple[int, int, list[list[int]]]]:
    """(texts made, of how many, texts so far), the last with all of them.

    Args:
        pair: the models.
        kind: one of the values of `SOURCES`.
        yours: the visitor's text, where the kind asks for it.
        positions: how many are to be measured.
        config: how the target continues.

    Raises:
        ValueError: if there is no such kind, or a visitor's text is missing or too long.
    """
    if kind not in SOURCES.values():
        raise ValueError(f"Text must be one of {', '.join(SOURCES)}; got {str(kind)[:40]!r}.")
    if kind.startswith("own-"):
        prompts = json.loads(HELD_OUT.read_text(encoding="utf-8"))[kind.removeprefix("own-")]
        yield from _continued(pair, prompts, positions, config)
        return
    text = preset(kind) if kind != "yours" else yours
    if not isinstance(text, str) or not text.strip():
        raise ValueError("Your text is empty. Paste one or two paragraphs, or choose another text.")
    if kind == "yours" and len(text) > LONGEST:
        raise ValueError(f"Your text must have at most {LONGEST:,} characters; it has {len(text):,}. Shorten it.")
    tokens = pair.encode(text[: 12 * positions + 100])  # no token of ordinary text is that long
    texts = windows(tokens, positions, pair.max_positions)
    yield len(texts), len(texts), texts


def _continued(
    pair: Any, prompts: Sequence[str], positions: int, config: RunConfig
) -> Iterator[tuple[int, int, list[list[int]]]]:
    texts: list[list[int]] = []
    have, turn = 0, 0
    while have < positions and turn < 4 * len(prompts):
        own = replace(config, max_new_tokens=CONTINUED, seed=(config.seed + turn) % (LARGEST + 1))
        texts += [text for text in own_texts(pair, [prompts[turn % len(prompts)]], own) if positions_of(text)]
        have, turn = sum(map(positions_of, texts)), turn + 1
        each = max(1, have // max(1, len(texts)))
        yield len(texts), max(len(texts), -(-positions // each)), list(limited(texts, positions))


def to_text(vectors: Sequence[Acceptance]) -> str:
    """One vector as an object, several in a list.

    Args:
        vectors: at least one.

    >>> pair, rule = specviz.toy_pair(), specviz.VERIFIERS["sequoia"]()
    >>> from specviz.acceptance.on_text import acceptance_vector
    >>> found = acceptance_vector(pair, rule, [pair.encode("abcab")], specviz.RunConfig(), width=2)
    >>> from_text(to_text([found])) == (found,)
    True
    """
    return codec.lines(vectors[0] if len(vectors) == 1 else {"vectors": vectors}, exact=True) + "\n"


def from_text(text: str | bytes) -> tuple[Acceptance, ...]:
    """The vectors of an uploaded file.

    Raises:
        ValueError: if it is damaged in any way; the message says where.
    """
    try:
        data = parse_json(text)
    except ValueError:
        raise ValueError("The file is not JSON. It may be truncated or damaged.") from None
    rows = data.get("vectors", [data]) if isinstance(data, dict) else None
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST:
        raise ValueError(
            'The file must contain an acceptance vector from "Save vectors" or `specviz calibrate --json`.'
        )
    return tuple(codec.read(Acceptance, row, f"vector {number}") for number, row in enumerate(rows, 1))
