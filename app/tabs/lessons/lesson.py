"""What a lesson is made of, and how its numbers are computed from what was recorded.

A lesson is a module with a TITLE, its RECORDINGS, and `write_lesson(*traces)`, which writes the lesson about their
traces. A lesson with a view of its own may record something else: `observe(pair, seed)` returns it as plain data, which
`write_lesson` is given last. Every number in a lesson is computed from what was recorded; none is typed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from specviz import RunConfig, Step, Trace
from specviz.tree import Topology

TALE = "Once upon a time there was a little"
SHIP = "The captain looked at the sea and said"
FUNCTION = 'def read_lines(path):\n    """Return the lines of a file."""\n'
WOOD = "In the middle of the great dark forest"


@dataclass(frozen=True)
class Recording:
    """A run that a lesson needs.

    Args:
        name: part of the name of its file.
        label: what it is called where a lesson has several.
        config: its configuration; the recorder chooses the seed.
        steps: how many steps are recorded at most.
        plain: whether it is plain decoding, with the target alone.
    """

    name: str
    label: str
    config: RunConfig
    steps: int = 16
    plain: bool = False


@dataclass(frozen=True)
class Look:
    """A place in the recordings of a lesson.

    Args:
        step: index of the step.
        node: the node to select, "last" for the token the target adds, None for none.
        recording: which of the lesson's recordings.
    """

    step: int
    node: int | str | None = None
    recording: int = 0


class Shown(NamedTuple):
    """What a view shows under one of its buttons.

    Args:
        label: the button.
        steps: of each step of the view where it is, such as "cycle 3", and a sentence about it.
        data: what the view draws, plain data.
    """

    label: str
    steps: list[tuple[str, str]]
    data: Any


@dataclass(frozen=True)
class Lesson:
    """One lesson as it stands on the page; **words** between stars are terms that it defines.

    Args:
        opens: what the picture shows at first.
        text: its paragraphs.
        task: one thing to try.
        shows: where the button beside the task leads.
        question, answer: the answer is shown on demand, as paragraphs.
        timed: whether the measures of the run are shown.
        links: pages of the Lab that show more of it: a label, and the parameters of the address.
        view: the name of the view that stands in place of a run (assets/web/lessons/views.js), "" for a run.
        shown: what the view shows; a `Look` then names one of these and one of its steps.
    """

    opens: Look
    text: tuple[str, ...]
    task: str
    shows: Look
    question: str
    answer: tuple[str, ...]
    timed: bool = False
    links: tuple[tuple[str, str], ...] = ()
    view: str = ""
    shown: tuple[Shown, ...] = ()


def quote(*pieces: str) -> str:
    """Text of tokens as it is read, in quotation marks."""
    return f"“{''.join(pieces).replace(chr(10), '↵').strip(' ')}”"


PLURALS = {"child": "children", "guess": "guesses", "pass": "passes"}


def count(number: int, noun: str) -> str:
    """A number with its noun, such as "1 step" or "3 steps"; the verb is not included."""
    return f"{number} {noun if number == 1 else PLURALS.get(noun, noun + 's')}"


def readable(*texts: str) -> bool:
    """Whether all of these tokens look like words, so that a lesson can quote them."""
    return all(text.startswith(" ") and len(text) > 2 and text.strip().isalpha() for text in texts)


def times(hits: int, of: int) -> str:
    """How often something happened, such as "3 of 16 steps"."""
    return f"{hits} of {count(of, 'step')}"


def percent(share: float) -> str:
    """A share in whole per cent."""
    return f"{100 * share:.0f} %"


def most(steps: Iterable[Step], worth) -> Step | None:
    """The step with the highest score, the first of equals; None if all scores are 0."""
    best = max(steps, key=worth, default=None)
    return best if best is not None and worth(best) > 0 else None


def rejected(step: Step) -> list[int]:
    """The nodes of a step that were rejected."""
    return [node for node, outcome in enumerate(step.outcome) if outcome == "rejected"]


def unreached(step: Step) -> list[int]:
    """The nodes of a step that were never reached."""
    return [node for node, outcome in enumerate(step.outcome) if outcome == "unreached"]


def children(step: Step, node: int = 0) -> list[int]:
    """The children of a node of a step, in the order they were drawn."""
    return list(Topology(step.parents).children[node])


def levels(step: Step) -> int:
    """How many levels a tree has below its root."""
    return int(max(Topology(step.parents).depth))


def written(trace: Trace) -> str:
    """How much a run wrote, such as "40 tokens in 16 passes"."""
    return f"{count(len(trace.tokens), 'token')} in {count(len(trace.steps), 'pass')}"
