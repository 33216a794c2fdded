"""Rows: temperature, top-k, top-p, residual."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from specviz.sampling import distributions
from specviz.sampling.distributions import (
    Distributions,
    Sampling,
    entropy,
    probabilities,
    residual,
    softmax,
    total_variation,
)

logits = arrays(float, 6, elements=st.floats(-8, 8))
samplings = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 0.3, 1.0, 2.0]),
    top_p=st.sampled_from([0.2, 0.9, 1.0]),
    top_k=st.sampled_from([None, 1, 3, 99]),
)


@given(logits, samplings)
def test_a_row_is_a_distribution_over_the_most_probable_tokens(values, sampling):
    row = probabilities(values, sampling)
    assert row.min() >= 0 and row.sum() == pytest.approx(1)
    kept = row > 0
    if not kept.all() and sampling.temperature > 0:
        assert values[kept].min() >= values[~kept].max() - 1e-9
    if sampling.top_k and sampling.temperature > 0:
        assert kept.sum() <= sampling.top_k
    if sampling.temperature == 0:
        assert row[np.argmax(values)] == 1


def test_top_p_keeps_the_token_that_crosses_the_threshold():
    values = np.log([0.5, 0.3, 0.15, 0.05])
    assert probabilities(values, Sampling(top_p=0.5)).tolist() == [1, 0, 0, 0]
    assert probabilities(values, Sampling(top_p=0.6)) == pytest.approx([0.625, 0.375, 0, 0])
    # top-p acts on what top-k left: 0.5 of (0.5, 0.3) is 0.4, which the first token crosses alone
    assert probabilities(values, Sampling(top_p=0.6, top_k=2)) == pytest.approx([1, 0, 0, 0])


def test_rows_agree_however_they_are_asked_for(monkeypatch):
    values = np.random.default_rng(0).normal(size=(4, 7)).astype(np.float32)
    for sampling in (Sampling(), Sampling(0.5), Sampling(0.5, 0.8), Sampling(0.0)):
        rows = Distributions(values, sampling)
        nodes, tokens = [0, 2, 2, 3], [1, 0, 6, 3]
        wanted = [rows[n][t] for n, t in zip(nodes, tokens, strict=True)]
        at_temperature_1 = [softmax(values[n])[t] for n, t in zip(nodes, tokens, strict=True)]
        for together in (1, 10**6):  # numbers that are worked on at once
            monkeypatch.setattr(distributions, "CHUNK", together)
            for found, truth in zip(
                rows.gather(nodes, tokens), (wanted, at_temperature_1), strict=True
            ):
                assert found == pytest.approx(truth, rel=1e-5)
        assert rows.gather([], []) == ([], [])


@given(logits, logits)
def test_residual_and_total_variation(a, b):
    p, q = softmax(a), softmax(b)
    r = residual(p, q)
    assert r.sum() == pytest.approx(1) and r.min() >= 0
    # drawing from q, keeping with min(1, p/q), else from the residual, gives p: the identity behind
    # everything here
    assert np.minimum(p, q) + total_variation(p, q) * r == pytest.approx(p, abs=1e-9)
    assert residual(p, p).tolist() == p.tolist() and entropy(
        np.array([0.5, 0.5, 0.0])
    ) == pytest.approx(np.log(2))
