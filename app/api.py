"""The endpoint `/generate`: a run as plain data, for programs; it waits in the same line as the page."""

# Annotations are not postponed here: gradio reads them to document the endpoint.
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gradio as gr

from specviz import RunConfig, Step, Trace, compatible, speculate
from specviz.benchmarks.paired_speedup import ROUNDS, in_turns
from specviz.codec import dumps
from specviz.config import Choice
from specviz.decode import collect
from specviz.metrics import Counts
from specviz.registry import build as made

from .machine import limits
from .machine.engine import Engine
from .machine.line import MACHINE, undisturbed
from .parts.controls import number

DESCRIPTION = """Decode a text with tree speculative decoding and watch it step by step.

It streams (text, step, trace), all empty while the models are loaded. While it runs, step is one step as JSON text:
the drafted tree as columns over its nodes, what the target said of each, and what became of it. At the end step is
empty and trace is the whole run as JSON text, which specviz.Trace.from_json reads and `specviz replay` plays.

models is one of the pairs on the page; empty takes the first. builder_parameters, verifier_parameters and
drafter_parameters are objects with the parameters of builder, rule and drafter, {"size": 24} say; Sequoia's tree
without size and depth is the fastest on this machine, once that has been measured. What is out of range, or cannot go
together, ends in an error with a sentence that says what to do. One run has its turn at a time.

After the run, plain decoding is timed in turns with it for plain_rounds rounds (0 for none): the trace then has
"speedup": {"speedup", "low", "high" (of a round), "rounds", "tokens_per_s", "plain_tokens_per_s"}, or null where the
run was too short to be timed. It is timed only while nobody waits, so there may be fewer rounds or none.
"""
MOST_ROUNDS = 10


def build(engine: Engine) -> None:
    """Add the endpoint to the page that is being built."""

    def generate(
        prompt: str,
        builder: str = "sequoia",
        verifier: str = "sequoia",
        temperature: float = 0.8,
        top_p: float = 1.0,
        top_k: int | None = None,
        draft_temperature: float | None = None,
        max_new_tokens: int = 96,
        seed: int = 0,
        builder_parameters: dict[str, Any] | None = None,
        verifier_parameters: dict[str, Any] | None = None,
        models: str = "",
        plain_rounds: int = ROUNDS,
        drafter: str = "model",
        drafter_parameters: dict[str, Any] | None = None,
    ) -> tuple[str, str, str]:  # of each item
        try:
            config = asked(
                prompt, builder_parameters, verifier_parameters, drafter_parameters,
                builder=builder, verifier=verifier, drafter=drafter,
                temperature=temperature, top_p=top_p, top_k=top_k, draft_temperature=draft_temperature,
                max_new_tokens=max_new_tokens, seed=seed,
            )  # fmt: skip
            title, rounds = title_from(models), rounds_from(plain_rounds)
            config = fastest(engine, config, builder_parameters, title)
            yield from answers(engine, config, title, rounds)
        except ValueError as error:
            raise gr.Error(str(error), print_exception=False) from None
        except Exception:
            logging.getLogger(__name__).exception("a run for the API failed")
            raise gr.Error("The run failed. The reason is in the server's log.", print_exception=False) from None

    gr.api(generate, api_name="generate", api_description=DESCRIPTION, **MACHINE)


def asked(
    prompt: Any,
    builder_parameters: Any,
    verifier_parameters: Any,
    drafter_parameters: Any = None,
    *,
    builder: Any,
    verifier: Any,
    drafter: Any = "model",
    **scalars: Any,
) -> RunConfig:
    """The configuration that a request stands for, as the page would check it.

    Raises:
        ValueError: a sentence for whoever asked.
    """
    if not isinstance(prompt, str):
        raise ValueError(f"prompt must be text; got {str(prompt)[:40]!r}.")
    strategies = {
        "builder": strategy("builder", builder, builder_parameters),
        "verifier": strategy("verifier", verifier, verifier_parameters),
        "drafter": strategy("drafter", drafter, drafter_parameters),
    }
    config = RunConfig(prompt, **strategies, **{name: number(name, value) for name, value in scalars.items()})
    limits.check(config)
    match = compatible(config)
    if not match.possible:
        raise ValueError(match.reason)
    return config


def strategy(kind: str, name: Any, parameters: Any) -> Any:
    """The builder, rule or drafter of that name.

    Raises:
        ValueError: if there is none, or a parameter is not right.
    """
    if not isinstance(name, str):
        raise ValueError(f"{kind} must be a name such as 'sequoia'; got {str(name)[:40]!r}.")
    if not (parameters is None or isinstance(parameters, dict)):
        raise ValueError(f'{kind}_parameters must be an object such as {{"size": 24}}; got {str(parameters)[:40]!r}.')
    return made(kind, Choice(name, parameters or {}))


def title_from(models: Any) -> str | None:
    """The title of the pair that is asked for, None for the first; raises a `ValueError` where it is no text."""
    if not isinstance(models, str | None):
        raise ValueError(f"Models must be one of the pairs on the page; got {str(models)[:40]!r}.")
    return models or None


def rounds_from(value: Any) -> int:
    """How many rounds of plain decoding are timed; raises a `ValueError` where that is no such number."""
    if type(value) is not int or not 0 <= value <= MOST_ROUNDS:
        raise ValueError(f"plain_rounds must be a whole number from 0 to {MOST_ROUNDS}; got {str(value)[:40]!r}.")
    return value


def fastest(engine: Engine, config: RunConfig, given: dict[str, Any] | None, title: str | None = None) -> RunConfig:
    """The configuration with the best tree on this machine, where Sequoia's was asked for without size and depth.

    It is known of the draft model alone.
    """
    asked_for = config.builder.name == "sequoia" and {"size", "depth"}.isdisjoint(given or {})
    if not asked_for or config.drafter.name != "model":
        return config
    if title is not None and title not in engine.titles:
        return config  # decoding says which models there are
    cell = engine.best.tree(title or engine.titles[0], config.verifier.name, config.temperature)
    return (
        config if cell is None else replace(config, builder=replace(config.builder, size=cell.size, depth=cell.depth))
    )


def answers(
    engine: Engine, config: RunConfig, title: str | None = None, rounds: int = 0
) -> Iterator[tuple[str, str, str]]:
    """What is streamed: the text so far, a step, and at the end the trace, with how it did against plain decoding."""
    text, steps = "", []
    with engine.exclusive():
        for _ in engine.loading(title):
            yield text, "", ""
        engine.best.start(title or engine.titles[0])
        for item in engine.compute(recorded, config, title=title):
            if isinstance(item, Step):
                text += "".join(item.pieces)
                steps.append(item)
                yield text, item.to_json(), ""
            else:
                whole = item.to_json()
        if rounds:
            against = None
            for news in undisturbed(engine.compute(in_turns, config, Counts.of(steps), rounds, title=title)):
                against = news or against
            speedup = dumps(against)
            whole = f'{whole[:-1]},"speedup":{speedup}}}'
        yield text, "", whole


def recorded(pair: Any, config: RunConfig) -> Iterator[Step | Trace]:
    """The steps of a run, and then its trace; work for `Engine.compute`."""
    steps = []
    for step in speculate(pair, config):
        steps.append(step)
        yield step
    yield collect(pair, config, iter(steps))
