"""The verdict on whether sampled texts follow the target."""

from types import SimpleNamespace

import pytest

from app.tabs.explore.sampler import verdict


@pytest.mark.parametrize(
    ("deviating", "begins", "plain"),
    [
        ("", "Yes: speculation agrees with", "Plain decoding agrees"),
        ("speculated", "No: speculation deviates from", "Plain decoding agrees"),
        ("speculated plain", "No: speculation deviates from", "Plain decoding deviates too"),
    ],
)
def test_the_verdict_begins_with_yes_or_no(deviating, begins, plain):
    result = SimpleNamespace(
        runs=10, speculated="speculated", plain="plain", expected=0.1, passes=1
    )
    result.deviates = lambda counts: counts in deviating.split()
    result.distance = lambda counts: 0.25
    text = verdict(result)
    assert text.startswith(begins) and plain in text and "0.250" in text and "1 pass." in text
