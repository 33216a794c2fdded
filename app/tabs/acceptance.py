"""The page "What is accepted": how often the target accepts drafted tokens, with live measurements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from time import monotonic
from typing import Any

import gradio as gr

from specviz import BUILDERS, DRAFTERS, VERIFIERS, RunConfig, compatible
from specviz.acceptance.calibration import SOURCES, Calibration, Progress, calibrate, from_text, gather, to_text
from specviz.acceptance.on_text import Acceptance
from specviz.plots import PLOTS

from ..machine.engine import Engine
from ..parts import recorded
from ..parts.card import Card, File, Source, fill, intro, said, status
from ..parts.failures import explained
from ..parts.file_button import file_button
from ..parts.frame import Tab
from ..parts.job import Job
from ..parts.study_card import drafter_of, figures, sampling

TITLE = "What is accepted"
INTRO = (
    "A tree saves time if its tokens are accepted. Both models read a text, and every figure shows their predictions "
    "at each position."
)


def _siblings(rule: str, config: RunConfig) -> RunConfig:
    """A run whose trees have one level of siblings, under a rule."""
    return replace(config, builder=BUILDERS["batch"](), verifier=VERIFIERS[rule]())


RULES = [name for name in VERIFIERS if compatible(_siblings(name, RunConfig(temperature=0.0))).possible]
MOST_POSITIONS = 4000
OPEN = ("acceptance", "rejection")
FOLDS = (
    (
        "where",
        "Where are tokens accepted, and does the draft predict it?",
        ("probability", "doubt", "length", "bounds", "ratio"),
    ),
    ("memory", "Does it depend on what came before?", ("depth",)),
    ("policies", "How long should a draft be?", ("policies",)),
    ("elsewhere", "What changes with top-p, and from prose to code?", ("top_p", "transfer")),
)
PACE = 2.0  # seconds between two drawings of the figures
CHANCES = "Exact at every position: both distributions are known in full, so only the text is sampled."
LENGTHS = "The mean over texts of products of min(1, q / p): exact on text of the target, approximate on others."
MANY_ROWS = (
    "{drafter.title} draw the children of a node from different distributions, so these figures have no single draft "
    "distribution. Choose one drafter alone."
)
UNSEEN = (
    " The rejection rates were not updated: their closed forms assume that every token can be drawn, but "
    "{drafter.title} only draws tokens that it has seen."
)
DRAWN = "One token is drawn from the draft at each position; q, p and its chance min(1, p / q) are then exact."


def build(engine: Engine) -> gr.State:
    """Lay out the tab and connect it; returns the vectors it shows, for other tabs."""
    past = recorded.read()
    with gr.Row(elem_classes="sv-page"):
        with gr.Column(scale=0, min_width=330, elem_classes="sv-rail sv-sticky"):
            text = gr.Dropdown(list(SOURCES.items()), value="own-prose", label="Text", filterable=False)
            yours = gr.Textbox(label="Your text", lines=6, max_lines=12, visible=False, elem_id="sv-your-text")
            text.change(
                lambda kind: gr.Textbox(visible=kind == "yours"), text, yours, queue=False, show_progress="hidden",
                api_visibility="private",
            )  # fmt: skip
            titles = [(VERIFIERS[name].title, name) for name in RULES]
            rules = gr.CheckboxGroup(
                titles,
                value=[one.verifier for one in past.calibration.vectors],  # those that the figures open with
                label="Verification rules",
                info="For the acceptance vectors.",
            )
            drafter = gr.Dropdown(
                [(cls.title, name) for name, cls in DRAFTERS.items()],
                value="model", label="Drafter", filterable=False, elem_id="sv-calibrate-drafter",
            )  # fmt: skip
            temperature = gr.Slider(0, 2, value=0.8, step=0.05, label="Temperature")
            top_p = gr.Slider(0.05, 1, value=1, step=0.05, label="Top-p", info="1 keeps all tokens.")
            positions = gr.Slider(50, MOST_POSITIONS, value=600, step=50, label="Positions")
            with gr.Row(elem_classes="sv-go"):
                go = gr.Button("Calibrate", variant="primary", elem_id="sv-calibrate")
                stop = gr.Button("Stop", interactive=False, elem_id="sv-calibrate-stop")
            line = status("sv-calibrate-status")
            load = file_button("Load vectors", elem_id="sv-load")
        with gr.Column(scale=1, min_width=320, elem_classes="sv-main"):
            intro(INTRO)
            cards = figures(engine, opening_cards(), OPEN, FOLDS, [temperature, top_p, drafter], sampling)
    known = gr.State(past.calibration.vectors)
    inputs = [text, yours, rules, temperature, top_p, positions, drafter]
    events(engine, inputs, go, stop, load, line, cards, known)
    return known


def events(engine: Engine, inputs: list, go, stop, load, line, cards: dict[str, Card], known: gr.State) -> None:
    """Every event of the tab."""
    quiet = {"show_progress": "hidden", "api_visibility": "private"}

    def show(values: dict) -> dict:
        return {part: new for name, value in values.items() for part, new in cards[name].update(value).items()}

    def run(*values: Any) -> Iterator[dict]:
        calibration, where = Calibration(), Source("measured", "measured here")
        drawn = monotonic()

        def kept(text: str) -> dict:
            if not calibration.positions:
                return {line: said(text, "error")}
            text = f"{text} The figures keep the {calibration.positions:,} positions measured so far."
            return {
                line: said(text, "error"), known: calibration.vectors, **show(cards_for(calibration, where)),
            }  # fmt: skip

        @explained("The calibration failed.", kept)
        def steps() -> Iterator[dict]:
            nonlocal calibration, drawn
            for news in work(engine, *values):
                if isinstance(news, str):
                    yield {line: news}
                    continue
                due = monotonic() - drawn > PACE
                changed = (
                    Calibration(rates=news.calibration.rates)
                    if news.stage != "Acceptance" and calibration.rates
                    else news.calibration
                )
                calibration = news.calibration
                if due or news.done == news.of:
                    yield {line: progress(news), known: calibration.vectors, **show(cards_for(changed, where))}
                    drawn = monotonic()
                else:
                    yield {line: progress(news)}
            drafter = drafter_of(values[-1])
            left = UNSEEN.format(drafter=drafter) if drafter.sparse else ""
            yield {line: said(f"{calibration.positions:,} positions measured.{left}")}

        yield from steps()

    def read(data: Any) -> dict:
        try:
            loaded = from_text(str(data or ""))
        except ValueError as error:
            return {line: said(str(error), "error")}
        return {
            line: said(
                f"{len(loaded)} vector{'s' if len(loaded) > 1 else ''} loaded; the other figures are unchanged."
            ),
            known: loaded,
            **show(cards_for(Calibration(loaded), Source("loaded", "loaded from a file"))),
        }

    outputs = [line, known, *(part for card in cards.values() for part in card.outputs)]
    job = Job(stop, line, {line: said("Stopped. The figures show the measurements so far.")})
    job.starts(go.click, run, inputs, outputs)
    load.upload(read, load, outputs, queue=False, **quiet)


def work(
    engine: Engine, text: Any, yours: Any, rules: Any, temperature: Any, top_p: Any, positions: Any, drafter: Any
) -> Iterator:
    """A calibration as status lines (text) and progress.

    Raises:
        ValueError: a sentence for the visitor.
    """
    names, config, positions = settings(rules, temperature, top_p, positions, drafter)
    with engine.exclusive():
        for sentence in engine.loading():
            yield said(sentence)
        texts: list[list[int]] = []
        for done, of, gathered in engine.compute(gather, text, yours, positions, config):
            yield said(f"Texts to measure on: {done} of {of}", done=done, of=of)
            texts = gathered
        yield from engine.compute(calibrate, texts, names, config)


def settings(
    rules: Any, temperature: Any, top_p: Any, positions: Any, drafter: Any
) -> tuple[list[str], RunConfig, int]:
    """What the controls ask for.

    Raises:
        ValueError: a sentence for the visitor.
    """
    names = [name for name in RULES if isinstance(rules, list) and name in rules]
    if not names:
        raise ValueError("Choose at least one verification rule.")
    config = sampling(temperature, top_p, drafter)
    if type(positions) not in (int, float) or not 50 <= positions <= MOST_POSITIONS:
        raise ValueError(f"Positions must be a number from 50 to {MOST_POSITIONS:,}; got {str(positions)[:40]}.")
    for name in names:
        compatible(_siblings(name, config)).required()
    if config.drafter.blends:
        raise ValueError(MANY_ROWS.format(drafter=config.drafter))
    return names, config, int(positions)


def progress(news: Progress) -> str:
    """How far a calibration is, in words."""
    text = f"{news.stage}: {news.done:,} of {news.of:,} positions, {news.texts} of {news.of_texts} texts"
    both = news.done + (news.of if news.stage != "Acceptance" else 0)
    return said(text, done=both, of=2 * news.of)


def cards_for(calibration: Calibration, source: Source) -> dict[str, tuple]:
    """The cards that what is known can fill, by name."""
    filled = {}
    if calibration.vectors:
        files = [File("Save vectors", "acceptance.json", to_text(calibration.vectors))]
        filled["acceptance"] = fill(
            "acceptance",
            PLOTS["acceptance"].info(calibration.vectors),
            source,
            how_measured(calibration.vectors),
            files,
        )
    if calibration.rates:
        ways: dict[str, list[str]] = {}
        for rule, way in calibration.rates.methods.items():
            ways.setdefault(way, []).append(VERIFIERS[rule].title)
        made = "; ".join(f"{way}: {', '.join(names)}" for way, names in ways.items())
        filled["rejection"] = fill(
            "rejection", PLOTS["rejection"].info(calibration.rates), source, f"{made[:1].upper()}{made[1:]}."
        )
    if calibration.uncertainty:
        for name, made in (
            ("probability", DRAWN),
            ("doubt", CHANCES),
            ("length", LENGTHS),
            ("bounds", CHANCES),
            ("ratio", CHANCES),
        ):
            filled[name] = fill(name, PLOTS[name].info(calibration.uncertainty), source, made)
    return filled


@cache
def opening_cards() -> dict[str, tuple]:
    """The initial content of the tab, from the recorded files, for any pair."""
    past = recorded.read()
    return cards_for(past.calibration, Source("recorded", past.label))


def how_measured(measured: tuple[Acceptance, ...]) -> str:
    """Which vectors are exact expectations and which are counted, over how many positions."""
    ways: dict[str, list[str]] = {"expected": [], "counted": []}
    for vector in measured:
        ways[vector.method].append(VERIFIERS[vector.verifier].title)
    parts = []
    if ways["expected"]:
        parts.append(f"exact expectation over the acceptance draws, children sampled: {', '.join(ways['expected'])}")
    if ways["counted"]:
        parts.append(f"counted: {', '.join(ways['counted'])}")
    text = "; ".join(parts)
    who = "" if measured[0].drafter == "model" else f" Drafted by {DRAFTERS[measured[0].drafter].spoken}."
    deeper = "; ".join(f"{sum(level):.2f}" for level in measured[0].levels)
    level = f" At the root; acceptance of any child with {VERIFIERS[measured[0].verifier].title} by level: {deeper}."
    return f"{text[:1].upper()}{text[1:]}. {measured[0].positions:,} positions.{who}{level if deeper else ''}"


TAB = Tab(TITLE, build)
