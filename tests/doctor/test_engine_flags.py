"""The nearest settings of other engines: what is typed can be read back, and what they lack is
said."""

import json
import shlex

import pytest

from specviz.builders.static import grow_shape
from specviz.doctor.engine_flags import engine_flags
from specviz.drafters import DRAFTERS

CHAIN, TREE = grow_shape([1, 1, 1, 1]), grow_shape([3, 3])


def test_a_draft_model_has_settings_in_every_engine():
    vllm, sglang, llama = engine_flags("model", "my model's/small", CHAIN, TREE)
    name, config = shlex.split(vllm.flags)
    assert name == "--speculative-config"
    assert json.loads(config) == {
        "method": "draft_model",
        "model": "my model's/small",
        "num_speculative_tokens": 4,
    }
    words = shlex.split(sglang.flags)
    assert dict(zip(words[::2], words[1::2], strict=True)) == {
        "--speculative-algorithm": "STANDALONE",
        "--speculative-draft-model-path": "my model's/small",
        "--speculative-num-steps": "2",
        "--speculative-eagle-topk": "3",
        "--speculative-num-draft-tokens": "13",
    }
    assert shlex.split(llama.flags)[-3:] == ["my model's/small.gguf", "--spec-draft-n-max", "4"]


@pytest.mark.parametrize("drafter", DRAFTERS)
def test_every_drafter_has_flags_or_a_sentence_that_there_are_none(drafter):
    for engine in engine_flags(drafter, "small", CHAIN, TREE):
        assert engine.flags or engine.note
        assert shlex.split(engine.flags) is not None
