"""Weights in a few bits: near the matrix they are made of, and a draft that changes no text."""

import numpy as np
import pytest
import torch
from numba import njit

import specviz
from specviz.models.early_exit import in_low_precision
from specviz.passes.compiled import dot_products, low_precision, products
from specviz.passes.layers import raw
from tests.passes.test_huggingface import make

pytestmark = pytest.mark.adapter


@njit
def multiply(weights, x):
    """The product with the last block of outputs."""
    sums = np.empty((len(x), dot_products.BLOCK), np.float32)
    group_sums = low_precision.sums_of_groups(weights, x)
    last = low_precision.block_count(weights) - 1
    products.multiply_block(low_precision.part_of(weights, last), x, group_sums, sums)
    return sums


@pytest.mark.parametrize("bits, error", [(4, 0.3), (8, 0.02)])
def test_a_product_is_near_that_of_the_matrix_it_was_made_of(bits, error):
    rng = np.random.default_rng(0)
    weight, x = (rng.normal(size=(size, 64)).astype(np.float32) for size in (40, 13))
    weight *= 10.0 ** rng.integers(-3, 3, size=(40, 1))  # every output has scales of its own
    packed = low_precision.low_precision(weight, bits)
    assert len(packed.codes) == 2
    for tokens in (x, raw(torch.from_numpy(x).bfloat16())):
        sums = multiply(packed, tokens)
        wanted = x @ weight[32:].T
        off = np.abs(sums[:, :8] - wanted).max(axis=0) / np.abs(wanted).max(axis=0)
        assert off.max() < error + 0.02 * (tokens is not x)
        assert not sums[:, 8:].any()


@pytest.mark.parametrize("bits", [4, 8])
def test_weights_that_fit_are_kept_to_the_last_bit(bits):
    highest = 2 ** (bits - 1) - 1
    rng = np.random.default_rng(0)
    weight = rng.integers(-highest, highest + 1, size=(32, 32)).astype(np.float32)
    weight[:, 0] = highest
    packed = low_precision.low_precision(weight, bits)
    assert packed.codes.nbytes == weight.size * bits // 8
    unit = np.eye(32, dtype=np.float32)
    for tokens in (unit, raw(torch.from_numpy(unit).bfloat16())):
        np.testing.assert_array_equal(multiply(packed, tokens), weight.T)


@pytest.mark.nightly
def test_the_target_in_low_precision_drafts_much_and_changes_no_text():
    pair = specviz.load_pair()
    options = dict(max_new_tokens=24, temperature=0)
    plain = specviz.run(pair, specviz.RunConfig("Once upon", "plain", "plain", **options))
    drafted = specviz.run(
        pair,
        specviz.RunConfig("Once upon", "chain:depth=5", "naive", drafter="quantized", **options),
    )
    assert drafted.tokens == plain.tokens
    assert len(drafted.steps) <= 12  # of 24 passes without a draft


@pytest.mark.parametrize("fault", ["no compiled passes", "odd widths"])
def test_a_target_that_cannot_be_quantised_is_refused(fault):
    model = make("gpt2" if fault == "no compiled passes" else "llama")  # an mlp of 48
    with pytest.raises(ValueError, match="quantized must have a"):
        in_low_precision(model, 4)
