"""What a lesson is: a text with places for numbers, runs, and what computes the numbers from the
runs.

The text is assets/lessons/NAME.md. No number in it is typed: each stands as {name}, and the
lesson's `facts` computes it from the recordings. A recording whose run does not show the point of
its lesson has no facts; the recorder then tries the next seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from specviz.base.codec import JsonObject
from specviz.base.files import ASSETS, TRACES
from specviz.config.run_config import RunConfig
from specviz.record.step import Step
from specviz.tree import Topology

from ...service.pair_ref import TALES

TEXTS = ASSETS / "lessons"
RUNS = TRACES / "lessons"

TALE = "Once upon a time there was a little"
SHIP = "The captain looked at the sea and said"
FUNCTION = 'def read_lines(path):\n    """Return the lines of a file."""\n'


class Recording(NamedTuple):
    """A run that a lesson shows.

    Args:
        name: part of the name of its file.
        label: on its button.
        config: its configuration; the recorder chooses the seed.
        steps: how many steps are recorded at most.
        autoregressive: whether the target decodes alone.
    """

    name: str
    label: str
    config: RunConfig
    steps: int = 16
    autoregressive: bool = False


class Place(NamedTuple):
    """A place in the pictures of a lesson: index of the step (of a figure: how far it is), the
    selected node if any, and which of its pictures."""

    step: int = 0
    node: int | None = None
    picture: int = 0


class Figure(NamedTuple):
    """A picture that is no run: the label on its button, its name in the browser's code, plain data
    to draw, and how many steps the arrows go through when it is presented."""

    label: str
    name: str
    data: object
    steps: int = 0


@dataclass(frozen=True)
class Facts:
    """What the recordings of a lesson show.

    Args:
        values: for the places in the text, by name.
        opens: what the picture shows at first.
        shows: where the button of the exercise leads.
        figures: pictures beside the runs.
    """

    values: JsonObject
    opens: Place
    shows: Place
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Lesson:
    """One lesson.

    Args:
        name: of its text and its recordings, and in links.
        recordings: its runs.
        facts: takes their traces; None where they do not show the point.
        target: the name of the pair that decodes its runs.
    """

    name: str
    recordings: tuple[Recording, ...]
    facts: Callable[..., Facts | None]
    target: str = field(default=TALES, kw_only=True)

    def path(self, recording: Recording) -> Path:
        """The file of a recording."""
        return RUNS / f"{self.name}-{recording.name}.json"


def quote(*texts: str) -> str:
    """Text of tokens as a person reads it, in quotation marks."""
    return f"“{''.join(texts).replace(chr(10), '↵').strip(' ')}”"


def readable(*texts: str) -> bool:
    """Whether all of these tokens are words, so that a lesson can quote them."""
    # With its space before it: a token without one is the end of a word, which reads badly alone.
    return all(text.startswith(" ") and len(text) > 2 and text.strip().isalpha() for text in texts)


def best_step(steps: Iterable[Step], score: Callable[[Step], float]) -> Step | None:
    """The first step with the highest score; None if no score is above 0."""
    # The first of equal ones, so that a new recording changes as little as possible.
    best = max(steps, key=score, default=None)
    if best is not None and score(best) > 0:
        return best
    return None


def nodes_with(step: Step, outcome: str) -> list[int]:
    """The nodes of a step with an outcome such as "rejected"."""
    return [node for node, own in enumerate(step.outcome) if own == outcome]


def children(step: Step, node: int = 0) -> list[int]:
    """The children of a node, in the order in which they were drawn."""
    return list(Topology(step.parents).children[node])
