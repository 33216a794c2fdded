"""The four strategies of figures 3 and 4."""

from ...builders.filling import grow_shape
from ...builders.optimal import falling, likeliest_tree


def shapes(vector, k):
    """Strategy -> its tree of k drafts (SpecInfer's: three sequences with two tokens in common)."""
    falls = falling(vector)
    found = {
        "batch": grow_shape([k]),
        "sequence": grow_shape([1] * k),
        "optimal tree": likeliest_tree(falls, k + 1, 64, 32),
    }
    if k >= 5:
        found["SpecInfer tree"] = grow_shape([1, 1, 3] + [1] * ((k - 2) // 3 - 1))
    return found
