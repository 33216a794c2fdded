"""Matrix products on a CPU with the weights laid out beforehand as oneDNN wants them.

An ordinary product of a few rows lays its weights out anew each time, a quarter of a pass at the sizes of the embedded
pair and half of it in float32. The layout is a second copy of the weights, so only small models get it.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

MOST_BYTES = 1 << 29  # of a model's weights
ROWS = 16  # the number of rows that the layout is chosen for
CLOSE = {torch.float32: 1e-5, torch.bfloat16: 1e-2}  # of the spread of the products: what rounding may differ by


class Product:
    """x -> x W^T + b.

    Args:
        weight: W, [out, in].
        bias: b, [out] or None.
        pack: whether to lay W out, where that can be done and changes nothing.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, pack: bool) -> None:
        self.weight, self.bias = weight.detach(), None if bias is None else bias.detach()
        self._packed = _packed(self.weight) if pack else None

    def __call__(self, x: torch.Tensor, plus: torch.Tensor | None = None) -> torch.Tensor:
        """The product with x, [n, in], plus what is given, [n, out]."""
        if self._packed is None:
            product = F.linear(x, self.weight, self.bias)
            return product if plus is None else product + plus
        return _product(x, self._packed, self.bias, plus)

    def lay_out_again(self) -> None:
        """Follow a weight that was changed in place."""
        if self._packed is not None:
            self._packed = _packed(self.weight)


def _product(
    x: torch.Tensor, packed: torch.Tensor, bias: torch.Tensor | None = None, plus: torch.Tensor | None = None
) -> torch.Tensor:
    way = torch.ops.mkldnn._linear_pointwise
    if plus is None:
        return way.default(x, packed, bias, "none", [], "")
    return way.binary(x, plus, packed, bias, "add")


def worth_packing(model: torch.nn.Module) -> bool:
    """Whether a model computes on a CPU in a type that oneDNN lays out, and is small enough to be held twice."""
    weights = list(model.parameters())
    known = all(weight.device.type == "cpu" and weight.dtype in CLOSE for weight in weights)
    size = sum(weight.numel() * weight.element_size() for weight in weights)
    return known and size <= MOST_BYTES and torch.backends.mkldnn.is_available()


def _packed(weight: torch.Tensor) -> torch.Tensor | None:
    """The weight in the layout of oneDNN; None where there is none, or its products are not the same."""
    try:
        packed = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), ROWS)
        x = torch.linspace(-1, 1, 2 * weight.shape[1], dtype=weight.dtype).view(2, -1)
        found = _product(x, packed)
        added = _product(x, packed, None, found) - found
    except (AttributeError, RuntimeError):  # not of public make: another version of torch may have none
        return None
    wanted = F.linear(x, weight).float()
    error = max((each.float() - wanted).abs().max() for each in (found, added))
    return packed if error <= CLOSE[weight.dtype] * wanted.std() else None
