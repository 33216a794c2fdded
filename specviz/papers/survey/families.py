"""Section 4.4: the map of the families, with what each brings here where it is live, beside what is printed of it."""

from ...builders import BUILDERS
from ...drafters import DRAFTERS
from ...metrics import estimate
from ...verifiers import VERIFIERS
from ..bench import speedup, tokens_per_pass
from ..entry import Entry, Table, judge, live, percent
from .printed import NONE, in_others, in_survey

TEMPERATURE = 0.6
# Family, section of the survey, and the builder and rule that show it with the draft model, or without one.
FAMILIES = (
    ("Independent drafting, a chain", "4.4.1", "chain", "speculative-sampling"),
    ("Independent drafting, a tree", "4.4.2", "sequoia", "sequoia"),
    ("Several sequences (SpecInfer)", "4.4.2", "k-sequences", "specinfer"),
    ("Self-drafting: lookahead", "5.3.4", "lookahead", "target-match"),
    ("Retrieval from the prompt", "4.4.1", "prompt-lookup", "target-match"),
    ("Adaptive threshold", "4.4.1", "svip", "speculative-sampling"),
    ("Heuristic rule", "4.4.1", "heuristic", "speculative-sampling"),
)
# Families that another drafter makes, shown on a chain: their name and section; others go by their own title.
DRAFTED = {
    "medusa": ("Self-drafting: several heads (Medusa, blockwise)", "3 and 4.4.1"),
    "eagle": ("Self-drafting: features (EAGLE)", "4.4.1"),
    "early-exit": ("Self-drafting: early exit", "4.4.1"),
    "online": ("Draft that learns while decoding (OSD)", "5.3.4"),
    "ngram": ("Retrieval: n-grams", "4.4.1"),
    "retrieval": ("Retrieval from a store (REST)", "4.4.1"),
    "several": ("Several drafts", "4.4.1"),
    "cascade": ("Cascaded drafts", "4.4.1"),
    "staged": ("Staged drafts", "4.4.1"),
}

COLUMNS = (
    "Family, live here", "Section", "Accepted of compared", "Tokens a pass", "Speedup", "Survey: acceptance",
    "Survey: tokens a pass", "Survey: speedup", "Other sources: tokens a pass", "Other sources: speedup",
)  # fmt: skip


def ways():
    """Every family that is live here: its name, section, builder, rule, and drafter where that is not the model."""
    for title, section, builder, rule in FAMILIES:
        yield title, section, BUILDERS[builder](), VERIFIERS[rule](), None
    for name, drafter in DRAFTERS.items():
        if name != "model":
            title, section = DRAFTED.get(name, (drafter.title, "4.4.1"))
            yield title, section, BUILDERS["chain"](), VERIFIERS["target-match"](), drafter()


def measure(bench):
    prompts = bench.prompts[:4]
    plain, rows = bench.plain(TEMPERATURE, prompts), []
    for title, section, builder, rule, drafter in ways():
        try:
            runs = bench.runs(builder, TEMPERATURE, rule, prompts, drafter=drafter)
        except ValueError:  # a drafter that this pair has not
            continue
        tries = [sum(o in ("accepted", "rejected") for o in step.outcome) for run in runs for step in run.steps]
        hits = [len(step.path) for run in runs for step in run.steps]
        rate, _ = estimate([(sum(hits), max(1, sum(tries)))])
        rows.append([title, section, rate, tokens_per_pass(runs), speedup(runs, plain)])
    return {"rows": rows, "temperature": TEMPERATURE}


def verdict(data):
    rows = data["rows"]
    best = max(rows, key=lambda row: row[3])
    faster = sum(row[4] > 1 for row in rows if row[4])
    accepted, sped, elsewhere = (sum(row[column] != NONE for row in beside(rows)) for column in (5, 7, 9))
    return judge(
        all(row[3] >= 1 for row in rows),
        f"{len(rows)} families are live here at temperature {data['temperature']:g}; {best[0].lower()} brings the "
        f"most, {best[3]:.2f} tokens a pass with {percent(best[2])} of the compared drafts accepted, and {faster} "
        f"of them {'is' if faster == 1 else 'are'} faster than plain decoding on this machine. The survey's text "
        f"prints an acceptance for {accepted} of them and a speedup for {sped or 'none'}; the other four sources' "
        f"tables print a speedup for {elsewhere}.",
    )


def beside(rows):
    """The rows with what is published of each family: the survey's text first, then the other four sources."""
    return [
        [
            *row,
            in_survey(row[0], "acceptance"), in_survey(row[0], "tokens"), in_survey(row[0], "speedup"),
            in_others(row[0], "tokens_per_pass"), in_others(row[0], "speedup"),
        ]
        for row in rows
    ]  # fmt: skip


ENTRY = Entry(
    "families",
    "Section 4.4",
    "A map of the families",
    "Drafts come from a small model of the same family, from the target itself (heads, early exit, skipped layers, "
    "padding tokens), or from retrieval; several may be cascaded. The efficiency and accuracy of the draft and the "
    "choice of verification decide the speed.",
    verdict,
    quoted=Table(
        ("Published, by the other four sources unless said", "Speedup"),
        (
            ("Tree, Sequoia, Llama2-7B on an A100, T 0 (table 1)", 4.04),
            ("Tree, DySpec, Llama2-70B offloaded, throughput (section 5.3)", 9.1),
            ("Chain by entropy, SVIP, LLaMA-3 70B, T 0 (table 1)", 2.83),
            ("Features, EAGLE-2, Vicuna 7B, T 1 (SVIP, table 4)", 2.58),
            ("Features, GliDe, Vicuna 7B (SVIP, table 3)", 1.95),
            ("Sparse cache, TriForce (a title in the survey's references)", 2.3),
        ),
    ),
    measure=measure,
    how="timed",
    opens=tuple(
        live(builder, rule, TEMPERATURE, drafter, what=title.partition(" (")[0])
        for title, _, builder, rule, drafter in ways()
    ),
    shown=lambda data: [Table(COLUMNS, beside(data["rows"]))],
)
