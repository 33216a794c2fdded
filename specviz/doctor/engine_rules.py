"""Which rule does my engine run? One table of engines, from `assets/doctor/engines.toml`.

Above temperature 0 most engines draft the most probable token and verify with the target's own
draw: here the rule `target-match` on a chain. Rejection sampling of drawn tokens is a switch. At
temperature 0 all of them accept what the target would write.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..base.files import read_table

TABLES = read_table("doctor/engines.toml")
SAMPLED = "sampling"


@dataclass(frozen=True)
class EngineRule:
    """How an engine drafts and verifies above temperature 0.

    Attributes:
        engine, version: its name, and the version that was read.
        source: address of what was read.
        drafts: how tokens are drafted by default, "argmax" or "sampling".
        rule: the rule by default, in words.
        trees: which trees it drafts, in words.
        block: whether it has block verification, in words.
        switch: the setting that changes drafting and rule, "none" if there is none.
        config: the same as fields of a `RunConfig`; none where no rule here is the same.
        switched: with the switch.
    """

    engine: str
    version: str
    source: str
    drafts: str
    rule: str
    trees: str
    block: str = "no"
    switch: str = "none"
    config: dict[str, str] = field(default_factory=dict)
    switched: dict[str, str] = field(default_factory=dict)


ENGINE_RULES = tuple(EngineRule(**fields) for fields in TABLES["rule"])
# What a page or a program can show as ready configurations: title -> fields of a `RunConfig`.
ENGINE_PRESETS = {
    f"as {rule.engine} does it": rule.config
    for rule in ENGINE_RULES
    if rule.engine in ("vLLM", "SGLang", "llama.cpp", "TensorRT-LLM")
}
