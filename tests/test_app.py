"""The demo without a browser: what is sent to the page, controls from metadata, sentences, the engine."""

import json
import subprocess
import sys
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import ClassVar

import pytest

import specviz
from specviz import payload
from specviz.parameters import check, flag, free, real, whole, widths
from specviz.record import Timing

gr = pytest.importorskip("gradio")

from app import controls, live  # noqa: E402
from app.session import Engine, paced  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
CONFIG = specviz.RunConfig(prompt="abc", max_new_tokens=30)


@pytest.fixture(scope="module")
def trace():
    return specviz.run(specviz.toy_pair(vocab=12), CONFIG)


@pytest.fixture(scope="module")
def settings():
    with gr.Blocks():
        return controls.controls(gr.Textbox("a b c"))


def values(settings, **changes):
    """The values of all controls, some of them changed by label."""
    return tuple(changes.pop(control.label, control.value) for control in settings.inputs)


# ---- what is sent ----


def test_a_step_is_sent_whole(trace):
    for step in trace.steps:
        sent = payload.step_payload(step, specviz.VERIFIERS["sequoia"]())
        n = len(step.parents)
        assert all(
            len(sent[name]) == n for name in ("parents", "texts", "q", "p", "plain", "outcome", "accept", "coin", "why")
        )
        assert sum(sent["outcome"].count(letter) for letter in "raxup") == n
        for node in range(n):
            assert sent["sentences"][sent["why"][node]] == specviz.VERIFIERS["sequoia"]().explain(step, node)
        assert len(sent["sentences"]) == len(set(sent["sentences"]))
        assert (sent["last"] is None) == (step.bonus is None)
    assert (
        "".join("".join(payload.step_payload(s, specviz.VERIFIERS["sequoia"]())["pieces"]) for s in trace.steps)
        == trace.text
    )


def test_messages_cannot_be_mistaken_for_markup(trace):
    hostile = "</script><img src=x onerror=alert(1)>${alert(1)}{{alert(1)}}`"
    text = payload.message("run", [], head=payload.head(CONFIG, hostile, "pair"))
    assert "<" not in text
    assert json.loads(text)["head"]["prompt"] == hostile


def test_a_message_holds_no_number_that_json_lacks():
    with pytest.raises(ValueError):
        payload.message("run", [{"q": [float("nan")]}])


def test_the_recorded_run_adds_up():
    data = json.loads(live.recorded())
    assert data["state"] == "done" and data["head"]["recorded"] and data["plain_rate"] > 0
    assert data["steps"][data["head"]["show"]]["outcome"].count("a") >= 2
    assert [step["index"] for step in data["steps"]] == list(range(len(data["steps"])))
    assert len(json.dumps(data)) < 300_000, "the first paint waits for this"


def test_decode_rate_leaves_out_the_step_that_reads_the_prompt(trace):
    slow = replace(trace.steps[0], seconds=replace(trace.steps[0].seconds, target=1000.0))
    assert payload.decode_rate([slow, *trace.steps[1:]]) == payload.decode_rate(trace.steps)
    assert payload.decode_rate(trace.steps[:1]) is None


# ---- the engine ----


def test_steps_are_grouped_and_none_is_lost(trace):
    slow = [replace(step, seconds=Timing(target=0.02)) for step in trace.steps]
    groups = list(paced(iter(slow), pace=0.05))
    assert [step for group in groups for step in group] == slow
    assert len(groups[0]) == 1, "the first step does not wait for others"
    assert all(len(group) == 3 for group in groups[1:-1])


def test_what_was_decoded_before_a_failure_is_handed_on(trace):
    def failing():
        yield from trace.steps[:3]
        raise RuntimeError("out of memory")

    seen = []
    with pytest.raises(RuntimeError):
        for group in paced(failing(), pace=1000):
            seen += group
    assert seen == list(trace.steps[:3])


def test_the_pair_is_loaded_once_and_plain_decoding_measured_once():
    calls = []

    def load():
        calls.append(1)
        return specviz.toy_pair(vocab=12)

    engine = Engine(load)
    assert not engine.loaded and not calls
    assert engine.plain_rate(CONFIG) is None
    rate = engine.plain_rate(CONFIG, measure=True)
    assert rate > 0 and engine.plain_rate(CONFIG, measure=True) == rate == engine.plain_rate(CONFIG)
    assert engine.plain_rate(replace(CONFIG, temperature=0.5)) is None
    assert len(calls) == 1


def test_a_closed_run_frees_the_machine():
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    run = live.play(engine, CONFIG)
    next(run)
    assert engine._running.locked()
    run.close()
    assert not engine._running.locked()


