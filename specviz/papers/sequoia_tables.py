"""Sequoia: its tables, and what depends on the machine."""

from __future__ import annotations

from ..theory.bounds import chain_speedup
from .bounds_hold import queue_of_print
from .claim import claim, missing, proof
from .dyspec_costs import LATENCY
from .entry import Entry, Source, Table, compare, curves, figure, lab, lesson, tab
from .in_runs import CHOSEN, PASSES, SEQUENCES, choice, counted, passes, speeds
from .numbers import faster, per_pass, share, speed, times
from .sequoia import ALGORITHMS, RULES, TEMPERATURES, TITLES, under_rules
from .survey import CHAINS
from .survey_verification import FIXED, LENGTHS, STOPS

NOT_HERE = "The models of 7 to 70 B parameters and the GPU of this table are not available here."
GREEDY, SAMPLED = choice(temperature=0.0), choice(temperature=0.6)
BOTH = ((0.0, GREEDY), (0.6, SAMPLED))
MEASURED = (STOPS, CHAINS, LATENCY["Node by node"])
LIMITED, UNLIMITED = (tuple(f"{kind} {n}" for n in CHOSEN) for kind in ("tree", "unlimited"))
TREE = "sequoia:size=16,depth=5"
ROBUST, BY_TEMPERATURE = under_rules("temperature", {t: (t,) for t in TEMPERATURES})


def fastest(kinds: tuple[str, ...]):
    """The speed of the fastest of several."""
    return lambda s: max(speed(kind)(s) for kind in kinds)


def tracks(s) -> float:
    """Correlation of predicted and timed speedup over the trees."""
    names = ("chosen", *LIMITED, *UNLIMITED)
    x, y = [s[f"{name} predicted"] / s["texts"] for name in names], [faster(name)(s) for name in names]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    both = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    return both / (sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y)) ** 0.5


def all_trees(s) -> Table:
    """Every tree with its prediction."""
    names = ("chosen", *LIMITED, *UNLIMITED, *SEQUENCES)
    predicted = {name: s[f"{name} predicted"] / s["texts"] for name in names[: -len(SEQUENCES)]}
    rows = [[name, predicted.get(name), faster(name)(s), per_pass(name)(s)] for name in names]
    rows[0][0] = f"chosen: {s['nodes'] / s['texts']:.0f} nodes, {s['levels'] / s['texts']:.0f} levels"
    return Table(("Tree", "Predicted speedup", "Timed speedup", "Tokens per pass"), rows)


def on_disk(t: float):
    """Trees of rising size and sequences with the target's layers on the disk: their names, and their times."""
    rules = ("exact-match",) * 2 if t == 0 else ("sequoia", "specinfer")
    trees = tuple(f"sequoia:size={n},depth={d} | {rules[0]}" for n, d in ((16, 8), (64, 12), (256, 16)))
    ways = (*trees, f"k-sequences:width=8,depth=8 | {rules[1]}")
    return ways, speeds(ways=ways, temperature=t, tokens=32, offload="disk")


DISK = {t: on_disk(t) for t in (0.0, 0.6)}


def by_formula(n: int):
    """The speedup of a chain of n that appendix D's formula gives, from the chains' acceptance and a pass's cost."""
    return lambda chains, s: chain_speedup(share("accepted")(chains), n, share("draft", "one token")(s))


def timed_over_formula(n: int):
    """The timed speedup of a chain of n over the formula's."""
    return lambda timed, *known: faster(f"chain:depth={n}")(timed) / by_formula(n)(*known)


def chosen_by_formula(timed, *known) -> float:
    """The speed of the chain that the formula finds best over that of the fastest."""
    best = max(LENGTHS, key=lambda n: by_formula(n)(*known))
    return speed(f"chain:depth={best}")(timed) / fastest(FIXED)(timed)


