"""Generation with transformers, timed in turns with plain decoding by this engine.

Each side works in a process of its own, with the number format and the threads that are fastest for it: these are tried
first, one side after the other. A process that waits for its turn uses no processor.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from itertools import product
from time import perf_counter
from typing import Any

from ..config import RunConfig
from ..decode import autoregress
from ..metrics import Counts
from .timing import TimedRun, interleave, seconds_of, summarise

TRIED = 24  # tokens of each setting that is tried
PLAIN, OTHER = "specviz", "transformers"
_make: Callable[[], Any]  # in a process of a pool: its side, made once


def time_transformers(
    spec: dict[str, Any], assisted: bool, prompts: Sequence[str], config: RunConfig, rounds: int = 1
) -> tuple[TimedRun, dict[str, Any]]:
    """Time transformers' `generate` against plain decoding, with the draft as its assistant or without.

    Returns:
        The row, and the number format and threads of each side.
    """
    with ExitStack() as stack:
        sides = {}
        for name, make, arguments in ((PLAIN, _Engine, spec), (OTHER, _Transformers, spec | {"assisted": assisted})):
            pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _start, (make, arguments))
            sides[name] = stack.enter_context(pool)
        first = replace(config, prompt=prompts[0], max_new_tokens=min(TRIED, config.max_new_tokens))
        settings = {name: _call(side, "choose", first) for name, side in sides.items()}
        texts = [prompts[turn % len(prompts)] for turn in range(rounds * len(prompts))]

        def generate(side: ProcessPoolExecutor, turn: int) -> Counts:
            return _call(side, "generate", replace(config, prompt=texts[turn], seed=config.seed + turn % len(prompts)))

        counts: dict[str, list[Counts]] = {name: [] for name in sides}
        for _, name, one in interleave({name: partial(generate, side) for name, side in sides.items()}, len(texts)):
            counts[name].append(one)
        return summarise(OTHER, counts[OTHER], counts[PLAIN], texts), settings


def _start(make: Any, arguments: dict[str, Any]) -> None:
    """Remember, in a process of a pool, what its side is made of; Ctrl-C is the parent's."""
    global _make
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _make = cache(partial(make, **arguments))


def _run(method: str, config: RunConfig) -> Any:
    return getattr(_make(), method)(config)


def _call(side: ProcessPoolExecutor, method: str, config: RunConfig) -> Any:
    try:
        return side.submit(_run, method, config).result()
    except BrokenExecutor:
        raise ValueError("the process that was timed ended; memory may have been too small.") from None
    except Exception as error:
        raise ValueError(" ".join(f"{type(error).__name__}: {error}".split())[:300]) from error


def generation(pair: Any, config: RunConfig) -> tuple[Any, dict[str, Any]]:
    """The tokens of a prompt for transformers' `generate`, and its options besides the sampling."""
    import torch

    ids = torch.tensor([pair.encode(str(config.prompt))], device=pair.target.device)
    left = min(config.max_new_tokens, pair.max_positions - ids.shape[1])
    if left < 1:
        raise ValueError(f"prompts must be shorter than the context, {pair.max_positions} tokens.")
    pad = min(pair.eos_ids, default=0)
    return ids, {"attention_mask": torch.ones_like(ids), "max_new_tokens": left, "pad_token_id": pad}


class _Engine:
    """Plain decoding by this engine."""

    def __init__(self, dtype: str = "auto", **spec: Any) -> None:
        self._spec, self._dtypes = spec, dict.fromkeys(("auto", "float32") if dtype == "auto" else (dtype,))

    def choose(self, config: RunConfig) -> dict[str, Any]:
        from ..models.pair import load_pair

        seconds = {}
        for dtype in self._dtypes:
            self._pair = load_pair(dtype=dtype, **self._spec)
            autoregress(self._pair, config)
            seconds[dtype] = seconds_of(lambda: autoregress(self._pair, config))
        best = min(seconds, key=lambda dtype: seconds[dtype])
        if best != dtype:
            self._pair = load_pair(dtype=best, **self._spec)
        threads = getattr(getattr(self._pair.target, "threads", None), "count", None)
        return {"dtype": self._pair.info.get("dtype"), "threads": threads}

    def generate(self, config: RunConfig) -> Counts:
        return autoregress(self._pair, config).counts


class _Transformers:
    """`generate` of transformers with the same weights; its time is not split into parts."""

    def __init__(self, assisted: bool, target: str | None = None, draft: str | None = None, **spec: Any) -> None:
        from transformers.utils import logging

        from ..models.pair import load_pair

        logging.set_verbosity_error()
        self._assisted, self._spec = assisted, spec
        self._pair: Any = load_pair(target, draft, **spec)  # for its text side and context
        if assisted and getattr(self._pair.draft, "model", None) is None:
            raise ValueError("transformers needs a draft model with the target's tokenizer as its assistant.")

    def choose(self, config: RunConfig) -> dict[str, Any]:
        import torch

        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        device = self._pair.target.device
        threads = sorted({1, max(1, cores // 2), cores}) if device.type == "cpu" else [torch.get_num_threads()]
        dtypes = ["float32", "bfloat16"] if device.type == "cpu" else ["bfloat16", "float16"]
        dtypes = [self._spec["dtype"]] if self._spec.get("dtype", "auto") != "auto" else dtypes
        seconds = {}
        for dtype, count in product(dtypes, threads):
            self._set(dtype, count)
            self.generate(config)
            seconds[dtype, count] = seconds_of(lambda: self.generate(config))
        best = min(seconds, key=lambda one: seconds[one])
        self._set(*best)
        return {"dtype": best[0], "threads": best[1]}

    def _set(self, dtype: str, threads: int) -> None:
        import torch
        from transformers import AutoModelForCausalLM

        torch.set_num_threads(threads)
        if getattr(self, "_dtype", None) != dtype:
            self._models = [
                AutoModelForCausalLM.from_pretrained(
                    one.model.config._name_or_path, dtype=getattr(torch, dtype), trust_remote_code=False
                ).to(self._pair.target.device).eval()
                for one in [self._pair.target, self._pair.draft][: 1 + self._assisted]
            ]  # fmt: skip
            self._dtype = dtype

    def generate(self, config: RunConfig) -> Counts:
        import torch

        ids, options = generation(self._pair, config)
        passes: list[tuple[int, float]] = []  # tokens so far and the time, after each pass of the target
        sampling: dict[str, Any] = {"do_sample": False}
        if config.temperature > 0:
            torch.manual_seed(config.seed)
            sampling = dict(do_sample=True, temperature=config.temperature, top_p=config.top_p, top_k=config.top_k or 0)

        def passed(tokens: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
            passes.append((tokens.shape[1], perf_counter()))
            return torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)

        with torch.inference_mode():
            out = self._models[0].generate(
                ids, stopping_criteria=[passed], assistant_model=self._models[1] if self._assisted else None,
                **options, **sampling,
            )  # fmt: skip
        tokens, began = passes[0]
        return Counts(
            out.shape[1] - ids.shape[1], len(passes), timed_tokens=out.shape[1] - tokens,
            timed_passes=len(passes) - 1, seconds=(0.0, 0.0, 0.0, passes[-1][1] - began),
        )  # fmt: skip
