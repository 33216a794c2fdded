"""The page "Lecture": a path of 45 minutes through lessons and live steps, with what to say; it can be printed."""

from __future__ import annotations

from html import escape
from itertools import accumulate
from types import ModuleType
from typing import Any, NamedTuple

import gradio as gr

from ...parts.frame import Tab
from . import LESSONS, chain, machines, mistakes, not_paying, one_pass, pipeline, residual, sequoia, top_k, trees

ABOUT = (
    "A path of {minutes} minutes. Open each link and press Present: arrow keys change the step, space "
    "plays, page up and page down change the lesson. Lessons and labs load no model; the live steps take "
    "a few seconds each."
)


class Part(NamedTuple):
    """One part of the path: minutes, a link's words and parameters, what to say and to ask, and more such links."""

    minutes: int
    title: str
    query: str
    say: str
    ask: str
    also: tuple[tuple[str, str], ...] = ()


def _link(module: ModuleType) -> tuple[str, str]:
    return module.TITLE, f"lesson={LESSONS.index(module)}"


def _lesson(minutes: int, module: ModuleType, say: str, ask: str, *also: tuple[str, str]) -> Part:
    return Part(minutes, *_link(module), say, ask, also)


PATH = (
    _lesson(
        5, one_pass,
        "Decoding one token reads all weights of the model, and the arithmetic units wait for them. A pass "
        "over a few more tokens takes about as long. So guess cheaply and check many guesses in one pass.",
        "What is lost if the first guess is wrong? Only the time of guessing: the pass still gives one token.",
        _link(pipeline),
    ),
    _lesson(
        5, chain,
        "The draft proposes a chain, the target checks it from the left, and the first rejection ends it. "
        "What stands behind a rejection was not visited: it continues a text that was not written.",
        "Why does a chain twice as long not give twice the tokens? Every token needs all tokens before it.",
    ),
    _lesson(
        6, residual,
        "Accept with probability min(1, p/q), decided by a uniform draw u. After a rejection draw from p − q "
        "where it is positive, normalised. Follow one rejected node with its numbers.",
        "Why not draw from p after a rejection? Tokens that the draft prefers had their share already.",
    ),
    Part(
        4, "One node by hand", "lab=verification",
        "Drag the bars of p and q, step through the tries, and read the table: the acceptance of every rule, "
        "and the exact output distribution. It equals p for lossless rules whatever q is.",
        "For which q is the acceptance probability 1? For q = p. And 0? For q and p without a common token.",
        (("Race", "lab=race"),),
    ),
    _lesson(
        5, trees,
        "After a rejection a chain ends; a tree has another guess. All branches are checked in one pass, "
        "because the attention mask lets each node see its own branch alone.",
        "What does the second child have to be compared with? With the residual of the first.",
        _link(top_k), _link(mistakes),
    ),
    _lesson(
        4, sequoia,
        "The acceptance vector says how often the first, second, third child is accepted. The value of a node"
        " is the product along its path, and a dynamic program finds the tree with the largest sum.",
        "Why is the tree wide at the root and narrow below? A deep node counts only if its whole path was accepted.",
        ("Sender and receiver", "lab=sender"),
    ),
    Part(
        5, "A live run", "tab=explore",
        "Type a prompt of the audience and press Run. Compare temperature 0 with 1: at 0 the text equals "
        "plain decoding, up to rounding, at 1 only the distribution is the same. Click a rejected node.",
        "Which number decides whether it pays? Tokens per target pass against the time of a step.",
    ),
    _lesson(
        5, not_paying,
        "Speedup is tokens per target pass divided by the relative time per step. A large tree on a small "
        "machine loses, and so does any tree while many texts fill the batch.",
        "What changes on a large GPU? A pass costs the same up to more nodes, so larger trees pay.",
    ),
    Part(
        3, "Which tree pays", "tab=speedup",
        "Both factors in one picture: the speedup by size and depth, its best cell, and trees timed against "
        "their prediction. Choose another machine and see the best tree grow.",
        "Where is plain decoding the best choice? Where the whole map is below 1.",
        (_link(machines),),
    ),
    Part(
        3, "Three drafters race", "tab=compare",
        "A draft model, Medusa’s heads and EAGLE’s layer draft for one target at temperature 0. All write the"
        " same text; they differ in acceptance and in the time for drafting.",
        "Which is fastest with a slower target? The one that is accepted most, since drafting then costs relatively "
        "less.",
    ),
)  # fmt: skip


def build(engine: Any) -> None:
    """Lay out the page."""
    gr.HTML(markup(), apply_default_css=False, js_on_load=PRINTS, elem_id="sv-lecture")


PRINTS = "element.querySelector('button').addEventListener('click', () => window.print());"


def markup() -> str:
    """The path as a table."""
    starts = accumulate((part.minutes for part in PATH), initial=0)
    rows = "".join(
        f'<tr><th scope="row">{start}–{start + part.minutes}</th>'
        f"<td>{_opens(part.title, part.query)}{_also(part)}</td>"
        f"<td><p>{escape(part.say)}</p><p><b>Ask.</b> {escape(part.ask)}</p></td></tr>"
        for start, part in zip(starts, PATH, strict=False)
    )
    about = ABOUT.format(minutes=sum(part.minutes for part in PATH))
    head = '<th scope="col">Minutes</th><th scope="col">Open</th><th scope="col">Say</th>'
    return (
        f'<section class="sv sv-lecture" aria-label="Lecture"><div class="sv-lecture-head"><h2>A lecture</h2>'
        f'<button type="button">Print</button></div><p>{escape(about)}</p>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></section>"
    )


def _opens(title: str, query: str) -> str:
    return f'<a href="?{escape(query)}">{escape(title)}</a>'


def _also(part: Part) -> str:
    links = "<br>".join(_opens(*link) for link in part.also)
    return f"<p><small>If there is time:<br>{links}</small></p>" if links else ""


TAB = Tab("Lecture", build)
