"""Weights in a few bits: near the matrix they are made of, and a draft that changes no text."""

import numpy as np
import pytest
import torch
from numba import njit

import specviz
from specviz.models.early_exit import in_low_precision
from specviz.passes.compiled import byte_products, dot_products, low_precision, products
from specviz.passes.layers import raw
from tests.passes.test_huggingface import make

pytestmark = pytest.mark.adapter


@njit
def multiply(weights, x):
    """The product with the last block of outputs."""
    sums = np.empty((len(x), dot_products.BLOCK), np.float32)
    last = low_precision.part_of(weights, low_precision.block_count(weights) - 1)
    products.multiply_block(last, low_precision.in_bytes(weights, x), sums)
    return sums


@njit
def in_bytes(weights, x):
    return low_precision.in_bytes(weights, x)


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


def weights_that_fit(bits):
    """A matrix [32, 32] that so many bits hold: codes times a scale, above a lowest weight."""
    codes = np.random.default_rng(0).integers(0, 2**bits, size=(32, 32))
    codes[:, 0], codes[:, 1] = 0, 2**bits - 1
    return (codes * 0.25 - 3).astype(np.float32)


@pytest.mark.parametrize("bits", [4, 8])
def test_weights_that_fit_lose_nothing(bits):
    weight = weights_that_fit(bits)
    packed = low_precision.low_precision(weight, bits)
    assert packed.codes.nbytes == weight.size * bits // 8
    unit = np.eye(32, dtype=np.float32)
    for tokens in (unit, raw(torch.from_numpy(unit).bfloat16())):
        np.testing.assert_allclose(multiply(packed, tokens), weight.T, atol=1e-5)


def test_a_processor_without_byte_products_has_the_same_numbers(monkeypatch):
    """Whole numbers are added, so that the way does not matter to the last bit."""
    monkeypatch.setattr(byte_products, "BYTE_PRODUCT", None)
    monkeypatch.setattr(byte_products, "COUNTS", (2,))  # less to compile

    @njit
    def multiply_otherwise(block, x, out):
        byte_products.multiply_bytes(
            block.codes, block.factors, x.codes, x.scales, x.sums, 0, len(out), out
        )

    packed = low_precision.low_precision(weights_that_fit(4), 4)
    x = np.random.default_rng(1).normal(size=(2, 32)).astype(np.float32)
    tokens = in_bytes(packed, x)
    sums = np.empty((2, dot_products.BLOCK), np.float32)
    multiply_otherwise(low_precision.LowPrecision(packed.codes[0], packed.factors[0]), tokens, sums)
    np.testing.assert_array_equal(sums, multiply(packed, x))


def test_a_token_has_the_same_numbers_whatever_is_beside_it():
    packed = low_precision.low_precision(weights_that_fit(4), 4)
    x = np.random.default_rng(1).normal(size=(23, 32)).astype(np.float32)
    together = multiply(packed, x)
    for row in range(len(x)):
        np.testing.assert_array_equal(multiply(packed, x[row : row + 1])[0], together[row])


def test_tokens_of_zeros_stay_zeros():
    packed = low_precision.low_precision(weights_that_fit(4), 4)
    assert not multiply(packed, np.zeros((2, 32), np.float32)).any()


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
