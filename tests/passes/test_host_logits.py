"""Distributions of logits on the host, compiled, against those of numpy."""

import numpy as np
import pytest

from specviz.distributions import Sampling, distributions_of, softmax
from specviz.passes.compiled.softmax import HostLogits

LOGITS = np.random.default_rng(0).normal(scale=9, size=(3, 501)).astype(np.float32)


@pytest.mark.parametrize("temperature", [0.01, 0.6, 1.0, 3.0])
def test_rows_are_the_softmax_of_numpy(temperature):
    logits = LOGITS.copy()
    logits[1, 7] = -np.inf
    rows = distributions_of(logits.view(HostLogits), Sampling(temperature))
    wanted = softmax(logits, temperature)
    np.testing.assert_allclose(rows.every(), wanted, rtol=1e-13, atol=1e-300)
    for node in (2, 0):
        np.testing.assert_array_equal(rows[node], rows.every()[node])
    np.testing.assert_allclose(np.sum(rows.every(), axis=1), 1, rtol=1e-14)


def test_what_is_cut_or_greedy_is_left_to_numpy():
    for sampling in (Sampling(0.0), Sampling(0.8, top_p=0.9), Sampling(0.8, top_k=5)):
        ours, numpys = (distributions_of(logits, sampling) for logits in (LOGITS.view(HostLogits), LOGITS))
        np.testing.assert_array_equal(ours.every(), numpys.every())


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize("place", [0, 5])
def test_what_is_no_number_is_noticed(wrong, place):
    logits = LOGITS.copy()
    logits[1, place] = wrong
    with pytest.raises(ValueError, match="finite"):
        distributions_of(logits.view(HostLogits), Sampling()).every()
    logits[1] = -np.inf
    with pytest.raises(ValueError, match="finite"):
        distributions_of(logits.view(HostLogits), Sampling())[1]
