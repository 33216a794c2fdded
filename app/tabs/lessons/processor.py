"""A small processor whose pipeline predicts branches and rolls back: the model for speculative decoding.

One instruction is fetched in each cycle and goes through the stages one by one. What a branch does is known when it is
executed; until then the fetched instructions are a prediction, here always that the program goes straight on. Values
are forwarded, so that nothing waits for anything but a branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

STAGES = ("fetch", "decode", "read", "execute", "write")
EXECUTE = STAGES.index("execute")
Values = dict[str, int]


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    Args:
        text: as a person reads it.
        does: changes the values, for an instruction that computes.
        taken: whether the branch is taken, from the values; None for what is no branch.
        target: the place where a branch leads if it is taken.
    """

    text: str
    does: Callable[[Values], Any] | None = None
    taken: Callable[[Values], bool] | None = None
    target: int = 0


@dataclass
class Row:
    """An instruction on its way: its place in the program, the cycle of its fetch, and the last one of its stages.

    Attributes:
        place, fetched: from 0.
        left: the cycle from which it is in no stage any more.
        discarded: whether it stood behind a wrong prediction.
    """

    place: int
    fetched: int
    left: int
    discarded: bool = False


def execute(program: Sequence[Instruction], values: Values) -> Values:
    """The values after a program that is executed one instruction after the other, without a pipeline."""
    place, known = 0, dict(values)
    while place < len(program):
        now = program[place]
        if now.does:
            now.does(known)
        place = now.target if now.taken and now.taken(known) else place + 1
    return known


def pipeline(program: Sequence[Instruction], values: Values, predicts: bool = True) -> tuple[list[Row], Values]:
    """Every instruction that was fetched, in order, and the values at the end.

    Args:
        program: ends after its last instruction.
        values: at the beginning; they are not changed.
        predicts: whether to go on behind a branch before it was executed; else the pipeline waits for it.
    """
    rows: list[Row] = []
    known, cycle, place = dict(values), 0, 0
    while place < len(program) or any(row.left > cycle for row in rows):
        executed = next((row for row in rows if not row.discarded and row.fetched + EXECUTE == cycle - 1), None)
        if executed:
            now = program[executed.place]
            if now.does:
                now.does(known)
            follows = now.target if now.taken and now.taken(known) else executed.place + 1
            behind = [row for row in rows if row.fetched > executed.fetched]
            if now.taken and (not behind or behind[0].place != follows):
                for row in behind:
                    row.left, row.discarded = min(row.left, cycle), True
                place = follows
        waits = not predicts and any(
            program[row.place].taken and row.fetched + EXECUTE >= cycle and not row.discarded for row in rows
        )
        if place < len(program) and not waits:
            rows.append(Row(place, cycle, cycle + len(STAGES)))
            place += 1
        cycle += 1
    return rows, known


def cycles(rows: Sequence[Row]) -> int:
    """How many cycles it took until the last instruction that counts was through."""
    return max(row.left for row in rows if not row.discarded)
