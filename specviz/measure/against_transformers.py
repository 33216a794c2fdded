"""Generation with transformers against this engine: timed in turns with plain decoding, and
compared text by text.

Each timed side works in a process of its own, with the number format and the threads that are
fastest for it: these are tried first, one side after the other. A process that waits for its turn
uses no processor.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from math import inf
from multiprocessing import get_context
from time import perf_counter
from typing import TYPE_CHECKING

from ..base.codec import JsonObject
from ..base.progress import Progress, final_result
from ..builders import BUILDERS
from ..config.run_config import RunConfig
from ..decode import autoregress, run
from ..decode.session import prompt_tokens
from ..models.base import Pair
from ..proof.same_text import Comparison, comparing
from ..record.metrics import Counts
from .processor import machine
from .timing import AUTOREGRESSIVE, TimedRun, time_calls

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

    from ..models.huggingface_pair import HuggingFacePair

TRIED = 24  # tokens of each setting that is tried
OTHER = "transformers"
Generate = Callable[[RunConfig], Counts]
Settings = Iterator[tuple[JsonObject, Generate]]  # each with what generates with it
Side = Callable[[], Settings]
_generate: Generate  # in a process of a pool: its side with the fastest setting


def time_beside(
    spec: JsonObject,
    other: str,
    side: Side,
    prompts: Sequence[str],
    config: RunConfig,
    rounds: int = 1,
) -> tuple[tuple[TimedRun, ...], JsonObject]:
    """Time another engine against plain decoding.

    Args:
        spec: how the pair is loaded.
        other, side: the name of the engine, and what opens it in a process of its own: settings,
            and what generates with each.
        prompts, config, rounds: what is generated, and how often.

    Returns:
        The row, none if there was no step to time, and the settings of each side that were fastest.
    """
    sides: dict[str, Side] = {AUTOREGRESSIVE: partial(_engine, spec), other: side}
    first = replace(config, prompt=prompts[0], max_new_tokens=min(TRIED, config.max_new_tokens))
    texts = []
    for place, text in enumerate(prompts):
        texts.append(replace(config, prompt=text, seed=config.seed_after(place)))
    texts *= rounds
    calls = {}
    settings = {}
    try:
        with ExitStack() as stack:
            for name, side in sides.items():
                # One process each, so that threads and number formats of one side stay its own.
                pool = ProcessPoolExecutor(
                    1, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN)
                )
                stack.enter_context(pool)
                settings[name] = pool.submit(_choose, side, first).result()
                calls[name] = lambda number, pool=pool: pool.submit(_run, texts[number]).result()
            rows = final_result(time_calls(calls, [*prompts] * rounds))
    except BrokenExecutor:
        raise ValueError(
            "the process that was timed ended; memory may have been too small."
        ) from None
    return rows, {"specviz": settings[AUTOREGRESSIVE], other: settings[other]}


def _choose(side: Side, config: RunConfig) -> JsonObject:
    """Try every setting of this process's side, and keep what generates with the fastest."""
    global _generate
    fastest = inf
    for setting, generate in side():
        # Once unmeasured, as the first run compiles and warms caches.
        generate(config)
        began = perf_counter()
        generate(config)
        seconds = perf_counter() - began
        if seconds < fastest:
            fastest = seconds
            settings = setting
            _generate = generate
    return settings


def _run(config: RunConfig) -> Counts:
    return _generate(config)


def _engine(spec: JsonObject) -> Settings:
    """Plain decoding by this engine, with all threads: its settings, and what generates with
    each."""
    import torch

    from ..models.pair import load_pair

    for dtype in _dtypes(spec, "auto", "float32"):
        pair = load_pair(**spec | {"dtype": dtype})
        setting = {"dtype": pair.info["dtype"], "threads": torch.get_num_threads()}
        yield setting, partial(_plain, pair)


def _plain(pair: Pair, config: RunConfig) -> Counts:
    return autoregress(pair, config).counts


