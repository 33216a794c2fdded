"""A whole pass of a Llama-like model over a few tokens, compiled by numba.

Numbers are float32, or the int16 of bfloat16's bits; sums are float32 in either case, and rounded where the model's own
forward rounds. Several threads may run `forward` on the same arrays: each phase (a product, or attention) is cut into
pieces, every thread takes the next piece that nobody has taken, and all wait until the last one is done. A thread that
comes late, or does not come at all, is waited for by nobody. What is computed for a token does not depend on the other
tokens of the pass or on the threads.
"""

from __future__ import annotations

import numpy as np

from .dot_products import AT_ONCE, BLOCK, count_of, count_up, multiply
from .numbers import exact, fast, highest, narrow, power, wide

PIECES = 8  # of a product, at least, where it has so many blocks


@fast
def _norm(x, weight, eps, out):
    """out = x / rms(x) * weight; x and out [m, width]."""
    m, width = x.shape
    for row in range(m):
        total = np.float32(0)
        for i in range(width):
            each = wide(x[row, i])
            total += each * each
        scale = np.float32(1) / np.sqrt(total / np.float32(width) + np.float32(eps))
        for i in range(width):
            out[row, i] = narrow(wide(x[row, i]) * scale * wide(weight[i]), out[row, i])


@exact
def _block(weights, x, sums):
    """sums = x W^T for one block of outputs; sums float32 [m, BLOCK]."""
    m = len(x)
    groups, first = -(-m // AT_ONCE), 0
    for group in range(groups):
        count = (m - first + groups - group - 1) // (groups - group)
        multiply(weights, x, first, count, sums)
        first += count


@exact
def _piece(counters, phase, pieces):
    """The next piece of a phase that no thread has taken, -1 if there is none."""
    piece = count_up(counters, 2 * phase)
    return piece if piece < pieces else -1


@exact
def _wait(counters, phase, pieces):
    """Until all pieces of a phase are done."""
    while count_of(counters, 2 * phase + 1) < pieces:
        pass


@exact
def _add(sums, more):
    """sums += more, as far as there is more."""
    for i in range(len(more)):
        sums[i] += wide(more[i])


@exact
def _round(sums, like, out):
    """out = sums, rounded to the type of `like`."""
    for i in range(len(out)):
        out[i] = narrow(wide(narrow(sums[i], like)), out[i])


@exact
def _gate(gates, ups, out):
    """out = silu(gates) * ups."""
    for i in range(len(out)):
        gate, up = wide(narrow(gates[i], out[i])), wide(narrow(ups[i], out[i]))
        part = power(-abs(gate))
        share = (np.float32(1) if gate > 0 else part) / (np.float32(1) + part)
        out[i] = narrow(gate * share * up, out[i])


@exact
def _product(counters, phase, x, norm, eps, weights, bias, plus, out):
    """out = norm(x) W^T + bias + plus, rounded as x is.

    x [m, in]; norm [in], [0] for none; weights in blocks; bias [out], [0] for none; plus [m, out], [0, 0] for none.
    """
    (m, outputs), blocks = out.shape, len(weights)
    each = max(1, blocks // PIECES)
    pieces, sums, given, begun = -(-blocks // each), np.empty((m, BLOCK), np.float32), x, False
    while True:
        piece = _piece(counters, phase, pieces)
        if piece < 0:
            break
        if len(norm) and not begun:  # by each thread for itself: that is faster than to wait for each other
            given = np.empty_like(x)
            _norm(x, norm, eps, given)
        begun = True
        for block in range(piece * each, min(blocks, (piece + 1) * each)):
            _block(weights[block], given, sums)
            start, end = block * BLOCK, min(outputs, (block + 1) * BLOCK)
            for row in range(m):
                if len(bias):
                    _add(sums[row], bias[start:end])
                if len(plus):
                    _add(sums[row], plus[row, start:end])
                _round(sums[row], x[0, 0], out[row, start:end])
        count_up(counters, 2 * phase + 1)
    _wait(counters, phase, pieces)


@exact
def _gated(counters, phase, x, norm, eps, weights, bias, out):
    """out = silu(gate) * up of norm(x), where blocks of gate's and up's weights alternate; out [m, mlp]."""
    (m, outputs), blocks = out.shape, len(weights) // 2
    each = max(1, blocks // PIECES)
    pieces, gates, ups = -(-blocks // each), np.empty((m, BLOCK), np.float32), np.empty((m, BLOCK), np.float32)
    given = np.empty_like(x)
    begun = False
    while True:
        piece = _piece(counters, phase, pieces)
        if piece < 0:
            break
        if not begun:
            _norm(x, norm, eps, given)
        begun = True
        for block in range(piece * each, min(blocks, (piece + 1) * each)):
            _block(weights[2 * block], given, gates)
            _block(weights[2 * block + 1], given, ups)
            start, end = block * BLOCK, min(outputs, (block + 1) * BLOCK)
            for row in range(m):
                if len(bias):
                    _add(gates[row], bias[start:end])
                    _add(ups[row], bias[outputs + start : outputs + end])
                _gate(gates[row], ups[row], out[row, start:end])
        count_up(counters, 2 * phase + 1)
    _wait(counters, phase, pieces)


@exact
def _turn(given, cos, sin, to):
    """Rotary embedding of one vector; the first half of sin is negative."""
    half = len(to) // 2
    for i in range(half):
        low, high = wide(given[i]), wide(given[i + half])
        to[i] = low * cos[i] + high * sin[i]
        to[i + half] = high * cos[i + half] + low * sin[i + half]


@fast
def _scores(q, keys, slots, hidden, scale, scores):
    """Scaled products of a query with the keys that it sees, -inf for others."""
    first = slots - len(hidden)
    for slot in range(slots):
        product = np.float32(0)
        for i in range(len(q)):
            product += q[i] * keys[slot, i]
        scores[slot] = product * np.float32(scale)
    for i in range(len(hidden)):
        if hidden[i]:
            scores[first + i] = -np.inf


@exact
def _powers(scores, totals):
    """e^(scores - highest of the row) in place, [m, slots]; their sums, in order, so that hidden slots add nothing."""
    for row in range(len(scores)):
        top = highest(scores[row])
        for slot in range(scores.shape[1]):
            scores[row, slot] = power(scores[row, slot] - top)
        total = np.float32(0)
        for slot in range(scores.shape[1]):
            total += scores[row, slot]
        totals[row] = total


@exact
def _attend(counters, phase, qkv, table, positions, hidden, keys, values, used, scale, out):
    """Rotary embeddings, the write of keys and values to the slots from `used` on, and attention, head by head.

    qkv [m, (heads + 2 key heads) * width]; table [positions, 2, width]; hidden: which of the last slots a token does
    not see, bool [m, w]; keys, values [key heads, slots, width]; out [m, heads * width].
    """
    m, (kv_heads, _, width) = len(qkv), keys.shape
    heads, slots, blocks = out.shape[1] // width, used + m, -(-width // BLOCK)
    group = heads // kv_heads
    q, scores, totals = np.empty(width, np.float32), np.empty((m, slots), np.float32), np.empty(m, np.float32)
    mixed, part = np.empty((m, BLOCK), np.float32), np.zeros((blocks, slots, BLOCK), np.float32)
    while True:
        pair = _piece(counters, phase, kv_heads)
        if pair < 0:
            break
        for row in range(m):
            cos, sin = table[positions[row], 0], table[positions[row], 1]
            _turn(qkv[row, (heads + pair) * width : (heads + pair + 1) * width], cos, sin, keys[pair, used + row])
            for i in range(width):
                values[pair, used + row, i] = wide(qkv[row, (heads + kv_heads + pair) * width + i])
        for block in range(blocks):
            for slot in range(slots):
                for i in range(min(BLOCK, width - block * BLOCK)):
                    part[block, slot, i] = values[pair, slot, block * BLOCK + i]
        for head in range(pair * group, (pair + 1) * group):
            for row in range(m):
                cos, sin = table[positions[row], 0], table[positions[row], 1]
                _turn(qkv[row, head * width : (head + 1) * width], cos, sin, q)
                _scores(q, keys[pair], slots, hidden[row], scale, scores[row])
            _powers(scores, totals)
            for block in range(blocks):
                _block(part[block], scores, mixed)
                for row in range(m):
                    start, end = head * width + block * BLOCK, head * width + min(width, (block + 1) * BLOCK)
                    for i in range(end - start):
                        mixed[row, i] /= totals[row]
                    _round(mixed[row], qkv[0, 0], out[row, start:end])
        count_up(counters, 2 * phase + 1)
    _wait(counters, phase, kv_heads)


@exact
def forward(
    counters, given, join, x, positions, hidden, rows, kept, block, used, table, scale, eps,
    before, qkv_weights, qkv_bias, out_weights, out_bias, after, gate_up_weights, gate_up_bias, down_weights, down_bias,
    last, head_weights, head_bias, qkv, mixed, gate, states, logits,
):  # fmt: skip
    """The layers `kept` over x [m, width], which ends as what they pass on; then `states` and `logits` of `rows`.

    With weights `join`, x is what they make of `given` [m, in] at first.
    Arrays of layers have one more axis, the layers', in front; see above for the rest. block: the cache's memory, keys
    and values of the layers in turn. counters: zeros, two for each phase. Without layers, x are states.
    """
    end, one = 5 * len(kept), min(1, len(kept))
    if len(join):
        _product(counters, end + 2, given, last[:0], eps, join, last[:0], x[:0], x)
    for at in range(len(kept)):
        layer, phase = kept[at], 5 * at
        keys, values = block[2 * at], block[2 * at + 1]
        _product(counters, phase, x, before[layer], eps, qkv_weights[layer], qkv_bias[layer], x[:0], qkv)
        _attend(counters, phase + 1, qkv, table, positions, hidden, keys, values, used, scale, mixed)
        _product(counters, phase + 2, mixed, last[:0], eps, out_weights[layer], out_bias[layer], x, x)
        _gated(counters, phase + 3, x, after[layer], eps, gate_up_weights[layer], gate_up_bias[layer], gate)
        _product(counters, phase + 4, gate, last[:0], eps, down_weights[layer], down_bias[layer], x, x)
    if _piece(counters, end, one) == 0:
        wanted = np.empty_like(states)
        for i in range(len(rows)):
            wanted[i] = x[rows[i]]
        _norm(wanted, last, eps, states)
        count_up(counters, 2 * end + 1)
    _wait(counters, end, one)
    _product(counters, end + 1, states, last[:0], eps, head_weights, head_bias, states[:0], logits)
