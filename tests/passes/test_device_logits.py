"""Rows that stay on a device: the same numbers, and as few transfers as the loop needs. Here the
device is the CPU."""

import numpy as np
import pytest
import torch

import specviz
from specviz.passes import device_logits
from specviz.sampling.children import most_probable
from specviz.sampling.distributions import (
    Distributions,
    RowWithTopTokens,
    Sampling,
    distributions_of,
    probabilities,
)

SAMPLINGS = [
    Sampling(0.0),
    Sampling(1.0),
    Sampling(0.3),
    Sampling(1.0, top_k=3),
    Sampling(0.8, top_p=0.7),
    Sampling(1.3, top_p=0.5, top_k=9),
    Sampling(1.0, top_p=1e-9),
    Sampling(1.0, top_k=500),
]


def logits_of(seed=0, n=7, v=50, ties=False):
    values = np.random.default_rng(seed).normal(0, 3, (n, v)).astype(np.float32)
    return np.round(values) if ties else values


@pytest.fixture
def pulls(monkeypatch):
    """Every transfer to the host, as the shape that was pulled."""
    found, honest = [], device_logits.pull

    def counted(tensor):
        found.append(tuple(tensor.shape))
        return honest(tensor)

    monkeypatch.setattr(device_logits, "pull", counted)
    return found


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_probabilities_are_those_of_numpy(sampling, ties):
    logits = logits_of(ties=ties)
    found = distributions_of(
        device_logits.DeviceLogits(torch.from_numpy(logits)), sampling, ahead=3
    )
    for node, row in enumerate(logits):
        wanted = probabilities(row, sampling)
        assert found[node].dtype == np.float64
        assert ((found[node] > 0) == (wanted > 0)).all()
        np.testing.assert_allclose(found[node], wanted, rtol=1e-12)


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_gathered_probabilities_are_those_of_numpy(sampling, pulls, monkeypatch):
    monkeypatch.setattr(device_logits, "AT_ONCE", 2)  # long lists are sorted a few rows at a time
    logits = logits_of(1)
    nodes, tokens = [0, 0, 5, 2, 5], [3, 49, 0, 7, 7]
    found = distributions_of(device_logits.DeviceLogits(torch.from_numpy(logits)), sampling)
    pulls.clear()
    np.testing.assert_allclose(
        found.gather(nodes, tokens),
        Distributions(logits, sampling).gather(nodes, tokens),
        rtol=1e-5,
        atol=1e-9,
    )
    assert pulls == [(5,)] * (2 if sampling.temperature else 1)
    assert found.gather([], []) == ([], [])


@pytest.mark.parametrize("known", [1, 4, 49, 50, 80])
@pytest.mark.parametrize("ties", [False, True])
def test_ranks_from_the_device_are_those_of_numpy(ties, known, monkeypatch):
    monkeypatch.setattr(device_logits, "RANKED", known)
    sampling = Sampling(0.9, top_k=30)
    found = device_logits.DeviceLogits(torch.from_numpy(logits_of(ties=ties))).rows(
        sampling, ahead=7
    )
    for node in range(7):
        row, plain = found[node], np.array(found[node])
        assert isinstance(row, RowWithTopTokens) and len(row.ranked) <= 50
        for count in (1, 3, 17, 50, 60):
            assert most_probable(row, count) == most_probable(plain, count)
        assert ties or len(row.ranked) == (
            50 if known >= 49 else min(known, 30)
        )  # beyond top-k all are alike
        assert (row * 2).ranked == row[1:].ranked == row.copy().ranked == []


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("width", [40, 50, 60])
def test_logits_can_be_taken_for_an_array(pair, width, dtype, monkeypatch):
    tensor = torch.from_numpy(logits_of()).to(dtype)
    monkeypatch.setattr(pair.target, "vocab_size", width)
    host = pair.target.as_rows(tensor)
    monkeypatch.setattr(pair.target, "lazy", True)
    found = pair.target.as_rows(tensor)
    wanted = np.full((7, width), -np.inf, dtype=np.float32)
    own = min(width, 50)
    wanted[:, :own] = tensor.float().numpy()[:, :own]
    np.testing.assert_array_equal(host, wanted)
    assert host.dtype == np.float32 and found.shape == (7, width) and len(found) == 7
    for value, expected in (
        (np.asarray(found), wanted),
        (found[3], wanted[3]),
        (found[np.int64(2)], wanted[2]),
        (found[-1], wanted[-1]),
        (found[[4, 1]], wanted[[4, 1]]),
        (found[:, :9], wanted[:, :9]),
        (np.concatenate([found, found]), [*wanted] * 2),
    ):
        assert value.dtype == np.float32
        np.testing.assert_array_equal(value, expected)
    assert [len(row) for row in found] == [width] * 7


