"""The inner loop of matrix products, and counters that threads share, as instructions that numba
cannot express.

Weights lie in blocks of `BLOCK` outputs: for one input after the other (in bfloat16 two at a time)
the weights of all outputs of the block, so that a pass reads them from the first to the last byte.
That is what memory is fastest at: rows of weights one below the other take two to three times as
long. Each sum runs over the inputs in order, whatever the number of tokens in a pass, so a token's
result does not depend on the other tokens.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

BLOCK = 32  # outputs whose weights lie together
LANES = 16  # numbers of a vector
PARTS = BLOCK // LANES  # vectors of a block
FEATURES = llvm.get_host_cpu_features()
MAX_TOKENS = 10 if FEATURES.get("avx512f") else 3  # whose sums fit into the registers together
PAIR_PRODUCT = "llvm.x86.avx512bf16.dpbf16ps.512" if FEATURES.get("avx512bf16") else None

_pointer, _void, _float, _int = ir.PointerType(), ir.VoidType(), ir.FloatType(), ir.IntType(32)
_floats, _ints = ir.VectorType(_float, LANES), ir.VectorType(_int, LANES)

# The processor itself fetches what a fast loop reads next, up to the end of a page of memory. Over
# several tokens the loop is too slow for that to reach far enough, so it asks for what it will read
# later.
SEVERAL, AHEAD = 4, 8192  # tokens, bytes
_READ_INTO_SECOND_CACHE = [ir.Constant(_int, number) for number in (0, 2, 1)]


def in_blocks(weight: np.ndarray) -> np.ndarray:
    """A matrix [out, in] of float32, or of bfloat16's bits as int16, as `multiply` reads it.

    Returns:
        float32 [blocks, in, BLOCK], or pairs as int32 [blocks, in / 2, BLOCK]; outputs that are
        missing are zeros.
    """
    outputs, inputs = weight.shape
    blocks = -(-outputs // BLOCK)
    padded = np.zeros((blocks * BLOCK, inputs), weight.dtype)
    padded[:outputs] = weight
    numbers = padded.view(np.int32) if weight.dtype == np.int16 else padded
    return np.ascontiguousarray(numbers.reshape(blocks, BLOCK, -1).transpose(0, 2, 1))


def _item(context: Any, builder: Any, kind: Any, array: Any, *index: Any) -> Any:
    """The address of an item of an array."""
    struct = context.make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, struct, list(index), wraparound=False)


def _multiply_add(builder: Any, total: Any, weights: Any, inputs: Any, paired: bool) -> Any:
    """total + weights * inputs, vectors of float32; pairs of bfloat16 give two products each."""
    if paired and PAIR_PRODUCT:
        kind = ir.FunctionType(_floats, [_floats, _ints, _ints])
        function = cgutils.get_or_insert_function(builder.module, kind, PAIR_PRODUCT)
        return builder.call(function, [total, weights, inputs])
    kind = ir.FunctionType(_floats, [_floats] * 3)
    fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f32")
    if not paired:
        return builder.call(fma, [weights, inputs, total])
    upper, shift = (ir.Constant(_ints, [number] * LANES) for number in (0xFFFF0000, 16))
    for half in (lambda pairs: builder.shl(pairs, shift), lambda pairs: builder.and_(pairs, upper)):
        # A bfloat16 is the upper half of a float32.
        weight, number = (builder.bitcast(half(pairs), _floats) for pairs in (weights, inputs))
        total = builder.call(fma, [weight, number, total])
    return total


@intrinsic
def multiply(typing, weights, x, first, count, out):
    """out[first : first + count] = x[first : first + count] W^T for one block W, at most
    `MAX_TOKENS` tokens.

    weights: the block, [in or pairs, BLOCK]; x [m, in] of the weights' type; out float32 [m,
        BLOCK].
    """
    paired = weights.dtype == types.int32
    vector = _ints if paired else _floats

    def code(context, builder, signature, arguments):
        block, tokens, begin, number, sums = arguments
        of_block, of_tokens, _, _, of_sums = signature.args
        steps = cgutils.unpack_tuple(
            builder, context.make_array(of_block)(context, builder, block).shape
        )[0]
        zero, parts = (ir.Constant(steps.type, value) for value in (0, PARTS))
        start = _item(context, builder, of_block, block, zero, zero)
        # Weights come from the cache for all but the first tokens; memory brings those of the next
        # block meanwhile.
        from_cache, next_block = builder.icmp_signed(">", begin, zero), builder.mul(steps, parts)
        fetch = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_void, [_pointer, _int, _int, _int]), "llvm.prefetch.p0"
        )

        def row(kind, array, token):
            return _item(
                context,
                builder,
                kind,
                array,
                builder.add(begin, ir.Constant(begin.type, token)),
                zero,
            )

        def multiply_tokens(count):
            inputs = [row(of_tokens, tokens, token) for token in range(count)]
            totals = [
                [
                    cgutils.alloca_once_value(builder, ir.Constant(_floats, None))
                    for _ in range(PARTS)
                ]
                for _ in inputs
            ]
            near = ir.Constant(steps.type, AHEAD // (4 * LANES) if count >= SEVERAL else 0)
            later = builder.select(from_cache, next_block, near)
            with cgutils.for_range(builder, steps) as loop:
                places = [
                    builder.add(builder.mul(loop.index, parts), ir.Constant(steps.type, i))
                    for i in range(PARTS)
                ]
                loaded = []
                for place in places:
                    at = builder.gep(start, [place], source_etype=vector)
                    loaded.append(builder.load(at, typ=vector, align=4))
                for place in places:
                    ahead = builder.gep(start, [builder.add(place, later)], source_etype=vector)
                    builder.call(fetch, [ahead, *_READ_INTO_SECOND_CACHE])
                for pointer, token_totals in zip(inputs, totals, strict=True):
                    at = builder.gep(pointer, [loop.index], source_etype=vector.element)
                    undefined = ir.Constant(vector, ir.Undefined)
                    lane = builder.insert_element(
                        undefined, builder.load(at, typ=vector.element), ir.Constant(_int, 0)
                    )
                    lanes = builder.shuffle_vector(lane, undefined, ir.Constant(_ints, [0] * LANES))
                    for part, total in zip(loaded, token_totals, strict=True):
                        before = builder.load(total, typ=_floats)
                        builder.store(_multiply_add(builder, before, part, lanes, paired), total)
            for token, token_totals in enumerate(totals):
                pointer = builder.bitcast(row(of_sums, sums, token), _floats.as_pointer())
                for i, total in enumerate(token_totals):
                    place = builder.gep(pointer, [ir.Constant(_int, i)], source_etype=_floats)
                    builder.store(builder.load(total, typ=_floats), place, align=4)

        for count in range(1, MAX_TOKENS + 1):
            with builder.if_then(
                builder.icmp_signed("==", number, ir.Constant(number.type, count))
            ):
                multiply_tokens(count)
        return context.get_dummy_value()

    return types.void(weights, x, types.intp, types.intp, out), code


@intrinsic
def atomic_add(typing, counters, index):
    """Add one to a counter of int64, at once for all threads; its value before."""

    def code(context, builder, signature, arguments):
        item = _item(context, builder, signature.args[0], *arguments)
        return builder.atomic_rmw("add", item, ir.Constant(ir.IntType(64), 1), "acq_rel")

    return types.int64(counters, types.intp), code


@intrinsic
def atomic_load(typing, counters, index):
    """A counter of int64 that other threads add to, and all that they wrote before they did."""

    def code(context, builder, signature, arguments):
        item = _item(context, builder, signature.args[0], *arguments)
        return builder.load_atomic(item, "acquire", 8, typ=ir.IntType(64))

    return types.int64(counters, types.intp), code
