"""Tables 5 and 6: every width and depth of SpecInfer's sequences."""

from ...planning.forecast import forecast, sweep_sequences
from ..entry import Entry, Table, judge, tab

WIDTHS, LENGTHS = (1, 2, 4, 8, 16), (1, 2, 4, 8, 16)
TEMPERATURES = (0.0, 0.6)


def measure(bench):
    cost, by_temperature = bench.cost(), {}
    for temperature in TEMPERATURES:
        sequences = bench.vector(temperature, "exact-match" if temperature == 0 else "specinfer", width=16)
        tree = bench.vector(temperature, "exact-match" if temperature == 0 else "sequoia")
        cells = sweep_sequences(sequences, cost, WIDTHS, LENGTHS, most=140)
        by_temperature[f"{temperature:g}"] = {
            "cells": [[cell and cell.speedup for cell in row] for row in cells],
            "sequoia": forecast(tree, cost).best.speedup,
        }
    return by_temperature


def verdict(data):
    words, good = [], True
    for temperature, by_temperature in data.items():
        best = max(
            (cell, WIDTHS[i], LENGTHS[j])
            for i, row in enumerate(by_temperature["cells"])
            for j, cell in enumerate(row)
            if cell
        )
        good &= by_temperature["sequoia"] >= best[0]
        words.append(
            f"at temperature {temperature} the best of all, {best[1]} x {best[2]}, is foretold {best[0]:.2f} times "
            f"plain decoding and Sequoia's tree {by_temperature['sequoia']:.2f}"
        )
    return judge(good, f"From measured vectors and costs, {' and '.join(words)}.")


ENTRY = Entry(
    "table-5",
    "Tables 5 and 6",
    "No width and depth of sequences beats the tree",
    "On an A100 the best of all sequences reaches 3.70 times in greedy decoding (width 8, depth 8 is 3.70; 5 x 8 is "
    "3.45) and 2.42 times when sampling, Sequoia 4.04 and 3.18 times (C4, Llama2-7B, 68 M draft).",
    verdict,
    measure=measure,
    how="timed",
    opens=(tab("speedup"),),
    shown=lambda data: [
        Table(
            (f"T {temperature}: sequences", *(f"{length} tokens" for length in LENGTHS)),
            [[width, *row] for width, row in zip(WIDTHS, by_temperature["cells"], strict=True)],
        )
        for temperature, by_temperature in data.items()
    ],
)
