"""The verdict on whether sampled texts follow the target."""

from types import SimpleNamespace

import pytest

from app.tabs.explore.sampler import verdict


@pytest.mark.parametrize(
    ("runs", "deviating", "begins", "plain"),
    [
        (50, "", "Yes: speculation agrees with", "Plain decoding agrees"),
        (11, "", "Too few runs to say", "Plain decoding agrees"),
        (50, "speculated", "No: speculation deviates from", "Plain decoding agrees"),
        (50, "speculated plain", "No: speculation deviates from", "Plain decoding deviates too"),
    ],
)
def test_the_verdict_begins_with_yes_or_no_once_there_are_enough_runs(
    runs, deviating, begins, plain
):
    result = SimpleNamespace(
        runs=runs, of=100, speculated="speculated", plain="plain", expected=0.1, passes=1
    )
    result.deviates = lambda counts: counts in deviating.split()
    result.distance = lambda counts: 0.25
    text = verdict(result)
    assert text.startswith(begins) and plain in text and "0.250" in text and "1 pass." in text
