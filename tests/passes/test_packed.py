"""Products with weights laid out beforehand, against the ordinary ones."""

from types import SimpleNamespace

import pytest
import torch

from specviz.passes import packed
from specviz.passes.packed import Product

pytestmark = pytest.mark.adapter


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rows", [1, 3, 16, 70])
@pytest.mark.parametrize("biased", [False, True])
def test_a_product_is_that_of_its_weight(dtype, rows, biased):
    torch.manual_seed(0)
    weight, bias, x = torch.randn(50, 24), torch.randn(50) if biased else None, torch.randn(rows, 24)
    weight, x = weight.to(dtype), x.to(dtype)
    bias = None if bias is None else bias.to(dtype)
    wanted = torch.nn.functional.linear(x, weight, bias)
    plus, close = torch.randn(rows, 50).to(dtype), 1e-5 if dtype is torch.float32 else 0.03
    with torch.inference_mode():
        for product in (Product(weight, bias, True), Product(weight, bias, False)):
            torch.testing.assert_close(product(x), wanted)
            # Rounded once and not twice, which shows where the two cancel each other.
            torch.testing.assert_close(product(x, plus), wanted + plus, rtol=0.016, atol=close)


@pytest.mark.parametrize("spoil", ["unknown type", "missing", "wrong"])
def test_what_cannot_be_laid_out_is_multiplied_as_ever(spoil, monkeypatch):
    torch.manual_seed(0)
    weight, x = torch.randn(5, 24), torch.randn(2, 24)
    if spoil == "unknown type":
        weight, x = weight.double(), x.double()
    if spoil == "missing":
        monkeypatch.setattr(torch.ops.mkldnn, "_reorder_linear_weight", _absent, raising=False)
    if spoil == "wrong":
        wrong = SimpleNamespace(default=lambda x, *rest: x[:, :5], binary=lambda x, *rest: x[:, :5])
        monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", wrong, raising=False)
    product = Product(weight, None, True)
    assert product._packed is None
    assert torch.equal(product(x), torch.nn.functional.linear(x, weight))


def _absent(*arguments):
    raise RuntimeError("no such operator")


def test_large_models_are_not_held_twice(monkeypatch):
    model = torch.nn.Linear(24, 5)
    assert packed.worth_packing(model)
    assert not packed.worth_packing(model.double())
    monkeypatch.setattr(packed, "MOST_BYTES", 4 * (5 * 24 + 5) - 1)
    assert not packed.worth_packing(model.float())
