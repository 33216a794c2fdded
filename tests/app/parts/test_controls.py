"""Controls made from metadata, and the sentences bad input gets."""

from typing import Annotated, ClassVar, Literal

import gradio as gr
import pytest
from pydantic import Field

import specviz
from app.parts import controls
from app.tabs import explore
from specviz.strategy import Strategy
from tests.growing import BUILDERS, VERIFIERS


@pytest.fixture(scope="module")
def settings():
    with gr.Blocks():
        return controls.controls(gr.Textbox("a b c"))


def values(settings, **changes):
    """The values of all controls, some of them changed by label."""
    return tuple(changes.get(control.label, control.value) for control in settings.inputs)


class Sample(Strategy):
    """One field of every kind."""

    name: ClassVar[str] = "sample"
    title: ClassVar[str] = "Sample"
    size: int = Field(16, ge=1, le=64, title="Nodes")
    ratio: float = Field(0.5, ge=0.0, le=1.0, title="Ratio")
    greedy: bool = Field(True, title="Greedy")
    shape: tuple[Annotated[int, Field(ge=1, le=8)], ...] = Field((4, 2, 1), min_length=1, title="Widths")
    vector: Literal["auto"] | tuple[float, ...] = Field("auto", title="Vector")


def test_a_new_rule_needs_no_code_here():
    with gr.Blocks():
        family = controls.family("Rule", {"sample": Sample}, "sample")
    assert [type(control).__name__ for control in family.inputs] == [
        "Dropdown", "Slider", "Slider", "Checkbox", "Textbox", "Textbox",
    ]  # fmt: skip
    assert [control.label for control in family.inputs[1:]] == ["Nodes", "Ratio", "Greedy", "Widths", "Vector"]
    assert family.read([control.value for control in family.inputs]) == Sample()
    made = family.read(["sample", 8.0, 0.25, False, "3 3 1", "0.5, 0.2"])
    assert made == Sample(size=8, ratio=0.25, greedy=False, shape=(3, 3, 1), vector=(0.5, 0.2))


@pytest.mark.parametrize(
    ("at", "value", "sentence"),
    [(0, "nonsense", "must be one of"), (0, ["sample"], "must be one of"), (1, 65, "whole number from 1 to 64"),
     (1, 2.5, "whole number"), (1, None, "whole number"), (1, "7", "whole number"), (2, float("nan"), "from 0"),
     (3, "yes", "true or false"), (4, "four", "whole numbers"), (4, "9, 1", "from 1 to 8"), (4, {}, "whole numbers")],
)  # fmt: skip
def test_bad_parameters_get_a_sentence(at, value, sentence):
    with gr.Blocks():
        family = controls.family("Rule", {"sample": Sample}, "sample")
    given = [control.value for control in family.inputs]
    given[at] = value
    with pytest.raises(ValueError, match=sentence):
        family.read(given)


def test_every_builder_and_verifier_is_on_the_page(settings):
    for name in BUILDERS:
        for rule in VERIFIERS:
            config = settings.read(values(settings, **{"Tree builder": name, "Verification rule": rule}))
            assert (config.builder, config.verifier) == (specviz.BUILDERS[name](), specviz.VERIFIERS[rule]())


def test_every_drafter_is_on_the_page(settings):
    for name, cls in specviz.DRAFTERS.items():
        assert settings.read(values(settings, Drafter=name)).drafter == cls()
    given = {"Drafter": "several", "Drafters": "ngram, retrieval"}
    assert settings.read(values(settings, **given)).drafter.drafters == ("ngram", "retrieval")
    with pytest.raises(ValueError, match="Several drafters: Drafters must list some of model"):
        settings.read(values(settings, **given | {"Drafters": "oracle"}))


def test_the_page_opens_with_the_library_s_defaults(settings):
    config = settings.read(values(settings))
    assert config == specviz.RunConfig(
        prompt="a b c",
        builder=specviz.BUILDERS["sequoia"](),
        verifier=specviz.VERIFIERS["sequoia"](),
        drafter=specviz.DRAFTERS["model"](),
        max_new_tokens=96,
    )