@pytest.fixture(scope="module")
def pair():
    return specviz.load_pair(dtype="float32")


def config(builder, verifier, temperature=0.8, prompt="Once upon a time", **more):
    return specviz.RunConfig(
        prompt, builder, verifier, temperature, **{"max_new_tokens": 24} | more
    )


CONFIGS = {
    "greedy": config("sequoia:size=12", "exact-match", 0.0),
    "sampled": config("sequoia:size=12", "sequoia"),
    "nucleus": config("dyspec:size=12", "traversal", top_p=0.8),
    "race": config("k-sequences", "race"),
}


@pytest.mark.adapter
@pytest.mark.parametrize("name", CONFIGS)
def test_a_run_on_lazy_rows_writes_the_same_record(pair, name, monkeypatch):
    wanted = specviz.run(pair, CONFIGS[name])
    monkeypatch.setattr(pair.target, "lazy", True)
    monkeypatch.setattr(pair.draft, "lazy", True)
    found = specviz.run(pair, CONFIGS[name])
    assert found.tokens == wanted.tokens and len(found.steps) == len(wanted.steps)
    for one, other in zip(found.steps, wanted.steps, strict=True):
        assert (one.parents, one.tokens, one.outcome) == (
            other.parents,
            other.tokens,
            other.outcome,
        )
        for column in ("draft_prob", "target_prob", "target_prob_at_1", "accept_prob"):
            values = [
                [np.nan if x is None else x for x in getattr(step, column)] for step in (one, other)
            ]
            np.testing.assert_allclose(*values, rtol=1e-4, atol=1e-7)


@pytest.mark.adapter
def test_a_step_waits_once_a_level(pair, monkeypatch, pulls):
    monkeypatch.setattr(pair.target, "lazy", True)
    monkeypatch.setattr(pair.draft, "lazy", True)
    steps, before = specviz.speculate(pair, CONFIGS["sampled"]), 0
    for step in steps:
        made, before = pulls[before:], len(pulls)
        drafting, rest = made[: step.draft_passes], made[step.draft_passes :]
        inner = len(set(step.parents)) - 1
        assert sum(shape[0] for shape in drafting) == inner  # the rows of a level together
        # The target: the root with the end of the pass, a row for each further node of the walk,
        # and two gathers.
        nodes = len(step.parents) - 1
        records = [(nodes,)] * 2 if nodes else []  # nothing is asked for a root alone
        walk = len(rest) - len(records)
        assert rest[walk:] == records
        assert rest[:walk] == [(1, pair.vocab_size + device_logits.RANKED + 1)] * (
            len(step.path) + 1
        )


@pytest.mark.adapter
def test_greedy_decoding_pulls_the_best_tokens_and_no_row(pair, monkeypatch, pulls):
    monkeypatch.setattr(pair.target, "lazy", True)
    greedy = config("prompt-lookup", "exact-match", 0.0, "import os\nimport", max_new_tokens=12)
    for step in specviz.speculate(pair, greedy):
        gathers = (
            [(len(step.parents) - 1,)] if len(step.parents) > 1 else []
        )  # what the model itself gave its tokens
        assert pulls == [(2, len(step.parents)), *gathers]  # how high and which
        pulls.clear()


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_rows_that_are_no_numbers_are_rejected_on_the_device_too(sampling, value):
    logits = torch.from_numpy(logits_of())
    logits[1, 3] = value
    for read in (lambda rows: rows[1], lambda rows: rows.gather([1], [3])):
        with pytest.raises(ValueError, match="logits"):
            read(distributions_of(device_logits.DeviceLogits(logits), sampling))