def test_a_run_is_sent_to_its_end():
    engine = Engine(lambda: specviz.toy_pair(vocab=12))
    config = specviz.RunConfig(
        prompt="abc", max_new_tokens=30, builder=specviz.BUILDERS["k-ary"](), verifier=specviz.VERIFIERS["specinfer"]()
    )
    sent = [json.loads(text) for text in live.play(engine, config)]
    steps = [step for news in sent for step in news["steps"]]
    assert "".join("".join(step["pieces"]) for step in steps) == specviz.run(engine.pair, config).text
    assert sent[0]["state"] == "loading" and sent[-1]["state"] == "done" and sent[-1]["plain_rate"] > 0
    assert sum("head" in news for news in sent) == 1


class Failing:
    """A toy pair whose target fails at its third pass."""

    def __init__(self, error):
        self.toy, self.error, self.passes = specviz.toy_pair(vocab=12), error, 0

    def __getattr__(self, name):
        return getattr(self.toy, name)

    def open(self, tokens):
        target, draft = self.toy.open(tokens)
        forward = target.forward

        def fails(tree, nodes):
            self.passes += 1
            if self.passes == 3:
                raise self.error
            return forward(tree, nodes)

        target.forward = fails
        return target, draft


@pytest.mark.parametrize(
    ("error", "told"),
    [(RuntimeError("secret path"), "server's log"), (ValueError("The cache is full."), "cache is full")],
)
def test_a_failure_on_the_way_is_told_and_keeps_the_steps(error, told, caplog):
    config = replace(CONFIG, builder=specviz.BUILDERS["chain"](), verifier=specviz.VERIFIERS["speculative-sampling"]())
    sent = [json.loads(text) for text in live.play(Engine(lambda: Failing(error)), config)]
    assert sum(len(news["steps"]) for news in sent) == 2
    assert sent[-1]["state"] == "error" and told in sent[-1]["note"] and "secret" not in sent[-1]["note"]
    assert "a run failed" in caplog.text


def test_a_prompt_that_is_too_long_is_refused_before_the_run():
    with pytest.raises(ValueError, match="context of 4096"):
        list(live.play(Engine(lambda: specviz.toy_pair(vocab=12)), replace(CONFIG, prompt="a" * 5000)))


# ---- controls ----


@dataclass(frozen=True)
class Sample:
    """One field of every kind."""

    name: ClassVar[str] = "sample"
    title: ClassVar[str] = "Sample"
    size: int = whole(16, 1, 64, "Nodes", "help")
    ratio: float = real(0.5, 0.0, 1.0, "Ratio", "help")
    greedy: bool = flag(True, "Greedy", "help")
    shape: tuple[int, ...] = widths((4, 2, 1), 1, 8, "Widths", "help")
    vector: str | tuple = free("auto", "Vector", "help")

    def __post_init__(self):
        check(self)


def test_a_new_rule_needs_no_code_here():
    with gr.Blocks():
        family = controls.family("Rule", {"sample": Sample}, "sample")
    assert [type(control).__name__ for control in family.inputs] == [
        "Dropdown", "Slider", "Slider", "Checkbox", "Textbox", "Textbox",
    ]  # fmt: skip
    assert [control.label for control in family.inputs[1:]] == [f.metadata["label"] for f in fields(Sample)]
    assert family.read([control.value for control in family.inputs]) == Sample()
    made = family.read(["sample", 8.0, 0.25, False, "3 3 1", "0.5, 0.2"])
    assert made == Sample(8, 0.25, False, (3, 3, 1), (0.5, 0.2))
    assert family.read(["sample", 8, 0.25, False, "3", "[[0.5, 0.2], [0.1]]"]).vector == ((0.5, 0.2), (0.1,))


@pytest.mark.parametrize(
    ("at", "value", "told"),
    [(0, "nonsense", "must be one of"), (0, ["sample"], "must be one of"), (1, 65, "whole number from 1 to 64"),
     (1, 2.5, "whole number"), (1, None, "whole number"), (1, "7", "whole number"), (2, float("nan"), "from 0.0"),
     (3, "yes", "true or false"), (4, "four", 'such as "4, 2, 1"'), (4, "9, 1", "from 1 to 8"), (4, {}, "Widths")],
)  # fmt: skip
def test_bad_parameters_get_a_sentence(at, value, told):
    with gr.Blocks():
        family = controls.family("Rule", {"sample": Sample}, "sample")
    given = [control.value for control in family.inputs]
    given[at] = value
    with pytest.raises(ValueError, match=told):
        family.read(given)


