"""Figures 1 and 6: tokens against tree size, shape by shape."""

from ...planning.forecast import shape_curves
from ...theory.bounds import plateaus
from ..entry import Entry, Lines, Series, Table, judge, lab

SIZES, TEMPERATURE = (2, 4, 8, 16, 32, 64, 128, 256, 512), 0.8


def measure(bench):
    vector = bench.vector(TEMPERATURE)
    bench.report("Shapes of every size.")
    curves = shape_curves(vector, SIZES)
    ends = plateaus(vector, 4)
    return {"curves": curves, "ends": [[name, ends[name]] for name in ("chain", "k-sequences", "k-ary", "batch")]}


def verdict(data):
    last = {name: points[-1][1] for name, points in data["curves"].items()}
    half = {name: _at(points, points[-1][0] / 4) for name, points in data["curves"].items()}
    gained = {name: last[name] - half[name] for name in last}
    others = [name for name in last if name != "sequoia"]
    flat = [name for name in others if gained[name] < gained["sequoia"]]
    best = all(last["sequoia"] >= last[name] for name in others)
    return judge(
        best and len(flat) == len(others),
        f"Sequoia's tree brings the most at every end ({last['sequoia']:.2f} tokens at "
        f"{data['curves']['sequoia'][-1][0]} nodes) and gained {gained['sequoia']:.2f} over the last two doublings; "
        f"the others gained at most {max(gained[name] for name in others):.2f}.",
        f"Sequoia's tree gained {gained['sequoia']:.2f} tokens over the last two doublings, but not every other shape "
        f"less: {', '.join(name for name in others if name not in flat) or 'none'} still grows at this size.",
    )


def _at(points, size):
    return max(value for nodes, value in points if nodes <= max(size, points[0][0]))


ENTRY = Entry(
    "figure-1",
    "Figures 1 and 6",
    "Sequoia's trees keep growing where other shapes level off",
    "The tokens of Sequoia's trees grow roughly with the logarithm of the size; k independent sequences and other "
    "shapes reach an asymptote (Pythia pairs on WikiText-103). One sequence is bounded by 1 / (1 - P1), k sequences "
    "by one more (section 3.1.2).",
    verdict,
    measure=measure,
    how="exact",
    opens=(lab("tree", preset="builders"),),
    shown=lambda data: [
        Lines(
            "nodes",
            "expected tokens a pass",
            [Series(name, points) for name, points in data["curves"].items()],
            log_x=True,
        ),
        Table(("Shape, width 4 where it has one", "Its limit"), data["ends"]),
    ],
)
