"""The text of a lesson: read from Markdown and filled with numbers, as plain data for text nodes in
the browser.

Values are filled in after the Markdown was parsed, so the text of a token is never taken for
markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from specviz.base.codec import JsonObject

from .lesson import TEXTS

EXERCISE = "Try it"
NOTES = "Notes"
SPANS = {"strong_open": "strong", "em_open": "em"}
Block = JsonObject  # {"spans": [[text, kind]]} of a paragraph, {"rows": [[spans]]} of a table


class Text(NamedTuple):
    """A lesson's text: its title, what is presented of it, an idea and an example for each picture
    from the first on that is shown, and the blocks of its sections."""

    title: str
    sentence: str
    examples: list[str]
    body: list[Block]
    exercise: list[Block]
    question: str
    answer: list[Block]
    notes: list[Block]


@cache
def parsed(name: str) -> list[Token]:
    """The tokens of assets/lessons/NAME.md."""
    return MarkdownIt("commonmark").enable("table").parse((TEXTS / f"{name}.md").read_text("utf-8"))


def title_of(name: str) -> str:
    """The title of a lesson."""
    # A text begins with its title: a token that opens the heading, then its words.
    tokens = parsed(name)
    return tokens[1].content


def text_of(name: str, values: JsonObject) -> Text:
    """The text of a lesson with its values.

    Raises:
        KeyError: if the text has a place without a value.
    """
    sections: dict[str, list[Block]] = {}
    title = ""
    presented = []
    blocks: list[Block] = []
    for kind, block in _blocks(parsed(name), values):
        words = "".join(span[0] for span in block.get("spans", []))
        if kind == "h1":
            title = words
            blocks = sections.setdefault("", [])
        elif kind == "h2":
            blocks = sections.setdefault(words, [])
        elif kind == "quote":
            presented.append(words)
        else:
            blocks.append(block)
    # The section with any other heading is a question and its answer, which is folded.
    (question,) = sections.keys() - {"", EXERCISE, NOTES}
    sentence, *examples = presented
    return Text(
        title,
        sentence,
        examples,
        sections[""],
        sections[EXERCISE],
        question,
        sections[question],
        sections[NOTES],
    )


def _blocks(tokens: Sequence[Token], values: JsonObject) -> Iterator[tuple[str, Block]]:
    """Each heading, quotation, paragraph and table."""
    # The parser says where a heading, a quotation or a table opens and closes; text comes between.
    inside = ""
    kind = ""
    rows: list[list[object]] = []
    for token in tokens:
        if token.type == "heading_open":
            kind = token.tag
        elif token.type in ("blockquote_open", "blockquote_close"):
            inside = ""
            if token.nesting > 0:
                inside = "quote"
        elif token.type == "table_open":
            inside = "table"
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "table_close":
            inside = ""
            yield "table", {"rows": rows}
        elif token.type == "inline" and inside == "table":
            rows[-1].append(_spans(token, values))
        elif token.type == "inline":
            yield kind or inside, {"spans": _spans(token, values)}
            kind = ""


def _spans(token: Token, values: JsonObject) -> list[list[str]]:
    """Pieces of text, each with its kind: "", "strong", "em", or the address of a link."""
    spans = []
    kinds = [""]
    for child in token.children or []:
        if child.nesting > 0:
            kinds.append(
                str(child.attrGet("href")) if child.type == "link_open" else SPANS[child.type]
            )
        elif child.nesting < 0:
            kinds.pop()
        else:
            # Filled in after parsing, so a token's text stays text whatever it looks like.
            text = " "
            if child.type != "softbreak":
                text = child.content.format_map(values)
            spans.append([text, kinds[-1]])
    return spans
