"""The recorded channel: its codewords decode to its indices, and the real draft makes the recorded text of them."""

import json

import numpy as np
import pytest

import specviz
from app.tabs.labs import channel_recording
from app.tabs.labs.channel_lab import DRAFTED, transcript
from app.tabs.labs.channel_recording import recorded, rows_of
from specviz.randomness import Seeded
from specviz.theory.channel import TunstallCode, receive


@pytest.fixture(scope="module")
def sent():
    return json.loads(transcript())


def test_every_code_s_words_decode_to_the_recorded_indices(sent):
    assert [code["drafted"] for code in sent["codes"]] == list(DRAFTED)
    for shown in sent["codes"]:
        bits = "".join(word["leaf"] + word["excess"] for word in shown["words"])
        code = TunstallCode(tuple(recorded()["code"]["shares"]), shown["drafted"])
        assert code.decode(bits, len(sent["indices"])) == sent["indices"]
        assert shown["words"][-1]["sent"] == len(bits) and shown["words"][-1]["end"] == len(sent["indices"])
        assert shown["leaves"] == 2 ** shown["width"], "no codeword is left over"


def test_bits_a_token_lie_above_the_entropy_and_below_its_upper_bound(sent):
    bits = sent["bits"]
    assert 0 < bits["kl"] <= bits["entropy"] <= bits["upper"] < bits["plain"]
    for code in sent["codes"]:
        last = code["words"][-1]
        assert bits["entropy"] <= last["sent"] / last["end"] <= bits["upper"]


def test_the_receiver_with_the_sender_s_seed_has_its_text_and_the_other_has_not(sent):
    same, other = sent["receivers"]
    assert same["seed"] == sent["sender"]["seed"] != other["seed"]
    assert same == sent["sender"] and other["tokens"] != same["tokens"]
    for drawn, index in zip(same["drawn"], sent["indices"], strict=True):
        assert len(drawn) == min(index, channel_recording.SHOWN + 1)


@pytest.mark.adapter
@pytest.mark.slow
def test_the_embedded_draft_makes_the_recorded_texts_of_the_indices():
    pair, data = specviz.load_pair(), recorded()
    for receiver in data["receivers"]:
        draft, prompt = rows_of(pair, 1), pair.encode(data["prompt"])
        assert receive(draft, prompt, data["indices"], Seeded(receiver["seed"])) == receiver["tokens"]


def test_a_recording_with_toy_models_is_of_the_same_kind(monkeypatch):
    monkeypatch.setattr(channel_recording, "TOKENS", 12)
    monkeypatch.setattr(channel_recording, "TUNED", 20)
    monkeypatch.setattr(channel_recording, "SHIP", "abc")
    monkeypatch.setattr(channel_recording, "TALE", "ab")
    made = channel_recording.record(specviz.toy_pair(vocab=12))
    assert made.keys() == recorded().keys() and made["receivers"][0] == made["sender"]
    assert sum(made["code"]["shares"]) == pytest.approx(1) and np.mean(made["kl"]) <= np.mean(made["entropy"])
