"""The tab Explore without a browser: its recordings and its runs as messages."""

import json
from contextlib import aclosing
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import current_thread

import pytest

import specviz
from app.page import build_demo
from app.service.loading import Loading
from app.service.pair_ref import SMOLLM2, TALES, PairRef
from app.service.queue import Visitor
from app.service.queued_run import Turn
from app.service.run_store import RunStore
from app.service.service import RunService
from app.tabs import explore
from app.tabs.explore import prompts, recordings
from app.tabs.parts import presets
from app.tabs.parts.controls import Controls
from specviz.config import run_config as configuration
from specviz.drafters import DRAFTERS
from specviz.models.catalogue import default_drafter
from specviz.record.vectors import stored
from specviz.view.payload import settings_text
from specviz.view.step_payload import step_payload
from tests.app.tabs.test_compare import FAILURES, Breaking
from tests.loops import in_a_loop, one_pair

ROOT = Path(__file__).resolve().parents[2]
CONFIG = specviz.RunConfig(prompt="abc", max_new_tokens=30)


@pytest.fixture(scope="module")
def trace():
    return specviz.run(specviz.toy_pair(vocab=12), CONFIG)


TOY = specviz.toy_pair(vocab=12)
REF = PairRef("This pair")


def played(config=CONFIG, pair=TOY):
    """A run as the page gets it."""
    items = explore.decode_run(Turn(pair), config, REF, RunStore())
    return [json.loads(item) for item in items if item is not None]


def steps_of(messages):
    """The steps of a run."""
    return [step for message in messages for step in message["steps"]]


def test_the_recorded_run_adds_up():
    data = json.loads(explore.recordings.opening().message())
    assert (
        data["state"] == "done"
        and data["head"]["recorded"]
        and data["speedup"]["plain_tokens_per_s"] > 0
    )
    assert data["steps"][data["show"]]["outcome"].count("accepted") >= 2
    assert [step["index"] for step in data["steps"]] == list(range(len(data["steps"])))
    assert len(json.dumps(data)) < 300_000, "the first paint waits for this"


def test_the_numbers_of_a_timed_run_are_of_one_measurement():
    recorded = [json.loads(one.message()) for one in explore.recordings.RECORDINGS]
    for data in [*recorded, merged(played())]:
        numbers, timed = data["figures"], data["speedup"]
        assert numbers["rate"] == pytest.approx(timed["tokens_per_s"], rel=1e-4)
        assert numbers["tokens"] / numbers["rate"] == pytest.approx(timed["seconds"], rel=1e-4)


def merged(messages):
    """What a page knows after all messages."""
    known = {}
    for message in messages:
        known |= message
    return known


def test_no_message_of_a_run_is_written_beside_a_step(monkeypatch):
    """Steps are written in the thread that decodes them, and the first of them at once."""
    told = []

    def payload(step, verifier):
        told.append((step.index, current_thread().name))
        return step_payload(step, verifier)

    monkeypatch.setattr(explore.messages, "step_payload", payload)
    service = RunService(one_pair(lambda: TOY))

    async def visit():
        run = service.stream(
            Visitor("a"), REF, explore.decode_run, CONFIG, REF, service.runs, prompts=()
        )
        async with aclosing(run) as items:
            return [json.loads(explore.page_message(item)) async for item in items]

    sent = in_a_loop(visit())
    assert len(next(item["steps"] for item in sent if item["steps"])) == 1
    assert told == [(index, "decoding") for index in range(len(steps_of(sent)))]


@pytest.mark.parametrize("part", ["steps", "same"])
def test_a_run_that_is_stopped_can_be_saved_as_far_as_it_got(part):
    runs = RunStore()
    config = replace(CONFIG, verifier="race")
    play = explore.decode_run(Turn(TOY), config, REF, runs)
    sent = next(data for item in play if item and (data := json.loads(item)).get(part))
    play.close()
    saved = specviz.Trace.from_json(runs.text(sent["run"]))
    assert saved.stop == ("stopped" if part == "steps" else "length") and runs.size > 0
    whole = len(specviz.run(TOY, config).steps)
    assert len(saved.steps) == (1 if part == "steps" else whole)


def test_a_run_is_sent_to_its_end():
    config = specviz.RunConfig("abc", "k-ary", "specinfer", max_new_tokens=30)
    sent = played(config)
    steps = steps_of(sent)
    assert "".join("".join(step["pieces"]) for step in steps) == specviz.run(TOY, config).text
    assert sent[0]["models"] == REF.models and sent[0]["weights"] == "memory"
    assert sent[-1]["state"] == "done" and sent[-1]["speedup"]["plain_tokens_per_s"] > 0
    assert sum("head" in update for update in sent) == 1


def test_a_run_is_not_timed_while_others_wait():
    turn = Turn(TOY, others_wait=lambda: True)
    items = explore.decode_run(turn, CONFIG, REF, RunStore())
    sent = [json.loads(item) for item in items if item is not None]
    assert sent[-1]["state"] == "done" and not any(item.get("speedup") for item in sent)


