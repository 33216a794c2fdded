"""Which rule does my engine run? One table of engines, as data.

Above temperature 0 most engines draft the most probable token and verify with the target's own
draw: here the rule `target-match` on a chain. Rejection sampling of drawn tokens is a switch. At
temperature 0 all of them accept what the target would write.

Read in November 2026, in documentation and sources: vllm/config/speculative.py and
docs/features/speculative_decoding; sglang server_arguments; llama.cpp common/speculative.cpp and
common/sampling.cpp; tensorrt_llm llmapi; openvino_genai sampling; max/pipelines speculative config.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..config.run_config import RunConfig

ARGMAX, SAMPLED = "argmax", "sampling"


@dataclass(frozen=True)
class EngineRule:
    """How an engine drafts and verifies above temperature 0.

    Attributes:
        engine, version: its name, and the version that was read.
        drafts: how tokens are drafted by default, "argmax" or "sampling".
        rule: the rule by default, in words.
        trees: which trees it drafts, in words.
        block: whether it has block verification, in words.
        switch: the setting that changes drafting and rule, "" if there is none.
        config: the same as fields of a `RunConfig`; none where no rule here is the same.
        switched: with the switch.
    """

    engine: str
    version: str
    drafts: str
    rule: str
    trees: str
    block: str
    switch: str
    config: dict[str, str] = field(default_factory=dict)
    switched: dict[str, str] = field(default_factory=dict)

    def run_config(self, prompt: str, temperature: float, switched: bool = False) -> RunConfig:
        """A run as the engine does it.

        Raises:
            ValueError: if no rule here is the same.
        """
        fields = self.switched if switched else self.config
        if not fields:
            raise ValueError(f"{self.engine} has no rule that is one of those here.")
        return RunConfig(prompt, fields["builder"], fields["verifier"], temperature)


OWN_DRAW = "the target's own draw"
NO_BLOCK = "no"
REJECTION = {"builder": "chain:depth=3", "verifier": "speculative-sampling"}
ENGINE_RULES = (
    EngineRule(
        "vLLM",
        "0.32",
        ARGMAX,
        OWN_DRAW,
        "none since May 2026",
        '`"rejection_sample_method": "block"`',
        '`"draft_sample_method": "probabilistic"`',
        {"builder": "chain:depth=3", "verifier": "target-match"},
        REJECTION,
    ),
    EngineRule(
        "SGLang",
        "0.5",
        ARGMAX,
        OWN_DRAW,
        "re-ranked by confidence; chains with `--speculative-eagle-topk 1`",
        NO_BLOCK,
        "`--speculative-use-rejection-sampling`, for chains",
        {"builder": "eagle2:size=9,depth=5,width=4", "verifier": "target-match"},
        REJECTION,
    ),
    EngineRule(
        "llama.cpp",
        "since May 2026",
        ARGMAX,
        OWN_DRAW,
        "none in the server",
        NO_BLOCK,
        "",
        {"builder": "chain:depth=3", "verifier": "target-match"},
    ),
    EngineRule(
        "TensorRT-LLM",
        "1.4",
        ARGMAX,
        OWN_DRAW,
        "`use_dynamic_tree`, for EAGLE-3 and MTP",
        NO_BLOCK,
        "`use_rejection_sampling: true`",
        {"builder": "chain:depth=3", "verifier": "target-match"},
        REJECTION,
    ),
    EngineRule(
        "OpenVINO GenAI",
        "2026.4",
        SAMPLED,
        "compares the probabilities of the drafted token and of the target's own draw; not proven "
        "lossless",
        "`branching_factor` and `tree_depth`, for EAGLE-3",
        NO_BLOCK,
        "",
    ),
    EngineRule(
        "Modular MAX",
        "26",
        ARGMAX,
        "typical acceptance for EAGLE and MTP, which is lossy; the architecture may set another",
        "none",
        NO_BLOCK,
        "`--rejection-sampling-strategy residual`, where the architecture reads it",
        {"builder": "chain:depth=2", "verifier": "typical"},
        {"builder": "chain:depth=2", "verifier": "speculative-sampling"},
    ),
)
# What a page or a program can show as ready configurations: title -> fields of a `RunConfig`.
ENGINE_PRESETS = {
    f"as {rule.engine} does it": rule.config
    for rule in ENGINE_RULES
    if rule.engine in ("vLLM", "SGLang", "llama.cpp", "TensorRT-LLM")
}
COLUMNS = ("engine", "version", "drafts by", "rule", "trees", "block", "switch")


def markdown_table() -> str:
    """The table of `docs/engines.md`."""
    rows = [COLUMNS, ("---",) * len(COLUMNS)]
    for one in ENGINE_RULES:
        switch = one.switch or "none"
        rows.append((one.engine, one.version, one.drafts, one.rule, one.trees, one.block, switch))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
