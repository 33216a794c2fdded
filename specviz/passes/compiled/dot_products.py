"""The inner loop of matrix products, and counters that threads share, as instructions that numba
cannot express.

Weights lie in blocks of `BLOCK` outputs: for one input after the other (in bfloat16 two at a time)
the weights of all outputs of the block, so that a pass reads them from the first to the last byte.
That is what memory is fastest at: rows of weights one below the other take two to three times as
long. Each sum runs over the inputs in order, whatever the number of tokens in a pass, so a token's
result does not depend on the other tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

POINTER, VOID, FLOAT, INT = ir.PointerType(), ir.VoidType(), ir.FloatType(), ir.IntType(32)
FLOATS, INTS = ir.VectorType(FLOAT, LANES), ir.VectorType(INT, LANES)

# The processor itself fetches what a fast loop reads next, up to the end of a page of memory. Over
# several tokens the loop is too slow for that to reach far enough, so it asks for what it will read
# later.
SEVERAL = 4  # tokens
AHEAD = 64  # rows of a block, of `4 * BLOCK` bytes
_READ_INTO_SECOND_CACHE = [ir.Constant(INT, number) for number in (0, 2, 1)]


def in_blocks(weight: np.ndarray) -> np.ndarray:
    """A matrix [out, in] of float32, or of bfloat16's bits as int16, as `multiply` reads it.

    Returns:
        float32 [blocks, in, BLOCK], or pairs as int32 [blocks, in / 2, BLOCK]; outputs that are
        missing are zeros.
    """
    if missing := -len(weight) % BLOCK:
        weight = np.pad(weight, ((0, missing), (0, 0)))
    numbers = weight.view(np.int32) if weight.dtype == np.int16 else weight
    blocks = numbers.reshape(-1, BLOCK, numbers.shape[1])
    return np.ascontiguousarray(blocks.transpose(0, 2, 1))


def item(context: Any, builder: Any, kind: Any, array: Any, *index: Any) -> Any:
    """The address of an item of an array."""
    struct = context.make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, struct, list(index), wraparound=False)


def in_all_lanes(builder: Any, number: Any, vector: Any) -> Any:
    """A vector of one number."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(INT, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(INTS, [0] * LANES))


def multiply_add(builder: Any, total: Any, weights: Any, inputs: Any, paired: bool) -> Any:
    """total + weights * inputs, vectors of float32; pairs of bfloat16 give two products each."""
    if paired and PAIR_PRODUCT:
        kind = ir.FunctionType(FLOATS, [FLOATS, INTS, INTS])
        function = cgutils.get_or_insert_function(builder.module, kind, PAIR_PRODUCT)
        return builder.call(function, [total, weights, inputs])
    kind = ir.FunctionType(FLOATS, [FLOATS] * 3)
    fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f32")
    if not paired:
        return builder.call(fma, [weights, inputs, total])
    upper, shift = (ir.Constant(INTS, [number] * LANES) for number in (0xFFFF0000, 16))
    for half in (lambda pairs: builder.shl(pairs, shift), lambda pairs: builder.and_(pairs, upper)):
        # A bfloat16 is the upper half of a float32.
        weight, number = (builder.bitcast(half(pairs), FLOATS) for pairs in (weights, inputs))
        total = builder.call(fma, [weight, number, total])
    return total


def fetch(builder: Any, address: Any) -> None:
    """Ask for what lies at an address and will soon be read."""
    kind = ir.FunctionType(VOID, [POINTER, INT, INT, INT])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(function, [address, *_READ_INTO_SECOND_CACHE])


def copy_vector(builder: Any, variable: Any, address: Any) -> None:
    """Write a variable's vector of float32 to an address."""
    at = builder.bitcast(address, FLOATS.as_pointer())
    builder.store(builder.load(variable, typ=FLOATS), at, align=4)


@intrinsic
def multiply(typing, weights, x, first, count, out):
    """out[first : first + count] = x[first : first + count] W for one block W, at most `MAX_TOKENS`
    tokens.

    weights: the block, [in or pairs, BLOCK], rows anywhere; x [m, in] of the weights' type, of
        float32 also transposed in memory; out float32 [m, BLOCK].
    """
    paired = weights.dtype == types.int32
    vector = INTS if paired else FLOATS

    def code(context, builder, signature, arguments):
        block, _, begin, number, _ = arguments
        of_block, of_tokens, _, _, of_sums = signature.args
        steps = cgutils.unpack_tuple(
            builder, context.make_array(of_block)(context, builder, block).shape
        )[0]
        columns = [ir.Constant(steps.type, LANES * part) for part in range(PARTS)]
        # Weights come from the cache for all but the first tokens; memory brings those of the next
        # block meanwhile.
        is_cached = builder.icmp_signed(">", begin, ir.Constant(steps.type, 0))

        def weights_at(step, column):
            return item(context, builder, of_block, block, step, column)

        def input_at(token, step):
            index = builder.mul(step, ir.Constant(step.type, 2)) if paired else step
            return item(context, builder, of_tokens, arguments[1], token, index)

        def sum_at(token, column):
            return item(context, builder, of_sums, arguments[4], token, column)

        def multiply_tokens(count):
            tokens = [builder.add(begin, ir.Constant(begin.type, token)) for token in range(count)]
            sums = {
                (token, column): cgutils.alloca_once_value(builder, ir.Constant(FLOATS, None))
                for token in tokens
                for column in columns
            }
            # Over few tokens the loop is fast, and the processor fetches ahead by itself.
            near = ir.Constant(steps.type, AHEAD if count >= SEVERAL else 0)
            ahead = builder.select(is_cached, steps, near)
            with cgutils.for_range(builder, steps) as loop:
                later = builder.add(loop.index, ahead)
                loaded = []
                for column in columns:
                    at = weights_at(loop.index, column)
                    loaded.append(builder.load(at, typ=vector, align=4))
                    fetch(builder, weights_at(later, column))
                for token in tokens:
                    number = builder.load(input_at(token, loop.index), typ=vector.element)
                    inputs = in_all_lanes(builder, number, vector)
                    for column, part in zip(columns, loaded, strict=True):
                        total = sums[token, column]
                        before = builder.load(total, typ=FLOATS)
                        builder.store(multiply_add(builder, before, part, inputs, paired), total)
            for (token, column), total in sums.items():
                copy_vector(builder, total, sum_at(token, column))

        for_counts(builder, number, range(1, MAX_TOKENS + 1), multiply_tokens)
        return context.get_dummy_value()

    return types.void(weights, x, types.intp, types.intp, out), code


def for_counts(
    builder: Any, number: Any, counts: Iterable[int], multiply_tokens: Callable[[int], None]
) -> None:
    """Code for each of some numbers of tokens: their sums stay in registers."""
    for count in counts:
        is_count = builder.icmp_signed("==", number, ir.Constant(number.type, count))
        with builder.if_then(is_count):
            multiply_tokens(count)


@intrinsic
def atomic_add(typing, counters, index):
    """Add one to a counter of int64, at once for all threads; its value before."""

    def code(context, builder, signature, arguments):
        counter = item(context, builder, signature.args[0], *arguments)
        return builder.atomic_rmw("add", counter, ir.Constant(ir.IntType(64), 1), "acq_rel")

    return types.int64(counters, types.intp), code


@intrinsic
def atomic_load(typing, counters, index):
    """A counter of int64 that other threads add to, and all that they wrote before they did."""

    def code(context, builder, signature, arguments):
        counter = item(context, builder, signature.args[0], *arguments)
        return builder.load_atomic(counter, "acquire", 8, typ=ir.IntType(64))

    return types.int64(counters, types.intp), code