def test_a_click_on_run_reads_and_checks_once(monkeypatch):
    demo = build_demo(lambda: specviz.toy_pair(vocab=12))
    run = next(
        event
        for event in demo.fns.values()
        if getattr(event.fn, "__qualname__", "") == "Answers.run"
    )
    values = [control.value for control in run.inputs]
    calls = []

    def counted(place, name):
        whole = getattr(place, name)
        monkeypatch.setattr(place, name, lambda *args: calls.append((name, *args)) or whole(*args))

    counted(Controls, "read")
    counted(configuration, "_obstacle")
    configuration.compatible.cache_clear()

    async def click():
        return [update async for update in run.fn(None, *values)]

    updates = in_a_loop(click())
    sent = [json.loads(text) for _, text in updates if isinstance(text, str)]
    assert sent[-1]["state"] == "done" and any(update.get("speedup") for update in sent)
    asked = [
        call for call in calls if "plain" not in (call[1].builder.name if call[0] != "read" else "")
    ]
    assert [name for name, *_ in asked] == ["read", "_obstacle"]
    assert len(calls) <= 3 + 2 * 4, "besides it only plain decoding, which is another configuration"


@pytest.mark.parametrize(
    ("verifier", "temperature", "promised"),
    [("race", 0.8, True), ("exact-match", 0, True), ("sequoia", 0.8, False)],
)
def test_same_seed_same_text_is_said_where_it_is_promised(verifier, temperature, promised):
    config = replace(CONFIG, verifier=specviz.VERIFIERS[verifier](), temperature=temperature)
    sent = played(config)
    done = next(i for i, update in enumerate(sent) if update.get("state") == "done")
    said = [update["same"] for update in sent[done + 1 :]]
    assert not any("same" in update for update in sent[: done + 1])
    assert [same["kind"] for same in said] == (["checking", "equal"] if promised else [])
    if promised:
        assert said[-1]["text"] == "Same seed, same text: all 30 tokens equal plain decoding."


def test_every_preset_and_example_answers_at_once_with_both_pairs():
    pairs = one_pair(None)
    assert len(recordings.RECORDINGS) == 2 * 2 * (len(presets.PRESETS) * 3 + 5)  # other examples
    for recording in recordings.RECORDINGS:
        config, ref = recording.config, recording.ref
        data = json.loads(explore.recorded(pairs, config.prompt, config, ref))
        assert data["head"]["recorded"] and data["head"]["settings"] == settings_text(config)
        assert data["head"]["prompt"] == config.prompt and data["models"] == ref.models
        assert data["run"].startswith("recorded-") and data["speedup"]["rounds"] > 1
    opening, ref = recordings.OPENING, recordings.opening().ref
    other = replace(opening, temperature=0.35)
    assert explore.recorded(pairs, other.prompt, other, ref) is None
    assert explore.recorded(pairs, "Another", opening, ref) is None
    assert explore.recorded(pairs, ["<b>"], opening, ref) is None
    # the page's own pair shows those that the page opens with, wherever its weights are
    assert explore.recorded(pairs, opening.prompt, opening, pairs.first)


def test_below_the_prompt_it_is_said_how_far_the_model_is_and_why_it_cannot_be_had(monkeypatch):
    monkeypatch.delenv("SPECVIZ_PAIR", raising=False)
    service = build_demo().service
    ref = PairRef(SMOLLM2, weights="disk")
    preparing = prompts.preparing(service)
    assert json.loads(preparing({})) == {}
    loading = service.pairs.preparing = Loading(ref)
    loading.report(0.25, "Downloading SmolLM2 135M (chat)")
    found = json.loads(preparing({}))
    assert found["done"] == 0.25 and "Downloading" in found["text"]
    assert service.pairs.first.target == SMOLLM2
    loading.result.set_exception(ValueError("The index cannot be reached."))
    found = json.loads(preparing({}))
    assert found["instead"] == TALES
    assert found["text"].startswith("The index cannot be reached. Tales 28M is used until")
    assert service.pairs.first.target == TALES, "the page opens with a pair that is there"


@pytest.mark.parametrize(("error", "sentence"), FAILURES)
def test_a_failure_on_the_way_is_said_and_keeps_the_steps(error, sentence, caplog):
    config = replace(
        CONFIG,
        builder=specviz.BUILDERS["chain"](),
        verifier=specviz.VERIFIERS["speculative-sampling"](),
    )
    passes = count(1)
    failing = Breaking(lambda nodes, length: next(passes) == 3, error)
    sent = played(config, failing)
    assert len(steps_of(sent)) == 2
    assert (
        sent[-1]["state"] == "error"
        and sentence in sent[-1]["note"]
        and "secret" not in sent[-1]["note"]
    )
    assert ("The run failed." in caplog.text) == isinstance(error, RuntimeError)


def test_a_prompt_that_is_too_long_is_rejected_before_the_run():
    with pytest.raises(ValueError, match="context of 4096"):
        played(replace(CONFIG, prompt="a" * 5000))


def test_a_tree_without_a_vector_of_its_own_is_called_learning():
    """The own draft of a model of the catalogue is another drafter, whose vectors count, not the
    draft model's."""
    config = specviz.RunConfig(builder="sequoia")
    assert "Learning" not in explore.verdict(config)[1]
    assert "Learning" in explore.verdict(config, PairRef("mine", "other"))[1]
    own = DRAFTERS[default_drafter("smollm2", is_compiled=True)]
    assert (own.title_in_sentence in explore.verdict(config, PairRef("smollm2"))[1]) == (
        not stored(own.name, "smollm2")
    )
    ngram = specviz.RunConfig(builder="sequoia", drafter="ngram")
    assert "with n-grams" in explore.verdict(ngram, PairRef("smollm2"))[1] or stored(
        "ngram", "smollm2"
    )
