"""SVIP: a chain that stops where the draft is in doubt."""

from __future__ import annotations

from .bounds_hold import bound_holds, bound_proof
from .claim import Data, claim, proof
from .entry import Entry, Lines, Source, Table, compare, curves, figure, lab, live, printed, tab
from .in_runs import counted, speeds
from .numbers import correlation, faster, less, share, speed, times
from .on_rows import DOUBTS, C, bounds, uncertainty
from .proofs import corrected_law, lossless
from .svip_on_top import ON_TOP

SVIP = "svip:h=0.4"  # the source's own threshold for one of its pairs, chosen on none of the texts here
POLICIES = {"constant 5": "chain:depth=5", "heuristic": "heuristic", "SVIP": SVIP}
HERE = tuple(POLICIES.values())
THRESHOLDS, PAPERS = (0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.4, 2.0), (0.2, 0.3, 0.4, 0.5)
TRIED = {
    t: speeds(ways=tuple(f"svip:h={h}" for h in THRESHOLDS), temperature=t, draft_temperature=1.0) for t in (0.0, 1.0)
}
GROUPS = range(len(DOUBTS) - 1)
SAMPLED, GREEDY, READ = uncertainty(temperature=1.0), uncertainty(temperature=0.0), bounds(temperature=1.0)


def policy(name: str, temperature: float) -> Data:
    """Runs of a policy, in counts; the stop looks at the draft's entropy at temperature 1."""
    return counted(f"{POLICIES[name]} | speculative-sampling", temperature, 1.0)


def timed(temperature: float, kind: str = "", tokens: int = 64) -> Data:
    """The policies timed."""
    return speeds(ways=HERE, temperature=temperature, tokens=tokens, kind=kind, draft_temperature=1.0)


def by_doubt(name: str, count: str, y: str):
    """The figure of a mean by the draft's entropy."""

    def draw(s) -> Lines:
        kept = [i for i in GROUPS if s[f"n {i}"] and s[f"{count} {i}"]]
        points = [(s[f"x {i}"] / s[f"n {i}"], s[f"{name} {i}"] / s[f"{count} {i}"]) for i in kept]
        return curves("entropy of the draft at temperature 1, nats", y, {"here": points})

    return draw


def lengths(*all_) -> Lines:
    """Accepted length by the draft's entropy, both ways of decoding."""
    names, draw = ("greedy", "temperature 1"), by_doubt("length", "m", "")
    series = {name: draw(s).series[0].points for name, s in zip(names, all_, strict=True)}
    return curves("entropy of the draft at temperature 1, nats", "accepted length of a chain", series)


def how_many(s) -> Table:
    """Where the positions lie."""
    ends = [*(f"up to {end:g}" for end in DOUBTS[1:-1]), "above"]
    rows = [[ends[i], f"{100 * s[f'n {i}'] / s['acceptance']:.0f} %"] for i in GROUPS]
    return Table(("Entropy, nats", "Positions"), rows)


def tuned(s) -> float:
    """The speed of the best threshold of the paper's four over that of the best larger one."""
    fastest = {few: max(speed(f"svip:h={h}")(s) for h in THRESHOLDS if (h in PAPERS) == few) for few in (True, False)}
    return fastest[True] / fastest[False]


def lengths_and_rates(*all_) -> Table:
    """Drafted and accepted length by policy."""
    names = [(t, name) for t in (0.0, 1.0) for name in POLICIES]
    rows = [
        [t, name, s["nodes"] / s["passes"], s["accepted"] / s["passes"], s["accepted"] / s["nodes"]]
        for (t, name), s in zip(names, all_, strict=True)
    ]
    return Table(("Temperature", "Policy", "Drafted a step", "Accepted a step", "Rate"), rows)


def gains(t: float, printed: tuple[float, float]):
    """SVIP against both other policies on each kind of text."""
    against = (("chain:depth=5", "the constant length"), ("heuristic", "the heuristic"))
    each = [
        claim(f"{kind.capitalize()}: SVIP over {name}, speed", timed(t, kind), faster(SVIP, other), ">", 1)
        for kind in ("prose", "code")
        for other, name in against
    ]
    says = "SVIP over the constant length, speed; the printed averages"
    return (*each, claim(says, timed(t), faster(SVIP, "chain:depth=5"), "within", printed))


