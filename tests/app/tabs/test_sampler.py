"""The verdict on whether sampled texts follow the target."""

import json
from types import SimpleNamespace

import pytest

import specviz
from app.tabs.explore import sampler
from app.tabs.explore.sampler import verdict
from specviz.proof.sampled import sampling


@pytest.mark.parametrize(
    ("runs", "deviating", "begins", "plain"),
    [
        (100, "", "Yes, so far: speculation agrees with", "Plain decoding agrees"),
        (1000, "", "Yes: speculation agrees with", "Plain decoding agrees"),
        (1000, "speculated", "No: speculation deviates from", "Plain decoding agrees"),
        (1000, "speculated plain", "No: speculation deviates from", "Plain decoding deviates too"),
    ],
)
def test_the_verdict_begins_with_yes_or_no_once_there_are_enough_runs(
    runs, deviating, begins, plain
):
    result = SimpleNamespace(
        runs=runs, of=1000, speculated="speculated", plain="plain", expected=0.1, passes=1
    )
    result.deviates = lambda counts: counts in deviating.split()
    result.distance = lambda counts: 0.25
    text = verdict(result)
    assert text.startswith(begins) and plain in text and "0.250" in text


@pytest.mark.parametrize("runs", [1, 20])
def test_a_few_runs_have_no_verdict_and_no_distance(runs):
    result = next(
        one for one in sampling(specviz.toy_pair(), specviz.RunConfig("ab"), runs=runs) if one.runs
    )
    assert result.expected <= 1
    text = verdict(result)
    assert text.startswith("Not decided yet") and "agrees" not in text and "distance" not in text


def test_a_sampling_says_how_long_it_will_take(monkeypatch):
    reports = list(sampling(specviz.toy_pair(), specviz.RunConfig("ab"), runs=40))
    clock = iter([0.0, 10.0, 10.0, 16.0, 22.0])  # 10 s to read the distributions, then 6 s a report
    monkeypatch.setattr(sampler, "monotonic", lambda: next(clock))
    turn = SimpleNamespace(compute=lambda work, config, runs, tokens: reports)
    left = [
        json.loads(message)["left"] for message in sampler.sample(turn, specviz.RunConfig("ab"))
    ]
    assert left == ["", ", about 6 s left", ""]
