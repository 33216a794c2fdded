"""The settings with which other engines do what was predicted, for their own rule and the switch.

Flags as in the documentation of vLLM 0.32, SGLang 0.5, llama.cpp (`--spec-*`, since May 2026),
TensorRT-LLM 1.4 and OpenVINO GenAI 2026.4, read in November 2026.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..tree import Topology

OWN_FORMAT = "needs a checkpoint in its own format"
LOOKUP = "looks in the text so far only"
CUDA_ONLY = "on a CUDA device only"
GROWN = "grows its tree by confidence"
GGUF = "convert the draft to GGUF first"


@dataclass(frozen=True)
class Plan:
    """What an engine is set to.

    Args:
        draft: folder or hub name of the drafter's model, "" where it has none.
        shape: the tree; a chain for engines that draft no trees.
        sampled: whether tokens are drawn from the draft, and verified by rejection sampling.
        by_batch: (fewest, most, length of the draft) by the number of requests.
    """

    draft: str
    shape: Topology
    sampled: bool = False
    by_batch: Sequence[tuple[int, int, int]] = ()

    @property
    def depth(self) -> int:
        """Levels of the tree, the length of a chain."""
        return int(self.shape.depth.max())

    @property
    def width(self) -> int:
        """Most children of a node."""
        return max(map(len, self.shape.children))


def vllm(method: dict[str, Any]) -> Callable[[Plan], str]:
    """The JSON of --speculative-config."""

    def flags(plan: Plan) -> str:
        config = {**method, "num_speculative_tokens": plan.depth}
        if config.get("model") is ...:
            config["model"] = plan.draft
        if plan.sampled:
            config["draft_sample_method"] = "probabilistic"
        if plan.by_batch:
            config["num_speculative_tokens"] = max(length for *_, length in plan.by_batch) or 1
            config["num_speculative_tokens_per_batch_size"] = [*map(list, plan.by_batch)]
        return f"--speculative-config {shlex.quote(json.dumps(config))}"

    return flags


def sglang(algorithm: str, model: str = "") -> Callable[[Plan], str]:
    """Its flags; the root counts among the draft tokens."""

    def flags(plan: Plan) -> str:
        path = shlex.quote(plan.draft or model)
        words = [
            f"--speculative-algorithm {algorithm} --speculative-draft-model-path {path}",
            f"--speculative-num-steps {plan.depth} --speculative-eagle-topk {plan.width}",
            f"--speculative-num-draft-tokens {len(plan.shape)}",
        ]
        return " ".join(words + ["--speculative-use-rejection-sampling"] * plan.sampled)

    return flags


def sglang_ngram(plan: Plan) -> str:
    """Its look-up."""
    return f"--speculative-algorithm NGRAM --speculative-num-draft-tokens {len(plan.shape)}"


def llama_draft(plan: Plan) -> str:
    """No token is left out for its probability, as predicted."""
    model = shlex.quote(f"{plan.draft}.gguf")
    return (
        f"--spec-type draft-simple --spec-draft-model {model} --spec-draft-n-max {plan.depth} "
        "--spec-draft-p-min 0"
    )


def llama_ngram(plan: Plan) -> str:
    """Its look-up."""
    return f"--spec-type ngram-simple --spec-ngram-simple-size-m {plan.depth}"


def tensorrt(kind: str, model: str = "") -> Callable[[Plan], str]:
    """A `speculative_config` in YAML; trees for EAGLE-3 only."""

    def flags(plan: Plan) -> str:
        config: dict[str, Any] = {"decoding_type": kind, "max_draft_len": plan.depth}
        if model or plan.draft:
            config["speculative_model"] = plan.draft or model
        if plan.width > 1:
            config["use_dynamic_tree"] = True
            config["dynamic_tree_max_topK"] = plan.width
            config["max_total_draft_tokens"] = len(plan.shape) - 1
        if plan.sampled:
            config["use_rejection_sampling"] = True
        return f"speculative_config: {json.dumps(config)}"

    return flags


def openvino(plan: Plan) -> str:
    """Fields of its GenerationConfig."""
    if plan.width == 1:
        return f"num_assistant_tokens={plan.depth}"
    size = len(plan.shape) - 1
    return f"branching_factor={plan.width}, tree_depth={plan.depth}, num_assistant_tokens={size}"


class Engine(NamedTuple):
    """What an engine has for a drafter: its flags, how its trees differ ("" if it has none),
    whether the switch goes with it, and what else differs."""

    flags: Callable[[Plan], str]
    trees: str = ""
    switch: bool = False
    note: str = ""


# engine -> drafter -> what it has
ENGINES: dict[str, dict[str, Engine]] = {
    "vLLM": {
        "model": Engine(vllm({"method": "draft_model", "model": ...}), switch=True),
        "medusa": Engine(vllm({"method": "medusa", "model": "HEADS"}), note=OWN_FORMAT),
        "eagle": Engine(vllm({"method": "eagle", "model": "LAYER"}), switch=True, note=OWN_FORMAT),
        "eagle3": Engine(vllm({"method": "eagle3", "model": ...}), switch=True),
        "ngram": Engine(
            vllm({"method": "ngram", "prompt_lookup_min": 2, "prompt_lookup_max": 4}), note=LOOKUP
        ),
        "retrieval": Engine(
            vllm({"method": "suffix"}), note="looks in the text so far and in earlier answers"
        ),
    },
    "SGLang": {
        "model": Engine(sglang("STANDALONE"), GROWN, True),
        "eagle": Engine(sglang("EAGLE", "LAYER"), GROWN, True, OWN_FORMAT),
        "eagle3": Engine(sglang("EAGLE3"), GROWN, True),
        "ngram": Engine(sglang_ngram, "builds its tree of what followed", note=CUDA_ONLY),
        "retrieval": Engine(sglang_ngram, "builds its tree of what followed", note=CUDA_ONLY),
    },
    "llama.cpp": {
        "model": Engine(llama_draft, note=GGUF),
        "ngram": Engine(llama_ngram, note=LOOKUP),
        "retrieval": Engine(llama_ngram, note=LOOKUP),
    },
    "TensorRT-LLM": {
        "model": Engine(tensorrt("DraftTarget"), switch=True),
        "eagle3": Engine(tensorrt("Eagle3"), GROWN, True),
        "ngram": Engine(tensorrt("NGram"), note=LOOKUP),
        "retrieval": Engine(tensorrt("NGram"), note=LOOKUP),
    },
    "OpenVINO": {
        "model": Engine(openvino, note="compares probabilities of two draws: not predicted here"),
    },
}


class Predicted(NamedTuple):
    """One way to draft and verify: its shape, tokens per pass and speedup (None: not predicted)."""

    shape: Topology
    tokens: float | None = None
    speedup: float | None = None


class EngineSettings(NamedTuple):
    """What one engine has: its name, its own rule or the switch, the flags as they are typed (""
    where it has none), what is predicted for just these, and what differs."""

    engine: str
    algorithm: str
    flags: str
    tokens: float | None
    speedup: float | None
    note: str


def engine_flags(
    drafter: str,
    draft: str,
    predicted: Mapping[str, Predicted],
    by_batch: Mapping[str, Sequence[tuple[int, int, int]]] | None = None,
) -> tuple[EngineSettings, ...]:
    """The settings of each engine, with its own rule and with the switch.

    Args:
        drafter: menu name of the drafter.
        draft: folder or hub name of its model, "" where it has none.
        predicted: for "chain" and "tree" with the target's own draw, and for "sampled", a chain by
            rejection sampling; what is not predicted is left out.
        by_batch: lengths of the draft by the number of requests, for "chain" and "sampled".

    >>> chain = Predicted(Topology((-1, 0, 1)), 2.0, 1.5)
    >>> rows = engine_flags("ngram", "", {"chain": chain})
    >>> next(row.flags for row in rows if row.engine == "llama.cpp")
    '--spec-type ngram-simple --spec-ngram-simple-size-m 2'
    """
    rows = []
    for engine, drafters in ENGINES.items():
        if drafter not in drafters:
            rows.append(EngineSettings(engine, "", "", None, None, "has no such drafter"))
            continue
        has = drafters[drafter]
        own = ["chain", "tree"] if has.trees else ["chain"]
        known = [way for way in own if way in predicted]
        ways = [max(known, key=lambda way: predicted[way].speedup or 0.0)]
        if has.switch and "sampled" in predicted:
            ways.append("sampled")
        for way in ways:
            one = predicted[way]
            plan = Plan(draft, one.shape, way == "sampled", (by_batch or {}).get(way, ()))
            foreign = engine == "OpenVINO"  # its rule is none of those here
            notes = [has.trees if plan.width > 1 else "", has.note]
            rows.append(
                EngineSettings(
                    engine,
                    "switch" if way == "sampled" else "own rule",
                    has.flags(plan),
                    None if foreign else one.tokens,
                    None if foreign else one.speedup,
                    ", ".join(filter(None, notes)),
                )
            )
    return tuple(rows)
