"""Lesson 0: a processor that predicts a branch and rolls back, beside a draft that is rejected."""

from __future__ import annotations

from specviz import BUILDERS, VERIFIERS, RunConfig

from .lesson import TALE, Lesson, Look, Recording, Shown, count, most, quote, readable, rejected, unreached
from .processor import EXECUTE, STAGES, Instruction, Row, Values, cycles, pipeline

TITLE = "Speculation in a processor"
CHAIN = BUILDERS["chain"](depth=5)
CONFIG = RunConfig(TALE, CHAIN, VERIFIERS["speculative-sampling"](), temperature=0.6)
RECORDINGS = (Recording("chain", "A chain", CONFIG, steps=32),)
PHASES = ("Execute in advance", "Verify", "What was right", "What was wrong", "Repair", "Result")


def _branch(text: str, taken, target: int) -> Instruction:
    return Instruction(f"if {text}, go to {target + 1}", taken=taken, target=target)


PROGRAM = (
    Instruction("x ← input", lambda v: v.update(x=v["input"])),
    _branch("x = 0", lambda v: v["x"] == 0, 7),
    Instruction("s ← s + x", lambda v: v.update(s=v["s"] + v["x"])),
    _branch("s > 9", lambda v: v["s"] > 9, 7),
    Instruction("n ← n + 1", lambda v: v.update(n=v["n"] + 1)),
    Instruction("x ← 2 · x", lambda v: v.update(x=2 * v["x"])),
    Instruction("s ← s + x", lambda v: v.update(s=v["s"] + v["x"])),
    Instruction("output ← s", lambda v: v.update(output=v["s"])),
)
WRONG, RIGHT = 12, 4  # inputs: with the first the second branch is taken, with the second it is not


def values(x: int) -> Values:
    """What the program begins with."""
    return {"input": x, "x": 0, "s": 0, "n": 0, "output": 0}


def write_lesson(trace):
    wrong, right = most(trace.steps, mistaken), most(trace.steps, lucky)
    if wrong is None or right is None:
        return None
    bad, good = (pipeline(PROGRAM, values(x))[0] for x in (WRONG, RIGHT))
    waits = cycles(pipeline(PROGRAM, values(RIGHT), predicts=False)[0])
    gone, last = sum(row.discarded for row in bad), cycles(good)
    return Lesson(
        view="pipeline",
        shown=(shown("A wrong prediction", WRONG, wrong), shown("All predictions right", RIGHT, right)),
        opens=Look(0),
        text=(
            f"A processor works on several instructions at once: each goes through {len(STAGES)} stages, one a cycle. "
            f"What a branch does is known {EXECUTE} cycles after its fetch. Instead of waiting, the processor "
            "**predicts** it and executes on that path in advance.",
            "If the prediction was wrong, it rolls back: everything behind the branch is discarded, and the right path "
            "is fetched. The result is the same; only time is lost.",
            "**Speculative decoding** does this with tokens. The draft continues the text before the target knows how "
            f"it goes on. In this step the target kept {count(len(wrong.path), 'guess')}, rejected "
            f"{quote(wrong.texts[rejected(wrong)[0]])} and discarded what stood behind it.",
        ),
        task="Go through the steps with ▶ and compare the two sides. Then choose “All predictions right”.",
        shows=Look(PHASES.index("What was wrong")),
        question="What is different in the two cases?",
        answer=(
            f"A processor verifies a branch by executing it: this program takes {cycles(bad)} cycles with "
            f"{count(gone, 'discarded instruction')}, {last} with right predictions, and {waits} if it waits at every "
            "branch.",
            "The target verifies all guesses in one pass. And it may be right to keep a guess that is not the target’s "
            "own choice: at a temperature above 0 there is no single right token, so a rejection is decided by chance, "
            "and the new token comes from a changed distribution.",
        ),
    )  # fmt: skip


def mistaken(step):
    """How far the rule got before a rejection with guesses left behind it, 0 where it does not read well."""
    if not step.corrected or len(unreached(step)) < 1 or not step.path:
        return 0
    texts = (*(step.texts[node] for node in (*step.path, *rejected(step))), step.pieces[-1])
    return len(step.path) * readable(*texts)


def lucky(step):
    """Whether every guess of a step was accepted."""
    return len(step.path) == CHAIN.depth and step.bonus is not None


def shown(label, x, step):
    """What the view shows of one input of the program and one step of the chain."""
    processor, draft = of_processor(x), of_draft(step)
    steps = [(f"{number}. {phase}", "") for number, phase in enumerate(PHASES, 1)]
    return Shown(label, steps, {"sides": [processor, draft]})