TABLES = (
    Entry(
        "figure-2", "Figures 2 and 5", "Trees of the printed acceptance vector",
        "Appendix E prints a vector of 31 numbers, 0.7732, 0.1039, 0.0402 and so on (Llama3-8B for Llama3-70B, CNN), "
        "and draws its trees of 8, 16, 32, 64, 128 and 256 nodes with unlimited depth; figure 2 shows one of 64 nodes "
        "and depth 12. The pictures have no numbers that could be compared.",
        (
            proof("The trees of 8 to 256 nodes are the best ones for the printed vector: a priority queue finds none "
                "better",
                  queue_of_print(), {"sizes": 2}),
        ),
        opens=tuple(lab("tree", preset=f"figure-{n}")._replace(label=f"Open figure {n} in the Tree lab")
            for n in (5, 2)),
    ),
    Entry(
        "section-4-1", "Section 4.1", "The hardware-aware optimiser: G(n, d) / (t(n) + d c)",
        "Size and depth are chosen by searching for the largest G(n, d) / (t(n) + d c), with t and c measured. On an "
        "A100 that gave trees of 64 to 128 nodes and c = 0.5 / 24.2 = 0.02 for a 68 M draft of a 7 B target.",
        tuple(
            one for t, data in BOTH for one in (
                claim(f"Temperature {t:g}: speed of the chosen tree over the fastest of 10 others; counted as one "
                    "of the fastest from 0.95", data, times(speed("chosen"), fastest(LIMITED + UNLIMITED)), ">",
                        0.95),
                claim(f"Temperature {t:g}: predicted and timed speedup of the trees correlate with more than 0.5",
                    data, tracks, ">", 0.5),
            )
        ),
        tuple(figure(all_trees, data) for _, data in BOTH), (lesson(13), tab("speedup")),
    ),
    Entry(
        "table-1", "Table 1", "On one device, against 5 sequences of 8 tokens",
        "On an A100 Sequoia is 1.05 to 1.34 times as fast as SpecInfer's 5 x 8 tree for Llama2-7B with a 68 M draft.",
        (
            *(
                claim(f"Temperature {t:g}: a tree of 128 nodes over 5 x 8, tokens per pass; the printed ratios",
                    (counted(f"sequoia:size=128,depth={depth} | sequoia", t),
                        counted("k-sequences:width=5,depth=8 | specinfer", t)), times(per_pass()), "within", bound)
                for t, depth, bound in ((0.0, 8, (1.22, 1.29)), (0.6, 6, (1.31, 1.35)))
            ),
            *(claim(f"Temperature {t:g}: the chosen tree over 5 x 8, speed; the printed ratios", data,
                faster("chosen", "5x8"), "within", (1.05, 1.34)) for t, data in BOTH),
        ),
        opens=(compare(("sequoia", "sequoia"), ("k-sequences:width=5,depth=8", "specinfer"), temperature=0.6),),
        quoted=Table(("Text", "T", "Tree (size, depth with root)", "Sequoia", "SpecInfer 5 x 8"), (
            ("C4", 0, "(128, 10)", "4.04 x (5.08)", "3.45 x (3.96)"),
            ("C4", 0.6, "(128, 7)", "3.18 x (3.92)", "2.47 x (2.97)"),
            ("OpenWebText", 0, "(128, 7)", "3.22 x (3.86)", "2.79 x (3.15)"),
            ("OpenWebText", 0.6, "(128, 6)", "2.71 x (3.33)", "2.10 x (2.54)"),
            ("CNN Daily", 0, "(128, 7)", "3.41 x (4.05)", "2.95 x (3.27)"),
            ("CNN Daily", 0.6, "(128, 6)", "2.83 x (3.45)", "2.11 x (2.58)"),
            ("MT Bench", 0, "(128, 10)", "4.03 x (4.98)", "3.84 x (4.01)"),
            ("MT Bench", 0.6, "(128, 7)", "3.18 x (3.96)", "2.45 x (2.97)"),
        )),
    ),
    Entry(
        "table-2", "Table 2", "Weights in main memory: 768 nodes pay",
        "With 70 B targets offloaded on an L40, where plain decoding takes 5.7 s per token, trees of 768 nodes are "
        "chosen, 18 levels deep with the root.",
        (
            *(missing(f"Sequoia over plain decoding, {target}, temperature {t:g}", ">", bound, NOT_HERE)
                for target, t, bound in (("Llama2-70B-chat", 0, 8.6), ("Llama2-70B-chat", 0.6, 8.4),
                    ("Llama3-70B-Instruct", 0, 9.5))),
            *(
                one for t, (ways, data) in DISK.items() for one in (
                    claim(f"Temperature {t:g}, this pair's target on the disk: 64 nodes over plain decoding, speed",
                        data, faster(ways[1]), ">", 1),
                    claim(f"Temperature {t:g}, on the disk: 64 nodes over 16 nodes, speed", data,
                        faster(ways[1], ways[0]), ">", 1),
                    claim(f"Temperature {t:g}, on the disk: 256 nodes over 64 nodes, speed", data,
                        faster(ways[2], ways[1]), ">", 1),
                    claim(f"Temperature {t:g}, on the disk: 64 nodes over 8 sequences of 8 tokens, speed", data,
                        faster(ways[1], ways[3]), ">", 1),
                )
            ),
        ),
        opens=(lesson(13), tab("speedup")),
        quoted=Table(("Target", "T", "Tree (size, depth with root)", "Sequoia", "s per token", "SpecInfer 16 x 48"), (
            ("Llama2-70B-chat", 0, "(768, 18)", "8.6 x (10.30)", 0.66, "5.7 x (7.63)"),
            ("Llama2-70B-chat", 0.6, "(768, 18)", "8.4 x (9.91)", 0.68, "5.2 x (7.03)"),
            ("Llama3-70B-Instruct", 0, "(768, 18)", "9.5 x (11.68)", 0.60, "7.0 x (9.07)"),
            ("Llama3-70B-Instruct", 0.6, "(768, 18)", "9.3 x (11.37)", 0.61, "6.1 x (8.29)"),
        )),
    ),
    Entry(
        "figure-4-right", "Figure 4, right", "Robust to temperature",
        "With one tree for all, Sequoia's rule is fastest at every temperature, up to 1.65 times SpecInfer's and 1.27 "
        "times top-k (Llama2-7B, 68 M draft, CNN).",
        (*ROBUST, *(claim(f"Temperature {t}: speed under Sequoia's rule over that under {TITLES[rule]}'s",
            speeds(ways=tuple(f"{TREE} | {name}" for name in RULES), temperature=t),
                faster(f"{TREE} | sequoia", f"{TREE} | {rule}"), ">", 1) for t in TEMPERATURES for rule in RULES[1:])),
        BY_TEMPERATURE,
        (compare((TREE, "sequoia"), (TREE, "specinfer"), temperature=0.6),),
    ),
    Entry(
        "table-3", "Tables 3 and 4", "Larger targets on two GPUs",
        "On an A100 Llama2-13B runs 3.73 times as fast and Vicuna-33B 2.27 times (C4, temperature 0); on an L40 "
        "Llama2-7B 3.95 times and Llama2-13B 3.15 times.",
        (missing("Sequoia over SpecInfer's 5 x 8 on four pairs of target and GPU", ">", 1, NOT_HERE),),
            opens=(tab("speedup"),),
        quoted=Table(("Machine", "Target", "Tree (size, depth with root)", "Sequoia", "SpecInfer 5 x 8"), (
            ("A100", "Llama2-13B", "(64, 9)", "3.73 x (4.20)", "3.30 x (3.64)"),
            ("A100", "Vicuna-33B", "(64, 6)", "2.27 x (4.28)", "1.83 x (3.86)"),
            ("L40", "Llama2-7B", "(64, 10)", "3.95 x (4.68)", "3.50 x (3.98)"),
            ("L40", "Llama2-13B", "(64, 10)", "3.15 x (4.25)", "2.76 x (3.61)"),
        )),
    ),
    Entry(
        "table-5", "Tables 5 and 6", "No width and depth of sequences beats the tree",
        "On an A100 the best of all sequences reaches 3.70 times in greedy decoding (width 8, depth 8 is 3.70; 5 x 8 "
        "is 3.45) and 2.42 times when sampling, Sequoia 4.04 and 3.18 times (C4, Llama2-7B, 68 M draft).",
        tuple(claim(f"Temperature {t:g}: the chosen tree over the fastest of {', '.join(SEQUENCES)}", data,
            times(speed("chosen"), fastest(SEQUENCES)), ">", 1)
              for t, data in BOTH),
        opens=(tab("speedup"),),
    ),
    Entry(
        "table-7", "Table 7", "SpecInfer's trees with offloading",
        "With Llama2-70B-chat offloaded on an L40, 16 x 48, 24 x 32 and 32 x 24 give 5.2, 5.3 and 5.5 times; Sequoia "
        "gives 8.4.",
        (missing("Sequoia over the best of SpecInfer's trees, with offloading", ">", 1, NOT_HERE),),
            opens=(lab("tree", preset="tables"),),
        quoted=Table(("Tree", "Speedup"), (("(16, 48)", 5.2), ("(24, 32)", 5.3), ("(32, 24)", 5.5))),
    ),
    Entry(
        "figure-7", "Figure 7", "Limiting depth pays: the optimiser against unlimited trees",
        "Trees chosen for the machine, with limited depth, are faster than any size of tree with unlimited depth, on "
        "A100 and L40.",
        tuple(claim(f"Temperature {t:g}: the chosen tree over the fastest of unlimited depth", data,
                    times(speed("chosen"), fastest(UNLIMITED)), ">", 1) for t, data in BOTH),
        opens=(lesson(13), tab("speedup")),
    ),
    Entry(
        "figure-8", "Figure 8", "A pass over n tokens: flat at first, then linear in n",
        "Forward pass times are roughly constant for small n and then grow about linearly; where that begins depends "
        "on the ratio of memory bandwidth to arithmetic.",
        (
            claim("Flat at first: a pass over 4 tokens takes less than 1.5 times one token's", passes(),
                share("4", "1"), "<", 1.5),
            claim("Then linear: the time grows as much from 64 to 96 tokens as from 32 to 64; ratio of both, counted "
                "as equal from 0.75 to 1.25", passes(), lambda s: (s["96"] - s["64"]) / (s["64"] - s["32"]), "within",
                    (0.75, 1.25)),
        ),
        (figure(lambda s: curves("tokens in the pass", "time, in passes of one token",
            {"this machine": [(n, s[str(n)] / s["1"]) for n in PASSES]}, log_x=True), passes()),),
        (tab("speedup"),),
    ),
    Entry(
        "appendix-d", "Appendix D", "The speedup of a sequence: (1 - a^(n + 1)) / ((1 - a)(n c + 1))",
        "For drafts that are accepted with probability a, independently, and a draft pass of c passes of the "
        "target a sequence of n drafts speeds decoding up (1 - a^(n + 1)) / ((1 - a)(n c + 1)) times (Leviathan et "
        "al.). Here a is counted along the texts, c is measured by itself, and the sequences are timed.",
        (
            *(claim(f"{n} drafts: timed speedup over the formula's; counted as equal from 0.85 to 1.15",
                MEASURED, timed_over_formula(n), "within", (0.85, 1.15)) for n in (1, 2, 4, 8)),
            claim("Timed speed of the formula's best of 1, 2, 4, 8 and 16 drafts over the fastest; counted as one of "
                "the fastest from 0.95", MEASURED, chosen_by_formula, ">", 0.95),
        ),
        (figure(lambda t, c, s: curves("drafts", "speedup", {"formula": [(n, by_formula(n)(c, s)) for n in LENGTHS],
            "timed": [(n, faster(f"chain:depth={n}")(t)) for n in LENGTHS]}, ("formula",)), *MEASURED),),
        (tab("speedup"),),
    ),
)  # fmt: skip

SOURCE = Source(
    "Sequoia", "Sequoia: Scalable and Robust Speculative Decoding",
    "Chen, May, Svirschevski, Huang, Ryabinin, Jia and Chen, 2024, arXiv 2402.12374v3.",
    "https://arxiv.org/html/2402.12374",
    "A tree is planned before decoding by dynamic programming over an acceptance vector, children are drawn without "
    "replacement, and size and depth are chosen for the machine. The paper counts the root's level as depth 1; this "
    "project counts the levels below the root, so the paper's depth D is D - 1 here.",
    (*ALGORITHMS, *TABLES),
)  # fmt: skip
