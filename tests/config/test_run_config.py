"""What a run can be asked for: every form of a prompt, the rule that is chosen, and true
sentences."""

import dataclasses
import json

import numpy as np
import pytest
from pydantic import Field, field_validator, model_validator

import specviz
from specviz.config.prompt import Message
from specviz.verifiers.match import Naive

CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]


@pytest.mark.parametrize(
    "prompt, read",
    [
        ("Once", "Once"),
        ([3, 1, 4], (3, 1, 4)),
        (np.array([3, 1, 4]), (3, 1, 4)),
        ([[3, 1, 4]], (3, 1, 4)),
        ({"input_ids": [[3, 1, 4]], "attention_mask": [[1, 1, 1]]}, (3, 1, 4)),
        ({"input_ids": np.array([[3, 1, 4]])}, (3, 1, 4)),
        (CHAT, (Message("system", "Be brief."), Message("user", "Why?"))),
        (CHAT[1:], (Message("user", "Why?"),)),
    ],
)
def test_a_prompt_is_text_ids_or_messages_and_survives_json(prompt, read):
    config = specviz.RunConfig(prompt)
    assert config.prompt == read
    assert config.is_chat == isinstance(read[0], Message)
    again = dataclasses.replace(config, seed=1)
    assert again.prompt == read
    trace = specviz.run(specviz.toy_pair(), specviz.RunConfig("ab", max_new_tokens=4))
    data = trace.to_dict() | {"config": config.to_dict()}
    assert specviz.Trace.from_json(json.dumps(data)).config == config


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        [],
        None,
        5,
        True,
        [True],
        [-1],
        [0.5],
        [[1], [2]],
        [{"role": "user"}],
        [{}],
        {"a": 1},
        [{"role": "user", "content": 5}],
        [{"role": "user", "content": ""}],
        [CHAT[0], "Why?"],
    ],
)
def test_what_is_no_prompt_is_refused_by_name(prompt):
    with pytest.raises(ValueError, match=r"^prompt must "):
        specviz.RunConfig(prompt)


def test_messages_need_a_chat_model():
    config = specviz.RunConfig(CHAT, max_new_tokens=4)
    with pytest.raises(ValueError, match="without a chat template"):
        specviz.run(specviz.toy_pair(), config)


@pytest.mark.parametrize("temperature", [0, 0.8])
@pytest.mark.parametrize("builder", specviz.BUILDERS)
def test_every_builder_has_a_rule_that_is_lossless_with_it(builder, temperature):
    config = specviz.RunConfig("ab", builder, temperature=temperature, max_new_tokens=4)
    assert specviz.compatible(config).lossless
    assert len(specviz.run(specviz.toy_pair(), config).tokens) == 4


def test_true_and_false_are_no_temperatures():
    for value in (True, False):
        for name in ("temperature", "draft_temperature"):
            with pytest.raises(ValueError, match=f"{name} must be 0 or a number from 0.001; got"):
                specviz.RunConfig(**{name: value})


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda: specviz.RunConfig(builder="chain:self=3"), "chain parameter must be one of depth"),
        (lambda: specviz.BUILDERS["chain"](self=3), "chain parameter must be one of depth"),
        (lambda: specviz.BUILDERS["chain"](4).replace(self=3), "chain parameter must be"),
        (
            lambda: specviz.BUILDERS["chain"](4, 99, 100),
            "chain must have up to 1 parameters; got 3",
        ),
        (lambda: specviz.BUILDERS["chain"](4, depth=3), "chain.depth must be given once"),
    ],
)
def test_no_parameter_is_dropped_or_taken_for_another(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


class Strict(Naive):
    """A plugin with checks of its own, and a parameter that cannot be hashed."""

    name, title = "strict", "Strict"
    low: int = 1
    high: int = 2
    table: dict[str, int] = Field({})

    @field_validator("low")
    @classmethod
    def _not_seven(cls, low):
        if low == 7:
            raise ValueError("must not be seven.")
        return low

    @model_validator(mode="after")
    def _in_order(self):
        if self.low > self.high:
            raise ValueError("low is above high.")
        return self


def test_the_reason_of_a_plugin_is_shown():
    with pytest.raises(ValueError, match=r"^strict must be valid: low is above high\.$"):
        Strict(low=3)
    with pytest.raises(ValueError, match=r"^strict\.low must not be seven; got 7\.$"):
        Strict(low=7)


def test_a_parameter_that_cannot_be_hashed_may_be_judged():
    one, other = Strict(table={"a": 1}), Strict(table={"a": 2})
    assert specviz.compatible(specviz.RunConfig(verifier=one)).lossless
    assert one != other and hash(one) == hash(Strict(table={"a": 1}))


@pytest.mark.parametrize("config", ["5", '"builder"', "[1]", "null", "true", "{}"])
def test_a_run_whose_configuration_is_none_gets_a_sentence(config):
    trace = specviz.run(specviz.toy_pair(), specviz.RunConfig("ab", max_new_tokens=2)).to_dict()
    text = json.dumps(trace | {"config": json.loads(config)})
    with pytest.raises(ValueError, match=r"^trace is damaged: trace\.config"):
        specviz.Trace.from_json(text)


@pytest.mark.parametrize(
    "changes",
    [
        {"builder": "sequoi"},
        {"builder": "chain:depth=0"},
        {"temperature": False},
        {"prompt": {}},
        {"verifier": 5},
        {"seed": -1},
        {"top_p": 2},
    ],
)
def test_a_sentence_about_a_damaged_run_ends_once_and_names_the_place_once(changes):
    trace = specviz.run(specviz.toy_pair(), specviz.RunConfig("ab", max_new_tokens=2)).to_dict()
    text = json.dumps(trace | {"config": trace["config"] | changes})
    [name] = changes
    with pytest.raises(ValueError, match=rf"^trace is damaged: trace\.config\.{name}") as caught:
        specviz.Trace.from_json(text)
    sentence = str(caught.value)
    assert not sentence.endswith(("..", "?.")) and f"{name} {name}" not in sentence


@pytest.mark.parametrize("value", [-1, "nan", None, [], 1e-9])
@pytest.mark.parametrize("name", ["temperature", "draft_temperature"])
def test_a_sentence_about_a_damaged_run_names_every_value_that_is_allowed(name, value):
    trace = specviz.run(specviz.toy_pair(), specviz.RunConfig("ab", max_new_tokens=2)).to_dict()
    text = json.dumps(trace | {"config": trace["config"] | {name: value}})
    if name == "draft_temperature" and value is None:
        assert specviz.Trace.from_json(text).config.draft_temperature is None
        return
    with pytest.raises(ValueError, match=rf"config\.{name} must be 0 or .*; got"):
        specviz.Trace.from_json(text)


@pytest.mark.parametrize("lossless", [False, True])
def test_what_one_test_declares_of_a_rule_is_not_judged_in_the_next(monkeypatch, lossless):
    """The first case changes a declaration, the second finds it as it was."""
    config = specviz.RunConfig(builder="chain", verifier="target-match", temperature=0.123)
    if not lossless:
        monkeypatch.setattr(specviz.VERIFIERS["target-match"], "lossless", False)
    assert specviz.compatible(config).lossless == lossless
