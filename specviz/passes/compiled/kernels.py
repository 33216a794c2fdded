"""A whole pass of a Llama-like model over a few tokens, compiled by numba.

Numbers are float32, or the int16 of bfloat16's bits; sums are float32 in either case, and rounded
where the model's own forward rounds. Several threads may run `forward` on the same arrays: each
phase (a product, or attention) is cut into chunks, every thread takes the next chunk that nobody
has taken, and all wait until the last one is done. A thread that comes late, or does not come at
all, is waited for by nobody. What is computed for a token does not depend on the other tokens of
the pass or on the threads.
"""

from __future__ import annotations

import os

import numpy as np
from numba import njit, types
from numba.extending import overload

from .dot_products import BLOCK, MAX_TOKENS, atomic_add, atomic_load, multiply
from .helpers import FAILED
from .numbers import bf16_to_f32, compiled, exact, exp, f32_to_bf16
from .tiles import (
    HAS_TILES,
    MAX_ROWS,
    SHAPES,
    TILE_PAIRS,
    TILE_ROWS,
    tile_configure,
    tile_load,
    tile_multiply_add,
    tile_release,
    tile_store,
)

CHUNKS = 8  # of a product, at least, where it has so many blocks
SPINS = 2000  # looks at a counter before a thread lets others run

_yield = types.ExternalFunction(
    "SwitchToThread" if os.name == "nt" else "sched_yield", types.int32()
)


@exact
def _norm(x, weight, eps, out):
    """out = x / rms(x) * weight; x and out [m, width]. Any order of the sum but a fixed one is up
    to the optimizer."""
    m, width = x.shape
    whole, sums = width - width % BLOCK, np.empty(BLOCK, np.float32)
    for row in range(m):
        sums[:] = 0
        for start in range(0, whole, BLOCK):
            for lane in range(BLOCK):
                number = bf16_to_f32(x[row, start + lane])
                sums[lane] += number * number
        for i in range(whole, width):
            number = bf16_to_f32(x[row, i])
            sums[i - whole] += number * number
        for lane in range(8):
            sums[lane] = (sums[lane] + sums[lane + 8]) + (sums[lane + 16] + sums[lane + 24])
        for half in (4, 2, 1):
            for lane in range(half):
                sums[lane] += sums[half + lane]
        scale = np.float32(1) / np.sqrt(sums[0] / np.float32(width) + np.float32(eps))
        for i in range(width):
            out[row, i] = f32_to_bf16(
                bf16_to_f32(x[row, i]) * scale * bf16_to_f32(weight[i]), out[row, i]
            )


def _multiply_by_tiles(weights, x, sums):
    """`_block` in tile registers; whether they can do it."""


@overload(_multiply_by_tiles)
def _(weights, x, sums):
    if not (HAS_TILES and weights.dtype == types.int32):
        return lambda weights, x, sums: False

    def by_tiles(weights, x, sums):
        if len(weights) % TILE_PAIRS:
            return False
        for first in range(0, len(x), MAX_ROWS):
            tokens = min(MAX_ROWS, len(x) - first)
            second = first + TILE_ROWS
            # 0 and 1 are the sums of the first 16 tokens over both halves of the outputs, 2 and 3
            # those of the second 16; 4 and 5 their inputs; 6 and 7 the weights of both halves.
            tile_configure(SHAPES, tokens)
            for pair in range(0, len(weights), TILE_PAIRS):
                tile_load(6, weights, pair, 0)
                tile_load(7, weights, pair, TILE_PAIRS)
                tile_load(4, x, first, 2 * pair)
                tile_multiply_add(0, 4, 6)
                tile_multiply_add(1, 4, 7)
                if tokens > TILE_ROWS:
                    tile_load(5, x, second, 2 * pair)
                    tile_multiply_add(2, 5, 6)
                    tile_multiply_add(3, 5, 7)
            tile_store(0, sums, first, 0)
            tile_store(1, sums, first, TILE_PAIRS)
            if tokens > TILE_ROWS:
                tile_store(2, sums, second, 0)
                tile_store(3, sums, second, TILE_PAIRS)
        tile_release()
        return True

    return by_tiles