ENTRIES = (
    Entry(
        "equation-2", "Equations 1 to 3", "The chance to accept is 1 - TV",
        "beta = sum over x of q(x) min(1, p(x) / q(x)) = sum min(p, q) = 1 - TVD(p, q).",
        (proof("Both sides are equal on 120 pairs of distributions and along two texts", bound_holds(kind="acceptance"),
            {"factor": 0.9}),),
        opens=(lab("verification", preset="transport"), live("chain", "speculative-sampling", 1.0)),
    ),
    Entry(
        "equation-5", "Equations 4 and 5", "A lower bound from cross-entropy and entropy",
        "beta >= 1 - sqrt(KL(q || p) / 2) = 1 - sqrt(H(q, p) / 2 - H(q) / 2), by Pinsker's inequality.",
        (bound_proof("The bound", "pinsker", 0.5),),
        opens=(tab("acceptance"),),
    ),
    Entry(
        "figure-2", "Figure 2", "Where the draft is in doubt, less is accepted",
        "Over more than a million tokens at temperature 1 there is a strong negative correlation between the draft's "
        "entropy and acceptance; at low entropy dozens of tokens in a row are accepted (drafts of at most 40).",
        (
            claim("Entropy and acceptance correlate strongly; counted from -0.5", SAMPLED, correlation("acceptance"),
                "<", -0.5),
            claim("Entropy and accepted length correlate negatively", SAMPLED, correlation("length"), "<", 0),
            claim("Below 0.05 nats dozens of tokens are accepted in a row; counted from 24", SAMPLED,
                lambda s: s["length 0"] / s["m 0"], ">", 24),
        ),
        (figure(by_doubt("share", "n", "acceptance"), SAMPLED), figure(how_many, SAMPLED),
            figure(by_doubt("length", "m", "accepted length of a chain"), SAMPLED)),
        (tab("acceptance"),),
    ),
    Entry(
        "figure-3", "Figure 3", "Cross-entropy is about a constant times the draft's entropy",
        "For Pythia, Qwen2.5 and LLaMA-3 the ratio H(q, p) / H(q) is concentrated between 1.0 and 1.3.",
        (
            claim("More than half of the ratios lie between 1.0 and 1.3", READ, share("1 to 1.3", "ratios"), ">", 0.5),
            claim("Fewer than a quarter lie above 1.3", READ,
                lambda s: 1 - (s["1 to 1.3"] + s["below 1"]) / s["ratios"], "<", 0.25),
        ),
        (figure(lambda s: Table(("H(q, p) / H(q)", "Positions"), [
            ["below 1", f"{100 * s['below 1'] / s['ratios']:.0f} %"],
                ["1 to 1.3", f"{100 * s['1 to 1.3'] / s['ratios']:.0f} %"],
            ["above 1.3", f"{100 - 100 * (s['below 1'] + s['1 to 1.3']) / s['ratios']:.0f} %"]]), READ),),
        (tab("acceptance"),),
    ),
    Entry(
        "figure-4", "Figure 4, equation 6", "The bound, and the estimate that needs the draft alone",
        "beta >= 1 - sqrt(c H(q)) approximates the bound of equation 5 with the draft's entropy alone; drawn beside "
        "the "
        f"acceptance for positions sorted by it. The authors' code has c = {C}.",
        (
            claim(f"The estimate (c = {C}) keeps below the acceptance at more than half of the positions", READ,
                share("under"), ">", 0.5),
            claim("It is about as far from the acceptance as the bound: mean distances, estimate over bound, 0.8 to "
                "1.25", READ,
                  share("estimate off", "bound off"), "within", (0.8, 1.25)),
        ),
        (figure(lambda s: Table(("Mean over positions", "Value"), [["distance of the bound",
            s["bound off"] / s["positions"]], ["distance of the estimate", s["estimate off"] / s["positions"]]]),
                READ),),
        (tab("acceptance"),),
    ),
    Entry(
        "algorithm-1", "Algorithm 1", "Stop after the first token drawn in doubt",
        "Draft until sqrt(H(q)) > h; the token just sampled is kept. The output distribution is the target's.",
        tuple(proof(f"Under {name} two steps of a toy pair write the target's exact distribution",
            lossless(builder="svip", rule=rule), {"rule": "typical"})
              for rule, name in (("speculative-sampling", "speculative sampling"), ("block", "block verification"),
                  ("target-match", "matching the target's draw"))),
        opens=(live("svip:h=0.4", "speculative-sampling", 1.0),),
    ),
    Entry(
        "correct", "Section 2.1 and algorithm 4", "The residual has its sign reversed in print",
        "“A corrected token is sampled from the residual distribution” max(q - p, 0), normalised.",
        (
            proof("As printed, max(q - p, 0), the distribution of one token is the target's",
                corrected_law(residual="q - p"), {"residual": "p"}),
            proof("With max(p - q, 0), as in the authors' code, it is", corrected_law(residual="p - q"),
                {"residual": "q - p"}),
        ),
        opens=(lab("verification", preset="several"),),
    ),
    Entry(
        "threshold", "Section 3.1.1", "Choosing h on held-out prompts",
        "h is chosen from 0.2, 0.3, 0.4 and 0.5 by performance on 8 samples held out from MT-Bench: 0.4 for Pythia, "
        "0.3 for Qwen2.5 and LLaMA-3; 0.5 on GliDe (section 3.3).",
        tuple(claim(f"Temperature {t:g}: the best of 0.2 to 0.5 over the best of 0.7 to 2, speed", data, tuned, ">", 1)
              for t, data in TRIED.items()),
        tuple(figure(lambda s: curves("threshold h, c = 1", "speedup",
            {"here": [(h, faster(f"svip:h={h}")(s)) for h in THRESHOLDS]}), data) for data in TRIED.values()),
        (live("svip", "speculative-sampling"),),
    ),
    Entry(
        "table-1", "Table 1", "Speedup by policy, greedy",
        "SVIP is faster than a constant length of 5 by 14.8 % (Pythia), 20.6 % (Qwen2.5) and 20.9 % (LLaMA-3) on "
        "SpecBench at temperature 0, and beats the heuristic nearly everywhere.",
        gains(0.0, (1.14, 1.21)), (), (compare(("svip", "exact-match"), ("heuristic", "exact-match"),
            temperature=0.0),),
        printed("SVIP", "Table 1"),
    ),
    Entry(
        "figure-5", "Figures 5 to 7", "Shorter drafts, more of them accepted",
        "SVIP leads to shorter drafts and a higher acceptance rate: about 80 % or more for Qwen2.5 and more than 90 % "
        "for LLaMA-3 in greedy decoding.",
        (
            *(claim(f"Temperature {t:g}: SVIP's drafts over those of {other}, length",
                (policy("SVIP", t), policy(other, t)), times(share("nodes", "passes")), "<", 1)
              for t in (0.0, 1.0) for other in ("constant 5", "heuristic")),
            *(claim(f"Temperature {t:g}: accepted share of SVIP's drafts less that of {other}",
                (policy("SVIP", t), policy(other, t)), less(share("accepted", "nodes")), ">", 0)
              for t in (0.0, 1.0) for other in ("constant 5", "heuristic")),
            claim("Greedy: more than 80 % of SVIP's drafts are accepted", policy("SVIP", 0.0),
                share("accepted", "nodes"), ">", 0.8),
        ),
        (figure(lengths_and_rates, *(policy(name, t) for t in (0.0, 1.0) for name in POLICIES)),), (tab("acceptance"),),
    ),
    Entry(
        "table-2", "Table 2", "Long texts, sampling",
        "At temperature 1 SVIP speeds up Pythia 1.07 to 1.44 times and Qwen2.5 1.29 to 1.35 times from 128 to 8K "
        "tokens, where the others slow down or stay level, but for the heuristic on Pythia from 4K on (up to 1.25); "
        "LLaMA-3 1.69 to 2.02. The lengths from 512 on do not fit into this pair's window.",
        (
            claim("384 tokens: SVIP over plain decoding, speed", timed(1.0, tokens=384), faster(SVIP), ">", 1),
            claim("384 tokens: SVIP over the constant length, speed", timed(1.0, tokens=384),
                faster(SVIP, "chain:depth=5"), ">", 1),
        ),
        opens=(compare(("svip", "block"), ("chain:depth=5", "block"), temperature=1.0, max_new_tokens=256),),
    ),
    *ON_TOP,
    Entry(
        "appendix-b", "Appendix B", "Another bound, and which is tighter",
        "beta >= 1 - sqrt(1 - exp(-KL)) (Bretagnolle and Huber) is never negative, but Pinsker's is 11 % tighter for "
        "Qwen2.5, 20 % for Pythia and 43 % for LLaMA-3. How tightness is measured is not said; here it is the mean "
        "distance to the acceptance.",
        (
            bound_proof("The other bound", "huber", 0.5),
            claim("Pinsker's bound is 11 to 43 % tighter", READ,
                lambda s: 1 - (s["share"] - s["pinsker"]) / (s["share"] - s["huber"]), "within", (0.11, 0.43)),
            claim("It is the higher one at more than half of the positions", READ, share("tighter", "finite"), ">",
                0.5),
        ),
        opens=(tab("acceptance"),),
    ),
    Entry(
        "table-5", "Table 5", "Speedup by policy, sampling",
        "At temperature 1 SVIP gains 56.9 % (Pythia) and 25.0 % (Qwen2.5) over the constant length and loses 1.3 % "
        "(LLaMA-3).",
        gains(1.0, (0.98, 1.57)), (), (compare(("svip", "speculative-sampling"),
            ("heuristic", "speculative-sampling"), temperature=1.0),),
        Table(("Target, average", "Constant", "Heuristic", "SVIP"), (("Pythia 6.9B", 0.65, 0.83, 1.02),
            ("Qwen2.5 14B", 0.96, 0.99, 1.20), ("LLaMA-3 70B", 1.60, 1.58, 1.58))),
    ),
    Entry(
        "table-6", "Table 6", "Long texts, greedy decoding",
        "Greedy texts repeat themselves, so speedups are higher than in table 2 (appendix D): LLaMA-3 2.31 at 128 to "
        "4.33 at 8K tokens with SVIP.",
        (
            claim("384 tokens: SVIP over plain decoding, greedy over sampled",
                (timed(0.0, tokens=384), timed(1.0, tokens=384)), times(faster(SVIP)), ">", 1),
            claim("384 tokens, greedy: SVIP over the constant length, speed", timed(0.0, tokens=384),
                faster(SVIP, "chain:depth=5"), ">", 1),
        ),
        opens=(compare(("svip", "block"), ("chain:depth=5", "block"), temperature=0.0, max_new_tokens=256),),
    ),
    Entry(
        "figure-8", "Figure 8", "The same in greedy decoding",
        "In the greedy setting the correlation between entropy and accepted length is much stronger, as models repeat "
        "themselves.",
        (
            claim("Entropy and accepted length correlate negatively in greedy decoding", GREEDY,
                correlation("length"), "<", 0),
            claim("More strongly than at temperature 1: greedy correlation less the sampled one", (GREEDY, SAMPLED),
                less(correlation("length")), "<", 0),
        ),
        (figure(lengths, GREEDY, SAMPLED),), (tab("acceptance"),),
    ),
)  # fmt: skip

SOURCE = Source(
    "SVIP", "Draft Model Knows When to Stop: A Self-Verification Length Policy for Speculative Decoding",
    "Zhang, Xu, Liang, Chen, He, Wang and Tu, 2024, arXiv 2411.18462v1.", "https://arxiv.org/abs/2411.18462v1",
    "A chain ends with the first token drawn from a row of high entropy. The printed threshold h multiplies no "
    "constant, so c is 1 here. Note that the paper prints the residual as max(q - p, 0), in section 2.1 and in its "
    "algorithm 4; that is a misprint for max(p - q, 0), as its code has it.",
    ENTRIES,
)  # fmt: skip