def transformers_side(spec: JsonObject, assisted: bool) -> Settings:
    """`generate` of transformers with the same weights: number formats and threads, and what
    generates with each."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    from ..models.pair import load_pair

    logging.set_verbosity_error()
    pair = load_pair(**spec)  # for its text side and context
    if assisted and getattr(pair.draft, "model", None) is None:
        raise ValueError(
            "transformers needs a draft model with the target's tokenizer as its assistant."
        )
    # The same files once more, by transformers' own loader.
    names = []
    for one in (pair.target, pair.draft)[: 1 + assisted]:
        names.append(one.model.config._name_or_path)
    device = pair.target.device
    dtypes = ("bfloat16", "float16")
    threads = [torch.get_num_threads()]
    if device.type == "cpu":
        cores = int(machine()[-1])
        dtypes = ("float32", "bfloat16")
        threads = sorted({1, max(1, cores // 2), cores})
    for dtype in _dtypes(spec, *dtypes):
        read = partial(
            AutoModelForCausalLM.from_pretrained,
            dtype=getattr(torch, dtype),
            trust_remote_code=False,
        )
        models = [read(name).to(device).eval() for name in names]
        for count in threads:
            yield {"dtype": dtype, "threads": count}, partial(_timed, models, pair, count)


def _timed(
    models: Sequence[PreTrainedModel], pair: HuggingFacePair, threads: int, config: RunConfig
) -> Counts:
    """A text by transformers; its time is not split into parts."""
    import torch

    torch.set_num_threads(threads)
    passes: list[tuple[int, float]] = []  # tokens so far and the time, after each target pass
    sampling: JsonObject = {}
    if config.temperature > 0:
        torch.manual_seed(config.seed)
        sampling = dict(
            do_sample=True,
            temperature=config.temperature,
            top_p=config.top_p,
            top_k=config.top_k or 0,
        )

    def passed(tokens: torch.Tensor, scores: object, **_: object) -> torch.Tensor:
        # A stopping criterion is called after each pass of the target, which is how its steps are
        # counted.
        passes.append((tokens.shape[1], perf_counter()))
        return torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)

    target, assistant = (*models, None)[:2]
    new = _continue(
        target, pair, config, stopping_criteria=[passed], assistant_model=assistant, **sampling
    )
    # From the end of the first pass to that of the last, as the engine counts its own steps.
    before, began = passes[0]
    after, ended = passes[-1]
    return Counts(
        len(new),
        len(passes),
        timed_tokens=after - before,
        timed_passes=len(passes) - 1,
        seconds=(0.0, 0.0, 0.0, ended - began),
    )


def _dtypes(spec: JsonObject, *options: str) -> list[str]:
    """The number formats that are tried: the one that was requested, or all."""
    if spec.get("dtype", "auto") == "auto":
        return [*options]
    return [spec["dtype"]]


def _continue(
    model: PreTrainedModel, pair: HuggingFacePair, config: RunConfig, **options: object
) -> list[int]:
    """The new tokens of transformers' `generate`, greedy unless `options` say otherwise."""
    import torch

    # The tokens of this engine's own text side: another tokenization would be another prompt.
    ids = torch.tensor([prompt_tokens(pair, config)], device=pair.target.device)
    room = min(config.max_new_tokens, pair.max_positions - ids.shape[1])
    if room < 1:
        raise ValueError(f"prompts must be shorter than the context, {pair.max_positions} tokens.")
    models = [model]
    if options.get("assistant_model"):
        models = [model, options["assistant_model"]]
    with torch.inference_mode(), ExitStack() as stack:
        for one in models:
            stack.enter_context(_neutral_settings(one, pair))
        out = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=room,
            pad_token_id=min(pair.eos_ids, default=0),
            **{"do_sample": False} | options,
        )
    return out[0, ids.shape[1] :].tolist()


@contextmanager
def _neutral_settings(model: PreTrainedModel, pair: HuggingFacePair) -> Iterator[None]:
    """Without the settings that a checkpoint brings, such as a repetition penalty or suppressed
    tokens, which would change the text of one side only."""
    from transformers import GenerationConfig

    own = model.generation_config
    model.generation_config = GenerationConfig(
        eos_token_id=sorted(pair.eos_ids) or None,
        pad_token_id=min(pair.eos_ids, default=0),
    )
    try:
        yield
    finally:
        model.generation_config = own


def compare_greedy(
    pair: HuggingFacePair,
    prompts: Sequence[str],
    max_new_tokens: int = 128,
    builders: Sequence[str] = (),
) -> Iterator[Progress[tuple[tuple[str, str, Comparison], ...]]]:
    """Compare transformers' greedy `generate`, and builders or all of the menu, with plain decoding
    at temperature 0.

    In float32 there should be no difference. The results are who wrote, after which prompt, and how
    far it is equal.
    """
    comparisons: list[tuple[str, str, Comparison]] = []
    menu = []
    for name, builder in BUILDERS.items():
        if not builder.autoregressive and (pair.draft or not builder.reads_draft):
            menu.append(name)
    for done, prompt in enumerate(prompts, 1):
        config = RunConfig(
            prompt, temperature=0.0, verifier="exact-match", max_new_tokens=max_new_tokens
        )
        texts: dict[str, Sequence[int]] = {OTHER: _continue(pair.target.model, pair, config)}
        for name in builders or menu:
            texts[name] = run(pair, replace(config, builder=name)).tokens
        # All against plain decoding here, so that a difference has one side to look at.
        for writer, tokens in texts.items():
            *_, comparison = comparing(pair, config, tokens)
            comparisons.append((writer, prompt, comparison))
        yield Progress(done, len(prompts), result=tuple(comparisons))
