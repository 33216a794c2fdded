"""Sequoia: its algorithms, theorems and the figures on tokens."""

from __future__ import annotations

import math

from ..acceptance.vectors import expected_tokens
from .claim import claim, proof
from .entry import Entry, Lines, Table, compare, curves, figure, lab, live, tab
from .in_runs import counted
from .numbers import exponent, less, per_pass, straightness, times
from .on_rows import SIZES, WIDEST, WIDTHS, along, planned, rejection, shapes
from .proofs import best_of_all, closed_form, lemma_f4, lossless, n_0, scores, theorem_f2

TEMPERATURES = (0.2, 0.6, 1.0)
TITLES = {"sequoia": "Sequoia", "specinfer": "SpecInfer", "spectr": "SpecTr", "target-match": "Top-k", "naive": "Naive"}
RULES = ("sequoia", "specinfer", "target-match")
SEVERAL = WIDTHS[1:]  # with one child Sequoia, SpecInfer and SpecTr are one rule
NAMES = {"4-ary": "a 4-ary tree", "best sequences": "the best sequences"}
OTHERS = ("one sequence", "best sequences", "4-ary", "one level")
DRAFTS = {"early-exit": "Early exit", "medusa": "Heads", "eagle": "EAGLE's layer", "ngram": "N-grams"}
TREES = {16: "sequoia:size=16,depth=8", 64: "sequoia:size=64,depth=12"}
WITH = {  # by draft: its runs with 16 and 64 nodes, and with 7 sequences of 9 tokens
    drafter: [counted(f"{way} | target-match | {drafter}") for way in (*TREES.values(), "k-sequences:width=7,depth=9")]
    for drafter in DRAFTS
}


def most_above(rule: str, widths=SEVERAL):
    """The largest excess of Sequoia's rejection rate over another rule's at any number of children."""
    return lambda s: max((s[f"sequoia {k}"] - s[f"{rule} {k}"]) / s["positions"] for k in widths)


def excess(rule: str):
    """Mean excess of a rule's rejection rate over Sequoia's, as a share of it."""
    return lambda s: sum(s[f"{rule} {k}"] for k in SEVERAL) / sum(s[f"sequoia {k}"] for k in SEVERAL) - 1


def rates(temperature: float):
    """The figure of rejection rates."""

    def draw(s):
        series = {title: [(k, s[f"{rule} {k}"] / s["positions"]) for k in WIDTHS] for rule, title in TITLES.items()}
        return curves(f"children, temperature {temperature}", "rejection rate", series, log_x=True, log_y=True)

    return figure(draw, rejection(temperature=temperature))


def by_size(s) -> Lines:
    """Tokens along texts by size."""
    kinds = ("Sequoia", *OTHERS)
    series = {k: [(n, per_pass(f"{k} {n}")(s)) for n in SIZES if f"{k} {n} tokens" in s] for k in kinds}
    return curves("nodes", "tokens per pass along the texts", series, log_x=True)


def power_law(s) -> Lines:
    """The rejection rate with its power law."""
    rate, b = [(k, s[f"sequoia {k}"] / s["positions"]) for k in WIDTHS], exponent("sequoia", SEVERAL)(s)
    law = f"k^-{b:.2f}"
    series = {"measured": rate, law: [(k, rate[1][1] * (k / rate[1][0]) ** -b) for k in WIDTHS]}
    return curves("children", "rejection rate", series, (law,), log_x=True, log_y=True)


def where_it_begins(s) -> Table:
    """From which size on the proof holds."""
    b = exponent("sequoia", SEVERAL)(s)
    return Table(("b", "n_0 of the proof"), [[x, f"10^{n_0(x) / math.log(10):.1f}"] for x in (0.5, 0.71, b)])


grown = along(trees="sizes", temperature=0.8)
cool = along(trees="sizes", temperature=0.6)


def one_tree(rule: str, temperature: float, top_p: float = 1.0):
    """Tokens along texts that one tree brings under a rule."""
    return along(trees="tree", temperature=temperature, rule=rule, top_p=top_p)


