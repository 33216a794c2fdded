"""The settings of other engines that come nearest to a drafter and its tree.

Flags as in the documentation of vLLM 0.32, SGLang (speculative decoding) and llama.cpp (`--spec-*`,
since May 2026), read in November 2026. Only SGLang drafts trees of its own; the others get the best
chain.
"""

from __future__ import annotations

import json
import shlex
from typing import NamedTuple

from ..tree import Topology

OWN_FORMAT = "needs a checkpoint in its own format"
LOOKUP = "looks in the text so far only"
VLLM = "--speculative-config '{{{method}, \"num_speculative_tokens\": {length}}}'"
SGLANG = (
    "--speculative-algorithm {algorithm} --speculative-draft-model-path {path} "
    "--speculative-num-steps {depth} "
    "--speculative-eagle-topk {width} --speculative-num-draft-tokens {size}"
)
SGLANG_NGRAM = "--speculative-algorithm NGRAM --speculative-num-draft-tokens {size}"
LLAMA_DRAFT = "--spec-type draft-simple --spec-draft-model {gguf} --spec-draft-n-max {length}"
LLAMA_NGRAM = "--spec-type ngram-simple --spec-ngram-simple-size-m {length}"

# engine -> drafter -> template, values of it, and what differs
ENGINES: dict[str, dict[str, tuple[str, dict[str, str], str]]] = {
    "vLLM": {
        "model": (
            VLLM,
            {"method": '"method": "draft_model", "model": {json}'},
            "a chain, since it drafts no trees",
        ),
        "medusa": (VLLM, {"method": '"method": "medusa", "model": "HEADS"'}, OWN_FORMAT),
        "eagle": (VLLM, {"method": '"method": "eagle", "model": "LAYER"'}, OWN_FORMAT),
        "ngram": (
            VLLM,
            {"method": '"method": "ngram", "prompt_lookup_min": 2, "prompt_lookup_max": 4'},
            LOOKUP,
        ),
        "retrieval": (
            VLLM,
            {"method": '"method": "suffix"'},
            "looks in the text so far and in earlier answers",
        ),
    },
    "SGLang": {
        "model": (
            SGLANG,
            {"algorithm": "STANDALONE", "path": "{model}"},
            "grows its tree by confidence",
        ),
        "eagle": (SGLANG, {"algorithm": "EAGLE", "path": "LAYER"}, OWN_FORMAT),
        "ngram": (SGLANG_NGRAM, {}, "on a CUDA device only"),
        "retrieval": (SGLANG_NGRAM, {}, "on a CUDA device only"),
    },
    "llama.cpp": {
        "model": (LLAMA_DRAFT, {}, "a chain; convert the draft to GGUF first"),
        "ngram": (LLAMA_NGRAM, {}, LOOKUP),
        "retrieval": (LLAMA_NGRAM, {}, LOOKUP),
    },
}


class EngineSettings(NamedTuple):
    """What one engine has: its name, the flags as they are typed ("" where it has none), and what
    differs."""

    engine: str
    flags: str
    note: str


def engine_flags(
    drafter: str, draft: str, chain: Topology, tree: Topology
) -> tuple[EngineSettings, ...]:
    """The nearest settings of each engine.

    Args:
        drafter: menu name of the drafter.
        draft: folder or hub name of its model, "" where it has none.
        chain: the best chain, for engines that draft no trees.
        tree: the best tree.

    >>> engine_flags("ngram", "", Topology((-1, 0, 1)), Topology((-1, 0, 0, 1)))[2].flags
    '--spec-type ngram-simple --spec-ngram-simple-size-m 2'
    """
    quoted = json.dumps(draft).replace("'", "'\"'\"'")
    values = {
        "json": quoted,
        "model": shlex.quote(draft),
        "gguf": shlex.quote(f"{draft}.gguf"),
        "length": len(chain) - 1,
        "size": len(tree),
        "depth": int(tree.depth.max()),
        "width": max(map(len, tree.children)),
    }
    rows = []
    for engine, drafters in ENGINES.items():
        if drafter not in drafters:
            rows.append(EngineSettings(engine, "", "has no such drafter"))
            continue
        template, own, note = drafters[drafter]
        own = {name: text.format(**values) for name, text in own.items()}
        rows.append(EngineSettings(engine, template.format(**values | own), note))
    return tuple(rows)
