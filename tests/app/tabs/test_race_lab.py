"""What the page "Race" answers: its examples are what their sentences say, and any question gets an answer."""

import json

import numpy as np
import pytest

from app.tabs.labs.race_lab import PRESETS, race
from specviz import RunConfig, speculate
from specviz.randomness import Seeded


def asked(preset, **news):
    return json.loads(race({"p": list(preset.p), "q": list(preset.q), "seed": preset.seed} | news))


def test_the_examples_show_what_they_say():
    one, differ, equal = map(asked, PRESETS)
    assert one["order"]["p"][0] == one["order"]["q"][0] == 0
    assert [PRESETS[1].names[differ["order"][row][0]] for row in "pq"] == ["mat", "floor"]
    assert equal["times"]["p"] == equal["times"]["q"]
    dragged = asked(PRESETS[0], q=[0.28, *PRESETS[0].q[1:]])
    assert dragged["order"]["q"][0] != 0, "a small drag is enough"


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.title)
def test_one_noise_in_both_races_and_the_count_is_near_the_closed_form(preset):
    data = asked(preset)
    for name in "pq":
        speeds = np.array(getattr(preset, name)) / sum(getattr(preset, name))
        assert np.array(data["times"][name]) * speeds == pytest.approx(data["noise"], rel=1e-3)
        assert data["order"][name] == np.argsort(data["times"][name]).tolist()
    (_, counted), (_, ceiling), (_, exact), *_ = data["worth"]
    assert counted == pytest.approx(exact, abs=0.04) and exact <= ceiling + 1e-9


def test_the_winners_are_those_of_the_real_loop():
    from app.tabs.labs.microscope import Node, _pair
    from specviz.strategy import strategy_of

    for seed in range(12):
        node, data = Node(PRESETS[1].p, PRESETS[1].q, 1), asked(PRESETS[1], seed=seed)
        config = RunConfig([0], node.builder, strategy_of("verifier", "race"), 1.0, max_new_tokens=2, seed=seed)
        noise = Seeded(seed).noise(0, 6)
        step = next(speculate(_pair(node, PRESETS[1].names), config, Fixed(seed, noise), scheme="race"))
        assert (step.tokens[1], step.emitted[0]) == (data["order"]["q"][0], data["order"]["p"][0])


class Fixed(Seeded):
    """A seed's randomness with one noise at every position."""

    def __init__(self, seed, noise):
        super().__init__(seed)
        self.fixed = noise

    def noise(self, position, size):
        return self.fixed


@pytest.mark.parametrize(
    "news", [{"p": None}, {"q": [0, 0]}, {"p": [1, 2]}, {"seed": -1}, {"seed": "x"}, {"seed": None}, {"p": ["a"] * 6}]
)
def test_a_wrong_question_gets_one_sentence(news):
    assert asked(PRESETS[0], **news)["error"].endswith(".")
    assert "error" in json.loads(race([]))


def test_a_token_without_speed_never_arrives():
    data = asked(PRESETS[0], q=[0, 1, 1, 1, 1, 1])
    assert data["times"]["q"][0] is None and 0 not in data["order"]["q"]
