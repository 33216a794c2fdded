"""The three policies of draft length and their runs, which several tables share."""

from ...acceptance.vectors import tuned_h
from ...builders import BUILDERS
from ..bench import speedup, tokens_per_pass

POLICIES = {
    "constant 5": BUILDERS["chain"](depth=5),
    "heuristic": BUILDERS["heuristic"](),
    "SVIP": BUILDERS["svip"](h=tuned_h()),
}


def by_kind(bench, temperature):
    """Rows of kind of text, policy, speedup, tokens a pass, drafted and accepted tokens a step."""
    rows = []
    for kind, prompts in bench.kinds.items():
        plain = bench.plain(temperature, prompts)
        for name, builder in POLICIES.items():
            traces = bench.runs(builder, temperature, None, prompts)
            steps = [step for trace in traces for step in trace.steps if len(step.parents) > 1]
            drafted = sum(len(step.parents) - 1 for step in steps) / max(1, len(steps))
            accepted = sum(len(step.path) for step in steps) / max(1, len(steps))
            rows.append([kind, name, speedup(traces, plain), tokens_per_pass(traces), drafted, accepted])
    return rows


def wins(rows):
    """For each kind of text the policy that was fastest, and SVIP's gain over the constant length."""
    winners = {}
    for kind in {row[0] for row in rows}:
        mine = {row[1]: row[2] for row in rows if row[0] == kind}
        winners[kind] = (max(mine, key=mine.get), mine["SVIP"] / mine["constant 5"] - 1)
    return winners


def words(rows):
    """The gains in a sentence."""
    return ", ".join(f"{100 * gain:+.0f} % on {kind}" for kind, (_, gain) in sorted(wins(rows).items()))
