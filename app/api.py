"""The endpoint `/generate`: a run as plain data, for programs; it uses the same queue as the
page."""

# Annotations are not postponed here: gradio reads them to document the endpoint.
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import gradio as gr

from specviz.base.codec import JsonObject
from specviz.base.errors import ParameterError
from specviz.base.files import parse_json
from specviz.config.run_config import RunConfig, compatible
from specviz.measure.timing import ROUNDS

from .service import limits
from .service.decoding import begin, timing
from .service.failures import explain
from .service.limits import number
from .service.queue import visitor_of
from .service.queued_run import Note, Turn
from .service.run_store import GrowingRun
from .service.service import RunService

DESCRIPTION = """Decode a text with tree speculative decoding and watch it step by step.

It streams (text, step, trace), all empty while the models are loaded. While it runs, step is
one step as JSON text: the drafted tree as columns over its nodes, the target's probability and
the outcome of each. At the end step is empty and trace is the whole run as JSON text, which
specviz.Trace.from_json reads and `specviz replay` plays.

prompt is text to continue. messages, a chat as JSON text, [{"role": "user", "content": "..."}],
takes its place where the pair's target is a chat model.

models is one of the pairs on the page; empty takes the first. weights is "memory", or "disk" to
read the target's weights again in every pass. builder, verifier and drafter are names, with
parameters after a colon: "dyspec:size=24,depth=8". Invalid values and incompatible choices raise
an error that says what to do. Runs are decoded one at a time.

After the run, it is timed against plain decoding for plain_rounds alternating rounds (0 for
none): the trace then has "speedup": {"speedup", "low", "high" (of a round), "rounds",
"tokens_per_s", "plain_tokens_per_s", "seconds", "plain_seconds" (of all its tokens at those
rates), "date", "machine"}, unless it was too short. It is timed only while the queue is empty,
so there may be fewer rounds or none.
"""
MAX_ROUNDS = 10
TEXTS = ("prompt", "builder", "verifier", "drafter")


def build(service: RunService) -> None:
    """Add the endpoint to the page that is being built."""

    async def generate(  # type: ignore[misc]
        request: gr.Request,
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
        weights: str = "memory",
        messages: str = "",
    ) -> tuple[str, str, str]:  # of each item
        try:
            config = config_of(
                prompt=messages_of(messages) if messages else prompt,
                builder=builder,
                verifier=verifier,
                drafter=drafter,
                temperature=temperature,
                top_p=top_p,
                top_k=top_k,
                draft_temperature=draft_temperature,
                max_new_tokens=max_new_tokens,
                seed=seed,
            )
            ref = service.pairs.find(models, weights)
            # The page uses memory instead. For a program that is an error: its times would be of
            # other weights.
            if weights == "disk" != ref.weights:
                raise ParameterError("weights", "be memory for this pair", weights)
            if type(plain_rounds) is not int or not 0 <= plain_rounds <= MAX_ROUNDS:
                raise ParameterError(
                    "plain_rounds", f"be a whole number from 0 to {MAX_ROUNDS}", plain_rounds
                )
            items = service.stream(
                visitor_of(request), ref, answers, config, plain_rounds, prompts=[config.prompt]
            )
            async with aclosing(items):
                async for item in items:
                    # How long it waits is not said to a program.
                    yield ("", "", "") if isinstance(item, Note) else item
        except Exception as error:
            # A parameter keeps its name, whose first letter is small.
            text = (
                str(error) if isinstance(error, ValueError) else explain(error, "The run failed.")
            )
            raise gr.Error(text, print_exception=False) from None

    gr.api(
        generate,
        api_name="generate",
        api_description=DESCRIPTION,
        concurrency_limit=None,  # the service has a queue of its own
    )


def config_of(**values: Any) -> RunConfig:
    """The configuration of a request, checked as the page checks it; raises a `ValueError` for the
    caller."""
    for name in TEXTS:
        # Everything else is refused by `RunConfig`; here only what it would take for another form.
        is_chat = name == "prompt" and isinstance(values[name], list)
        if not isinstance(values[name], str) and not is_chat:
            raise ParameterError(name, "be text", values[name])
    for name in values:
        if name not in TEXTS:
            values[name] = number(values[name])
    config = RunConfig(**values)
    limits.check(config)
    compatible(config).required()
    return config


def messages_of(text: str) -> list[JsonObject]:
    """The messages of a chat from JSON text; a `ValueError` where it is none."""
    try:
        messages = parse_json(text)
    except (TypeError, ValueError):
        messages = None
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        raise ParameterError(
            "messages",
            'be a JSON list of messages such as {"role": "user", "content": "..."}',
            text,
        )
    return messages


def answers(
    turn: Turn, config: RunConfig, rounds: int = 0
) -> Iterator[tuple[str, str, str] | None]:
    """What is streamed: the text so far, a step, and at the end the trace, with its speedup over
    plain decoding; None while it is timed."""
    text = ""
    written = []
    blank, steps = begin(turn, config)
    for step in steps:  # a caller gets no trace of one that fails, but every step before that
        written.append(step)
        text += "".join(step.emitted_texts)
        yield text, step.to_json(), ""
    run = GrowingRun("", blank, written, ended=True)
    for speedup in timing(turn, config, run.trace.counts, rounds):
        run.speedup = speedup or run.speedup
        yield None
    yield text, "", run.trace.to_json()
