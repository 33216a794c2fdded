"""The tab "Papers": the five sources, entry by entry, each with its measurement.

The page asks for one source at a time. What a visitor measures again is shown to that visitor alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import gradio as gr

from specviz import papers
from specviz.files import asset

from ...machine.engine import Engine
from ...machine.queue import MACHINE
from ...parts.card import harmless
from ...parts.failures import explained
from ...parts.frame import Tab
from ...parts.web import starts
from .work import remeasured


def build(engine: Engine) -> None:
    """Lay out the tab."""
    shown = gr.HTML(
        json.dumps({"sources": [{"name": name, "title": part.short} for name, part in papers.SOURCES.items()]}),
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
                data: dict[str, Any] = {}
                for sentence, found in engine.compute(remeasured, source, name):
                    data = found or data
                    if found is None:
                        yield said("running", text=sentence)
            made = "Measured on this machine now, on a few texts."
            yield said("done", entry=described(papers.again(source, one.name, data, made)))

        yield from measuring()

    shown.select(again, None, shown, show_progress="hidden", api_visibility="private", **MACHINE)


def source_page(name: Any) -> str:
    """One source as JSON, with the counts of all; anyone may ask, so an unknown name is the first."""
    name = name if isinstance(name, str) and name in papers.SOURCES else next(iter(papers.SOURCES))
    part = papers.SOURCES[name]
    every = [papers.stored(source, one.name) for source, one in papers.entries()]
    of = {source: _counts(one for one in every if one.source == source) for source in papers.SOURCES}
    return harmless({
        "name": name, "title": part.title, "cite": part.cite, "url": part.url, "about": part.about,
        "counts": _counts(every), "mine": of[name], "sources": of,
        "entries": [described(one) for one in every if one.source == name],
    })  # fmt: skip


def _counts(results: Iterable[papers.Result]) -> dict[str, int]:
    return papers.counts(found for one in results for found in one.findings)


def described(result: papers.Result) -> dict[str, Any]:
    """An entry as the page draws it."""
    one = result.entry
    return {
        "name": one.name, "place": one.place, "title": one.title, "says": one.says, "state": result.state,
        "quoted": None if one.quoted is None else one.quoted._asdict(), "made": result.made,
        "claims": [_claim(found) for found in result.findings], "blocks": [_block(block) for block in result.blocks],
        "opens": [link._asdict() for link in one.opens], "measurable": papers.measurable(one),
    }  # fmt: skip


def _claim(found: papers.Finding) -> dict[str, Any]:
    claim = found.claim
    return {
        "says": claim.says, "place": claim.place, "proof": claim.how == "proof", "relation": claim.relation,
        "bound": claim.bound, **{name: value for name, value in found._asdict().items() if name != "claim"},
    }  # fmt: skip


def _block(block: Any) -> dict[str, Any]:
    if isinstance(block, papers.Table):
        return {"kind": "table", **block._asdict()}
    return {"kind": "lines", **block._asdict(), "series": [series._asdict() for series in block.series]}


TAB = Tab("Papers", build, styles=("papers/papers",))
