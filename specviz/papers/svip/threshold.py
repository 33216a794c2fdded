"""Section 3.1.1: the threshold is chosen on eight held-out prompts. What is found here is the builder's default."""

from ...builders import BUILDERS
from ...verifiers import VERIFIERS
from ..bench import seconds_per_token, tokens_per_pass
from ..entry import Entry, Lines, Series, Table, judge, live

PAPERS, WIDER = (0.2, 0.3, 0.4, 0.5), (0.7, 1.0, 1.4)
TEMPERATURES, TOKENS, PROMPTS = (0.0, 0.8), 32, 8


def tune_h(bench, temperature, values=PAPERS):
    """Seconds and tokens of eight prompts for every h, the paper's procedure.

    Args:
        bench: where to run.
        temperature: of the target.
        values: thresholds to try, with c = 1.
    """
    rows = []
    for h in values:
        runs = bench.runs(BUILDERS["svip"](h=h), temperature, None, bench.prompts[:PROMPTS], max_new_tokens=TOKENS)
        rows.append([h, 1000 * seconds_per_token(runs), tokens_per_pass(runs)])
    return rows


def measure(bench):
    by_temperature = {f"{temperature:g}": tune_h(bench, temperature, PAPERS + WIDER) for temperature in TEMPERATURES}
    best = {name: min(rows, key=lambda row: row[1])[0] for name, rows in by_temperature.items()}
    own = {name: min(rows[: len(PAPERS)], key=lambda row: row[1])[0] for name, rows in by_temperature.items()}
    return {"found": by_temperature, "best": best[f"{TEMPERATURES[-1]:g}"], "best_of_all": best, "best_of_papers": own}


def verdict(data):
    best, own = data["best_of_all"], data["best_of_papers"]
    inside = all(value in PAPERS for value in best.values())
    words = " and ".join(
        f"h = {own[t]:g} among the paper's four and {best[t]:g} of all tried at temperature {t}" for t in best
    )
    return judge(
        inside,
        f"Fastest on {PROMPTS} held-out prompts: {words}; the default of the builder is {data['best']:g}.",
        f"Fastest on {PROMPTS} held-out prompts: {words}. The paper's range stops early for a draft of this size, "
        "whose rows hold more entropy than those of larger models and whose passes are cheap beside the target's; "
        f"the builder's default is {data['best']:g}.",
    )


ENTRY = Entry(
    "threshold",
    "Section 3.1.1",
    "Choosing h on held-out prompts",
    "h is chosen from 0.2, 0.3, 0.4 and 0.5 by performance on 8 samples held out from MT-Bench: 0.4 for Pythia, 0.3 "
    "for Qwen2.5 and LLaMA-3; 0.5 on GliDe (section 3.3).",
    verdict,
    measure=measure,
    how="timed",
    opens=(live(BUILDERS["svip"](), VERIFIERS["speculative-sampling"]()),),
    shown=lambda data: [
        Lines(
            "threshold h, c = 1",
            "milliseconds a token",
            [Series(f"temperature {t}", [row[:2] for row in rows]) for t, rows in data["found"].items()],
        ),
        *(
            Table((f"h, temperature {t}", "Milliseconds a token", "Tokens a pass"), rows)
            for t, rows in data["found"].items()
        ),
    ],
)