def cell(row, column, text, kind, phase):
    return {"row": row, "column": column, "text": text, "kind": kind, "phase": phase}


def of_processor(x):
    """The instructions by cycle, and what happens to them in each phase."""
    rows, end = pipeline(PROGRAM, values(x))
    branches = [row for row in rows if PROGRAM[row.place].taken and not row.discarded]
    branch = branches[-1]  # the one whose prediction is verified here
    verified, gone = branch.fetched + EXECUTE, [row for row in rows if row.discarded]
    cells = []
    for at, row in enumerate(rows):
        for cycle in range(row.fetched, row.left):
            cells.append(cell(at, cycle, STAGES[cycle - row.fetched], "stage", phase_of(row, cycle, verified, gone)))
        if row.discarded:
            cells.append(cell(at, row.left, "discarded", "gone", 3))
    name, ahead = f"instruction {branch.place + 1}", sum(branch.fetched < row.fetched <= verified for row in rows)
    kept = [row for row in rows if row.fetched <= branch.fetched or (not gone and row.fetched <= verified)]
    right = next((row for row in rows if gone and row.fetched > gone[-1].fetched), None)
    said = [
        f"The outcome of {name} is known in cycle {verified + 1}. The processor predicts that the program goes "
        f"straight on and fetches {count(ahead, 'instruction')} behind it.",
        f"In cycle {verified + 1} the branch is executed, and its outcome compared with the prediction.",
        f"{len(kept)} instructions up to here were on the right path. They stay in the pipeline.",
        "The prediction was wrong: all instructions behind the branch are discarded before they change a value, here "
        f"{len(gone)}." if gone else "The predictions were right. Nothing is discarded.",
        f"In cycle {right.fetched + 1} the processor fetches instruction {right.place + 1} from the right path."
        if right else "Nothing to repair.",
        f"{cycles(rows)} cycles in all; the output is {end['output']}, as without any prediction.",
    ]  # fmt: skip
    return {
        "title": "A processor", "corner": "cycle",
        "rows": [f"{row.place + 1}  {PROGRAM[row.place].text}" for row in rows],
        "discarded": [row.discarded for row in rows],
        "columns": [str(cycle + 1) for cycle in range(cycles(rows))], "cells": cells, "said": said,
        "key": ", ".join(f"{stage[0].upper()} {stage}" for stage in STAGES) + ", ✕ discarded",
    }  # fmt: skip


def phase_of(row: Row, cycle: int, verified: int, gone: list[Row]) -> int:
    """The phase in which a stage of an instruction is shown."""
    if cycle <= verified:
        return int(cycle == verified)
    return 4 if gone and row.fetched > verified else 2


def of_draft(step):
    """The guesses by pass, and what happens to them in each phase."""
    n = len(step.parents) - 1
    accepted, wrong, behind = len(step.path), rejected(step), unreached(step)
    own = step.pieces[-1]
    cells = []
    for at in range(n):
        cells += [cell(at, at, "draft", "stage", 0), cell(at, n, "target", "stage", 1)]
        outcome = step.outcome[at + 1]
        cells.append(cell(at, n + 1, outcome, outcome, 2 if outcome == "accepted" else 3))
    cells.append(cell(n, n + 1, "written", "correction" if wrong else "bonus", 4))
    said = [
        f"The target’s next tokens are not known. The draft guesses {count(n, 'token')} in {count(n, 'pass')}, each "
        "after the one before it.",
        f"One pass of the target reads all {n} guesses, and gives its own probabilities for each.",
        f"{count(accepted, 'guess')} accepted: {quote(*(step.texts[node] for node in step.path))}.",
        f"{quote(step.texts[wrong[0]])} is rejected. All guesses behind it are discarded, with what the models "
        f"stored of them, here {len(behind)}." if wrong else "No guess is rejected. Nothing is discarded.",
        f"The target writes {quote(own)} in place of the rejected guess, from the changed distribution." if wrong
        else f"Nothing to repair; the same pass also gives the next token, {quote(own)}.",
        f"{count(len(step.pieces), 'token')} from one pass of the target; the text has the target’s distribution, as "
        "without any draft.",
    ]  # fmt: skip
    return {
        "title": "A draft", "corner": "pass",
        "rows": [text.strip() or "↵" for text in (*step.texts[1:], own)],
        "discarded": [*(step.outcome[node] in ("rejected", "unreached") for node in range(1, n + 1)), False],
        "columns": [*(str(number) for number in range(1, n + 1)), "T", "✓"], "cells": cells, "said": said,
        "key": "D draft, T target, ■ accepted, ✕ rejected, ○ not visited, ◆ written by the target",
    }  # fmt: skip
