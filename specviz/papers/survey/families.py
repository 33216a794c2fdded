"""Section 4.4: the map of the families, with what each brings here where it is live."""

from ... import registry
from ...builders import BUILDERS
from ...measure.along_text import ratio_of_sums
from ...verifiers import VERIFIERS
from ..bench import speedup, tokens_per_pass
from ..entry import Entry, Table, judge, live, percent

TEMPERATURE = 0.6
# Family, section of the survey, builder and rule that show it, and the name of its drafter where that is not a model.
LIVE = (
    ("Independent drafting, a chain", "4.4.1", "chain", "speculative-sampling", None),
    ("Independent drafting, a tree", "4.4.2", "sequoia", "sequoia", None),
    ("Several sequences (SpecInfer)", "4.4.2", "k-sequences", "specinfer", None),
    ("Self-drafting: lookahead", "4.4.1", "lookahead", "target-match", None),
    ("Retrieval from the prompt", "4.4.1", "prompt-lookup", "target-match", None),
    ("Adaptive threshold", "4.4.1", "svip", "speculative-sampling", None),
    ("Heuristic rule", "4.4.1", "heuristic", "speculative-sampling", None),
)
# Drafters that appear here once they are registered; a name, and the section.
DRAFTERS = {
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


def registered():
    """Names of the drafters there are."""
    return list(registry.REGISTRIES.get("drafter", {}))


def measure(bench):
    prompts = bench.prompts[:4]
    plain, rows = bench.plain(TEMPERATURE, prompts), []
    ways = [(title, section, name, rule, {}) for title, section, name, rule, _ in LIVE]
    for name in registered():
        title, section = next((known for key, known in DRAFTERS.items() if name.startswith(key)), (name, "4.4.1"))
        if name != "model":
            ways.append((title, section, "chain", "target-match", {"drafter": registry.REGISTRIES["drafter"][name]()}))
    for title, section, name, rule, more in ways:
        try:
            runs = bench.runs(BUILDERS[name](), TEMPERATURE, VERIFIERS[rule](), prompts, **more)
        except ValueError:  # a drafter that this pair has not
            continue
        tries = [sum(o in ("accepted", "rejected") for o in step.outcome) for run in runs for step in run.steps]
        hits = [len(step.path) for run in runs for step in run.steps]
        rate, _ = ratio_of_sums([(sum(hits), max(1, sum(tries)))])
        rows.append([title, section, rate, tokens_per_pass(runs), speedup(runs, plain)])
    return {"rows": rows, "temperature": TEMPERATURE}


def told(data):
    rows = data["rows"]
    best = max(rows, key=lambda row: row[3])
    faster = sum(row[4] > 1 for row in rows if row[4])
    return judge(
        all(row[3] >= 1 for row in rows),
        f"{len(rows)} families are live here at temperature {data['temperature']:g}; {best[0].lower()} brings the "
        f"most, {best[3]:.2f} tokens a pass with {percent(best[2])} of the compared drafts accepted, and {faster} "
        f"of them {'is' if faster == 1 else 'are'} faster than plain decoding on this machine.",
    )


ENTRY = Entry(
    "families",
    "Section 4.4",
    "A map of the families",
    "Drafts come from a small model of the same family, from the target itself (heads, early exit, skipped layers, "
    "padding tokens), or from retrieval; several may be cascaded. The efficiency and accuracy of the draft and the "
    "choice of verification decide the speed.",
    told,
    quoted=Table(
        ("Published, as quoted by the other four sources", "Speedup"),
        (
            ("Tree, Sequoia, Llama2-7B on an A100, T 0 (table 1)", 4.04),
            ("Tree, DySpec, Llama2-70B offloaded, throughput (table 3)", 9.1),
            ("Chain by entropy, SVIP, LLaMA-3 70B, T 0 (table 1)", 2.83),
            ("Features, EAGLE-2, Vicuna 7B, T 1 (SVIP, table 4)", 2.58),
            ("Features, GliDe, Vicuna 7B (SVIP, table 3)", 1.95),
        ),
    ),
    measure=measure,
    how="timed",
    opens=(live(BUILDERS["prompt-lookup"](), VERIFIERS["target-match"](), TEMPERATURE),),
    shown=lambda data: [
        Table(("Family, live here", "Section", "Accepted of compared", "Tokens a pass", "Speedup"), data["rows"])
    ],
)
