"""The endpoint `/generate`: a run as plain data, for programs; it waits in the same line as the page."""

# Annotations are not postponed here: gradio reads them to document the endpoint.
import logging
from collections.abc import Iterator
from typing import Any

import gradio as gr

from specviz import RunConfig, Step, Trace, compatible, speculate
from specviz.config import Choice
from specviz.decode import collect
from specviz.registry import build as made

from . import limits
from .controls import number
from .session import Engine
from .waiting import MACHINE

DESCRIPTION = """Decode a text with tree speculative decoding and watch it step by step.

It streams (text, step, trace), all empty while the models are loaded. While it runs, step is one step as JSON text:
the drafted tree as columns over its nodes, what the target said of each, and what became of it. At the end step is
empty and trace is the whole run as JSON text, which specviz.Trace.from_json reads and `specviz replay` plays.

models is one of the pairs on the page; empty takes the first. builder_parameters and verifier_parameters are objects
with the parameters of the tree builder and of the verification rule, {"size": 24, "depth": 6} for example. What is out
of range, or cannot go together, ends in an error with a sentence that says what to do. One run has its turn at a time.
"""


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
    ) -> tuple[str, str, str]:  # of each item
        try:
            config = asked(
                prompt, builder_parameters, verifier_parameters, builder=builder, verifier=verifier,
                temperature=temperature, top_p=top_p, top_k=top_k, draft_temperature=draft_temperature,
                max_new_tokens=max_new_tokens, seed=seed,
            )  # fmt: skip
            yield from answers(engine, config, models or None)
        except ValueError as error:
            raise gr.Error(str(error), print_exception=False) from None
        except Exception:
            logging.getLogger(__name__).exception("a run for the API failed")
            raise gr.Error("The run failed. The reason is in the server's log.", print_exception=False) from None

    gr.api(generate, api_name="generate", api_description=DESCRIPTION, **MACHINE)


def asked(
    prompt: Any, builder_parameters: Any, verifier_parameters: Any, *, builder: Any, verifier: Any, **scalars: Any
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
    }
    config = RunConfig(prompt, **strategies, **{name: number(name, value) for name, value in scalars.items()})
    limits.check(config)
    match = compatible(config.builder, config.verifier, config.temperature, config.draft_temperature)
    if not match.possible:
        raise ValueError(match.reason)
    return config


def strategy(kind: str, name: Any, parameters: Any) -> Any:
    """The builder or verifier of that name.

    Raises:
        ValueError: if there is none, or a parameter is not right.
    """
    if not isinstance(name, str):
        raise ValueError(f"{kind} must be a name such as 'sequoia'; got {str(name)[:40]!r}.")
    if not (parameters is None or isinstance(parameters, dict)):
        raise ValueError(f'{kind}_parameters must be an object such as {{"size": 24}}; got {str(parameters)[:40]!r}.')
    return made(kind, Choice(name, parameters or {}))


def answers(engine: Engine, config: RunConfig, title: str | None = None) -> Iterator[tuple[str, str, str]]:
    """What is streamed: the text so far, a step, and at the end the trace."""
    text = ""
    with engine.alone():
        for _ in engine.loading(title):
            yield text, "", ""
        for item in engine.compute(recorded, config, title=title):
            if isinstance(item, Step):
                text += "".join(item.pieces)
                yield text, item.to_json(), ""
            else:
                yield text, "", item.to_json()


def recorded(pair: Any, config: RunConfig) -> Iterator[Step | Trace]:
    """The steps of a run, and then its trace; work for `Engine.compute`."""
    steps = []
    for step in speculate(pair, config):
        steps.append(step)
        yield step
    yield collect(pair, config, iter(steps))