@pytest.mark.parametrize(
    ("label", "value", "sentence"),
    [("Temperature", -1, "Temperature must be"), ("Temperature", float("nan"), "Temperature must be"),
     ("Temperature", None, "The box is empty"), ("Temperature", "hot", "Temperature must be a number"),
     ("Draft temperature", "-1", "Draft temperature must be"), ("Draft temperature", "warm", "Draft temperature must"),
     ("Top-k", "1.5", "Top-k must be a whole"), ("Top-k", "nan", "Top-k must be"),
     ("Top-p", 0, "Top-p must be a number above 0"),
     ("Top-k", 0, "Top-k must be"), ("Seed", -4, "Seed must"), ("Seed", 1.5, "Seed must"), ("Seed", None, "Seed must"),
     ("New tokens", 0, "New tokens must be"), ("New tokens", 10**9, "New tokens must be at most 512"),
     ("Tree size (nodes)", 5000, "Sequoia: Tree size (nodes) must"), ("Acceptance", "much", "numbers from 0 to 1"),
     ("Textbox", "  \n", "Prompt must not be empty"), ("Textbox", "a" * 30_000, "Prompt must have at most"),
     ("Textbox", None, "Prompt must not"), ("Textbox", {"a": 1}, "Prompt must not")],
)  # fmt: skip
def test_bad_input_gets_one_sentence(settings, label, value, sentence):
    settings.prompt.label = "Textbox"
    with pytest.raises(ValueError) as error:
        settings.read(values(settings, **{label: value}))
    text = str(error.value)
    assert sentence in text and "\n" not in text and "Traceback" not in text


def test_optional_numbers_may_be_left_empty(settings):
    config = settings.read(values(settings, **{"Draft temperature": " ", "Top-k": ""}))
    assert config.draft_temperature is None and config.top_k is None
    config = settings.read(values(settings, **{"Draft temperature": "0.5", "Top-k": "40"}))
    assert config.draft_temperature == 0.5 and config.top_k == 40


def test_the_prompt_may_be_empty_while_other_controls_are_turned(settings):
    settings.prompt.label = "Textbox"
    assert explore.judged(settings, values(settings, Textbox=""))[0] == "lossless"


def test_what_cannot_run_is_said_before_it_runs(settings):
    chosen = {"Verification rule": "exact-match"}
    assert explore.judged(settings, values(settings, **chosen))[0] == "impossible"
    assert explore.judged(settings, values(settings, Temperature=0, **chosen))[0] == "lossless"
    kind, text = explore.judged(settings, values(settings, **{"Verification rule": "speculative-sampling"}))[:2]
    assert kind == "impossible" and "chains" in text


def test_a_lossy_combination_is_marked(settings):
    kind, text = explore.judged(settings, values(settings, **{"Verification rule": "typical"}))[:2]
    assert (kind, text) == ("lossy", specviz.VERIFIERS["typical"].bias)


@pytest.mark.parametrize("temperature", [0, 0.6])
@pytest.mark.parametrize("draft_temperature", ["", "0"])
@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("rule", ["sequoia", "race", "speculative-sampling", "typical"])
def test_the_menus_say_what_compatible_says(settings, builder, rule, temperature, draft_temperature):
    chosen = {"Tree builder": builder, "Verification rule": rule, "Temperature": temperature}
    given = values(settings, **chosen, **{"Draft temperature": draft_temperature})
    menus = settings.menus(given, settings.read(given))
    taken = {"Tree builder": builder, "Verification rule": rule}
    draft = 0 if draft_temperature else None
    for (menu, name), listed in zip(taken.items(), menus[:2], strict=True):
        registry = specviz.BUILDERS if menu == "Tree builder" else specviz.VERIFIERS
        assert [choice for _, choice in listed] == [name for name, cls in registry.items() if not cls.alone]
        for label, choice in listed:
            both = taken | {menu: choice}
            made = specviz.RunConfig(
                "any", specviz.BUILDERS[both["Tree builder"]](), specviz.VERIFIERS[both["Verification rule"]](),
                temperature, draft_temperature=draft,
            )  # fmt: skip
            match = specviz.compatible(made)
            assert label.startswith(registry[choice].title)
            marked = choice != name or menu == "Verification rule"  # what is taken is marked in one menu only
            assert ("incompatible" in label) == (marked and not match.possible)
            assert ("lossy" in label) == (match.possible and not match.lossless)
            assert ("no effect" in label) == (match.lossless and not match.useful)
            fine = match.possible and match.lossless and match.useful
            assert (match.reason in label) == (not fine and choice != name)


def test_the_menus_look_at_parameters(settings):
    small, usual = (
        dict(map(reversed, settings.menus(given, settings.read(given))[1]))
        for given in (values(settings, **{"Tree size (nodes)": 2}), values(settings))
    )
    assert "✕" not in small["speculative-sampling"], "a tree of two nodes is a chain"
    assert "✕" in usual["speculative-sampling"]
