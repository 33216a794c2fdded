"""Section 4.1: the speedup formula of the hardware-aware optimiser, predicted and timed."""

from ...builders import BUILDERS
from ...planning.forecast import forecast, predict
from ...verifiers import VERIFIERS
from ..entry import Entry, Table, judge, tab

TEMPERATURE, SIZES = 0.8, (4, 8, 16, 32)


def measure(bench):
    vector, cost = bench.vector(TEMPERATURE), bench.cost()
    best = forecast(vector, cost).best
    sizes = sorted({*SIZES, best.size})
    builders = {
        str(size): BUILDERS["sequoia"](size=size, depth=best.depth if size == best.size else 6, acceptance=vector)
        for size in sizes
    }
    timed = bench.timed(builders, TEMPERATURE, VERIFIERS["sequoia"]())
    rows = [
        [
            int(name),
            int(builders[name].shape.depth.max()),
            predict(builders[name].shape, vector, cost).speedup,
            trial.speedup,
        ]
        for name, trial in timed.items()
    ]
    return {"rows": rows, "best": best.size, "c": cost.draft_s[0] / cost.plain_s}


def verdict(data):
    chosen = next((row for row in data["rows"] if row[0] == data["best"]), None)
    if chosen is None:
        return judge(False, "No text was long enough to time the chosen tree.")
    fastest = max(data["rows"], key=lambda row: row[3])
    return judge(
        chosen[3] >= 0.9 * fastest[3],
        f"The formula chooses {chosen[0]} nodes on {chosen[1]} levels and foretells {chosen[2]:.2f} times plain "
        f"decoding; timed were {chosen[3]:.2f}, within 10 % of the fastest of {len(data['rows'])} trees ({fastest[0]} "
        f"nodes, {fastest[3]:.2f}). A draft pass costs {data['c']:.2f} of plain decoding's step here.",
        f"The formula chooses {chosen[0]} nodes ({chosen[2]:.2f} foretold, {chosen[3]:.2f} timed), while {fastest[0]} "
        f"nodes ran {fastest[3]:.2f} times as fast as plain decoding: with steps of milliseconds what surrounds the "
        "passes, and a busy machine, weigh as much as the passes that the formula counts.",
    )


ENTRY = Entry(
    "section-4-1",
    "Section 4.1",
    "The hardware-aware optimiser: G(n, d) / (t(n) + d c)",
    "Size and depth are chosen by searching for the largest G(n, d) / (t(n) + d c), with t and c measured. On an "
    "A100 that gave trees of 64 to 128 nodes and c = 0.5 / 24.2 = 0.02 for a 68 M draft of a 7 B target.",
    verdict,
    measure=measure,
    how="timed",
    opens=(tab("speedup"),),
    shown=lambda data: [Table(("Nodes", "Levels below the root", "Foretold speedup", "Timed speedup"), data["rows"])],
)