def test_a_kind_nobody_knows_is_refused():
    @dataclass(frozen=True)
    class Odd:
        x: int = field(default=1, metadata={"kind": "odd", "label": "x", "help": ""})

    with pytest.raises(ValueError, match="kind must be"):
        controls.parameter(fields(Odd)[0])


def test_every_builder_and_verifier_is_on_the_page(settings):
    for name in specviz.BUILDERS:
        for rule in specviz.VERIFIERS:
            config = settings.read(values(settings, **{"Tree builder": name, "Verification rule": rule}))
            assert (config.builder, config.verifier) == (specviz.BUILDERS[name](), specviz.VERIFIERS[rule]())


def test_the_page_opens_with_the_library_s_defaults(settings):
    config = settings.read(values(settings))
    assert config == specviz.RunConfig(
        prompt="a b c",
        builder=specviz.BUILDERS["sequoia"](),
        verifier=specviz.VERIFIERS["sequoia"](),
        max_new_tokens=96,
    )


@pytest.mark.parametrize(
    ("label", "value", "told"),
    [("Temperature", -1, "Temperature must be"), ("Temperature", float("nan"), "Temperature must be"),
     ("Temperature", None, "it is empty"), ("Temperature", "hot", "Temperature must be a number"),
     ("Draft temperature", "-1", "Draft temperature must be"), ("Draft temperature", "warm", "Draft temperature must"),
     ("Top-k", "1.5", "Top-k must be a whole"), ("Top-k", "nan", "Top-k must be"),
     ("Top-p", 0, "Top-p must be above 0"),
     ("Top-k", 0, "Top-k must be"), ("Seed", -4, "Seed must"), ("Seed", 1.5, "Seed must"), ("Seed", None, "Seed must"),
     ("New tokens", 0, "New tokens must be"), ("New tokens", 10**9, "New tokens must be at most 512"),
     ("Nodes", 5000, "Sequoia: Nodes must be"), ("Acceptance", "much", "numbers from 0 to 1"),
     ("Textbox", "  \n", "Prompt must not be empty"), ("Textbox", "a" * 30_000, "Prompt must have at most"),
     ("Textbox", None, "Prompt must not"), ("Textbox", {"a": 1}, "Prompt must not")],
)  # fmt: skip
def test_bad_input_gets_one_sentence(settings, label, value, told):
    settings.prompt.label = "Textbox"
    kind, text = live.verdict(settings, values(settings, **{label: value}), whole=True)
    assert kind == "error" and told in text and "\n" not in text and "Traceback" not in text


def test_optional_numbers_may_be_left_empty(settings):
    config = settings.read(values(settings, **{"Draft temperature": " ", "Top-k": ""}))
    assert config.draft_temperature is None and config.top_k is None
    config = settings.read(values(settings, **{"Draft temperature": "0.5", "Top-k": "40"}))
    assert config.draft_temperature == 0.5 and config.top_k == 40


def test_the_prompt_may_be_empty_while_other_controls_are_turned(settings):
    settings.prompt.label = "Textbox"
    assert live.verdict(settings, values(settings, Textbox=""))[0] == "lossless"


def test_what_cannot_run_is_said_before_it_runs(settings):
    chosen = {"Verification rule": "exact-match"}
    assert live.verdict(settings, values(settings, **chosen))[0] == "impossible"
    assert live.verdict(settings, values(settings, Temperature=0, **chosen))[0] == "lossless"
    kind, text = live.verdict(settings, values(settings, **{"Verification rule": "speculative-sampling"}))
    assert kind == "impossible" and "chains" in text


def test_a_lossy_combination_is_marked(settings, monkeypatch):
    lossy = specviz.compatible(specviz.BUILDERS["k-ary"](), specviz.VERIFIERS["sequoia"](), 0.8, law="iid")
    assert lossy.possible and not lossy.lossless
    monkeypatch.setattr(live, "compatible", lambda *_: lossy)
    assert live.verdict(settings, values(settings)) == ("lossy", lossy.reason)


# ---- the entry ----


def test_the_page_is_built_without_torch_and_from_any_folder(tmp_path):
    code = (
        f"import sys, runpy; sys.path.insert(0, {str(ROOT / 'app')!r});"  # as Python does for a script
        f"runpy.run_path({str(ROOT / 'app' / 'app.py')!r});"
        "import app; assert app.__file__.endswith('__init__.py'), app.__file__;"
        "from app.page import build_demo; build_demo();"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
