"""Figure 4: what one more draft brings, strategy by strategy."""

from ...acceptance.vectors import expected_tokens
from ...builders import BUILDERS
from ...verifiers import VERIFIERS
from ..entry import Entry, Lines, Series, compare, judge
from .strategies import shapes

TEMPERATURE, DRAFTED = 1.0, (*range(1, 13), 16, 20, 24, 32)
METHODS = {"GSD": "sequoia", "ERSD": "race"}


def measure(bench):
    by_method = {}
    for method, rule in METHODS.items():
        vector = bench.vector(TEMPERATURE, rule)
        by_method[method] = {}
        for name in ("batch", "sequence", "optimal tree"):
            values = [(k, expected_tokens(shapes(vector, k)[name], vector)) for k in DRAFTED]
            before, points = (0, 1.0), []
            for k, tokens in values:
                points.append([k, max(1e-6, (tokens - before[1]) / (k - before[0]))])
                before = (k, tokens)
            by_method[method][name] = points
    return by_method


def verdict(data):
    first = {m: one["batch"][0][1] for m, one in data.items()}
    late = {m: sum(v for _, v in one["batch"][1:8]) for m, one in data.items()}
    return judge(
        first["GSD"] > first["ERSD"] and late["ERSD"] > late["GSD"],
        f"The first draft is accepted more often under rejection ({first['GSD']:.3f} against {first['ERSD']:.3f}), "
        f"the second to eighth of a batch more often under races ({late['ERSD']:.3f} against {late['GSD']:.3f} "
        "together), as in the figure.",
        f"The first draft is accepted with {first['GSD']:.3f} under rejection and {first['ERSD']:.3f} under races, "
        f"the next seven with {late['GSD']:.3f} and {late['ERSD']:.3f}: not the figure's order.",
    )


ENTRY = Entry(
    "figure-4",
    "Figure 4",
    "What one more draft brings",
    "The marginal acceptance of each further draft: for the first GSD is ahead, for later ones of a batch ERSD; the "
    "optimal tree's falls slowest.",
    verdict,
    measure=measure,
    opens=(
        compare(
            (BUILDERS["batch"](width=8), VERIFIERS["sequoia"]()),
            (BUILDERS["batch"](width=8), VERIFIERS["race"]()),
            temperature=1.0,
        ),
    ),
    shown=lambda data: [
        Lines(
            f"drafted tokens, {m}",
            "tokens that the last one brings",
            [Series(name, points) for name, points in one.items()],
            log_x=True,
            log_y=True,
        )
        for m, one in data.items()
    ],
)
