"""The settings of other engines: what is typed can be read back, and what they lack is named."""

import json
import shlex
from pathlib import Path

import pytest

import specviz
from specviz.builders.static import grow_shape
from specviz.config.run_config import compatible
from specviz.doctor.engine_flags import Predicted, engine_flags
from specviz.doctor.engine_rules import ENGINE_PRESETS, ENGINE_RULES, SAMPLED
from specviz.drafters import DRAFTERS

CHAIN, TREE, LONG = grow_shape([1, 1, 1, 1]), grow_shape([3, 3]), grow_shape([1] * 6)
PREDICTED = {
    "chain": Predicted(CHAIN, 2.0, 1.5),
    "tree": Predicted(TREE, 3.0, 1.8),
    "sampled": Predicted(LONG, 2.5, 1.7),
}


def rows(drafter, draft="", **more):
    found = engine_flags(drafter, draft, PREDICTED, **more)
    return {(one.engine, one.algorithm): one for one in found}


def config_of(row):
    name, config = shlex.split(row.flags)
    assert name == "--speculative-config"
    return json.loads(config)


def test_a_draft_model_has_settings_in_every_engine():
    found = rows("model", "my model's/small")
    assert config_of(found["vLLM", "own rule"]) == {
        "method": "draft_model",
        "model": "my model's/small",
        "num_speculative_tokens": 4,
    }
    switched = config_of(found["vLLM", "switch"])
    assert switched["draft_sample_method"] == "probabilistic"
    assert switched["num_speculative_tokens"] == 6
    words = shlex.split(found["SGLang", "own rule"].flags)
    assert dict(zip(words[::2], words[1::2], strict=True)) == {
        "--speculative-algorithm": "STANDALONE",
        "--speculative-draft-model-path": "my model's/small",
        "--speculative-num-steps": "2",
        "--speculative-eagle-topk": "3",
        "--speculative-num-draft-tokens": "13",
    }
    words = shlex.split(found["SGLang", "switch"].flags)
    assert words[-1] == "--speculative-use-rejection-sampling"
    assert words[words.index("--speculative-eagle-topk") + 1] == "1"
    words = shlex.split(found["llama.cpp", "own rule"].flags)
    assert words[3:] == ["my model's/small.gguf", "--spec-draft-n-max", "4", *words[6:]]
    assert ("llama.cpp", "switch") not in found
    assert found["vLLM", "own rule"].speedup == 1.5, "no tree is predicted for a chain"
    assert found["OpenVINO", "own rule"].speedup is None


def test_a_draft_that_is_not_known_has_a_word_in_its_place():
    for engine in rows("model").values():
        assert "''" not in engine.flags and '""' not in engine.flags, engine.engine
    assert "DRAFT.gguf" in rows("model")["llama.cpp", "own rule"].flags


def test_trees_of_tensorrt_and_lengths_by_batch():
    found = rows("eagle3", "head", by_batch={"chain": [(1, 4, 5), (5, 16, 0)]})
    config = json.loads(found["TensorRT-LLM", "own rule"].flags.partition(": ")[2])
    assert config["use_dynamic_tree"] and config["dynamic_tree_max_topK"] == 6
    assert config["max_total_draft_tokens"] == 12
    config = json.loads(found["TensorRT-LLM", "switch"].flags.partition(": ")[2])
    assert config["use_rejection_sampling"] and "use_dynamic_tree" not in config
    config = config_of(found["vLLM", "own rule"])
    assert config["num_speculative_tokens_per_batch_size"] == [[1, 4, 5], [5, 16, 0]]
    assert config["num_speculative_tokens"] == 5
    assert "num_speculative_tokens_per_batch_size" not in config_of(found["vLLM", "switch"])


@pytest.mark.parametrize("widths", [[2, 2, 2], [1, 4, 1], [3, 3], [1, 1], [2, 1, 3, 1]])
def test_no_engine_drafts_more_tokens_than_its_levels_have(widths):
    shape = grow_shape(widths)
    predicted = {"chain": Predicted(CHAIN, 2.0, 1.5), "tree": Predicted(shape, 3.0, 1.8)}
    found = {one.engine: one.flags for one in engine_flags("eagle3", "head", predicted)}
    config = json.loads(found["TensorRT-LLM"].partition(": ")[2])
    levels = config["max_draft_len"]
    drafted = config.get("max_total_draft_tokens", levels)
    assert levels <= drafted <= config.get("dynamic_tree_max_topK", 1) * levels
    words = shlex.split(found["SGLang"])
    flags = dict(zip(words[::2], words[1::2], strict=True))
    width = int(flags["--speculative-eagle-topk"])
    levels = int(flags["--speculative-num-steps"])
    candidates = width + (levels - 1) * width**2
    assert int(flags["--speculative-num-draft-tokens"]) - 1 <= candidates


@pytest.mark.parametrize("drafter", DRAFTERS)
def test_every_drafter_has_flags_or_a_sentence_that_there_are_none(drafter):
    for engine in rows(drafter, "small").values():
        assert engine.flags or engine.note
        assert shlex.split(engine.flags) is not None


@pytest.mark.parametrize("rule", ENGINE_RULES, ids=lambda rule: rule.engine)
def test_what_an_engine_does_is_a_configuration_that_runs(rule):
    for switched, drafts in ((False, rule.drafts), (True, SAMPLED)):
        fields = rule.switched if switched else rule.config
        if not fields:
            continue
        config = specviz.RunConfig("ab", temperature=0.8, **fields)
        match = compatible(config)
        assert match.scheme == ("iid" if drafts == SAMPLED else "top")
        assert match.lossless == ("lossy" not in rule.rule or switched)
        assert specviz.run(specviz.toy_pair(), config).tokens


def markdown_table() -> str:
    """The table of `docs/engines.md`."""
    columns = ("engine", "version", "drafts by", "rule", "trees", "block", "switch")
    rows = [columns, ("---",) * len(columns)]
    for rule in ENGINE_RULES:
        version = f"[{rule.version}]({rule.source})"
        words = (rule.drafts, rule.rule, rule.trees, rule.block, rule.switch)
        rows.append((rule.engine, version, *words))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def test_presets_and_the_documented_table():
    assert set(ENGINE_PRESETS) == {
        f"as {name} does it" for name in ("vLLM", "SGLang", "llama.cpp", "TensorRT-LLM")
    }
    docs = Path(__file__).parents[2] / "docs" / "engines.md"
    assert markdown_table() in docs.read_text(encoding="utf-8")
