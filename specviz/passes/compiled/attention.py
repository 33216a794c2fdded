"""Attention of a few tokens, in float32.

One product gives the scores of up to `BLOCK` queries, those of several tokens and of all heads that
share keys: a slot a row, a query a column. Another product, of the scores transposed, mixes the
values. Both read keys and values where the cache has them.
"""

from __future__ import annotations

import numpy as np

from .dot_products import BLOCK
from .numbers import bf16_to_f32, compiled, exp, in_order
from .products import block_product, normalise, round_to, take_chunks


@in_order
def _rotate(vector, norm, eps, turn, to):
    """Norm, where there is one, and rotary embedding of one vector.

    turn: cos and sin of its position, [2, width]; the first half of sin is negative.
    """
    cos, sin = turn[0], turn[1]
    width = len(cos)
    normed, half = np.empty(width, np.float32), width // 2
    if len(norm):
        normalise(vector, norm, eps, normed)
    else:
        for i in range(width):
            normed[i] = bf16_to_f32(vector[i])
    for i in range(half):
        low, high = normed[i], normed[i + half]
        to[i] = low * cos[i] + high * sin[i]
        to[i + half] = high * cos[i + half] + low * sin[i + half]


@in_order
def write_keys(counters, phase, qkv, norm, eps, turns, positions, keys, values, used):
    """Write keys, turned to their positions, and values to the slots from `used` on.

    qkv: [m, (heads + 2 key heads) * width]; keys, values: [key heads, slots, width or more].
    """
    kv_heads, width = len(keys), turns.shape[2]
    value_start = qkv.shape[1] - kv_heads * width
    key_start = value_start - kv_heads * width
    for head in take_chunks(counters, phase, kv_heads):
        for row in range(len(qkv)):
            start = key_start + head * width
            vector, to = qkv[row, start : start + width], keys[head, used + row]
            _rotate(vector, norm, eps, turns[positions[row]], to)
            start = value_start + head * width
            for i in range(width):
                values[head, used + row, i] = bf16_to_f32(qkv[row, start + i])


@in_order
def attend(
    counters, phase, qkv, norm, eps, turns, positions, masked, keys, values, used, scale, out
):
    """What the queries of `qkv` mix of the values, to out [m, heads * width].

    masked: which of the last slots a token does not see, bool [m, w]; the rest as for `write_keys`.
    """
    m, kv_heads, width = len(qkv), len(keys), turns.shape[2]
    slots = used + m
    group = out.shape[1] // width // kv_heads  # heads that share keys
    first_masked = slots - masked.shape[1]
    query, queries = np.empty(width, np.float32), np.zeros((keys.shape[2], BLOCK), np.float32)
    scores, mixed = np.empty((slots, BLOCK), np.float32), np.empty((BLOCK, BLOCK), np.float32)
    totals = np.empty(BLOCK, np.float32)
    parts = -(-m * group // BLOCK)
    for chunk in take_chunks(counters, phase, kv_heads * parts):
        kv_head, first = chunk // parts, chunk % parts * BLOCK
        count = min(BLOCK, m * group - first)
        for lane in range(count):
            row, head = (first + lane) // group, kv_head * group + (first + lane) % group
            vector = qkv[row, head * width : (head + 1) * width]
            _rotate(vector, norm, eps, turns[positions[row]], query)
            for i in range(width):
                queries[i, lane] = query[i] * np.float32(scale)
        # A block of queries is what a block of weights is elsewhere: all keys are read once for it.
        block_product(queries, keys[kv_head, :slots], scores)
        for lane in range(count):
            row = (first + lane) // group
            for i in range(masked.shape[1]):
                if masked[row, i]:
                    scores[first_masked + i, lane] = -np.inf
        _softmax(scores, totals)
        for start in range(0, width, BLOCK):
            some_values = values[kv_head, :slots, start : start + BLOCK]
            block_product(some_values, scores.T[:count], mixed)
            for lane in range(count):
                row, head = (first + lane) // group, kv_head * group + (first + lane) % group
                # Once for each output, after mixing, instead of once for each slot.
                for i in range(BLOCK):
                    mixed[lane, i] /= totals[lane]
                begin = head * width
                round_to(mixed[lane], qkv[0, 0], out[row], begin + start, begin + width)


@in_order
def _softmax(scores, totals):
    """e^(score - highest of its column) in place, [slots, BLOCK], and the columns' sums.

    Sums run over the slots in order, so a slot that is not seen, which adds nothing, changes no
    bit of them.
    """
    top = np.empty(BLOCK, np.float32)
    _highest(scores, top)
    for lane in range(BLOCK):
        totals[lane] = 0
    for slot in range(len(scores)):
        for lane in range(BLOCK):
            part = exp(scores[slot, lane] - top[lane])
            scores[slot, lane] = part
            totals[lane] += part


@compiled("nnan", "nsz")
def _highest(scores, top):
    """The highest number of every column, without NaN."""
    for lane in range(BLOCK):
        top[lane] = scores[0, lane]
    for slot in range(1, len(scores)):
        for lane in range(BLOCK):
            top[lane] = max(top[lane], scores[slot, lane])
