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

from .dot_products import BLOCK, MAX_TOKENS, atomic_add, atomic_load, multiply
from .helpers import FAILED
from .numbers import bf16_to_f32, compiled, exact, exp, f32_to_bf16, row_max

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


@exact
def _block(weights, x, sums):
    """sums = x W^T for one block of outputs; sums float32 [m, BLOCK]."""
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


@exact
def _add(sums, more):
    """sums += more, as far as there is more."""
    for i in range(len(more)):
        sums[i] += bf16_to_f32(more[i])


@exact
def _round(sums, like, out):
    """out = sums, rounded to the type of `like`."""
    for i in range(len(out)):
        out[i] = f32_to_bf16(bf16_to_f32(f32_to_bf16(sums[i], like)), out[i])


@exact
def _gate(gates, ups, out):
    """out = silu(gates) * ups."""
    for i in range(len(out)):
        gate, up = (
            bf16_to_f32(f32_to_bf16(gates[i], out[i])),
            bf16_to_f32(f32_to_bf16(ups[i], out[i])),
        )
        part = exp(-abs(gate))
        sigmoid = (np.float32(1) if gate > 0 else part) / (np.float32(1) + part)
        out[i] = f32_to_bf16(gate * sigmoid * up, out[i])


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
            start, end = block * BLOCK, min(outputs, (block + 1) * BLOCK)
            for part in range(parts):
                _block(weights[parts * block + part], normed, sums[part])
            for row in range(m):
                for part in range(parts):
                    if len(bias):
                        _add(sums[part, row], bias[part * outputs + start : part * outputs + end])
                if len(plus):
                    _add(sums[0, row], plus[row, start:end])
                if gated:
                    _gate(sums[0, row], sums[1, row], out[row, start:end])
                else:
                    _round(sums[0, row], x[0, 0], out[row, start:end])


@exact
def apply_rope(vector, cos, sin, to):
    """Rotary embedding of one vector; the first half of sin is negative."""
    half = len(to) // 2
    for i in range(half):
        low, high = bf16_to_f32(vector[i]), bf16_to_f32(vector[i + half])
        to[i] = low * cos[i] + high * sin[i]
        to[i + half] = high * cos[i + half] + low * sin[i + half]


@compiled("reassoc", "contract", "arcp", "nsz")  # not "ninf": a mask may be -inf
def _scores(q, keys, slots, masked, scale, scores):
    """Scaled products of a query with the keys that it sees, -inf for others."""
    first = slots - len(masked)
    for slot in range(slots):
        product = np.float32(0)
        for i in range(len(q)):
            product += q[i] * keys[slot, i]
        scores[slot] = product * np.float32(scale)
    for i in range(len(masked)):
        if masked[i]:
            scores[first + i] = -np.inf


@exact
def _exp_rows(scores, totals):
    """e^(scores - highest of the row) in place, [m, slots]; their sums, in order, so that masked
    slots add nothing."""
    for row in range(len(scores)):
        top = row_max(scores[row])
        for slot in range(scores.shape[1]):
            scores[row, slot] = exp(scores[row, slot] - top)
        total = np.float32(0)
        for slot in range(scores.shape[1]):
            total += scores[row, slot]
        totals[row] = total


@exact
def _attend(counters, phase, qkv, table, positions, masked, keys, values, used, scale, out):
    """Rotary embeddings, the write of keys and values to the slots from `used` on, and attention,
    head by head.

    qkv [m, (heads + 2 key heads) * width]; table [positions, 2, width]; masked: which of the last
    slots a token does not see, bool [m, w]; keys, values [key heads, slots, width]; out [m, heads *
    width].
    """
    m, (kv_heads, _, width) = len(qkv), keys.shape
    heads, slots, blocks = out.shape[1] // width, used + m, -(-width // BLOCK)
    group = heads // kv_heads
    q, scores, totals = (
        np.empty(width, np.float32),
        np.empty((m, slots), np.float32),
        np.empty(m, np.float32),
    )
    mixed, part = np.empty((m, BLOCK), np.float32), np.zeros((blocks, slots, BLOCK), np.float32)
    for pair in take_chunks(counters, phase, kv_heads):
        for row in range(m):
            cos, sin = table[positions[row], 0], table[positions[row], 1]
            apply_rope(
                qkv[row, (heads + pair) * width : (heads + pair + 1) * width],
                cos,
                sin,
                keys[pair, used + row],
            )
            for i in range(width):
                values[pair, used + row, i] = bf16_to_f32(
                    qkv[row, (heads + kv_heads + pair) * width + i]
                )
        for block in range(blocks):
            for slot in range(slots):
                for i in range(min(BLOCK, width - block * BLOCK)):
                    part[block, slot, i] = values[pair, slot, block * BLOCK + i]
        for head in range(pair * group, (pair + 1) * group):
            for row in range(m):
                cos, sin = table[positions[row], 0], table[positions[row], 1]
                apply_rope(qkv[row, head * width : (head + 1) * width], cos, sin, q)
                _scores(q, keys[pair], slots, masked[row], scale, scores[row])
            _exp_rows(scores, totals)
            for block in range(blocks):
                _block(part[block], scores, mixed)
                for row in range(m):
                    start, end = (
                        head * width + block * BLOCK,
                        head * width + min(width, (block + 1) * BLOCK),
                    )
                    for i in range(end - start):
                        mixed[row, i] /= totals[row]
                    _round(mixed[row], qkv[0, 0], out[row, start:end])


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
