"""DySpec: trees that grow while the draft reads."""

from __future__ import annotations

from itertools import pairwise

from ..theory.mask_order import ORDERS
from .claim import Data, claim, proof
from .dyspec_costs import COSTS, threshold
from .entry import Entry, Lines, Source, Table, compare, curves, figure, lab, live, printed, tab
from .in_runs import PREFIXES, counted, drafted_blocks, random_blocks, speeds
from .numbers import correlation, faster, less, per_pass, share, times, variation
from .on_rows import SHARES, agreement
from .proofs import by_threshold, greedy_sum, heaviest, keys_fall, lossless

GROUPS = range(len(SHARES) - 1)
PRINTED = {256: (36, 22.5), 512: (135.5, 52.8), 1024: (490.2, 119.3), 2048: (1654.5, 278.7)}
WAYS = ("dyspec-threshold:size=64,depth=12 | {}", "sequoia:size=64,depth=8 | {}", "k-sequences:width=8,depth=8 | {}")
LARGE = "sequoia:size=256,depth=16 | sequoia"
LIKELY, DRAFTED = agreement(temperature=0.8), drafted_blocks(temperature=0.6, size=256)


def timed(temperature: float) -> tuple[tuple[str, ...], Data]:
    """DySpec, Sequoia and SpecInfer with 64 nodes, and their times."""
    rules = ("exact-match",) * 3 if temperature == 0 else ("dyspec", "sequoia", "specinfer")
    ways = tuple(way.format(rule) for way, rule in zip(WAYS, rules, strict=True))
    return ways, speeds(ways=ways, temperature=temperature, draft_temperature=0.6)


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
    others = ("sequoia:size=64,depth=8 | sequoia", "k-sequences:width=8,depth=8 | specinfer")
    return threshold(64, t), *(counted(way, t, 0.6) for way in others)


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
    *COSTS,
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
        printed("DySpec", "Table 1", "Table 2"),
    ),
    Entry(
        "table-4", "Appendix B.1, table 4 and figure 5", "Large budgets and a threshold that does not fill them",
        "With 768 nodes DySpec leads at temperature 0 (C4: 16.04 tokens against 9.40 of Sequoia) but not at 0.6 (7.14 "
        "against 8.96): the threshold of 0.001 gives 551.79 nodes on average, 72 % of the budget. Tree size and "
        "accepted tokens vary from step to step (figure 5).",
        (
            claim("Temperature 0, 256 nodes: DySpec's tokens per pass over Sequoia's",
                  (threshold(256, 0.0, 0.003), counted(LARGE, 0.0, 0.6)),
                      times(per_pass()), ">", 1),
            claim("Temperature 0.6, 256 nodes: DySpec's tokens per pass over Sequoia's",
                  (threshold(256, 0.6, 0.003), counted(LARGE, 0.6, 0.6)),
                      times(per_pass()), "<", 1),
            claim("A fixed threshold (0.003) fills 72 % of the 256 nodes; counted as equal from 62 to 82 %",
                  threshold(256, 0.6, 0.003), lambda s: (s["nodes"] / s["passes"] + 1) / 256, "within", (0.62, 0.82)),
            claim("Tree size varies from step to step at a threshold of 0.02; counted from a standard deviation of "
                "a tenth of the mean", threshold(256, 0.6, 0.02), variation("tree"), ">", 0.1, "Figure 5"),
        ),
        opens=(compare(("dyspec-threshold:size=64", "dyspec"), ("dyspec-threshold:size=64,threshold=0.2", "dyspec"),
            temperature=0.6),),
    ),
    Entry(
        "block-counts", "Figures 6 and 7, table 5", "Blocks of 32 x 32 in the tree's attention mask",
        "Reordering by depth first leaves fewer blocks that are not empty, up to 5.9 times fewer at 2048 nodes of a "
        "random tree. In DySpec's trees, where elder siblings have more of the budget, it “closely approximates” "
        "heavy-path order.",
        (
            *(claim(f"{n} nodes, {order}: {printed} blocks are printed; counted as equal within 10 %",
                random_blocks(size=n), share(order, "trees"),
                    "within", (round(0.9 * printed, 2), round(1.1 * printed, 2)))
              for n, both in PRINTED.items() for order, printed in zip(("as drawn", "depth-first"), both, strict=True)),
            claim("A tree of 256 nodes that DySpec drafted: blocks in depth-first order over those in heavy-path "
                "order; counted as close within 5 %", DRAFTED, share("depth-first 0", "heavy-path 0"), "within",
                    (0.95, 1.05)),
        ),
        (figure(lambda *all_: Table(("Nodes", *ORDERS), [[n, *(s[name] / s["trees"] for name in ORDERS)] for n,
            s in zip(PRINTED, all_, strict=True)]),
                *(random_blocks(size=n) for n in PRINTED)),),
        (lab("tree", preset="table-5"),),
        Table(("Nodes", "Blocks as drawn", "Reordered"), [(n, *both) for n, both in PRINTED.items()]),
    ),
    Entry(
        "figure-9", "Figure 9", "The prefix dilutes what reordering saves",
        "On a real workload a tree of 768 nodes has 218.31 blocks reordered and 366.12 in the original order, one of "
        "1024 nodes 295.59 and 580.07; as the context grows “the influence of the tree structure diminishes”.",
        (
            claim("Reordering saves blocks of a tree of 256 nodes that DySpec drafted", DRAFTED, saved(0), ">", 0),
            claim("It saves 40 to 49 % of them, as printed for 768 and 1024 nodes", DRAFTED, saved(0), "within",
                (0.40, 0.49)),
            claim("Behind 2048 tokens it saves a smaller share", DRAFTED, less(saved(2048), saved(0)), "<", 0),
        ),
        (figure(lambda s: curves("tokens before the tree", "share of blocks saved",
            {"heavy-path order": [(n, saved(n)(s)) for n in PREFIXES]}), DRAFTED),),
        (lab("tree", preset="builders"),),
    ),
)  # fmt: skip

SOURCE = Source(
    "DySpec", "DySpec: Faster Speculative Decoding with Dynamic Token Tree Structure",
    "Xiong, Zhang, Li, Wu and others, 2024, arXiv 2410.11744.", "https://arxiv.org/abs/2410.11744",
    "The tree grows while the draft reads: always at the slot that the draft estimates to be likeliest to be "
    "reached, decided before its token is drawn; or level by level, wherever that chance exceeds a threshold.",
    ENTRIES,
)  # fmt: skip
