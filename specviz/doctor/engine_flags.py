"""The settings with which other engines do what was predicted, for their own rule and the switch.

What each engine has for a drafter is in `assets/doctor/engines.toml`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..base.codec import JsonObject
from ..tree import Topology
from .engine_rules import TABLES


class Method(NamedTuple):
    """What an engine has for a drafter.

    Attributes:
        flags, config: how it is set: words as they are typed, or fields of a JSON object.
        switch: what is added to either for drawn tokens and rejection sampling, if it can.
        trees: how its trees differ, "" if it drafts chains only.
        note: what else differs.
    """

    flags: str = ""
    config: Mapping[str, object] = {}
    switch: Any = ""
    trees: str = ""
    note: str = ""


# engine -> drafter -> what it has
ENGINES = {
    engine: {drafter: Method(**fields) for drafter, fields in drafters.items()}
    for engine, drafters in TABLES["settings"].items()
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


def vllm(config: JsonObject, shape: Topology, lengths: Sequence[tuple[int, int, int]]) -> str:
    """The JSON of --speculative-config, with the lengths by the number of requests."""
    config["num_speculative_tokens"] = int(shape.depth.max())
    # Written with the engine's own table: it chooses the length at every pass by the load.
    if lengths:
        config["num_speculative_tokens"] = max(length for *_, length in lengths) or 1
        config["num_speculative_tokens_per_batch_size"] = [*map(list, lengths)]
    return f"--speculative-config {shlex.quote(json.dumps(config))}"


def tree_width(shape: Topology, squared: bool) -> int:
    """The fewest children of a node with which an engine's levels have as many tokens as `shape`.

    Engines draft the same number of tokens at each level and keep the most probable of all; more
    than there are, they refuse. So a tree whose levels widen needs more than its own width.

    Args:
        shape: the tree that was predicted.
        squared: whether all children of a level can be kept, width² from the second level on
            (SGLang), or as many as a node has (TensorRT-LLM).
    """
    levels = int(shape.depth.max())
    width = max(map(len, shape.children))
    while width + (levels - 1) * (width**2 if squared else width) < len(shape) - 1:
        width += 1
    return width


def tensorrt(config: JsonObject, shape: Topology, _lengths: Sequence[tuple]) -> str:
    """A `speculative_config` in YAML, which JSON is."""
    config["max_draft_len"] = int(shape.depth.max())
    # A chain needs none of the settings of trees, and an older engine refuses them.
    width = tree_width(shape, squared=False)
    if width > 1:
        config["use_dynamic_tree"] = True
        config["dynamic_tree_max_topK"] = width
        config["max_total_draft_tokens"] = len(shape) - 1
    return f"speculative_config: {json.dumps(config)}"


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
        by_batch: (fewest, most, length of the draft) by the number of requests, for "chain" and
            "sampled".

    >>> chain = Predicted(Topology((-1, 0, 1)), 2.0, 1.5)
    >>> rows = engine_flags("ngram", "", {"chain": chain})
    >>> next(row.flags for row in rows if row.engine == "llama.cpp")
    '--spec-type ngram-simple --spec-ngram-simple-size-m 2'
    """
    draft = draft or "DRAFT"  # a word that the reader replaces
    rows = []
    for engine, drafters in ENGINES.items():
        if drafter not in drafters:
            rows.append(EngineSettings(engine, "", "", None, None, "has no such drafter"))
            continue
        method = drafters[drafter]
        known = [way for way in ("chain", "tree") if way in predicted]
        if not method.trees:
            known = ["chain"]
        # An engine's own rule with the shape that is faster here, then the switch.
        ways = [max(known, key=lambda way: predicted[way].speedup or 0.0)]
        if method.switch and "sampled" in predicted:
            ways.append("sampled")
        for way in ways:
            shape, tokens, speedup = predicted[way]
            if engine == "OpenVINO":  # its rule is none of those here
                tokens = None
                speedup = None
            width = tree_width(shape, squared=True)
            switch = None
            if way == "sampled":
                switch = method.switch
            if method.config:
                # "{draft}" stands for the model; everything else is written as it is.
                fields = {**method.config, **(switch or {})}
                config = {}
                for key, at in fields.items():
                    config[key] = draft if at == "{draft}" else at
                write = vllm if engine == "vLLM" else tensorrt
                flags = write(config, shape, (by_batch or {}).get(way, ()))
            else:
                flags = (method.flags + (switch or "")).format(
                    draft=shlex.quote(draft),
                    gguf=shlex.quote(f"{draft}.gguf"),
                    depth=int(shape.depth.max()),
                    width=width,
                    drafted=len(shape) - 1,
                    nodes=len(shape),
                )
            algorithm = "own rule"
            if way == "sampled":
                algorithm = "switch"
            notes = [method.trees if width > 1 else "", method.note]
            note = ", ".join(filter(None, notes))
            rows.append(EngineSettings(engine, algorithm, flags, tokens, speedup, note))
    return tuple(rows)
