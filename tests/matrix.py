"""Matrices of which `make test` runs a few cells and `make nightly` the rest."""

from itertools import product

import pytest


def rest_of(*axes, fits=lambda *cell: True, few=()):
    """The cells of a matrix as parameters, marked `nightly` but for a few.

    Args:
        axes: the names along each axis.
        fits: whether a cell has anything to test; those that have not are left out.
        few: identifiers of cells for `make test`.
    """
    cells = {"-".join(map(str, cell)): cell for cell in product(*axes) if fits(*cell)}
    assert set(few) <= set(cells), f"no such cell: {set(few) - set(cells)}"
    return [
        pytest.param(*cell, id=key, marks=() if key in few else pytest.mark.nightly)
        for key, cell in cells.items()
    ]
