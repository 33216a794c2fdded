"""Numbers of compiled passes: bfloat16 as the int16 of its bits, e^x, and how functions are
compiled."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from numba import config, njit, types
from numba.extending import overload

from ...base.files import cache_folder
from .tiles import HAS_TILES


def bf16_to_f32(number):
    """A number as float32."""


def f32_to_bf16(number, like):
    """A float32 as the type of `like`, rounded to the nearest, ties to even."""


@overload(bf16_to_f32, inline="always")
def _(number):
    if isinstance(number, types.Integer):
        return lambda number: np.int32(np.int32(number) << 16).view(np.float32)
    return lambda number: number


@overload(f32_to_bf16, inline="always")
def _(number, like):
    if isinstance(like, types.Integer):

        def rounded(number, like):
            bits = np.float32(number).view(np.int32)
            return np.int16((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)

        return rounded
    return lambda number, like: number


def folder_for(sources: Path) -> Path:
    """Where code compiled from the Python files of a folder is kept: another folder once one of
    them changes.

    numba itself looks at a function's own file alone, and would go on with old code of what the
    function calls.
    """
    content = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(sources.glob("*.py"))))
    content.update(b"tiles" if HAS_TILES else b"")  # code with tiles ends a process without them
    pycache = sources / "__pycache__"
    parent = (
        Path(config.CACHE_DIR)
        if config.CACHE_DIR
        else pycache
        if os.access(pycache, os.W_OK)
        else cache_folder()
    )
    return parent / f"compiled-{content.hexdigest()[:16]}"


FOLDER = folder_for(Path(__file__).parent)


def compiled(*fast: str) -> Any:
    """A decorator that compiles a function when it is first called, and keeps the code on disk
    where it can.

    Args:
        fast: the liberties that LLVM may take with arithmetic, such as "reassoc".
    """

    def compile_later(function: Any) -> Any:
        """The function, compiled at its first call."""
        before, config.CACHE_DIR = config.CACHE_DIR, str(FOLDER)
        options = {"fastmath": set(fast), "error_model": "numpy", "nogil": True}
        try:
            return njit(**options, cache=True)(function)
        except RuntimeError:  # no folder can be written
            return njit(**options)(function)
        finally:
            config.CACHE_DIR = before

    return compile_later


# Sums run in the order in which they are written, so that a token's bits do not depend on its
# neighbours. The one liberty is to fuse a product and a sum, which rounds once in place of twice.
in_order = compiled("contract")


@in_order
def exp(x):
    """e^x for x <= 0 in float32, to 2e-7, and 0 below -87; written out so that many are computed at
    once."""
    exponent, x = x, max(x, np.float32(-87))
    shifted = x * np.float32(1.44269504) + np.float32(
        12582912
    )  # rounds to a whole number, in the lowest bits
    n = shifted - np.float32(12582912)
    r = x - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
    y = np.float32(1.9875691500e-4)
    y = y * r + np.float32(1.3981999507e-3)
    y = y * r + np.float32(8.3334519073e-3)
    y = y * r + np.float32(4.1665795894e-2)
    y = y * r + np.float32(1.6666665459e-1)
    y = y * r + np.float32(5.0000001201e-1)
    y = y * r * r + r + np.float32(1)
    scale = np.int32((np.float32(shifted).view(np.int32) - 0x4B400000 + 127) << 23).view(np.float32)
    return y * scale if exponent >= np.float32(-87) else np.float32(0)
