"""The survey: what to draft with, when to stop, how to verify, what to accept."""

from __future__ import annotations

from ..drafters import DRAFTERS
from ..theory.bounds import chain_tokens
from .claim import claim, proof
from .entry import Entry, Open, Source, Table, compare, curves, figure, in_others, lab, lesson, live, tab
from .in_runs import counted, passes, speeds
from .numbers import faster, less, per_pass, share, speed, times
from .on_rows import along, rejection
from .proofs import blocks_of, corrected_law, lossless
from .survey_verification import FIXED, LENGTHS, RULES, STOPS
from .svip import SVIP

# Family, its section, and the builder, rule and drafter that show it.
FAMILIES = {
    "Independent drafting, a chain": ("4.4.1", "chain | speculative-sampling"),
    "Independent drafting, a tree": ("4.4.2", "sequoia | sequoia"),
    "Several sequences (SpecInfer)": ("4.4.2", "k-sequences | specinfer"),
    "Self-drafting: lookahead": ("5.3.4", "lookahead | target-match"),
    "Retrieval from the prompt": ("4.4.1", "prompt-lookup | target-match"),
    "Adaptive threshold": ("4.4.1", "svip | speculative-sampling"),
    "Heuristic rule": ("4.4.1", "heuristic | speculative-sampling"),
    "Self-drafting: several heads (Medusa, blockwise)": ("3 and 4.4.1", "chain | target-match | medusa"),
    "Self-drafting: features (EAGLE)": ("4.4.1", "chain | target-match | eagle"),
    "Self-drafting: early exit": ("4.4.1", "chain | target-match | early-exit"),
    "Self-drafting: skipped layers": ("4.4.1", "chain | target-match | layer-skip"),
    "Draft that learns while decoding (OSD)": ("5.3.4", "chain | target-match | online"),
    "Retrieval: n-grams": ("4.4.1", "chain | target-match | ngram"),
    "Retrieval from a store (REST)": ("4.4.1", "chain | target-match | retrieval"),
    "Several drafts": ("4.4.1", "chain | target-match | several"),
    "Cascaded drafts": ("4.4.1", "chain | target-match | cascade"),
    "Staged drafts": ("4.4.1", "chain | target-match | staged"),
}
WAYS = {name: way for name, (_, way) in FAMILIES.items() if way.count("|") < 2 or way.split(" | ")[2] in DRAFTERS}
APART = ("chain | target-match | layer-skip",)  # timed by themselves
TIMED = [
    speeds(ways=ways, temperature=0.6) for ways in (tuple(way for way in WAYS.values() if way not in APART), APART)
]
# What the survey's own text prints of a family, and how the tables of the other four sources call it.
PRINTED = {
    "Independent drafting, a chain": "about 60 % accepted for the most probable token (7.1.1); 37 tokens in 9 passes "
    "(5.1)",
    "Several sequences (SpecInfer)": "above 90 % for three tokens, nucleus sampling (7.1.1)",
    "Self-drafting: several heads (Medusa, blockwise)": "m tokens in m / k + 1 passes at best (3.6)",
}
METHODS = {
    "Independent drafting, a chain": ("constant length",), "Independent drafting, a tree": ("Sequoia", "DySpec"),
    "Several sequences (SpecInfer)": ("SpecInfer",), "Adaptive threshold": ("SVIP",),
        "Heuristic rule": ("heuristic length",),
}  # fmt: skip
TOP = (1, 2, 3, 4, 5)
SAMPLED, NUCLEUS = rejection(temperature=1.0), rejection(temperature=1.0, top_p=0.9)
CHAINS = along(trees="chains", temperature=0.6)


def link(name: str, way: str) -> Open:
    """Where a family is seen at work."""
    builder, rule, drafter = [*way.split(" | "), ""][:3]
    return live(builder, rule, 0.6, drafter, name.partition(" (")[0])


def families(*all_) -> Table:
    """What each family brings here, beside what is printed of it."""
    head = (
        "Family, live here", "Section", "Accepted of compared", "Tokens per pass", "Survey",
        "Other sources: tokens per pass", "Other sources: speedup",
    )  # fmt: skip
    rows = [
        [name, FAMILIES[name][0], s["accepted"] / max(1, s["compared"]), per_pass()(s), PRINTED.get(name, "none"),
         *(in_others(METHODS.get(name, ()), quantity) for quantity in ("tokens_per_pass", "speedup"))]
        for name, s in zip(WAYS, all_, strict=True)
    ]  # fmt: skip
    return Table(head, rows)


