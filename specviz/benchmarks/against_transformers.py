"""Generation with transformers against this engine: timed in turns with plain decoding, and compared text by text.

Each timed side works in a process of its own, with the number format and the threads that are fastest for it: these are
tried first, one side after the other. A process that waits for its turn uses no processor.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from multiprocessing import get_context
from time import perf_counter
from typing import Any

from .. import BUILDERS, RunConfig, autoregress, run
from ..acceptance.progress import Progress
from ..metrics import Counts
from ..proof.same_text import Comparison, comparing
from .timing import TimedRun, interleave, seconds_of, summarise

TRIED = 24  # tokens of each setting that is tried
PLAIN, OTHER = "specviz", "transformers"
_generate: Callable[[RunConfig], Counts]  # in a process of a pool: its side with the fastest setting


def time_transformers(
    spec: dict[str, Any], assisted: bool, prompts: Sequence[str], config: RunConfig, rounds: int = 1
) -> tuple[TimedRun, dict[str, Any]]:
    """Time transformers' `generate` against plain decoding, with the draft as its assistant or without.

    Returns:
        The row, and the number format and threads of each side.
    """
    sides = {PLAIN: partial(_engine, spec), OTHER: partial(_transformers, spec, assisted)}
    first = replace(config, prompt=prompts[0], max_new_tokens=min(TRIED, config.max_new_tokens))
    texts = [replace(config, prompt=text, seed=config.seed + place) for place, text in enumerate(prompts)] * rounds
    with ExitStack() as stack:
        calls, settings = {}, {}
        for name, side in sides.items():
            pool = ProcessPoolExecutor(1, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))
            stack.enter_context(pool)
            settings[name] = _result(pool, _choose, side, first)
            calls[name] = partial(_result, pool, _run, texts)
        counts: dict[str, list[Counts]] = {name: [] for name in sides}
        for _, name, one in interleave(calls, len(texts)):
            counts[name].append(one)
    names = [str(text.prompt) for text in texts]
    return summarise(OTHER, counts[OTHER], counts[PLAIN], names), settings


def _result(pool: ProcessPoolExecutor, call: Callable, *arguments: Any) -> Any:
    try:
        return pool.submit(call, *arguments).result()
    except BrokenExecutor:
        raise ValueError("the process that was timed ended; memory may have been too small.") from None
    except Exception as error:
        raise ValueError(" ".join(f"{type(error).__name__}: {error}".split())[:300]) from error


def _choose(side: Callable, config: RunConfig) -> dict[str, Any]:
    """Try every setting of this process's side, and keep what generates with the fastest."""
    global _generate
    settings, use = side()
    seconds = {}
    for setting in settings:
        _, generate = use(*setting)
        generate(config)
        seconds[setting] = seconds_of(partial(generate, config))
    about, _generate = use(*min(seconds, key=lambda setting: seconds[setting]))
    return about


def _run(texts: Sequence[RunConfig], turn: int) -> Counts:
    return _generate(texts[turn])


def _engine(spec: dict[str, Any]) -> tuple[list, Callable]:
    """Plain decoding by this engine, which chooses its threads itself: its settings, and how one is used."""
    from ..models.pair import load_pair

    load = lru_cache(1)(lambda dtype: load_pair(**spec | {"dtype": dtype}))

    def use(dtype: str) -> tuple[dict[str, Any], Callable]:
        pair: Any = load(dtype)
        threads = getattr(getattr(pair.target, "threads", None), "count", None)
        return {"dtype": pair.info["dtype"], "threads": threads}, lambda config: autoregress(pair, config).counts

    return [(dtype,) for dtype in _dtypes(spec, "auto", "float32")], use


