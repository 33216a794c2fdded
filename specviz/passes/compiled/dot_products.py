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
GROUP = 32  # inputs that share a scale, in low precision
PARTS = BLOCK // LANES  # vectors of a block
FEATURES = llvm.get_host_cpu_features()
MAX_TOKENS = 10 if FEATURES.get("avx512f") else 3  # whose sums fit into the registers together
PAIR_PRODUCT = "llvm.x86.avx512bf16.dpbf16ps.512" if FEATURES.get("avx512bf16") else None
BYTE_PRODUCT = "llvm.x86.avx512.vpdpbusd.512" if FEATURES.get("avx512vnni") else None

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
    if missing := -len(weight) % BLOCK:
        weight = np.pad(weight, ((0, missing), (0, 0)))
    numbers = weight.view(np.int32) if weight.dtype == np.int16 else weight
    blocks = numbers.reshape(-1, BLOCK, numbers.shape[1])
    return np.ascontiguousarray(blocks.transpose(0, 2, 1))


def _item(context: Any, builder: Any, kind: Any, array: Any, *index: Any) -> Any:
    """The address of an item of an array."""
    struct = context.make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, struct, list(index), wraparound=False)


def _in_all_lanes(builder: Any, number: Any, vector: Any) -> Any:
    """A vector of one number."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(_int, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(_ints, [0] * LANES))


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
    """out[first : first + count] = x[first : first + count] W for one block W, at most `MAX_TOKENS`
    tokens.

    weights: the block, [in or pairs, BLOCK], rows anywhere; x [m, in] of the weights' type, of
        float32 also transposed in memory; out float32 [m, BLOCK].
    """
    paired = weights.dtype == types.int32
    vector = _ints if paired else _floats

    def code(context, builder, signature, arguments):
        block, _, begin, number, _ = arguments
        of_block, of_tokens, _, _, of_sums = signature.args
        steps = cgutils.unpack_tuple(
            builder, context.make_array(of_block)(context, builder, block).shape
        )[0]
        columns = [ir.Constant(steps.type, LANES * part) for part in range(PARTS)]
        kind = ir.FunctionType(_void, [_pointer, _int, _int, _int])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # Weights come from the cache for all but the first tokens; memory brings those of the next
        # block meanwhile.
        is_cached = builder.icmp_signed(">", begin, ir.Constant(steps.type, 0))

        def weights_at(step, column):
            return _item(context, builder, of_block, block, step, column)

        def input_at(token, step):
            index = builder.mul(step, ir.Constant(step.type, 2)) if paired else step
            return _item(context, builder, of_tokens, arguments[1], token, index)

        def sum_at(token, column):
            return _item(context, builder, of_sums, arguments[4], token, column)

        def multiply_tokens(count):
            tokens = [builder.add(begin, ir.Constant(begin.type, token)) for token in range(count)]
            sums = {
                (token, column): cgutils.alloca_once_value(builder, ir.Constant(_floats, None))
                for token in tokens
                for column in columns
            }
            near = ir.Constant(steps.type, AHEAD // (4 * BLOCK) if count >= SEVERAL else 0)
            ahead = builder.select(is_cached, steps, near)
            with cgutils.for_range(builder, steps) as loop:
                later = builder.add(loop.index, ahead)
                loaded = []
                for column in columns:
                    at = weights_at(loop.index, column)
                    loaded.append(builder.load(at, typ=vector, align=4))
                    at = weights_at(later, column)
                    builder.call(fetch, [at, *_READ_INTO_SECOND_CACHE])
                for token in tokens:
                    number = builder.load(input_at(token, loop.index), typ=vector.element)
                    inputs = _in_all_lanes(builder, number, vector)
                    for column, part in zip(columns, loaded, strict=True):
                        total = sums[token, column]
                        before = builder.load(total, typ=_floats)
                        builder.store(_multiply_add(builder, before, part, inputs, paired), total)
            for (token, column), total in sums.items():
                at = builder.bitcast(sum_at(token, column), _floats.as_pointer())
                builder.store(builder.load(total, typ=_floats), at, align=4)

        _for_counts(builder, number, multiply_tokens)
        return context.get_dummy_value()

    return types.void(weights, x, types.intp, types.intp, out), code


def _add_byte_products(builder: Any, total: Any, codes: Any, inputs: Any) -> Any:
    """total + the four products of each lane, of bytes of codes without a sign and of `inputs`, an
    int32 of four bytes with one."""
    if BYTE_PRODUCT:
        kind = ir.FunctionType(_ints, [_ints] * 3)
        function = cgutils.get_or_insert_function(builder.module, kind, BYTE_PRODUCT)
        return builder.call(function, [total, codes, _in_all_lanes(builder, inputs, _ints)])
    for place in range(0, 32, 8):
        number = builder.ashr(builder.shl(inputs, ir.Constant(_int, 24 - place)), _int(24))
        code = builder.lshr(codes, ir.Constant(_ints, [place] * LANES))
        code = builder.and_(code, ir.Constant(_ints, [255] * LANES))
        product = builder.mul(code, _in_all_lanes(builder, number, _ints))
        total = builder.add(total, product)
    return total


@intrinsic
def multiply_bytes(typing, codes, factors, x, x_scales, x_sums, first, count, out):
    """`multiply` for a block in low precision and tokens in bytes.

    Whole numbers meet whole numbers, and the sum of a group its scales: to make a bfloat16 of every
    weight would take longer than to read it from memory.

    codes: words [words, BLOCK], uint32 of 4 bits and int32 of 8; factors: int32 [groups, BLOCK];
        see `LowPrecision`.
    x, x_scales, x_sums: see `Bytes`.
    """
    parts_of_word = 1 if codes.dtype.signed else 2  # four codes each

    def code(context, builder, signature, arguments):
        of_block, of_factors, of_tokens, of_scales, of_x_sums, _, _, of_sums = signature.args
        block, factors_in, tokens_in, scales_in, x_sums_in, begin, number, sums_out = arguments
        shape = context.make_array(of_factors)(context, builder, factors_in).shape
        groups = cgutils.unpack_tuple(builder, shape)[0]
        columns = [ir.Constant(groups.type, LANES * part) for part in range(PARTS)]
        words = GROUP // (4 * parts_of_word)  # of a group
        kind = ir.FunctionType(_void, [_pointer, _int, _int, _int])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        nibbles, four, shift, upper = (
            ir.Constant(_ints, [constant] * LANES) for constant in (0x0F0F0F0F, 4, 16, 0xFFFF0000)
        )

        def codes_at(word, column):
            at = _item(context, builder, of_block, block, word, column)
            packed = builder.load(at, typ=_ints, align=4)
            if parts_of_word == 1:
                return [packed]
            later = builder.lshr(packed, four)
            return [builder.and_(packed, nibbles), builder.and_(later, nibbles)]

        def multiply_tokens(count):
            tokens = [builder.add(begin, ir.Constant(begin.type, token)) for token in range(count)]
            zeros = ir.Constant(_floats, None)
            sums = {
                (token, column): cgutils.alloca_once_value(builder, zeros)
                for token in tokens
                for column in columns
            }
            with cgutils.for_range(builder, groups) as loop:
                group = loop.index
                parts = dict.fromkeys(sums, ir.Constant(_ints, None))
                for place in range(words):
                    word = builder.mul(group, ir.Constant(group.type, words))
                    word = builder.add(word, ir.Constant(group.type, place))
                    loaded = [codes_at(word, column) for column in columns]
                    later = builder.add(word, ir.Constant(word.type, AHEAD // (4 * BLOCK)))
                    for column in columns:
                        at = _item(context, builder, of_block, block, later, column)
                        builder.call(fetch, [at, *_READ_INTO_SECOND_CACHE])
                    for part in range(parts_of_word):
                        index = builder.mul(word, ir.Constant(word.type, 4 * parts_of_word))
                        index = builder.add(index, ir.Constant(word.type, 4 * part))
                        for token in tokens:
                            at = _item(context, builder, of_tokens, tokens_in, token, index)
                            inputs = builder.load(at, typ=_int, align=1)
                            for column, numbers in zip(columns, loaded, strict=True):
                                before = parts[token, column]
                                after = _add_byte_products(builder, before, numbers[part], inputs)
                                parts[token, column] = after
                for column in columns:
                    at = _item(context, builder, of_factors, factors_in, group, column)
                    both = builder.load(at, typ=_ints, align=4)
                    scale = builder.bitcast(builder.shl(both, shift), _floats)
                    lowest = builder.bitcast(builder.and_(both, upper), _floats)
                    for token in tokens:
                        at = _item(context, builder, of_scales, scales_in, token, group)
                        x_scale = _in_all_lanes(builder, builder.load(at, typ=_float), _floats)
                        at = _item(context, builder, of_x_sums, x_sums_in, token, group)
                        x_sum = _in_all_lanes(builder, builder.load(at, typ=_float), _floats)
                        total = sums[token, column]
                        before = builder.load(total, typ=_floats)
                        before = _multiply_add(builder, before, lowest, x_sum, False)
                        part = builder.sitofp(parts[token, column], _floats)
                        both_scales = builder.fmul(scale, x_scale)
                        after = _multiply_add(builder, before, part, both_scales, False)
                        builder.store(after, total)
            for (token, column), total in sums.items():
                at = _item(context, builder, of_sums, sums_out, token, column)
                at = builder.bitcast(at, _floats.as_pointer())
                builder.store(builder.load(total, typ=_floats), at, align=4)

        _for_counts(builder, number, multiply_tokens)
        return context.get_dummy_value()

    return types.void(
        codes, factors, x, x_scales, x_sums, types.intp, types.intp, out
    ), code


def _for_counts(builder: Any, number: Any, multiply_tokens: Any) -> None:
    """Code for each number of tokens: their sums stay in registers."""
    for count in range(1, MAX_TOKENS + 1):
        is_count = builder.icmp_signed("==", number, ir.Constant(number.type, count))
        with builder.if_then(is_count):
            multiply_tokens(count)


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