def among(k: int):
    """How often the target's token is among the draft's k most probable ones."""
    return lambda s: 1 - s[f"target-match {k}"] / s["positions"]


def top(*all_):
    """Success over k = 1 to 5."""
    named = zip(("sampling", "nucleus, top-p 0.9"), all_, strict=True)
    series = {name: [(k, among(k)(s)) for k in TOP] for name, s in named}
    return curves("k", "the target's token is among the draft's k best", series)


def longer(chains, s) -> float:
    """What chains of 7 in place of 3 gain where a pass costs what was timed, without the draft's passes."""

    def gain(n: int) -> float:
        return chain_tokens(share("accepted")(chains), n) / share(str(n + 1), "1")(s)

    return gain(7) / gain(3)


def formula(n: int):
    """Tokens along the texts over (1 - a^(n + 1)) / (1 - a)."""
    return lambda s: per_pass(f"sequence {n}")(s) / chain_tokens(share("accepted")(s), n)


ENTRIES = (
    Entry(
        "blockwise", "Sections 3.5 and 3.6", "Blockwise parallel decoding: m / k + 1 passes at best",
        "With k heads the number of passes falls from m to 2 m / k, and to m / k + 1 once verification and prediction "
        "share a pass, if all drafts are accepted.",
        (
            proof("A greedy chain of 4 tokens per pass takes at most m / k + 1 passes where every draft is right",
                blocks_of(heads=4), {"closeness": 0.0}),
            claim("Not all drafts of this pair's k = 4 heads are accepted, but chains of 4 still bring more than the "
                "k / 2 tokens per pass that separate verification brings at best",
                  counted("chain:depth=4 | exact-match | medusa", 0.0), per_pass(), ">", 2),
        ),
        opens=(live("chain:depth=4", "exact-match", 0.0),),
    ),
    Entry(
        "families", "Section 4.4", "A map of the families",
        "Drafts come from a small model of the same family, from the target itself (heads, early exit, skipped "
        "layers, padding tokens), or from retrieval; several may be cascaded. The efficiency and accuracy of the "
        "draft and the choice of verification decide the speed.",
        (
            *(claim(f"{name}: faster than plain decoding", TIMED[way in APART], faster(way), ">", 1,
                f"Section {FAMILIES[name][0]}") for name, way in WAYS.items()),
            *(claim("Skipped layers hardly change most tokens; counted as more than half of the drafts accepted",
                counted(way), share("accepted", "compared"), ">", 0.5, "Section 4.4.1") for way in APART),
        ),
        (figure(families, *(counted(way) for way in WAYS.values())),),
        tuple(link(name, way) for name, way in WAYS.items()),
        Table(("Published, by the other four sources unless said", "Speedup"), (
            ("Tree, Sequoia, Llama2-7B on an A100, T 0 (table 1)", 4.04),
                ("Tree, DySpec, Llama2-70B offloaded, throughput (section 5.3)", 9.1),
            ("Chain by entropy, SVIP, LLaMA-3 70B, T 0 (table 1)", 2.83),
                ("Features, EAGLE-2, Vicuna 7B, T 1 (SVIP, table 4)", 2.58),
            ("Features, GliDe, Vicuna 7B (SVIP, table 3)", 1.95),
                ("Sparse cache, TriForce (a title in the survey's references)", 2.3),
        )),
    ),
    Entry(
        "termination", "Section 4.4.1, termination", "When to stop drafting",
        "“Sequences of speculative tokens that are too short or too long are suboptimal”: a static setting, an "
        "adaptive threshold on each token, or heuristic rules such as longer after a full acceptance, or by the "
        "batch size.",
        (
            *(claim(f"{which}: the fastest of 2, 4 and 8 drafts over {n}, speed", STOPS,
                times(lambda s: max(speed(f"chain:depth={k}")(s) for k in (2, 4, 8)), speed(f"chain:depth={n}")), ">",
                    1)
              for which, n in (("Too short", 1), ("Too long", 16))),
        ),
        (figure(lambda s: Table(("Policy", "Speedup", "Tokens per pass"),
            [[way, faster(way)(s), per_pass(way)(s)] for way in (*FIXED, "heuristic", SVIP)]), STOPS),),
        (compare(("chain:depth=4", "speculative-sampling"), ("svip", "speculative-sampling"), temperature=0.6),),
    ),
    Entry(
        "top-k", "Section 7.1.1", "The target's token is mostly among the draft's best",
        "“Although the top-1 accuracy for predicting the next token hovers around 60%, the final validation success "
        "rate is greatly improved when the small parameter model retains the top-5 at each step. If nucleus sampling "
        "is used, the success rate for the top-3 tokens already exceeds 90%.”",
        (
            claim("The most probable token is the target's at around 60 %; counted from 55 to 65 %", SAMPLED,
                among(1), "within", (0.55, 0.65)),
            claim("Five tokens improve it greatly; counted as a tenth of all positions or more", SAMPLED,
                less(among(5), among(1)), ">", 0.1),
            claim("Nucleus sampling (top-p 0.9): the target's token is among the three best at more than 90 %",
                NUCLEUS, among(3), ">", 0.9),
        ),
        (figure(top, SAMPLED, NUCLEUS),), (lesson(11), tab("acceptance")),
    ),
    *RULES,
    Entry(
        "nine-passes", "Section 5.1", "An example: 37 tokens in 9 passes",
            "In the example “it only forwards 9 times and generates 37 tokens”.",
        (claim("Greedy chains of 12 drafts bring 37 / 9 tokens per pass or more",
            counted("chain:depth=12 | exact-match", 0.0), per_pass(), ">", round(37 / 9, 3)),),
        opens=(live("chain:depth=12", "exact-match", 0.0),),
    ),
    Entry(
        "parallel-cost", "Sections 4.1 and 5.3.1", "Several tokens at about the price of one",
        "Decoding is bound by memory, so “the time taken for a large model to process one token is almost the same as "
        "the time taken to process multiple tokens in parallel”.",
        tuple(claim(f"A pass over {n} tokens over one of a single token, time; almost the same is counted as less "
            f"than 1.5", passes(), share(str(n), "1"), "<", 1.5) for n in (2, 4, 8)),
        opens=(tab("speedup"),),
    ),
    Entry(
        "speed-formula", "Section 5.3.2", "What the speed depends on: length, cost and acceptance",
        "The speedup depends on the draft's size and length, its latency, and the acceptance rate; n drafts of cost D "
        "pay if n D is well below (m - 1) T for m accepted.",
        tuple(claim(f"{n} drafts: tokens along the texts over (1 - a^(n + 1)) / (1 - a); counted as equal within 5 %",
            CHAINS, formula(n), "within", (0.95, 1.05)) for n in (2, 4, 8)),
        (figure(lambda s: curves("drafts", "tokens per pass", {"formula": [(n, chain_tokens(share("accepted")(s), n))
            for n in LENGTHS], "along the texts": [(n, per_pass(f"sequence {n}")(s)) for n in LENGTHS]},
                ("formula",)), CHAINS),),
        (live("chain:depth=4", "speculative-sampling", 0.6),),
    ),
    Entry(
        "distribution", "Section 5.3.3", "The adjusted distribution makes it exact",
        "For any p and q, tokens of speculative decoding are distributed as those of p alone: what is accepted and "
        "what is resampled after a rejection add up to p.",
        (
            proof("Two steps of a toy pair write the target's exact distribution",
                lossless(builder="chain", rule="speculative-sampling"), {"rule": "typical"}),
            proof("Corrected from p itself, one token's distribution would be wrong", corrected_law(residual="p"),
                {"residual": "p - q"}, ">", 1e-3),
        ),
        opens=(lab("verification", preset="several"),),
    ),
)  # fmt: skip

SOURCE = Source(
    "Survey", "Exploring the Transformer Series (30): Decoding Speculation",
    "A survey of methods in the order of their appearance; it reports hardly any measurements of its own.", None,
    "What to draft with, when to stop drafting, how to verify, and what to accept: a map of the families, and the "
    "claims of the survey that can be measured.",
    ENTRIES,
)  # fmt: skip
