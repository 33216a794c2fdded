"""The inner loop of products with weights in a few bits, as instructions that numba cannot express.

Whole numbers meet whole numbers, four products in an instruction, and the sum over a group of
inputs meets its scales. To make a floating-point number of every weight would take longer than to
read it from memory.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .dot_products import (
    AHEAD,
    FEATURES,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    LANES,
    PARTS,
    copy_vector,
    fetch,
    for_counts,
    in_all_lanes,
    item,
    multiply_add,
)

GROUP = 32  # inputs that share scales
MOST = 8  # tokens that are multiplied together
COUNTS = (1, 2, 4, MOST)  # for which there is code: more would take longer to compile
BYTE_PRODUCT = "llvm.x86.avx512.vpdpbusd.512" if FEATURES.get("avx512vnni") else None


def _constant(number: int) -> Any:
    return ir.Constant(INTS, [number] * LANES)


def _add_products(builder: Any, total: Any, codes: Any, inputs: Any) -> Any:
    """total + the four products of each lane, of bytes of codes without a sign and of `inputs`, an
    int32 of four bytes with one."""
    if BYTE_PRODUCT:
        kind = ir.FunctionType(INTS, [INTS] * 3)
        function = cgutils.get_or_insert_function(builder.module, kind, BYTE_PRODUCT)
        return builder.call(function, [total, codes, in_all_lanes(builder, inputs, INTS)])
    for place in range(0, 32, 8):
        number = builder.shl(inputs, ir.Constant(INT, 24 - place))
        number = builder.ashr(number, ir.Constant(INT, 24))  # with its sign
        code = builder.and_(builder.lshr(codes, _constant(place)), _constant(255))
        product = builder.mul(code, in_all_lanes(builder, number, INTS))
        total = builder.add(total, product)
    return total


@intrinsic
def multiply_bytes(typing, codes, factors, x, x_scales, x_sums, first, count, out):
    """`multiply` for a block in low precision and tokens in bytes, as many as one of `COUNTS`.

    codes: words [words, BLOCK], uint32 of 4 bits and int32 of 8; factors: int32 [groups, BLOCK];
        see `LowPrecision`.
    x, x_scales, x_sums: see `Bytes`.
    """
    parts_of_word = 1 if codes.dtype.signed else 2  # four codes each
    words = GROUP // (4 * parts_of_word)  # of a group

    def code(context, builder, signature, arguments):
        of_block, of_factors, of_x, of_x_scales, of_x_sums, _, _, of_out = signature.args
        block, of_groups, tokens_in, scales_in, sums_in, begin, number, sums_out = arguments
        shape = context.make_array(of_factors)(context, builder, of_groups).shape
        groups = cgutils.unpack_tuple(builder, shape)[0]
        columns = [ir.Constant(groups.type, LANES * part) for part in range(PARTS)]

        def load(kind, array, index, number_type):
            at = item(context, builder, kind, array, *index)
            return builder.load(at, typ=number_type, align=1)

        def plus(number, more):
            return builder.add(number, ir.Constant(number.type, more))

        def codes_at(word, column):
            packed = load(of_block, block, (word, column), INTS)
            # Asked for long before it is multiplied, so that memory and products work at once.
            fetch(builder, item(context, builder, of_block, block, plus(word, AHEAD), column))
            if parts_of_word == 1:
                return [packed]
            # Two codes of four bits share a byte: the lower halves come first.
            later = builder.lshr(packed, _constant(4))
            return [builder.and_(half, _constant(0x0F0F0F0F)) for half in (packed, later)]

        def whole_sums(group, tokens):
            """Of codes times inputs over a group, for each token and column."""
            sums = {(token, column): _constant(0) for token in tokens for column in columns}
            first_word = builder.mul(group, ir.Constant(group.type, words))
            first_input = builder.mul(group, ir.Constant(group.type, GROUP))
            for word in range(words):
                loaded = [codes_at(plus(first_word, word), column) for column in columns]
                for part in range(parts_of_word):
                    place = plus(first_input, 4 * (parts_of_word * word + part))
                    for token in tokens:
                        inputs = load(of_x, tokens_in, (token, place), INT)
                        for column, four in zip(columns, loaded, strict=True):
                            before = sums[token, column]
                            sums[token, column] = _add_products(builder, before, four[part], inputs)
            return sums

        def add_group(group, tokens, totals):
            whole = whole_sums(group, tokens)
            for column in columns:
                # A word holds the group's scale and its lowest value, each in bfloat16.
                # A weight is lowest + scale * code, so both sums are needed: of the codes times the
                # inputs, and of the inputs alone.
                both = load(of_factors, of_groups, (group, column), INTS)
                scale = builder.bitcast(builder.shl(both, _constant(16)), FLOATS)
                lowest = builder.bitcast(builder.and_(both, _constant(0xFFFF0000)), FLOATS)
                for token in tokens:
                    x_scale, x_sum = (
                        in_all_lanes(builder, load(kind, array, (token, group), FLOAT), FLOATS)
                        for kind, array in ((of_x_scales, scales_in), (of_x_sums, sums_in))
                    )
                    total = builder.load(totals[token, column], typ=FLOATS)
                    total = multiply_add(builder, total, lowest, x_sum, False)
                    part = builder.sitofp(whole[token, column], FLOATS)
                    scales = builder.fmul(scale, x_scale)
                    total = multiply_add(builder, total, part, scales, False)
                    builder.store(total, totals[token, column])

        def multiply_tokens(count):
            tokens = [plus(begin, token) for token in range(count)]
            totals = {
                (token, column): cgutils.alloca_once_value(builder, ir.Constant(FLOATS, None))
                for token in tokens
                for column in columns
            }
            with cgutils.for_range(builder, groups) as loop:
                add_group(loop.index, tokens, totals)
            for (token, column), total in totals.items():
                copy_vector(builder, total, item(context, builder, of_out, sums_out, token, column))

        for_counts(builder, number, COUNTS, multiply_tokens)
        return context.get_dummy_value()

    arguments = codes, factors, x, x_scales, x_sums, types.intp, types.intp, out
    return types.void(*arguments), code
