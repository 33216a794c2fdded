"""The tab "Papers": the five sources, entry by entry, each with its measurement.

The page asks for one source at a time. What a visitor measures again is shown to that visitor alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gradio as gr

from specviz import papers
from specviz.paths import asset

from ...machine.engine import Engine
from ...machine.line import MACHINE
from ...parts.card import harmless
from ...parts.failures import explained
from ...parts.frame import Tab
from ...parts.web import starts
from .work import remeasured


def build(engine: Engine) -> None:
    """Lay out the tab."""
    shown = gr.HTML(
        json.dumps({"sources": [{"name": name, "title": part.SHORT} for name, part in papers.SOURCES.items()]}),
        html_template=asset("papers/papers.html"),
        js_on_load=starts("papers"),
        server_functions=[source_page],
        elem_id="sv-papers",
        apply_default_css=False,
    )

    def again(event: gr.EventData) -> Iterator[str]:
        """Measure the entry that the page names, and say how it goes."""
        source, name = str(getattr(event, "source", ""))[:40], str(getattr(event, "name", ""))[:60]

        def said(state: str, **more: Any) -> str:
            return harmless({"source": source, "name": name, "state": state} | more)

        failed = "The measurement failed. The entry keeps what was there."

        @explained(failed, lambda text: said("failed", text=text))
        def measuring() -> Iterator[str]:
            one = papers.entry(source, name)
            with engine.exclusive():
                for _ in engine.loading():
                    yield said("running", text="Loading the models. This happens once.")
                for sentence, data in engine.compute(remeasured, source, name):
                    if data is None:
                        yield said("running", text=sentence)
            made = f"{one.how}, measured here now"
            yield said("done", entry=described(papers.result(source, one, data, made)))

        yield from measuring()

    shown.select(again, None, shown, show_progress="hidden", api_visibility="private", **MACHINE)


def source_page(name: Any) -> str:
    """One source as JSON, with the counts of all; anyone may ask, so an unknown name is the first."""
    name = name if isinstance(name, str) and name in papers.SOURCES else next(iter(papers.SOURCES))
    part = papers.SOURCES[name]
    every = [papers.look(source, one) for source, one in papers.entries()]
    mine = [one for one in every if one.source == name]
    return harmless({
        "name": name, "title": part.TITLE, "cite": part.CITE, "url": part.URL, "about": part.ABOUT,
        "counts": papers.counts(every), "mine": papers.counts(mine), "entries": [described(one) for one in mine],
        "sources": {of: papers.counts([one for one in every if one.source == of]) for of in papers.SOURCES},
    })  # fmt: skip


def described(result: papers.Result) -> dict[str, Any]:
    """An entry as the page draws it."""
    one = result.entry
    blocks = () if result.data is None else one.shown(result.data)
    return {
        "name": one.name, "place": one.place, "title": one.title, "says": one.says, "how": one.how,
        "quoted": None if one.quoted is None else one.quoted._asdict(),
        "status": result.verdict.status, "sentence": result.verdict.sentence, "made": result.made,
        "blocks": [_block(block) for block in blocks], "opens": [link._asdict() for link in one.opens],
        "measurable": one.measurable,
    }  # fmt: skip


def _block(block: Any) -> dict[str, Any]:
    if isinstance(block, papers.Table):
        return {"kind": "table", **block._asdict()}
    return {"kind": "lines", **block._asdict(), "series": [series._asdict() for series in block.series]}


TAB = Tab("Papers", build, styles=("papers/papers",))
