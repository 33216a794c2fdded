"""Products of bfloat16 matrices by the processor's tile registers (Intel AMX), where it has them.

A tile register holds up to 16 rows of 64 bytes. One instruction adds the product of two of them to
a third: 16 tokens times 16 outputs over 32 inputs, sixteen times as much as one of vectors. A row
of the result depends on its own row of inputs only, so a token has the same sums whatever stands
beside it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

TILE_ROWS = 16
TILE_PAIRS = 16  # pairs of bfloat16 in a row of a tile
MAX_ROWS = 2 * TILE_ROWS  # tokens that are multiplied together: as many sums as there are registers

_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA = 158, 0x1023, 18


def _may_use_tiles() -> bool:
    """Whether the processor has tiles for bfloat16, and Linux lets this process use them."""
    features = llvm.get_host_cpu_features()
    if not (sys.platform == "linux" and features.get("amx-bf16") and features.get("amx-tile")):
        return False
    return ctypes.CDLL(None).syscall(_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA) == 0


HAS_TILES = _may_use_tiles()


def _shapes(tokens: int) -> np.ndarray:
    """What `tile_configure` reads: rows, and bytes of a row, of each register."""
    first, more = min(tokens, TILE_ROWS), max(0, tokens - TILE_ROWS)
    rows = [first, first, more, more, first, more, TILE_PAIRS, TILE_PAIRS]
    shapes = np.zeros(64, np.uint8)
    shapes[0] = 1  # the format of this description
    shapes[16 : 16 + 2 * len(rows) : 2] = [4 * TILE_PAIRS * (count > 0) for count in rows]
    shapes[48 : 48 + len(rows)] = rows
    return shapes


SHAPES = np.array([_shapes(tokens) for tokens in range(MAX_ROWS + 1)])  # by the number of tokens


def _call(builder: Any, instruction: str, arguments: Sequence[Any]) -> None:
    opaque = ir.PointerType()  # of whatever numbers: one declaration serves them all
    kinds = [opaque if argument.type.is_pointer else argument.type for argument in arguments]
    kind = ir.FunctionType(ir.VoidType(), kinds)
    name = f"llvm.x86.{instruction}"
    builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _register(number: types.IntegerLiteral) -> Any:
    return ir.Constant(ir.IntType(8), number.literal_value)


def _address(context: Any, builder: Any, kind: Any, array: Any, index: Sequence[Any]) -> list[Any]:
    """The address of an item of a matrix, and the bytes from a row to the next."""
    matrix = context.make_array(kind)(context, builder, array)
    item = cgutils.get_item_pointer(context, builder, kind, matrix, index, wraparound=False)
    return [item, cgutils.unpack_tuple(builder, matrix.strides)[0]]


@intrinsic
def tile_configure(typing, shapes, tokens):
    """Give every register its shape, a row of `SHAPES`, and fill it with zeros."""

    def code(context, builder, signature, arguments):
        array, row = arguments
        zero = ir.Constant(row.type, 0)
        where = _address(context, builder, signature.args[0], array, [row, zero])
        _call(builder, "ldtilecfg", where[:1])
        return context.get_dummy_value()

    return types.void(shapes, types.intp), code


@intrinsic
def tile_release(typing):
    """Give the registers back, so that the system need not keep them for this thread."""

    def code(context, builder, signature, arguments):
        _call(builder, "tilerelease", [])
        return context.get_dummy_value()

    return types.void(), code


def _moving(instruction: str) -> Any:
    """The instruction that moves a register from or to a matrix, from an item on."""

    def move(typing, register, matrix, row, column):
        number = _register(register) if isinstance(register, types.IntegerLiteral) else None

        def code(context, builder, signature, arguments):
            _, array, *index = arguments
            where = _address(context, builder, signature.args[1], array, index)
            _call(builder, instruction, [number, *where])
            return context.get_dummy_value()

        return types.void(register, matrix, types.intp, types.intp), code

    return intrinsic(prefer_literal=True)(move)


tile_load, tile_store = _moving("tileloadd64"), _moving("tilestored64")


@intrinsic(prefer_literal=True)
def tile_multiply_add(typing, sums, inputs, weights):
    """sums += inputs weights, of the registers with these numbers."""
    numbers = [_register(number) for number in (sums, inputs, weights)]

    def code(context, builder, signature, arguments):
        _call(builder, "tdpbf16ps", numbers)
        return context.get_dummy_value()

    return types.void(sums, inputs, weights), code
