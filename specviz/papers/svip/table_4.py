"""Table 4: EAGLE-2 as published, its layer drafting its tree, with and without SVIP's stop after every second level."""

from ...builders import BUILDERS
from ...drafters import DRAFTERS
from ...verifiers import VERIFIERS
from ..bench import drafted, seconds_per_token, speedup, tokens_per_pass
from ..entry import Entry, Table, compare, judge

TEMPERATURE, DEPTH, VALUES = 1.0, 6, (0.5, 1.0, 1.5)


def tree(h=0.0):
    return BUILDERS["eagle2"](depth=DEPTH, h=h)


def measure(bench):
    half = len(bench.prompts) // 2
    tuning, judging = bench.prompts[:half], bench.prompts[half:]

    def runs(h, prompts):
        rule, drafter = VERIFIERS["target-match"](), DRAFTERS["eagle"]()
        return bench.runs(tree(h), TEMPERATURE, rule, prompts, drafter=drafter)

    tried = [[h, 1000 * seconds_per_token(runs(h, tuning))] for h in VALUES]
    best = min(tried, key=lambda row: row[1])[0]
    plain, rows = bench.plain(TEMPERATURE, judging), []
    for name, h in (("EAGLE-2", 0.0), ("EAGLE-2 + SVIP", best)):
        traces = runs(h, judging)
        steps = [step for trace in traces for step in trace.steps]
        passes = sum(step.draft_passes for step in steps) / max(1, len(steps))
        rows.append([name, speedup(traces, plain), tokens_per_pass(traces), drafted(traces), passes])
    return {"tried": tried, "best": best, "prompts": half, "rows": rows}


def verdict(data):
    alone, stopped = data["rows"]
    gain = stopped[1] / alone[1] - 1
    words = (
        f"With the layer that was trained for this target in EAGLE's place, and h = {data['best']:g} as the fastest of "
        f"{', '.join(f'{h:g}' for h, _ in data['tried'])} on {data['prompts']} other prompts: {alone[1]:.2f} times "
        f"plain decoding without the stop and {stopped[1]:.2f} with it, {100 * gain:+.0f} %; {alone[4]:.1f} and "
        f"{stopped[4]:.1f} passes of the layer a step, {alone[2]:.2f} and {stopped[2]:.2f} tokens a pass of the target."
    )
    return judge(
        gain > 0,
        words,
        f"{words} What the stop saves in passes of one small layer is less than the tokens it gives up: that layer "
        "costs little beside a target of this size.",
    )


ENTRY = Entry(
    "table-4",
    "Table 4",
    "On top of EAGLE-2",
    "SVIP adds about 5 % for Vicuna 7B and 13B and 2 % for LLaMA-2 with EAGLE-2 at temperature 1, testing the entropy "
    "after every two draft tokens instead of after each.",
    verdict,
    quoted=Table(
        ("Target", "EAGLE-2", "+ SVIP"),
        (
            ("LLaMA-2 7B", 3.10, 3.16),
            ("LLaMA-2 13B", 3.41, 3.46),
            ("Vicuna 7B", 2.58, 2.73),
            ("Vicuna 13B", 2.83, 2.98),
        ),
    ),
    measure=measure,
    how="timed",
    opens=(
        compare(
            *((tree(h), VERIFIERS["target-match"](), DRAFTERS["eagle"]()) for h in (0.0, VALUES[1])),
            temperature=TEMPERATURE,
        ),
    ),
    shown=lambda data: [
        Table(("Tree", "Speedup", "Tokens a pass", "Nodes drafted", "Draft passes a step"), data["rows"]),
        Table(("h, tuning prompts", "Milliseconds a token"), data["tried"]),
    ],
)
