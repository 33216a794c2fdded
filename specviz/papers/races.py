"""Speculative decoding via exponential races."""

from __future__ import annotations

from ..theory.bounds import tail_bound, tunstall_bound
from .bounds_hold import bound_holds, bound_proof, index_bound, tree_bound, tunstall_code
from .claim import Data, claim, proof
from .entry import Entry, Lines, Source, Table, compare, curves, figure, lab, tab
from .in_runs import counted
from .numbers import less, per_pass, share, slope
from .on_rows import DRAFTS, WIDTHS, index_entropy, raced, rejection
from .proofs import lossless, queue, same_text
from .races_memory import MEMORY, ON_TEXT

TREES = ("chain", "batch", "optimal", "dyspec", "eagle2")
STRATEGIES = ("batch", "sequence", "SpecInfer tree", "optimal tree")
RATES = rejection(temperature=1.0)
WON, INDEX = raced(temperature=1.0), index_entropy(temperature=1.0)
BUILDERS = {
    "batch": "batch:width={k}", "sequence": "chain:depth={k}", "optimal tree": "optimal:size={n},depth=16",
    "SpecInfer tree": "branching:widths={widths}",
}  # fmt: skip
RUN = (2, 8, 24)


def run(strategy: str, k: int, method: str) -> Data:
    """Runs with a strategy of k drafts under rejection (GSD) or races (ERSD)."""
    widths = ",".join(map(str, [1, 1, 3] + [1] * ((k - 2) // 3 - 1)))
    builder = BUILDERS[strategy].format(k=k, n=k + 1, widths=widths)
    return counted(f"{builder} | {'race' if method == 'ERSD' else 'sequoia'}", 1.0)


def batch(method: str, k: int):
    """Tokens per pass of a batch of k drafts."""
    rule = {"GSD": "sequoia", "ERSD": "race"}[method]
    return lambda s: 2 - s[f"{rule} {k}"] / s["positions"]


def marginal(strategy: str, k: int):
    """What each draft from the k / 2 + 1st to the k-th brings."""
    return lambda s: (per_pass(f"{strategy} {k}")(s) - per_pass(f"{strategy} {k // 2}")(s)) / (k - k // 2)


def strategies(s) -> Lines:
    """Tokens against drafts along the texts."""
    series = {n: [(k, per_pass(f"{n} {k}")(s)) for k in DRAFTS if f"{n} {k} tokens" in s] for n in STRATEGIES}
    vector = tuple(s[f"rank {k}"] / s["positions"] for k in range(1, 33))
    spread = (*vector[:8], *[(1 - sum(vector[:8])) / 8] * 8)
    bounds = {
        "lemma 4.2, best m": [(k, tail_bound(vector, k, 8)) for k in DRAFTS],
        "lemma 4.2, m = 8": [(k, tunstall_bound(spread, k)) for k in DRAFTS],
    }
    return curves("drafted tokens, GSD", "tokens per pass", series | bounds, tuple(bounds), log_x=True)


def in_runs(*all_) -> Lines:
    """Tokens against drafts in runs, both methods."""
    names = [(method, strategy) for method in ("GSD", "ERSD") for strategy in ("sequence", "optimal tree")]
    series = {
        f"{method}, {strategy}": [(k, per_pass()(all_[3 * i + j])) for j, k in enumerate(RUN)]
        for i, (method, strategy) in enumerate(names)
    }
    return curves("drafted tokens, runs", "tokens per pass", series, log_x=True)


def marginals(s) -> Lines:
    """What one more draft brings along the texts."""
    series = {
        name: [(k, marginal(name, k)(s)) for k in DRAFTS[1:] if f"{name} {k} tokens" in s]
        for name in ("batch", "sequence", "optimal tree")
    }
    return curves("drafted tokens, GSD", "tokens that one more brings", series, log_x=True, log_y=True)


def batches(s) -> Lines:
    """Batches under both methods."""
    series = {method: [(k, batch(method, k)(s)) for k in WIDTHS] for method in ("GSD", "ERSD")}
    return curves("drafts", "tokens per pass", series, log_x=True)


def means(names: dict[str, str], header: str):
    """A table of means over positions."""
    return lambda s: Table((header, "Mean"), [[title, s[name] / s["positions"]] for name, title in names.items()])


ENTRIES = (
    Entry(
        "algorithm-1", "Algorithms 1 and 4", "GSD on sequences, batches and trees",
        "Drafts without replacement, accepted one after the other with min(1, p / q), residual after each: the tree "
        "procedure applies the batch selection at every vertex.",
        tuple(proof(f"On {name} two steps of a toy pair write the target's exact distribution",
            lossless(builder=builder, rule=rule), {"rule": wrong})
              for name, builder, rule, wrong in (("sequences", "chain", "speculative-sampling", "typical"),
                  ("batches", "batch", "sequoia", "typical"), ("trees", "branching", "sequoia", "typical"))),
        opens=(lab("verification"),),
    ),
    Entry(
        "algorithm-2", "Algorithm 2", "One race, two rows: how often the winner is the same",
        "The draft's token is the winner under q of a race with exponential variables, the target's the winner under "
        "p of the same race; if they are equal the draft is accepted.",
        (claim("Races that were run less the closed form, sum over x of 1 / sum over y of max(p_y / p_x, q_y / q_x); "
            "counted as equal within 0.05", WON,
               less(share("won"), share("exact")), "within", (-0.05, 0.05)),),
        (figure(means({"won": "one winner, in races that were run", "exact": "the closed form"},
            "Chance at a position"), WON),), (lab("race"), lab("verification", preset="several")),
    ),
    Entry(
        "lemma-3-1", "Lemma 3.1", "A lower bound of the first race's acceptance",
        "P(accept) >= (1 - D_HM(P, Q)) / 2 = sum of P Q / (P + Q), with the harmonic mean distance D_HM (equations 1 "
        "and 2); the formulas of the text at hand are damaged, and the normalisation of D_HM is a reading. GSD "
        "accepts its first draft more often (section 3).",
        (
            bound_proof("The bound", "lemma 3.1", 2.0),
            proof("A race never accepts more than GSD, 1 - TV", bound_holds(kind="ceiling"), {"factor": 0.8},
                bound=1e-9),
            claim("Over the texts GSD accepts its first draft more often", WON,
                less(share("ceiling"), share("exact")), ">", 0, "Section 3"),
        ),
        (figure(means({"ceiling": "GSD, 1 - TV", "exact": "the race, exact", "coupling": "(1 - TV) / (1 + TV)",
            "lemma": "lemma 3.1"}, "At a position"), WON),),
        (lab("race"), lab("verification")),
    ),
    Entry(
        "algorithm-5", "Algorithm 5", "Races on trees keep the target's distribution",
        "Children are the first arrivals of the race under q, the target's winner under p is written and followed if "
        "it was drafted; the verification step is simpler than GSD's.",
        tuple(proof(f"{builder}: 24 toy runs write the text of plain decoding with the same seed",
            same_text(builder=builder), {"rule": "sequoia" if builder != "eagle2" else "naive"}) for builder in TREES),
        opens=(compare(("optimal", "race"), ("dyspec", "race"), temperature=0.8),),
    ),
    Entry(
        "algorithm-3", "Algorithm 3", "The optimal tree by priority queue, in k log k",
        "Adding the vertex that is most likely accepted, again and again, gives the optimal tree in O(k log k), less "
        "than Sequoia's dynamic programme.",
        (proof("The queue's tree is worth as much as the dynamic programme's, for 12 falling vectors and up to 64 "
            "nodes", queue(), {"width": 2}, bound=1e-9),),
        opens=(lab("tree", preset="races"),),
    ),
    Entry(
        "theorem-4-1", "Theorem 4.1", "No tree brings more than (log |Omega| + log(k + 1)) / H[R]",
        "The expected number of generated tokens of the optimal tree of k drafts is at most (log |Omega| + log(k + "
        "1)) / H[R]; for large k the entropy of which draft is accepted governs the speedup.",
        (
            proof("The optimal tree of 1 to 128 drafts keeps below the bound", tree_bound(kind="theorem 4.1"),
                {"alphabet": False}),
            proof("It keeps below the tighter bound by the number of leaves, log((k + 1)(|Omega| - 1) + 1) / H[R]",
                tree_bound(kind="leaves"), {"alphabet": False}),
        ),
        opens=(lab("sender"), lab("tree", preset="races")),
    ),
    Entry(
        "equation-6", "Equation 6", "KL(P || Q) <= H[R]",
        "Channel simulation: the divergence between target and draft is a lower bound of the entropy of which draft "
        "is accepted.",
        (
            proof("Rejection of independent drafts: KL <= H[R] on 120 pairs of distributions",
                index_bound(method="rejection"), {"method": "distinct"}, bound=1e-9),
            proof("Races of independent drafts: KL <= H[R] on 120 pairs of distributions", index_bound(method="race"),
                {"method": "distinct"}, bound=1e-9),
            proof("Drafts without replacement, as the paper draws them: KL <= H[R] on the same pairs",
                index_bound(method="distinct"), {}, bound=1e-9),
            claim("Along the texts H[R] of independent rejection exceeds KL, in bits", INDEX,
                less(share("H GSD"), share("KL")), ">", 0),
        ),
        (figure(means({"KL": "KL", "H GSD": "H[R], rejection", "H ERSD": "H[R], races",
            "bound": "KL + log(KL + 1) + 4"}, "Bits at a position"), INDEX),), (lab("sender"), lab("verification")),
    ),
    Entry(
        "equation-7", "Equation 7", "An upper bound for rejection (GSD)",
        "H[R] <= KL + (1 + epsilon) log(KL + 1) + O(1) for any epsilon > 0 (Harsha et al., for greedy rejection).",
        (claim("What H[R] exceeds KL + 2 log(KL + 1) by does not grow with KL along the texts: slope, bits per bit",
            INDEX, slope("GSD"), "<", 0),), (), (lab("verification"),),
    ),
    Entry(
        "equation-8", "Equation 8", "An upper bound for races (ERSD)",
        "H[R] <= KL + log(KL + 1) + 4 bits (Li and El Gamal, for the Poisson functional representation).",
        (
            proof("The bound holds on 120 pairs of distributions", index_bound(method="race", constant=4.0),
                {"constant": -4.0}),
            claim("Along the texts H[R] of races keeps below it", INDEX, less(share("H ERSD"), share("bound")), "<", 0),
        ),
        opens=(lab("sender"), lab("verification")),
    ),
    Entry(
        "lemma-4-2", "Lemma 4.2", "A tighter bound for few drafts",
        "Keep the ranks that the tree uses, spread the rest e over m equal ranks: tokens <= (log(N + m) + log(k + 1)) "
        "/ H[R'] for every integer m; figure 3 shows the minimum over m and a fixed m.",
        (proof("The optimal tree of 1 to 128 drafts keeps below the bound at its best m",
            tree_bound(kind="lemma 4.2"), {"alphabet": False}),),
        opens=(lab("tree", preset="races"),),
    ),
    Entry(
        "figure-3", "Figure 3", "Tokens against drafts: four strategies, two methods",
        "The optimal tree grows with the logarithm of the drafts and is best for GSD and ERSD; batch plateaus just "
        "below two, the sequence and the SpecInfer tree level off; GSD leads slightly for few drafts, then they "
        "converge (Llama-3.1 70B, 1B draft).",
        (
            *(claim(f"GSD, {k} drafts: the optimal tree brings more tokens along the texts than the {other}", ON_TEXT,
                less(per_pass(f"optimal tree {k}"), per_pass(f"{other} {k}")), ">", 0)
              for other, k in (("batch", 16), ("sequence", 16), ("SpecInfer tree", 32))),
            *(claim(f"ERSD, 24 drafts: the optimal tree brings more tokens in runs than the {other}",
                (run("optimal tree", 24, "ERSD"), run(other, 24, "ERSD")), less(per_pass()), ">", 0)
              for other in ("sequence", "SpecInfer tree")),
            claim("The SpecInfer tree of 16 drafts brings more than the sequence", ON_TEXT,
                less(per_pass("SpecInfer tree 16"), per_pass("sequence 16")), ">", 0),
            claim("GSD leads with the optimal tree of 2 drafts, in runs",
                (run("optimal tree", 2, "GSD"), run("optimal tree", 2, "ERSD")), less(per_pass()), ">", 0),
            claim("With 24 drafts they converge: GSD over ERSD within 5 %, in runs",
                (run("optimal tree", 24, "GSD"), run("optimal tree", 24, "ERSD")),
                  lambda a, b: per_pass()(a) / per_pass()(b), "within", (0.95, 1.05)),
        ),
        (figure(strategies, ON_TEXT), figure(in_runs, *(run(name, k, method) for method in ("GSD", "ERSD")
            for name in ("sequence", "optimal tree") for k in RUN))),
        (compare(("optimal:size=17", "sequoia"), ("optimal:size=17", "race"), temperature=1.0),),
    ),
    Entry(
        "figure-4", "Figure 4", "What one more draft brings",
        "The marginal acceptance of each further draft: for the first GSD is ahead, for later ones of a batch ERSD; "
        "the optimal tree's falls slowest.",
        (
            claim("The first draft: GSD's acceptance less ERSD's", WON, less(share("ceiling"), share("exact")), ">", 0),
            claim("The second to eighth draft of a batch together: ERSD's acceptance less GSD's", RATES,
                  lambda s: batch("ERSD", 8)(s) - batch("ERSD", 1)(s) - batch("GSD", 8)(s) + batch("GSD", 1)(s), ">",
                      0),
            *(claim(f"Drafts {k // 2 + 1} to {k}: the optimal tree's bring more than those of a {other}", ON_TEXT,
                less(marginal("optimal tree", k), marginal(other, k)), ">", 0)
              for other, k in (("batch", 16), ("batch", 32), ("sequence", 16))),
        ),
        (figure(marginals, ON_TEXT),), (compare(("batch:width=8", "sequoia"), ("batch:width=8", "race"),
            temperature=1.0),),
    ),
    Entry(
        "section-5", "Section 5, batch drafting", "Rejection leads for one draft, races for several",
        "For batches GSD outperforms ERSD with one draft, consistent with lemma 3.1; with two they are about equal, "
        "with more ERSD leads; both plateau just below two tokens.",
        (
            claim("1 draft: GSD's tokens less ERSD's", WON, less(share("ceiling"), share("exact")), ">", 0),
            claim("2 drafts: GSD's tokens less ERSD's; counted as equal within 0.03", RATES,
                less(batch("GSD", 2), batch("ERSD", 2)), "within", (-0.03, 0.03)),
            *(claim(f"{k} drafts: ERSD's tokens less GSD's", RATES, less(batch("ERSD", k), batch("GSD", k)), ">", 0)
                for k in (4, 8)),
            *(claim(f"{method}: 32 drafts bring just below two tokens; counted from 1.9", RATES, batch(method, 32),
                ">", 1.9) for method in ("GSD", "ERSD")),
        ),
        (figure(batches, RATES),), (tab("acceptance"),),
    ),
    *MEMORY,
    Entry(
        "appendix-c", "Appendix C", "The drafted tree is a Tunstall code",
        "The inner nodes of a Tunstall tree, grown by expanding the most probable leaf, are the optimal draft tree; "
        "its expected sequence length equals the number of generated tokens, so H E[L] <= the length of a codeword "
        "(equations 25 and 26).",
        (
            proof("The mean length of the leaves' sequences is the tree's tokens per pass",
                tunstall_code(kind="length"), {"last": 0}, bound=1e-9),
            proof("H E[L] is at most the length of a codeword, in bits", tunstall_code(kind="bits"), {"last": 0}),
        ),
        opens=(lab("sender"), lab("tree", preset="races")),
    ),
)  # fmt: skip

SOURCE = Source(
    "Exponential races", "Speculative Decoding via Exponential Races", "Kobus and Gündüz, 2025, arXiv 2504.15475.",
    "https://arxiv.org/abs/2504.15475",
    "Draft and target run the same race with their own rows; what arrives first under the target is written. "
    "Rejection sampling (GSD) and races (ERSD) are seen as channel simulation: the entropy of which draft is accepted "
    "bounds what any tree can bring.",
    ENTRIES,
)  # fmt: skip