def under_rules(x: str, settings: dict[float, tuple[float, ...]]):
    """Claims that one tree brings most tokens under Sequoia's rule at every setting, and their figure."""
    found = {rule: [one_tree(rule, *setting) for setting in settings.values()] for rule in RULES}
    claims = tuple(
        claim(f"{x.capitalize()} {value}: tokens under Sequoia's rule over those under {TITLES[rule]}'s",
            (own, other), times(per_pass("tree")), ">", 1)
        for rule in RULES[1:] for value, own, other in zip(settings, found["sequoia"], found[rule], strict=True)
    )  # fmt: skip

    def draw(*all_) -> Lines:
        brought = map(per_pass("tree"), all_)
        series = {TITLES[rule]: [(value, next(brought)) for value in settings] for rule in RULES}
        return curves(x, "tokens per pass along the texts", series)

    return claims, (figure(draw, *(data for each in found.values() for data in each)),)


def expected(n: int, temperature: float = 0.8):
    """F(T) of Sequoia's tree of n nodes with the vector of the texts."""

    def number(s):
        vector = tuple(min(1.0, s.get(f"rank {k}", 0.0) / s["positions"]) for k in range(1, WIDEST + 1))
        return expected_tokens(shapes("sizes", planned(temperature))[f"Sequoia {n}"], vector)

    return number


def last_doublings(name: str, first: int, last: int):
    return less(per_pass(f"{name} {last}"), per_pass(f"{name} {first}"))


ROBUST, BY_TOP_P = under_rules("top-p", {value: (1.0, value) for value in (0.8, 0.9, 1.0)})

