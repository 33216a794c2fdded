"""Figure 3: expected and measured tokens against drafted tokens, for every strategy and both methods."""

from ...acceptance.vectors import expected_tokens
from ...builders import BUILDERS
from ...verifiers import VERIFIERS
from ..bench import tokens_per_pass
from ..entry import Entry, Lines, Series, Table, compare, judge
from .strategies import shapes

TEMPERATURE, DRAFTED, RUN = 1.0, (1, 2, 4, 8, 16, 32), (2, 8, 24)
METHODS = {"GSD": "sequoia", "ERSD": "race"}


def measure(bench):
    by_method = {}
    for method, rule in METHODS.items():
        vector = bench.vector(TEMPERATURE, rule)
        lines = {}
        for k in DRAFTED:
            for name, shape in shapes(vector, k).items():
                lines.setdefault(name, []).append([len(shape) - 1, expected_tokens(shape, vector)])
        runs = {}
        for k in RUN:
            for name, builder in (
                ("sequence", BUILDERS["chain"](depth=k)),
                ("optimal tree", BUILDERS["optimal"](size=k + 1, depth=24, acceptance=vector)),
            ):
                traces = bench.runs(builder, TEMPERATURE, VERIFIERS[rule](), bench.prompts[:4])
                runs.setdefault(name, []).append([k, tokens_per_pass(traces)])
        by_method[method] = {"expected": lines, "run": runs}
    return by_method


def verdict(data):
    ends = {m: {name: points[-1][1] for name, points in one["expected"].items()} for m, one in data.items()}
    best = all(max(end, key=end.get) == "optimal tree" for end in ends.values())
    gap = ends["GSD"]["optimal tree"] / ends["ERSD"]["optimal tree"] - 1
    run = {m: one["run"]["optimal tree"][-1][1] for m, one in data.items()}
    return judge(
        best,
        f"The optimal tree brings the most under both methods ({ends['GSD']['optimal tree']:.2f} tokens for "
        f"{DRAFTED[-1]} drafts with rejection, {ends['ERSD']['optimal tree']:.2f} with races, {100 * gap:+.0f} %), "
        f"batch stays below two and the sequence levels off. Run, trees of {RUN[-1]} drafts bring {run['GSD']:.2f} "
        f"and {run['ERSD']:.2f}.",
        f"The optimal tree is not the best strategy everywhere: {ends}.",
    )


ENTRY = Entry(
    "figure-3",
    "Figure 3",
    "Tokens against drafts: four strategies, two methods",
    "The optimal tree grows with the logarithm of the drafts and is best for GSD and ERSD; batch plateaus just below "
    "two, the sequence and the SpecInfer tree level off; GSD leads slightly for few drafts, then they converge "
    "(Llama-3.1 70B, 1B draft).",
    verdict,
    measure=measure,
    opens=(
        compare(
            (BUILDERS["optimal"](size=17), VERIFIERS["sequoia"]()),
            (BUILDERS["optimal"](size=17), VERIFIERS["race"]()),
            temperature=1.0,
        ),
    ),
    shown=lambda data: [
        *(
            Lines(
                f"drafted tokens, {m}",
                "tokens a pass",
                [
                    *(Series(name, points) for name, points in one["expected"].items()),
                    *(Series(f"{name}, run", points, "dots") for name, points in one["run"].items()),
                ],
                log_x=True,
            )
            for m, one in data.items()
        ),
        Table(
            ("Method", "Strategy", "Drafts", "Expected", "Run"),
            [
                [m, name, k, None if not (e := [v for n, v in one["expected"].get(name, []) if n == k]) else e[0], v]
                for m, one in data.items()
                for name, points in one["run"].items()
                for k, v in points
            ],
        ),
    ],
)
