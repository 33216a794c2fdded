"""The settings of other engines that come nearest to a drafter and its tree.

Names of flags as in the documentation of vLLM 0.32, SGLang (speculative decoding) and llama.cpp (`--spec-*`, since May
2026), read in November 2026. Only SGLang drafts trees of its own; the others get the best chain.
"""

from __future__ import annotations

import json
import shlex
from typing import NamedTuple

NO_SUCH = "has no such drafter"
OWN_FORMAT = "needs a checkpoint in its own format"


class Nearest(NamedTuple):
    """What one engine has.

    Attributes:
        engine: its name.
        flags: as they are typed; "" where it has nothing like it.
        note: what differs, or "".
    """

    engine: str
    flags: str
    note: str


def engine_flags(drafter: str, draft: str, length: int, size: int, depth: int, width: int) -> tuple[Nearest, ...]:
    """The nearest settings of vLLM, SGLang and llama.cpp.

    Args:
        drafter: menu name of the drafter.
        draft: folder or hub name of its model, "" where it has none.
        length: tokens of the best chain.
        size, depth, width: nodes of the best tree with its root, its levels, and the most children of a node.

    >>> engine_flags("ngram", "", length=4, size=8, depth=4, width=2)[2].flags
    '--spec-type ngram-simple --spec-ngram-simple-size-m 4'
    """
    return _vllm(drafter, draft, length), _sglang(drafter, draft, size, depth, width), _llama(drafter, draft, length)


def _vllm(drafter: str, draft: str, length: int) -> Nearest:
    methods: dict[str, tuple[dict[str, str | int], str]] = {
        "model": ({"method": "draft_model", "model": draft}, "a chain, since it drafts no trees"),
        "medusa": ({"method": "medusa", "model": "HEADS"}, OWN_FORMAT),
        "eagle": ({"method": "eagle", "model": "LAYER"}, OWN_FORMAT),
        "ngram": ({"method": "ngram", "prompt_lookup_min": 2, "prompt_lookup_max": 4}, "looks in the text so far only"),
        "retrieval": ({"method": "suffix"}, "looks in the text so far and in earlier answers"),
    }
    if drafter not in methods:
        return Nearest("vLLM", "", NO_SUCH)
    config, note = methods[drafter]
    return Nearest(
        "vLLM", f"--speculative-config {shlex.quote(json.dumps(config | {'num_speculative_tokens': length}))}", note
    )


def _sglang(drafter: str, draft: str, size: int, depth: int, width: int) -> Nearest:
    algorithms = {
        "model": ("STANDALONE", draft, "grows its tree by confidence"),
        "eagle": ("EAGLE", "LAYER", OWN_FORMAT),
    }
    if drafter in ("ngram", "retrieval"):
        flags = f"--speculative-algorithm NGRAM --speculative-num-draft-tokens {size}"
        return Nearest("SGLang", flags, "on a CUDA device only")
    if drafter not in algorithms:
        return Nearest("SGLang", "", NO_SUCH)
    name, path, note = algorithms[drafter]
    return Nearest(
        "SGLang",
        f"--speculative-algorithm {name} --speculative-draft-model-path {shlex.quote(path)} "
        f"--speculative-num-steps {depth} --speculative-eagle-topk {width} --speculative-num-draft-tokens {size}",
        note,
    )


def _llama(drafter: str, draft: str, length: int) -> Nearest:
    if drafter == "model":
        model = f"--spec-type draft-simple --spec-draft-model {shlex.quote(draft + '.gguf')}"
        return Nearest("llama.cpp", f"{model} --spec-draft-n-max {length}", "a chain; convert the draft to GGUF first")
    if drafter in ("ngram", "retrieval"):
        flags = f"--spec-type ngram-simple --spec-ngram-simple-size-m {length}"
        return Nearest("llama.cpp", flags, "looks in the text so far only")
    return Nearest("llama.cpp", "", NO_SUCH)
