"""DySpec: trees that grow while the draft reads."""

from __future__ import annotations

from itertools import pairwise

from ..theory.mask_order import ORDERS
from .claim import Data, claim, missing, proof
from .entry import Entry, Lines, Source, Table, compare, curves, figure, lab, live, tab
from .in_runs import PREFIXES, attention, construction, drafted_blocks, random_blocks, runs, speeds
from .numbers import correlation, faster, less, per_pass, share, times
from .on_rows import SHARES, agreement
from .proofs import by_threshold, greedy_sum, heaviest, keys_fall, lossless

GROUPS = range(len(SHARES) - 1)
PRINTED = {256: (36, 22.5), 512: (135.5, 52.8), 1024: (490.2, 119.3), 2048: (1654.5, 278.7)}
WAYS = ("dyspec-threshold:size=64,depth=12 | {}", "sequoia:size=64,depth=8 | {}", "k-sequences:width=8,depth=8 | {}")
LIKELY = agreement(temperature=0.8)


def timed(temperature: float) -> tuple[tuple[str, ...], Data]:
    """DySpec, Sequoia and SpecInfer with 64 nodes, and their times."""
    rules = ("exact-match",) * 3 if temperature == 0 else ("dyspec", "sequoia", "specinfer")
    ways = tuple(way.format(rule) for way, rule in zip(WAYS, rules, strict=True))
    return ways, speeds(ways=ways, temperature=temperature, draft_temperature=0.6)


def counted(builder: str, rule: str, temperature: float = 0.6) -> Data:
    """Runs, in counts."""
    chosen = "exact-match" if temperature == 0 else rule
    return runs(builder=builder, rule=chosen, temperature=temperature, draft_temperature=0.6)


def threshold(size: int, temperature: float = 0.6, fixed: float | None = None) -> Data:
    """A tree by threshold."""
    more = "" if fixed is None else f",threshold={fixed}"
    return counted(f"dyspec-threshold:size={size},depth={16 if size < 200 else 24}{more}", "dyspec", temperature)


def greedy(size: int, temperature: float = 0.6) -> Data:
    """A tree node by node."""
    return counted(f"dyspec:size={size},depth=16,batch=1", "dyspec", temperature)


def acceptance(s) -> Lines:
    """Acceptance by the draft's probability."""
    points = [(s[f"q {i}"] / s[f"w {i}"], s[f"a {i}"] / s[f"w {i}"]) for i in GROUPS if s[f"w {i}"] > 0]
    return curves("draft probability of a drafted token", "acceptance", {"here": points})


def spread(s) -> Table:
    """How acceptance is distributed at each draft probability."""
    rows = []
    for i in GROUPS:
        total = sum(s[f"{i}.{j}"] for j in range(5))
        parts = [f"{100 * s[f'{i}.{j}'] / total:.0f} %" if total else None for j in range(5)]
        rows.append([f"{SHARES[i]:g} to {SHARES[i + 1]:g}", *parts])
    return Table(("Draft probability", *(f"{j / 5:g} to {(j + 1) / 5:g}" for j in range(5))), rows)


def rises(s) -> float:
    """Acceptance of drafts of probability above one half less that of drafts below one tenth."""

    def rate(groups: list[int]) -> float:
        return sum(s[f"a {i}"] for i in groups) / sum(s[f"w {i}"] for i in groups)

    return rate([i for i in GROUPS if SHARES[i] >= 0.5]) - rate([i for i in GROUPS if SHARES[i + 1] <= 0.1])


def rise_each(s) -> float:
    """The smallest rise of acceptance from one group of draft probability to the next."""
    rates = [s[f"a {i}"] / s[f"w {i}"] for i in GROUPS if s[f"w {i}"]]
    return min(b - a for a, b in pairwise(rates))


def three(t: float) -> tuple[Data, ...]:
    """The three of table 1."""
    others = (("sequoia:size=64,depth=8", "sequoia"), ("k-sequences:width=8,depth=8", "specinfer"))
    return threshold(64, t), *(counted(builder, rule, t) for builder, rule in others)


