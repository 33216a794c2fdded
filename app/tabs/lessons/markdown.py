"""The text of a lesson: read from Markdown and filled with numbers, as plain data for text nodes in
the browser.

Values are filled in after the Markdown was parsed, so the text of a token is never taken for
markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from specviz.base.codec import JsonObject

from .lesson import TEXTS

Part = str | JsonObject  # text, or {"tag": of an element, "attrs", "parts": what is in it}


class Text(NamedTuple):
    """A lesson's text: its title, what is presented of it, an idea and an example for each picture
    from the first on that is shown; its body, the task and the answer of its exercise, and the
    headings of what is folded, each with what is below it."""

    title: str
    sentence: str
    examples: list[str]
    body: list[Part]
    task: list[Part]
    answer: list[Part]
    folds: list[tuple[str, list[Part]]]


@cache
def parsed(name: str) -> Sequence[SyntaxTreeNode]:
    """The blocks of assets/lessons/NAME.md."""
    source = (TEXTS / f"{name}.md").read_text("utf-8")
    return SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(source)).children


def words_of(block: SyntaxTreeNode, values: JsonObject) -> str:
    """The text of a block without markup."""
    return "".join(map(str, parts(block.children, values)))


def title_of(name: str) -> str:
    """The title of a lesson."""
    return words_of(parsed(name)[0], {})


def text_of(name: str, values: JsonObject) -> Text:
    """The text of a lesson with its values.

    Raises:
        KeyError: if the text has a place without a value.
    """
    title, presented, *blocks = parsed(name)
    sentence, *examples = [words_of(block, values) for block in presented.children]
    body: list[SyntaxTreeNode] = []
    section = body
    folds = []
    for block in blocks:
        if block.type == "heading":
            section = []
            folds.append((words_of(block, values), section))
        else:
            section.append(block)
    # The first heading is that of the exercise, which the page does not fold.
    (_, (task, answer)), *folds = folds
    return Text(
        words_of(title, values),
        sentence,
        examples,
        parts(body, values),
        parts(task.children, values),
        parts(answer.children, values),
        [(heading, parts(section, values)) for heading, section in folds],
    )


def parts(nodes: Sequence[SyntaxTreeNode], values: JsonObject) -> list[Part]:
    """What nodes of Markdown are in the page."""
    found: list[Part] = []
    for node in nodes:
        inside = parts(node.children, values)
        if node.type == "inline":
            found += inside
        elif node.type == "softbreak":
            found.append(" ")
        elif inside:
            found.append({"tag": node.tag, "attrs": node.attrs, "parts": inside})
        else:
            found.append(node.content.format_map(values))
    return found
