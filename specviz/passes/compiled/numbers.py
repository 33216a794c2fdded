"""Numbers of compiled passes: bfloat16 as the int16 of its bits, powers of e, and how functions are compiled."""

from __future__ import annotations

import hashlib
import math
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numba import config, njit, types
from numba.extending import overload

from ...distributions import NOTHING
from ...files import cache_folder

MIN_EXPONENT = math.log(NOTHING)


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
    """Where code compiled from the Python files of a folder is kept: another folder once one of them changes.

    numba itself looks at a function's own file alone, and would go on with old code of what the function calls. Code of
    older files is deleted where it lies beside them, since nobody else has a use for it there.
    """
    content = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(sources.glob("*.py"))))
    pycache = sources / "__pycache__"
    parent = Path(config.CACHE_DIR) if config.CACHE_DIR else pycache if os.access(pycache, os.W_OK) else cache_folder()
    folder = parent / f"compiled-{content.hexdigest()[:16]}"
    for old in set(pycache.glob("compiled-*")) - {folder} if parent == pycache else ():
        shutil.rmtree(old, ignore_errors=True)
    return folder


FOLDER = folder_for(Path(__file__).parent)


def compiled(fast: set[str]) -> Any:
    """A decorator that compiles a function when it is first called, and keeps the code on disk where it can."""

    def compile_later(function: Any) -> Any:
        before, config.CACHE_DIR = config.CACHE_DIR, str(FOLDER)
        try:
            return njit(fastmath=fast, error_model="numpy", nogil=True, cache=True)(function)
        except RuntimeError:  # no folder can be written
            return njit(fastmath=fast, error_model="numpy", nogil=True)(function)
        finally:
            config.CACHE_DIR = before

    return compile_later


def fast(function: Any) -> Any:
    """Compile a function whose sums may be taken in any order."""
    return compiled({"reassoc", "contract", "arcp", "nsz"})(function)  # not "ninf": a mask may be -inf


def exact(function: Any) -> Any:
    """Compile a function that computes in the order in which it is written."""
    return compiled({"contract"})(function)


@exact
def exp(x):
    """e^x for x <= 0 in float32, to 2e-7, and 0 below -87; written out so that many are computed at once."""
    exponent, x = x, max(x, np.float32(-87))
    shifted = x * np.float32(1.44269504) + np.float32(12582912)  # rounds to a whole number, in the lowest bits
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


@exact
def exp64(x):
    """e^x for x <= 0 in float64, to the last digit or two, and 0 where it is less than `NOTHING`."""
    exponent, x = x, max(x, MIN_EXPONENT)
    shifted = x * 1.4426950408889634 + 6755399441055744.0  # rounds to a whole number, in the lowest bits
    n = shifted - 6755399441055744.0
    r = x - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    y = 1 / 6227020800 * r + 1 / 479001600
    y = y * r + 1 / 39916800
    y = y * r + 1 / 3628800
    y = y * r + 1 / 362880
    y = y * r + 1 / 40320
    y = y * r + 1 / 5040
    y = y * r + 1 / 720
    y = y * r + 1 / 120
    y = y * r + 1 / 24
    y = y * r + 1 / 6
    y = y * r + 0.5
    y = y * r * r + r + 1.0
    scale = np.int64((np.float64(shifted).view(np.int64) - np.int64(0x4338000000000000) + 1023) << 52).view(np.float64)
    return y * scale if exponent >= MIN_EXPONENT else 0.0


@compiled({"reassoc", "nnan", "nsz"})
def row_max(row):
    """The highest number of a row without NaN."""
    top = row[0]
    for i in range(1, len(row)):
        top = max(top, row[i])
    return top