def saved(prefix: int):
    """The share of blocks that heavy-path order saves behind a text."""
    return lambda s: 1 - s[f"heavy-path {prefix}"] / s[f"as drawn {prefix}"]


ENTRIES = (
    Entry(
        "figure-2", "Hypothesis 1 and figure 2", "Likely tokens are accepted more often",
        "“Predicted tokens of higher draft probability statistically have a higher acceptance rate”; draft and target "
        "probabilities are strongly correlated (figure 2, right), and the distributions of acceptance at one draft "
        "probability resemble binomial ones (figure 2, left).",
        (
            claim("Drafts of probability above 1/2 are accepted more often than those below 1/10", LIKELY, rises, ">",
                0, "Hypothesis 1"),
            claim("Acceptance rises from each of nine groups of draft probability to the next", LIKELY, rise_each,
                ">", 0),
            claim("Draft and target probability of a drafted token correlate strongly; counted from 0.5", LIKELY,
                correlation("target"), ">", 0.5),
            claim("Draft probability and acceptance of a drafted token correlate strongly; counted from 0.5", LIKELY,
                correlation("accepted"), ">", 0.5),
        ),
        (figure(acceptance, LIKELY), figure(spread, LIKELY)), (tab("acceptance"),),
    ),
    Entry(
        "algorithm-1", "Algorithm 1, equations 8 to 11", "The greedy tree is the best one for the draft's own estimate",
        "A heap gives the slot with the largest chance to be reached; keys fall from choice to choice, and the tree "
        "maximises equation 11 under the assumption that all samplings have one acceptance rate (appendix D).",
        (
            proof("No tree of 6 nodes has a larger sum of slot chances, for 8 toy drafts", greedy_sum(), {"depth": 1},
                bound=1e-3, place="Equation 11"),
            proof("The keys never rise", keys_fall(), {"stack": True}, bound=1e-9),
        ),
        opens=(live("dyspec:size=24", "dyspec", 0.6),),
    ),
    Entry(
        "algorithm-2", "Algorithm 2, section 4.4", "A threshold gives the same tree level by level",
        "“If we set the threshold to be the same as the acceptance rate of the last token, we will exactly get the "
        "same result as the previous algorithm” (appendix A.1); in practice it is about one over the size.",
        (proof("With the last greedy key as threshold the tree is the greedy one, for 12 toy drafts", by_threshold(),
            {"factor": 2.0}),),
        opens=(live("dyspec-threshold:size=32", "dyspec", 0.6),),
    ),
    Entry(
        "algorithm-3", "Algorithm 3", "Verification of a tree that grew by itself is lossless",
        "“If what this token is affects whether or not we keep the sample in draft token tree, then the final result "
        "will be biased” (appendix A.1); decided before drawing, the output distribution is the target's (appendix "
        "A.3).",
        (
            proof("The greedy tree writes the target's exact distribution", lossless(builder="dyspec", rule="dyspec"),
                {"rule": "specinfer"}),
            proof("The tree by threshold does, too", lossless(builder="dyspec-threshold", rule="dyspec"),
                {"rule": "specinfer"}),
            proof("Tokens that are kept or dropped once they are drawn (EAGLE-2) bias it",
                lossless(builder="eagle2", rule="dyspec"),
                  {"builder": "dyspec"}, ">", 1e-3, "Appendix A.1"),
        ),
        opens=(lab("verification"),),
    ),
    Entry(
        "appendix-d", "Appendix D.1", "Greedy on the weights is optimal",
        "Adding the neighbour of largest weight, again and again, gives the connected tree of largest weight for "
        "every size (theorem, parts A and B).",
        (proof("No connected tree of up to 5 nodes is heavier, for 6 toy drafts", heaviest(), {"lightest": True}),),
        opens=(live("dyspec:size=24", "dyspec", 0.6),),
    ),
    Entry(
        "section-4-3", "Sections 4.3 and 4.4", "Draft passes: a node each, or a level each",
        "The greedy method calls the draft N times for N nodes, level by level only as often as the tree is deep, "
        "which “has a minimal impact on the number of accepted tokens but significantly improves latency”.",
        (
            *(claim(f"{n} nodes: tokens per pass by threshold over those of the greedy tree; minimal is counted as "
                f"less than 5 %",
                    (threshold(n), greedy(n)), times(per_pass()), ">", 0.95) for n in (16, 32, 64)),
            claim("64 nodes: draft passes by threshold over those of the greedy tree; fewer is counted as less than "
                "half",
                  (threshold(64), greedy(64)), times(share("draft passes", "passes")), "<", 0.5),
            claim("64 nodes: speed by threshold over that of the greedy tree",
                  speeds(ways=("dyspec:size=64,batch=1 | dyspec", "dyspec-threshold:size=64,depth=16 | dyspec"),
                      temperature=0.6),
                  faster("dyspec-threshold:size=64,depth=16 | dyspec", "dyspec:size=64,batch=1 | dyspec"), ">", 1),
        ),
        (figure(lambda *all_: Table(("Nodes asked for", "Way", "Draft passes a step", "Nodes drafted",
            "Tokens per pass"), [
            [n, way, s["draft passes"] / s["passes"], s["nodes"] / s["passes"], per_pass()(s)]
            for s, (n, way) in zip(all_, ((n, way) for n in (16, 32, 64) for way in ("greedy", "by threshold")),
                strict=True)]),
            *(data for n in (16, 32, 64) for data in (greedy(n), threshold(n)))),),
        (compare(("dyspec:size=32", "dyspec"), ("dyspec-threshold:size=32", "dyspec"), temperature=0.6),),
    ),
    Entry(
        "figure-4", "Section 5.2 and figure 4", "Where the time of a step goes",
        "Written in C++, tree construction takes less than two per cent of the time; what remains beside the passes "
        "is masks, sampling and verification.",
        (claim("Tree construction takes less than 2 % of a step", construction(builder="dyspec:size=32",
            temperature=0.6), share("construction", "seconds"), "<", 0.02),),
        (figure(lambda s: Table(("Part of a step, tree of 32 nodes", "Share"),
            [[part, s[part] / s["seconds"]] for part in ("draft", "construction", "target", "verify", "other")]),
                construction(builder="dyspec:size=32", temperature=0.6)),),
        (live("dyspec:size=32", "dyspec", 0.6),),
    ),
    Entry(
        "table-1", "Tables 1 and 2", "Against Sequoia and SpecInfer at 64 nodes",
        "With a 68 M draft and trees of 64 tokens DySpec accepts more than Sequoia and SpecInfer in nearly every row, "
        "and takes less time in all.",
        tuple(
            one for t in (0.0, 0.6) for i, name in ((1, "Sequoia"), (2, "SpecInfer")) for one in (
                claim(f"Temperature {t:g}: DySpec's tokens per pass over {name}'s", (three(t)[0], three(t)[i]),
                    times(per_pass()), ">", 1),
                claim(f"Temperature {t:g}: DySpec's speed over {name}'s", timed(t)[1],
                    faster(timed(t)[0][0], timed(t)[0][i]), ">", 1),
            )
        ),
        (), (compare(("dyspec-threshold:size=64", "dyspec"), ("sequoia:size=64,depth=8", "sequoia"), temperature=0.6),),
        Table(("Target, text", "T", "DySpec, s (tokens)", "Sequoia", "SpecInfer", "Baseline"), (
            ("7B, C4", 0, "0.00730 (5.25)", "0.00871 (4.99)", "0.01289 (3.32)", 0.02303),
            ("7B, C4", 0.6, "0.00994 (3.71)", "0.01185 (3.45)", "0.01215 (3.44)", 0.02191),
            ("7B, CNN", 0, "0.00926 (3.97)", "0.00936 (4.04)", "0.01464 (2.58)", 0.02246),
            ("7B, CNN", 0.6, "0.01071 (3.18)", "0.01127 (3.22)", "0.01245 (3.06)", 0.02242),
            ("13B, C4", 0, "0.00969 (4.98)", "0.01141 (4.35)", "0.01541 (3.14)", 0.03033),
            ("13B, C4", 0.6, "0.01245 (3.62)", "0.01505 (3.15)", "0.01527 (3.15)", 0.02824),
        )),
    ),
    Entry(
        "table-3", "Table 3", "Llama2-70B with offloading, 64 nodes",
        "The text has up to 9.1 times the throughput and 9.4 times less latency; the table has 5.60 s against 0.54 s "
        "a token on C4 at temperature 0, which is 10.4 times less.",
        (missing("Latency of plain decoding over DySpec's, C4, temperature 0", ">", 9.4,
            "A target of 70 B parameters is not available here."),),
        opens=(tab("speedup"),),
        quoted=Table(("Text", "T", "DySpec, s (tokens)", "Sequoia", "SpecInfer", "Baseline"), (
            ("C4", 0, "0.53696 (9.10)", "0.88920 (6.08)", "1.14332 (4.67)", 5.5965),
            ("C4", 0.6, "0.78912 (6.21)", "0.94550 (5.72)", "0.92829 (5.75)", 5.34781),
            ("OWT", 0, "0.78106 (7.23)", "0.91815 (6.41)", "1.10449 (4.83)", 5.52462),
            ("CNN", 0.6, "0.89055 (6.95)", "0.92659 (6.07)", "0.92885 (5.75)", 5.2928),
        )),
    ),
    Entry(
        "table-4", "Appendix B.1, table 4 and figure 5", "Large budgets and a threshold that does not fill them",
        "With 768 nodes DySpec leads at temperature 0 (C4: 16.04 tokens against 9.40 of Sequoia) but not at 0.6 (7.14 "
        "against 8.96): the threshold of 0.001 gives 551.79 nodes on average, 72 % of the budget. Tree size and "
        "accepted tokens vary from step to step (figure 5).",
        (
            claim("Temperature 0, 256 nodes: DySpec's tokens per pass over Sequoia's",
                  (threshold(256, 0.0, 0.003), counted("sequoia:size=256,depth=16", "sequoia", 0.0)),
                      times(per_pass()), ">", 1),
            claim("Temperature 0.6, 256 nodes: DySpec's tokens per pass over Sequoia's",
                  (threshold(256, 0.6, 0.003), counted("sequoia:size=256,depth=16", "sequoia", 0.6)),
                      times(per_pass()), "<", 1),
            claim("A fixed threshold (0.003) fills 72 % of the 256 nodes; counted as equal from 62 to 82 %",
                  threshold(256, 0.6, 0.003), lambda s: (s["nodes"] / s["passes"] + 1) / 256, "within", (0.62, 0.82)),
            claim("Larger trees go with more accepted tokens: size and accepted tokens of a step correlate",
                  threshold(256, 0.6, 0.003), correlation("tree"), ">", 0, "Figure 5"),
        ),
        opens=(compare(("dyspec-threshold:size=64", "dyspec"), ("dyspec-threshold:size=64,threshold=0.2", "dyspec"),
            temperature=0.6),),
    ),
    Entry(
        "block-counts", "Figures 6 and 7, table 5", "Blocks of 32 x 32 in the tree's attention mask",
        "Reordering by depth first, close to heavy-path order, leaves fewer blocks that are not empty: up to 5.9 "
        "times fewer at 2048 nodes.",
        (
            *(claim(f"{n} nodes, {order}: {printed} blocks are printed; counted as equal within 10 %",
                random_blocks(size=n), share(order, "trees"),
                    "within", (round(0.9 * printed, 2), round(1.1 * printed, 2)))
              for n, both in PRINTED.items() for order, printed in zip(("as drawn", "depth-first"), both, strict=True)),
            claim("Depth-first order is close to heavy-path order: blocks at 2048 nodes within 5 %",
                random_blocks(size=2048), share("depth-first", "heavy-path"), "within", (0.95, 1.05)),
        ),
        (figure(lambda *all_: Table(("Nodes", *ORDERS), [[n, *(s[name] / s["trees"] for name in ORDERS)] for n,
            s in zip(PRINTED, all_, strict=True)]),
                *(random_blocks(size=n) for n in PRINTED)),),
        (lab("tree", preset="table-5"),),
        Table(("Nodes", "Blocks as drawn", "Reordered"), [(n, *both) for n, both in PRINTED.items()]),
    ),
    Entry(
        "attention-time", "Table 5, times", "A kernel that skips empty blocks",
        "A Triton kernel for masks of any shape takes 1.026 instead of 2.271 at 2048 tokens once the nodes are "
        "reordered, 2.2 times less (2.1 by the text); end to end the gain is “not significant”, as attention is a "
        "small part and the prompt dilutes it. FlexAttention, the text says, must be compiled anew for each mask.",
        (claim("2048 nodes: the kernel's time as drawn over its time reordered; counted as equal from 1.7 to 2.7",
            attention(),
               lambda s: s["as drawn 2048"] / s["heavy-path 2048"], "within", (1.7, 2.7)),),
        (figure(lambda s: Table(("Nodes", "As drawn, ms", "Reordered, ms", "Dense, ms"),
            [[n, *(1000 * s[f"{name} {n}"] / s["trees"] for name in ("as drawn", "heavy-path", "dense"))]
                for n in (256, 1024, 2048)]), attention()),),
        (lab("tree", preset="table-5"),),
        Table(("Nodes", "Reordered", "Custom kernel", "Manual attention", "xFormers"), (
            (256, "no", 0.07548, 0.14089, 0.17559), (256, "yes", 0.05406, 0.14124, 0.16721),
            (1024, "no", 0.63368, 2.08612, 0.49049), (1024, "yes", 0.31801, 2.08142, 0.48922),
            (2048, "no", 2.27148, 9.20739, 1.87807), (2048, "yes", 1.02645, 9.13469, 1.87753),
        )),
    ),
    Entry(
        "figure-9", "Figure 9", "The prefix dilutes what reordering saves",
        "On a real workload a tree of 768 nodes has 218.31 blocks reordered and 366.12 in the original order, one of "
        "1024 nodes 295.59 and 580.07; as the context grows “the influence of the tree structure diminishes”.",
        (
            claim("Reordering saves blocks of a tree of 256 nodes that DySpec drafted",
                drafted_blocks(temperature=0.6, size=256), saved(0), ">", 0),
            claim("It saves 40 to 49 % of them, as printed for 768 and 1024 nodes",
                drafted_blocks(temperature=0.6, size=256), saved(0), "within", (0.40, 0.49)),
            claim("Behind 2048 tokens it saves a smaller share", drafted_blocks(temperature=0.6, size=256),
                less(saved(2048), saved(0)), "<", 0),
        ),
        (figure(lambda s: curves("tokens before the tree", "share of blocks saved",
            {"heavy-path order": [(n, saved(n)(s)) for n in PREFIXES]}), drafted_blocks(temperature=0.6, size=256)),),
        (lab("tree", preset="builders"),),
    ),
)  # fmt: skip

SOURCE = Source(
    "DySpec", "DySpec: Faster Speculative Decoding with Dynamic Token Tree Structure",
    "Xiong, Zhang, Li, Wu and others, 2024, arXiv 2410.11744.", "https://arxiv.org/abs/2410.11744",
    "The tree grows while the draft reads: always at the slot that the draft thinks likeliest to be reached, decided "
    "before its token is drawn; or level by level, wherever that chance exceeds a threshold.",
    ENTRIES,
)  # fmt: skip
