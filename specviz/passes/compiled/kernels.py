"""A whole pass of a Llama-like model over a few tokens, compiled by numba.

Several threads may run `forward` on the same arrays: each phase (a product, or attention) is cut
into chunks, every thread takes the next chunk that nobody has taken, and all wait until the last
one is done. A thread that comes late, or does not come at all, is waited for by nobody. What is
computed for a token does not depend on the other tokens of the pass or on the threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .attention import attend, write_keys
from .low_precision import part_of
from .numbers import bf16_to_f32, f32_to_bf16, in_order
from .products import GELU, SILU, Linear, normalise, normalise_rows, product, take_chunks

ACTIVATIONS = {"silu": SILU, "gelu_pytorch_tanh": GELU}
PHASES = 10  # of a layer
LAST_PHASES = 4  # of what comes before and after the layers


class Model(NamedTuple):
    """What a model is.

    Args:
        layers: weights with one more axis, the layers', in front.
        turns: cos and sin of every position, [positions + 1, 2, width]; the last turns nothing.
        first_turns: of the layers: which of `turns` is that of position 0; -1 where positions turn
            nothing.
        is_windowed: of the layers: whether tokens see a window.
        join: what makes x of the inputs, in blocks; none where x is given.
        head: the output head with the norm before it.
        activation: of the gated part.
        scale, eps: of the scores, and of the norms.
    """

    layers: Any
    turns: Any
    first_turns: Any
    is_windowed: Any
    join: Any
    head: Any
    activation: Any
    scale: Any
    eps: Any


class Tokens(NamedTuple):
    """What a call reads.

    Args:
        x: what the layers begin with, [m, width], and pass on.
        inputs: what x is made of by `join`; without it, what the first layer attends with in place
            of x, [m, in]; [0, 0] for none.
        positions: [m].
        masked, window_masked: which of the last slots a token does not see, bool [m, w], in layers
            without a window and with one.
        keys: keys and values of the layers in turn, [2 * layers, key heads, slots, width].
        used: slots that are in use before.
    """

    x: Any
    inputs: Any
    positions: Any
    masked: Any
    window_masked: Any
    keys: Any
    used: Any


class Output(NamedTuple):
    """What a call returns.

    Args:
        rows: which tokens it is about.
        features: inputs of some layers at `rows`, [rows, some, width].
        feature_of: of every layer and of what is behind the last, which of `features` its input is;
            -1 for none.
        states, logits: at `rows`, after the final norm; fewer logits where they are not wanted.
    """

    rows: Any
    features: Any
    feature_of: Any
    states: Any
    logits: Any


class Buffers(NamedTuple):
    """Memory for the products of a layer, which all threads see, [m, ...]."""

    qkv: Any
    mixed: Any
    gate: Any
    result: Any


@in_order
def _copy_rows(counters, phase, x, rows, features, number):
    for _ in take_chunks(counters, phase, 1 if number >= 0 else 0):
        for i in range(len(rows)):
            features[i, number] = x[rows[i]]


@in_order
def _norm_heads(counters, phase, qkv, q_norm, k_norm, eps):
    """The norms of queries and keys over all heads together, in place."""
    keys = slice(len(q_norm), len(q_norm) + len(k_norm))
    for row in take_chunks(counters, phase, len(qkv)):
        queries = qkv[row, : len(q_norm)]
        normalise(queries, q_norm, eps, queries)
        normalise(qkv[row, keys], k_norm, eps, qkv[row, keys])


@in_order
def _add_result(counters, phase, inputs, linear, norm, eps, x, result):
    """x += linear(inputs), or the norm of that where there is one; two phases.

    result: memory for what is normed, like x.
    """
    if not len(norm):
        # `plus` is x: the residual connection, rounded once together with the product.
        product(counters, phase, inputs, linear, eps, x, x, 0)
        return
    product(counters, phase, inputs, linear, eps, x[:0], result, 0)
    for row in take_chunks(counters, phase + 1, len(x)):
        normalise(result[row], norm, eps, result[row])
        for i in range(x.shape[1]):
            total = bf16_to_f32(x[row, i]) + bf16_to_f32(result[row, i])
            x[row, i] = f32_to_bf16(total, x[row, i])


@in_order
def forward(counters, layer_ids, model, tokens, output, buffers):
    """The layers `layer_ids` over `tokens`, and then norm and head, to `output`.

    Args:
        counters: zeros, two for each phase and one more.
        layer_ids: which of the model's layers; without any, the output's states are given.
    """
    layers, eps, x = model.layers, model.eps, tokens.x
    # Empty arrays stand for what a product lacks: None would be another type, to be compiled again.
    none, no_norm, no_bias = x[:0], model.head.norm[:0], model.head.bias[:0]
    end = PHASES * len(layer_ids)
    if len(model.join):
        join = Linear(no_norm, model.join, no_bias)
        product(counters, end, tokens.inputs, join, eps, none, x, 0)
    for at in range(len(layer_ids)):
        # The weights' place is i, that of keys and phases is `at`: a draft may skip layers.
        i, phase = layer_ids[at], PHASES * at
        keys, values = tokens.keys[2 * at], tokens.keys[2 * at + 1]
        masked = tokens.window_masked if model.is_windowed[i] else tokens.masked
        turned = tokens.positions + model.first_turns[i]
        if model.first_turns[i] < 0:  # the last row of the table turns nothing
            turned[:] = len(model.turns) - 1
        # EAGLE-3's layer attends with embedding and state side by side, but adds to the state.
        source = x
        if at == 0 and len(tokens.inputs) and not len(model.join):
            source = tokens.inputs
        _copy_rows(counters, phase, x, output.rows, output.features, output.feature_of[at])
        qkv = Linear(layers.input_norm[i], part_of(layers.qkv, i), layers.qkv_bias[i])
        product(counters, phase + 1, source, qkv, eps, none, buffers.qkv, 0)
        q_norm, k_norm = layers.q_norm[i], layers.k_norm[i]
        if len(q_norm) > model.turns.shape[2]:  # wider than a head
            _norm_heads(counters, phase + 2, buffers.qkv, q_norm, k_norm, eps)
            q_norm, k_norm = no_norm, no_norm
        write_keys(
            counters,
            phase + 3,
            buffers.qkv,
            k_norm,
            eps,
            model.turns,
            turned,
            keys,
            values,
            tokens.used,
        )
        attend(
            counters,
            phase + 4,
            buffers.qkv,
            q_norm,
            eps,
            model.turns,
            turned,
            masked,
            keys,
            values,
            tokens.used,
            model.scale,
            buffers.mixed,
        )
        to_output = Linear(no_norm, part_of(layers.output, i), layers.output_bias[i])
        norm = layers.output_norm[i]
        _add_result(counters, phase + 5, buffers.mixed, to_output, norm, eps, x, buffers.result)
        gate_up = Linear(layers.mlp_norm[i], part_of(layers.gate_up, i), layers.gate_up_bias[i])
        product(counters, phase + 7, x, gate_up, eps, none, buffers.gate, model.activation)
        down = Linear(no_norm, part_of(layers.down, i), layers.down_bias[i])
        norm = layers.down_norm[i]
        _add_result(counters, phase + 8, buffers.gate, down, norm, eps, x, buffers.result)
    # What is behind the last layer: features, the final norm at `rows`, and the output head.
    number = output.feature_of[len(layer_ids)]
    _copy_rows(counters, end + 1, x, output.rows, output.features, number)
    # One thread does it, the others wait; without layers the states were given.
    for _ in take_chunks(counters, end + 2, min(1, len(layer_ids))):
        selected = np.empty_like(output.states)
        for row in range(len(output.rows)):
            selected[row] = x[output.rows[row]]
        normalise_rows(selected, model.head.norm, eps, output.states)
    head = Linear(no_norm, model.head.weights, model.head.bias)
    states = output.states[: len(output.logits)]
    product(counters, end + 3, states, head, eps, states[:0], output.logits, 0)
