"""The endpoint `/generate`: a run as plain data, for programs; it uses the same queue as the page."""

# Annotations are not postponed here: gradio reads them to document the endpoint.
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gradio as gr

from specviz import RunConfig, compatible
from specviz.benchmarks.timing import ROUNDS
from specviz.errors import ParameterError
from specviz.strategy import split_strategy

from .machine import limits
from .machine.engine import Engine
from .machine.queue import MACHINE
from .parts.controls import number
from .parts.decoding import Update, decode
from .parts.failures import explained

DESCRIPTION = """Decode a text with tree speculative decoding and watch it step by step.

It streams (text, step, trace), all empty while the models are loaded. While it runs, step is one step as JSON text:
the drafted tree as columns over its nodes, the target's probability and the outcome of each. At the end step is
empty and trace is the whole run as JSON text, which specviz.Trace.from_json reads and `specviz replay` plays.

models is one of the pairs on the page; empty takes the first. builder, verifier and drafter are names, with parameters
after a colon: "dyspec:size=24,depth=8". Sequoia's tree without size and depth is the fastest on this machine, once that
has been measured. Invalid values and incompatible choices raise an error that says what to do.
Runs are decoded one at a time.

After the run, it is timed against plain decoding for plain_rounds alternating rounds (0 for none): the trace then has
"speedup": {"speedup", "low", "high" (of a round), "rounds", "tokens_per_s", "plain_tokens_per_s",
"seconds", "plain_seconds" (of all its tokens at those rates), "date", "machine"}, unless it was too short. It is
timed only while the queue is empty, so there may be fewer rounds or none.
"""
MOST_ROUNDS = 10


def build(engine: Engine) -> None:
    """Add the endpoint to the page that is being built."""

    @explained("The run failed.", rejected)
    def generate(  # type: ignore[misc]
        prompt: str,
        builder: str = "sequoia",
        verifier: str = "sequoia",
        temperature: float = 0.8,
        top_p: float = 1.0,
        top_k: int | None = None,
        draft_temperature: float | None = None,
        max_new_tokens: int = 96,
        seed: int = 0,
        models: str = "",
        plain_rounds: int = ROUNDS,
        drafter: str = "model",
    ) -> tuple[str, str, str]:  # of each item
        config = asked(
            prompt, builder=builder, verifier=verifier, drafter=drafter,
            temperature=temperature, top_p=top_p, top_k=top_k, draft_temperature=draft_temperature,
            max_new_tokens=max_new_tokens, seed=seed,
        )  # fmt: skip
        title, rounds = title_from(models), rounds_from(plain_rounds)
        config = fastest(engine, config, builder, title)
        yield from answers(engine, config, title, rounds)

    gr.api(generate, api_name="generate", api_description=DESCRIPTION, **MACHINE)


def rejected(sentence: str) -> None:
    """Raises the error that gradio sends to the caller."""
    raise gr.Error(sentence, print_exception=False) from None


def asked(prompt: Any, builder: Any, verifier: Any, drafter: Any = "model", **scalars: Any) -> RunConfig:
    """The configuration that a request stands for, as the page would check it.

    Raises:
        ValueError: a sentence for the caller.
    """
    for name, text in {"prompt": prompt, "builder": builder, "verifier": verifier, "drafter": drafter}.items():
        if not isinstance(text, str):
            raise ParameterError(name, "be text", text)
    numbers = {name: number(name, value) for name, value in scalars.items()}
    config = RunConfig(prompt, builder, verifier, drafter=drafter, **numbers)
    limits.check(config)
    compatible(config).required()
    return config


def title_from(models: Any) -> str | None:
    """The title of the pair that is asked for, None for the first; raises a `ValueError` where it is no text."""
    if not isinstance(models, str | None):
        raise ValueError(f"Model pair must be one of the pairs on the page; got {str(models)[:40]!r}.")
    return models or None


def rounds_from(value: Any) -> int:
    """How many rounds of plain decoding are timed; raises a `ValueError` where that is no such number."""
    if type(value) is not int or not 0 <= value <= MOST_ROUNDS:
        raise ValueError(f"plain_rounds must be a whole number from 0 to {MOST_ROUNDS}; got {str(value)[:40]!r}.")
    return value


def fastest(engine: Engine, config: RunConfig, builder: str, title: str | None = None) -> RunConfig:
    """The configuration with the best tree on this machine, where Sequoia's was asked for without size and depth.

    It is only known for the draft model.
    """
    name, given = split_strategy("builder", builder)
    if name != "sequoia" or "size" in given or "depth" in given or config.drafter.name != "model":
        return config
    if title is not None and title not in engine.titles:
        return config  # decoding says which models there are
    cell = engine.best.tree(title or engine.titles[0], config.verifier.name, config.temperature)
    return config if cell is None else replace(config, builder=config.builder.replace(size=cell.size, depth=cell.depth))


def answers(
    engine: Engine, config: RunConfig, title: str | None = None, rounds: int = 0
) -> Iterator[tuple[str, str, str]]:
    """What is streamed: the text so far, a step, and at the end the trace, with its speedup over plain decoding."""
    text, trace, speedup = "", None, None

    def write(update: Update) -> list[tuple[str, str, str]] | ValueError | None:
        nonlocal text, trace, speedup
        if update.error:
            return ValueError(update.error)
        if update.blank:
            engine.best.start(title or engine.titles[0])
        answered = []
        for step in update.steps:
            text += "".join(step.pieces)
            answered.append((text, step.to_json(), ""))
        trace, speedup = update.trace or trace, update.speedup or speedup
        if update.timed and trace:
            answered.append((text, "", replace(trace, speedup=speedup).to_json()))
        return [(text, "", "")] if update.note else answered

    for items in decode(engine, [config], title, write, rounds):
        if isinstance(items, ValueError):
            raise items
        yield from items