ALGORITHMS = (
    Entry(
        "algorithm-1", "Algorithm 1", "The dynamic programme finds the best tree",
        "T[n, b] = max over m of T[n - m, b - 1] + P[b] max T[m, j] finds the tree of size N that maximises the "
        "expected number of tokens, for any vector (section 3.1.1; with bounded depth: algorithm 4).",
        (
            proof("No labelled tree of up to 7 nodes brings more, for 12 vectors, half of them rising", best_of_all(),
                {"sort": True}),
            proof("The same among trees of at most 2 levels", best_of_all(depth=2), {"sort": True},
                place="Algorithm 4"),
        ),
        opens=(lab("tree", preset="figure-5"),),
    ),
    Entry(
        "proposition-3-4", "Proposition 3.4", "Expected tokens are the sum of the nodes' scores",
        "Under the positional acceptance assumption (definition 3.1) a tree brings F(T) = sum over nodes of the "
        "product of P along the path. Appendix B names the assumption as the main theoretical limitation.",
        (
            proof("F(T) is the mean number of tokens over all outcomes, for every tree of 5 nodes", scores(),
                {"shift": 1}),
            *(
                claim(
                    f"Tokens along the texts over F(T), {n} nodes; counted as equal within 5 %",
                    grown, times(per_pass(f"Sequoia {n}"), expected(n)), "within", (0.95, 1.05),
                )
                for n in (8, 32, 128)
            ),
        ),
        (figure(lambda s: Table(("Nodes", "F(T) with the texts' own vector", "Tokens per pass along the texts"),
                                [[n, expected(n)(s), per_pass(f"Sequoia {n}")(s)] for n in SIZES]), grown),),
        (live("sequoia:size=16,depth=8", "sequoia"),),
    ),
    Entry(
        "theorem-3-6", "Theorem 3.6, F.2 and lemma F.4", "Tokens grow without end, about as the logarithm of the size",
        "If the rejection rate of k children is at most 1 / k^b, Sequoia's tree of n nodes brings Omega(b log n / log "
        "log n) tokens; the proof shows b log n / (10 log log n) for a k-ary tree (theorem F.2) of at least exp((1 + "
        "exp(2^(b + 1) / log 1.9))^b) nodes.",
        (
            proof("(1 - (1 - x)^m) / x >= m / 10 wherever m x <= log 1.9", lemma_f4(), {"divisor": 0.9},
                place="Lemma F.4"),
            proof("The proof's k-ary tree keeps to the bound from its n_0 on", theorem_f2(), {"divisor": 0.5},
                place="Theorem F.2"),
            claim("The rejection rate falls as a power law: R squared on log axes above 0.95",
                rejection(temperature=0.6),
                  straightness("sequoia", SEVERAL), ">", 0.95, "Definition 3.5"),
            claim("From 256 to 512 nodes tokens per pass still grow", grown, last_doublings("Sequoia", 256, 512), ">",
                0),
        ),
        (figure(power_law, rejection(temperature=0.6)), figure(where_it_begins, rejection(temperature=0.6))),
        (lab("tree", preset="figure-5"),),
    ),
    Entry(
        "figure-1", "Figure 1", "Sequoia's trees keep growing where other shapes level off",
        "The tokens of Sequoia's trees grow roughly with the logarithm of the size; k independent sequences and other "
        "shapes reach an asymptote (Pythia pairs on WikiText-103). One sequence is bounded by 1 / (1 - P1), k "
        "sequences by one more (section 3.1.2).",
        (
            *(
                claim(f"At {n} nodes the tree brings more tokens than {NAMES.get(other, other)}",
                      grown, less(per_pass(f"Sequoia {n}"), per_pass(f"{other} {n}")), ">", 0)
                for other, n in (("one sequence", 16), ("one level", 32), ("best sequences", 64), ("4-ary", 64),
                    ("4-ary", 512))
            ),
            *(
                claim(f"From 64 to 256 nodes it gains more than {name}", grown,
                      less(last_doublings("Sequoia", 64, 256), last_doublings(other, 64, 256)), ">", 0)
                for other, name in (("best sequences", "the best sequences"), ("4-ary", "a 4-ary tree"))
            ),
            claim("The texts keep one sequence of 15 drafts below 1 / (1 - P1)", (grown, rejection(temperature=0.8)),
                  lambda s, r: per_pass("one sequence 16")(s) * r["sequoia 1"] / r["positions"], "<", 1,
                      "Section 3.1.2"),
        ),
        (figure(by_size, grown),), (lab("tree", preset="builders"),),
    ),
    Entry(
        "figure-6", "Figure 6", "The same with other drafts",
        "For several pairs of Pythia models on WikiText-103 Sequoia's trees bring more tokens than other shapes, and "
        "keep growing. Other drafts of one target take the pairs' place here.",
        tuple(
            one for (few, many, several), title in zip(WITH.values(), DRAFTS.values(), strict=True) for one in (
                claim(f"{title}: 64 nodes bring more tokens than 7 sequences of 9 tokens, in runs", (many, several),
                    less(per_pass()), ">", 0),
                claim(f"{title}: from 16 to 64 nodes tokens per pass still grow, in runs", (many, few),
                    less(per_pass()), ">", 0),
            )
        ),
        (figure(lambda *all_: Table(("Draft", *(f"{n} nodes" for n in TREES), "7 sequences of 9"), [
            [title, *(per_pass()(s) for s in all_[3 * i : 3 * i + 3])] for i, title in enumerate(DRAFTS.values())]),
            *(data for each in WITH.values() for data in each)),),
        tuple(live(TREES[64], "target-match", 0.6, drafter, title) for drafter, title in DRAFTS.items()),
    ),
    Entry(
        "algorithm-2", "Algorithm 2", "Sampling without replacement keeps the target's distribution",
        "Children are drawn without replacement, uniformly among the rest once the draft's tokens are used up, and "
        "verified with min(1, R / D); the output distribution is the target's (proof in appendix F.2.1).",
        (
            proof("As printed, two steps of a toy pair write the target's exact distribution",
                  lossless(builder="sequoia", rule="sequoia", scheme="distinct"), {"scheme": "iid"}),
            proof("So they do where the draft has one token and the rest comes from the uniform fallback",
                  lossless(builder="sequoia", rule="sequoia", scheme="distinct", cut=True), {"rule": "specinfer"}),
        ),
        opens=(live("sequoia", "sequoia"), lab("verification")),
    ),
    Entry(
        "theorem-3-7", "Theorem 3.7", "Optimal transport and cover: only Sequoia has both",
        "Sequoia has both properties; SpecInfer and SpecTr lack cover (p = [1, 0], q = [1/2, 1/2]: SpecInfer rejects "
        "with 25 %, SpecTr accepts with 0.75); top-k lacks optimal transport (p = q = [0.6, 0.4]: it accepts with "
        "0.6, not 1) (appendix F.3).",
        tuple(
            proof(f"{TITLES[rule]} accepts {where[0]} with chance {printed:g} where {where[1]}",
                closed_form(rows=rows, printed=printed, rule=rule), {"rule": wrong})
            for rows, where in (("same", ("one child", "q = p = [0.6, 0.4]")),
                ("cover", ("one of two", "p = [1, 0], q = [1/2, 1/2]")))
            for rule, printed, wrong in (
                ("sequoia", 1, {"same": "target-match", "cover": "specinfer"}[rows]),
                ("specinfer", {"same": 1, "cover": 0.75}[rows], "target-match"),
                ("spectr", {"same": 1, "cover": 0.75}[rows], "target-match"),
                ("target-match", {"same": 0.6, "cover": 1}[rows], "specinfer"),
            )
        ),
        opens=(lab("verification", preset="cover"),),
    ),
    Entry(
        "figure-3", "Figure 3", "Rejection rate against the number of children",
        "At temperatures 0.2, 0.6 and 1.0 Sequoia's rule rejects least of all at every number of children and follows "
        "a power law; SpecTr and SpecInfer do well at high and badly at low temperatures, top-k the opposite "
        "(WikiText-103).",
        (
            *(
                claim(f"Temperature {t}: {TITLES[rule]} rejects more at every number of children from 2",
                      rejection(temperature=t), most_above(rule), "<", 0)
                for t in TEMPERATURES for rule in ("specinfer", "spectr", "target-match")
            ),
            *(
                claim(f"{TITLES[rule]} rejects more beside Sequoia at temperature {high} than at {low}",
                      (rejection(temperature=high), rejection(temperature=low)), less(excess(rule)), ">", 0)
                for rule, high, low in (("specinfer", 0.2, 1.0), ("spectr", 0.2, 1.0), ("target-match", 1.0, 0.2))
            ),
        ),
        tuple(rates(t) for t in TEMPERATURES), (tab("acceptance"),),
    ),
    Entry(
        "figure-4-left", "Figure 4, left", "The tree brings more than sequences of the same size",
        "Sequoia's trees bring up to 33 % more tokens a pass than k independent sequences (size up to 512), with "
        "Sequoia's rule for both; Llama2-13B, 68 M draft, temperature 0.6, CNN.",
        (
            *(
                claim(f"{n} nodes: tokens of the tree over those of the best sequences", cool,
                      times(per_pass(f"Sequoia {n}"), per_pass(f"best sequences {n}")), ">", 1)
                for n in (16, 64, 256)
            ),
            claim("The largest gain over sequences of at most 512 nodes is 33 %; counted as equal from 23 to 43 %",
                cool,
                  lambda s: max(times(per_pass(f"Sequoia {n}"), per_pass(f"best sequences {n}"))(s) for n in SIZES
                      if f"best sequences {n} tokens" in s),
                  "within", (1.23, 1.43)),
        ),
        (figure(by_size, cool),),
        (compare(("sequoia:size=33,depth=8", "sequoia"), ("k-sequences:width=4,depth=8", "sequoia"), temperature=0.6),),
    ),
    Entry(
        "table-8", "Table 8", "Robust to top-p",
        "With one tree, Sequoia's rule is fastest at top-p 0.8, 0.9 and 1.0.",
        ROBUST, BY_TOP_P,
        (compare(("sequoia", "sequoia"), ("sequoia", "target-match"), temperature=1.0, top_p=0.8),),
        Table(("Top-p", "Sequoia", "SpecInfer", "Top-k"), (
            (0.8, "2.54 x (3.18)", "2.35 x (2.93)", "2.43 x (2.90)"),
            (0.9, "2.61 x (3.27)", "2.42 x (3.01)", "2.27 x (2.71)"),
            (1.0, "2.69 x (3.26)", "2.55 x (3.10)", "2.12 x (2.44)"),
        )),
    ),
)  # fmt: skip
