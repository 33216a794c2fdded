"""Other engines on this machine, timed in turns with plain decoding: transformers, llama.cpp and
OpenVINO GenAI.

The last two are optional: `pip install xllamacpp` and `pip install openvino-genai`. They read a
GGUF file, OpenVINO also a folder of its own format; the tokens of the prompt are the same for all
sides. Their number format is that of the file, so what is compared is tokens per second, not a
text.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np

from ..base.codec import JsonObject
from ..base.errors import ParameterError, cause
from ..config.run_config import RunConfig
from ..decode.session import prompt_tokens
from ..models.base import Pair
from ..record.metrics import Counts
from .against_transformers import OTHER, Settings, Side, transformers_side
from .processor import machine

PACKAGES = {"llama.cpp": "xllamacpp", "openvino": "openvino-genai"}  # engine -> what to install
TRANSFORMERS = {OTHER: False, f"{OTHER}-assisted": True}  # name -> with its assistant


def engine_of(builder: str) -> tuple[str, str]:
    """The engine and its model in a text such as "llama.cpp:model.gguf"; "" for any other."""
    engine, _, model = builder.partition(":")
    if engine in PACKAGES and model:
        return engine, model
    return "", ""


def is_engine(builder: str) -> bool:
    """Whether what stands for a builder is another engine, which decodes by itself."""
    return builder in TRANSFORMERS or engine_of(builder)[0] != ""


def check_engine(text: str) -> str:
    """A text that names an engine and its model.

    Raises:
        ValueError: if it names none, or the model is not there.
    """
    engine, model = engine_of(text)
    if not engine:
        listed = " or ".join(f"{name}:MODEL" for name in PACKAGES)
        raise ParameterError("--against", f"be {listed}, a GGUF file", text)
    if not Path(model).exists():
        raise ParameterError("--against", "name a model that is there", model)
    return text


def side_of(builder: str, spec: JsonObject) -> tuple[str, Side]:
    """The name of an engine, and what opens it, for `time_beside`."""
    if builder in TRANSFORMERS:
        return OTHER, partial(transformers_side, spec, TRANSFORMERS[builder])
    engine, model = engine_of(builder)
    side = _openvino
    if engine == "llama.cpp":
        side = _llama_cpp
    return engine, partial(side, spec, model)


def _import(engine: str, *modules: str) -> list[ModuleType]:
    try:
        return list(map(import_module, modules))
    except ModuleNotFoundError:
        missing = f"{engine} is not installed: pip install {PACKAGES[engine]}"
        raise ValueError(missing) from None
    except ImportError as error:
        raise ValueError(f"{engine} is installed but cannot be used: {cause(error)}") from None


def _text_side(spec: JsonObject) -> Pair:
    from ..models.pair import load_pair

    return load_pair(**spec)


def _llama_cpp(spec: JsonObject, model: str) -> Settings:
    (xllamacpp,) = _import("llama.cpp", "xllamacpp")
    pair = _text_side(spec)
    cores = int(machine()[-1])
    settings = xllamacpp.CommonParams()
    settings.model.path = model
    # Memory for a context that no prompt fills would only slow the start.
    settings.n_ctx = min(pair.max_positions, 4096)
    settings.n_parallel = 1
    settings.cpuparams.n_threads = cores
    server = xllamacpp.Server(settings)

    def generate(config: RunConfig) -> Counts:
        # By token ids and without its caches or filters of its own, so that both sides do the same.
        answer = server.handle_completions(
            {
                "prompt": prompt_tokens(pair, config),
                "n_predict": config.max_new_tokens,
                "temperature": config.temperature,
                "top_p": config.top_p,
                "top_k": config.top_k or 0,
                "min_p": 0.0,
                "seed": config.seed,
                "cache_prompt": False,
            }
        )
        if "timings" not in answer:
            raise ValueError(f"llama.cpp cannot continue the prompt: {str(answer)[:200]}")
        timings = answer["timings"]
        return _counts(timings["predicted_n"], timings["predicted_ms"] / 1000)

    yield {"dtype": Path(model).stem.rpartition(".")[2], "threads": cores}, generate


def _openvino(spec: JsonObject, model: str) -> Settings:
    openvino, openvino_genai = _import("openvino", "openvino", "openvino_genai")
    pair = _text_side(spec)
    pipeline = openvino_genai.LLMPipeline(model, "CPU")

    def generate(config: RunConfig) -> Counts:
        settings = openvino_genai.GenerationConfig()
        settings.max_new_tokens = config.max_new_tokens
        settings.do_sample = config.temperature > 0
        if config.temperature > 0:
            settings.temperature = config.temperature
            settings.top_p = config.top_p
            settings.rng_seed = config.seed
        # It takes a single token as the end of a text; the pair may have several.
        settings.eos_token_id = min(pair.eos_ids, default=-1)
        ids = openvino.Tensor(np.array([prompt_tokens(pair, config)], dtype=np.int64))
        metrics = pipeline.generate(ids, settings).perf_metrics
        tokens = metrics.get_num_generated_tokens()
        # Its time per output token leaves out the first one, which comes with the prompt.
        return _counts(tokens, metrics.get_tpot().mean * max(0, tokens - 1) / 1000)

    yield {"dtype": Path(model).stem.rpartition(".")[2], "threads": int(machine()[-1])}, generate


def _counts(tokens: int, seconds: float) -> Counts:
    """A text of plain steps; the first token comes with reading the prompt and is not timed."""
    timed = max(0, tokens - 1)
    return Counts(
        tokens,
        tokens,
        timed_tokens=timed,
        timed_passes=timed,
        seconds=(0.0, 0.0, 0.0, seconds),
    )