@exact
def _block(weights, x, sums):
    """sums = x W^T for one block of outputs; sums float32 [m, BLOCK]."""
    if _multiply_by_tiles(weights, x, sums):
        return
    m = len(x)
    groups, first = -(-m // MAX_TOKENS), 0
    for group in range(groups):
        count = (m - first + groups - group - 1) // (groups - group)
        multiply(weights, x, first, count, sums)
        first += count


@njit(
    error_model="numpy", nogil=True
)  # no code on disk: numba cannot compile callers of a generator that it loaded
def take_chunks(counters, phase, chunks):
    """The chunks of a phase that no other thread took; ends when all are done, or a thread
    failed."""
    while True:
        chunk = atomic_add(counters, 2 * phase)
        if chunk >= chunks:
            break
        yield chunk
        atomic_add(counters, 2 * phase + 1)
    looks = 0
    while atomic_load(counters, 2 * phase + 1) < chunks and not atomic_load(
        counters, len(counters) + FAILED
    ):
        looks += 1
        if looks > SPINS:
            _yield()


# Below, a number that is unsigned cannot count from the end of an array. Without that question the
# optimizer computes with vectors.


@exact
def _add(sums, more, first, end):
    """sums += more[first:end], at most a block."""
    for lane in range(np.uintp(min(BLOCK, end - first))):
        sums[lane] += bf16_to_f32(more[np.uintp(first) + lane])


@exact
def _round(sums, like, out, first, end):
    """out[first:end] = sums, at most a block, rounded to the type of `like`."""
    for lane in range(np.uintp(min(BLOCK, end - first))):
        number = bf16_to_f32(f32_to_bf16(sums[lane], like))
        out[np.uintp(first) + lane] = f32_to_bf16(number, out[0])


@exact
def _gate(gates, ups, out, first, end):
    """out[first:end] = silu(gates) * ups, at most a block."""
    for lane in range(np.uintp(min(BLOCK, end - first))):
        gate = bf16_to_f32(f32_to_bf16(gates[lane], out[0]))
        up = bf16_to_f32(f32_to_bf16(ups[lane], out[0]))
        part = exp(-abs(gate))
        sigmoid = (np.float32(1) if gate > 0 else part) / (np.float32(1) + part)
        out[np.uintp(first) + lane] = f32_to_bf16(gate * sigmoid * up, out[0])


@exact
def _product(counters, phase, x, norm, eps, weights, bias, plus, out, gated):
    """out = norm(x) W^T + bias + plus, rounded as x is; where it is gated, out = silu(gate) * up of
    that.

    x [m, in]; norm [in], [0] for none; weights in blocks, those of gate and up in turn; bias [out],
    that of gate first, [0] for none; plus [m, out], [0, 0] for none.
    """
    (m, outputs), parts = out.shape, 1 + gated
    blocks, sums, normed, is_normed = (
        len(weights) // parts,
        np.empty((parts, m, BLOCK), np.float32),
        x,
        False,
    )
    each = max(1, blocks // CHUNKS)
    for chunk in take_chunks(counters, phase, -(-blocks // each)):
        if (
            len(norm) and not is_normed
        ):  # by each thread for itself: that is faster than to wait for each other
            normed, is_normed = np.empty_like(x), True
            _norm(x, norm, eps, normed)
        for block in range(chunk * each, min(blocks, (chunk + 1) * each)):
            start = block * BLOCK
            for part in range(parts):
                _block(weights[parts * block + part], normed, sums[part])
            for row in range(m):
                if len(bias):
                    for part in range(parts):
                        _add(sums[part, row], bias, part * outputs + start, (part + 1) * outputs)
                if len(plus):
                    _add(sums[0, row], plus[row], start, outputs)
                if gated:
                    _gate(sums[0, row], sums[1, row], out[row], start, outputs)
                else:
                    _round(sums[0, row], x[0, 0], out[row], start, outputs)


@exact
def apply_rope(vector, turn, to):
    """Rotary embedding of one vector by cos and sin of its position; the first half of sin is
    negative."""
    cos, sin = turn[0], turn[1]
    half = len(cos) // 2
    for i in range(half):
        low, high = bf16_to_f32(vector[i]), bf16_to_f32(vector[i + half])
        to[i] = low * cos[i] + high * sin[i]
        to[i + half] = high * cos[i + half] + low * sin[i + half]


@compiled("nnan", "nsz")
def _highest(scores, top):
    """The highest number of every column, [BLOCK]."""
    for lane in range(BLOCK):
        top[lane] = scores[0, lane]
    for slot in range(1, len(scores)):
        for lane in range(BLOCK):
            top[lane] = max(top[lane], scores[slot, lane])


@exact
def _softmax(scores, top, totals):
    """e^(score - highest of its column) in place, [slots, BLOCK], and the columns' sums.

    Sums run over the slots in order, so a slot that is not seen, which adds nothing, changes no
    bit of them.
    """
    _highest(scores, top)
    for lane in range(BLOCK):
        totals[lane] = 0
    for slot in range(len(scores)):
        for lane in range(BLOCK):
            part = exp(scores[slot, lane] - top[lane])
            scores[slot, lane] = part
            totals[lane] += part


@exact
def _attend(counters, phase, qkv, table, positions, masked, keys, values, used, scale, out):
    """Rotary embeddings, the write of keys and values to the slots from `used` on, and attention.

    One product gives the scores of up to `BLOCK` queries, those of several tokens and of all heads
    that share keys: slots below each other, a query a column. Another product of them, transposed,
    mixes the values.

    qkv [m, (heads + 2 key heads) * width]; table [positions, 2, width]; masked: which of the last
    slots a token does not see, bool [m, w]; keys, values [key heads, slots, width or more, where
    zeros follow]; out [m, heads * width].
    """
    m, kv_heads, width = len(qkv), len(keys), table.shape[2]
    heads, slots = out.shape[1] // width, used + m
    group, first_masked = heads // kv_heads, slots - masked.shape[1]
    query, queries = np.empty(width, np.float32), np.zeros((keys.shape[2], BLOCK), np.float32)
    scores, mixed = np.empty((slots, BLOCK), np.float32), np.empty((BLOCK, BLOCK), np.float32)
    top, totals = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    for pair in take_chunks(counters, phase, kv_heads):
        for row in range(m):
            turn = table[positions[row]]
            start = (heads + pair) * width
            apply_rope(qkv[row, start : start + width], turn, keys[pair, used + row])
            start = (heads + kv_heads + pair) * width
            for i in range(width):
                values[pair, used + row, i] = bf16_to_f32(qkv[row, start + i])
        for first in range(0, m * group, BLOCK):
            count = min(BLOCK, m * group - first)
            for lane in range(count):
                row, head = (first + lane) // group, pair * group + (first + lane) % group
                start = head * width
                apply_rope(qkv[row, start : start + width], table[positions[row]], query)
                for i in range(width):
                    queries[i, lane] = query[i] * np.float32(scale)
            _block(queries, keys[pair, :slots], scores)
            for lane in range(count):
                row = (first + lane) // group
                for i in range(masked.shape[1]):
                    if masked[row, i]:
                        scores[first_masked + i, lane] = -np.inf
            _softmax(scores, top, totals)
            for start in range(0, width, BLOCK):
                _block(values[pair, :slots, start : start + BLOCK], scores.T[:count], mixed)
                for lane in range(count):
                    row, head = (first + lane) // group, pair * group + (first + lane) % group
                    for i in range(BLOCK):
                        mixed[lane, i] /= totals[lane]
                    place = head * width
                    _round(mixed[lane], qkv[0, 0], out[row], place + start, place + width)


@exact
def forward(
    counters,
    inputs,
    join,
    x,
    positions,
    masked,
    rows,
    layer_ids,
    layers,
    block,
    used,
    table,
    scale,
    eps,
    norm,
    head,
    head_bias,
    qkv,
    mixed,
    gate,
    states,
    logits,
):
    """The layers `layer_ids` over x [m, width], which ends as what they pass on; then `states` and
    `logits` of `rows`.

    With weights `join`, x is what they make of `inputs` [m, in] at first.
    layers: weights with one more axis, the layers', in front. block: the cache's memory, keys and
        values of the layers
    in turn. counters: zeros, two for each phase and one more. Without layers, x are states.
    """
    end, none = 5 * len(layer_ids), x[:0]
    if len(join):
        _product(counters, end + 2, inputs, norm[:0], eps, join, norm[:0], none, x, False)
    for at in range(len(layer_ids)):
        i, phase = layer_ids[at], 5 * at
        keys, values = block[2 * at], block[2 * at + 1]
        _product(
            counters,
            phase,
            x,
            layers.input_norm[i],
            eps,
            layers.qkv[i],
            layers.qkv_bias[i],
            none,
            qkv,
            False,
        )
        _attend(
            counters, phase + 1, qkv, table, positions, masked, keys, values, used, scale, mixed
        )
        _product(
            counters,
            phase + 2,
            mixed,
            norm[:0],
            eps,
            layers.output[i],
            layers.output_bias[i],
            x,
            x,
            False,
        )
        _product(
            counters,
            phase + 3,
            x,
            layers.mlp_norm[i],
            eps,
            layers.gate_up[i],
            layers.gate_up_bias[i],
            none,
            gate,
            True,
        )
        _product(
            counters,
            phase + 4,
            gate,
            norm[:0],
            eps,
            layers.down[i],
            layers.down_bias[i],
            x,
            x,
            False,
        )
    for _ in take_chunks(counters, end, min(1, len(layer_ids))):
        selected = np.empty_like(states)
        for i in range(len(rows)):
            selected[i] = x[rows[i]]
        _norm(selected, norm, eps, states)
    _product(counters, end + 1, states, norm[:0], eps, head, head_bias, states[:0], logits, False)