def _transformers(spec: dict[str, Any], assisted: bool) -> tuple[list, Callable]:
    """`generate` of transformers with the same weights: number formats and threads, and how they are used."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    from ..models.pair import load_pair

    logging.set_verbosity_error()
    pair: Any = load_pair(**spec)  # for its text side and context
    if assisted and getattr(pair.draft, "model", None) is None:
        raise ValueError("transformers needs a draft model with the target's tokenizer as its assistant.")
    names = [one.model.config._name_or_path for one in (pair.target, pair.draft)[: 1 + assisted]]
    device = pair.target.device

    @lru_cache(1)
    def load(dtype: str) -> list[Any]:
        read = partial(AutoModelForCausalLM.from_pretrained, dtype=getattr(torch, dtype), trust_remote_code=False)
        return [read(name).to(device).eval() for name in names]

    def use(dtype: str, threads: int) -> tuple[dict[str, Any], Callable]:
        torch.set_num_threads(threads)
        return {"dtype": dtype, "threads": threads}, partial(_timed, load(dtype), pair)

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if device.type == "cpu":
        return [*product(_dtypes(spec, "float32", "bfloat16"), sorted({1, max(1, cores // 2), cores}))], use
    return [(dtype, torch.get_num_threads()) for dtype in _dtypes(spec, "bfloat16", "float16")], use


def _timed(models: Sequence[Any], pair: Any, config: RunConfig) -> Counts:
    """A text by transformers; its time is not split into parts."""
    import torch

    passes: list[tuple[int, float]] = []  # tokens so far and the time, after each pass of the target
    sampling: dict[str, Any] = {}
    if config.temperature > 0:
        torch.manual_seed(config.seed)
        sampling = dict(do_sample=True, temperature=config.temperature, top_p=config.top_p, top_k=config.top_k or 0)

    def passed(tokens: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        passes.append((tokens.shape[1], perf_counter()))
        return torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)

    target, assistant = (*models, None)[:2]
    new = _continue(target, pair, config, stopping_criteria=[passed], assistant_model=assistant, **sampling)
    (before, began), (after, ended) = passes[0], passes[-1]
    return Counts(
        len(new), len(passes), timed_tokens=after - before, timed_passes=len(passes) - 1,
        seconds=(0.0, 0.0, 0.0, ended - began),
    )  # fmt: skip


def _dtypes(spec: dict[str, Any], *options: str) -> list[str]:
    """The number formats that are tried: the one that was requested, or all."""
    return [*options] if spec.get("dtype", "auto") == "auto" else [spec["dtype"]]


def _continue(model: Any, pair: Any, config: RunConfig, **options: Any) -> list[int]:
    """The new tokens of transformers' `generate`, greedy unless `options` say otherwise."""
    import torch

    ids = torch.tensor([pair.encode(str(config.prompt))], device=pair.target.device)
    room = min(config.max_new_tokens, pair.max_positions - ids.shape[1])
    if room < 1:
        raise ValueError(f"prompts must be shorter than the context, {pair.max_positions} tokens.")
    with torch.inference_mode():
        out = model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=room, pad_token_id=min(pair.eos_ids, default=0),
            **{"do_sample": False} | options,
        )  # fmt: skip
    return out[0, ids.shape[1] :].tolist()


def compare_greedy(
    pair: Any, prompts: Sequence[str], max_new_tokens: int = 128, builders: Sequence[str] = ()
) -> Iterator[Progress[tuple[tuple[str, str, Comparison], ...]]]:
    """Compare transformers' greedy `generate`, and builders or all of the menu, with plain decoding at temperature 0.

    In float32 there should be no difference. The results are who wrote, after which prompt, and how far it is equal.
    """
    found: list[tuple[str, str, Comparison]] = []
    menu = [name for name, cls in BUILDERS.items() if not cls.alone and (pair.draft is not None or not cls.reads_draft)]
    for done, prompt in enumerate(prompts, 1):
        config = RunConfig(prompt, temperature=0.0, verifier="exact-match", max_new_tokens=max_new_tokens)
        texts: dict[str, Sequence[int]] = {OTHER: _continue(pair.target.model, pair, config)}
        texts |= {name: run(pair, replace(config, builder=name)).tokens for name in builders or menu}
        for writer, tokens in texts.items():
            *_, comparison = comparing(pair, config, tokens)
            found.append((writer, prompt, comparison))
        yield Progress(done, len(prompts), result=tuple(found))
