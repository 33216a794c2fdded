"""Figure 7: the optimiser's tree against trees of unlimited depth."""

from ...builders.sequoia import best_tree
from ...planning.forecast import forecast, predict
from ..entry import Entry, Lines, Series, judge, tab

TEMPERATURE, SIZES = 0.8, (2, 4, 8, 16, 32, 64, 128)


def measure(bench):
    vector, cost = bench.vector(TEMPERATURE), bench.cost()
    best = forecast(vector, cost).best
    free = [[n, predict(best_tree(vector, n, n - 1, 32)[0], vector, cost).speedup] for n in SIZES]
    return {"free": free, "best": best.speedup, "size": best.size, "depth": best.depth}


def verdict(data):
    most = max(value for _, value in data["free"])
    return judge(
        data["best"] >= most,
        f"The optimiser's tree ({data['size']} nodes, {data['depth']} levels) is foretold {data['best']:.2f} times "
        f"plain decoding, the best of unlimited depth {most:.2f}: every level costs a draft pass.",
    )


ENTRY = Entry(
    "figure-7",
    "Figure 7",
    "Limiting depth pays: the optimiser against unlimited trees",
    "Trees chosen for the machine, with limited depth, are faster than any size of tree with unlimited depth, on "
    "A100 and L40.",
    verdict,
    measure=measure,
    how="timed",
    opens=(tab("speedup"),),
    shown=lambda data: [
        Lines(
            "nodes",
            "speedup from measured costs",
            [
                Series("unlimited depth", data["free"]),
                Series(
                    "the optimiser's choice",
                    [[data["free"][0][0], data["best"]], [data["free"][-1][0], data["best"]]],
                    "dashes",
                ),
            ],
            log_x=True,
        )
    ],
)
