"""DySpec: what drafting costs, and trees for a target whose weights lie on a disk."""

from __future__ import annotations

from .claim import Data, claim, missing
from .entry import Entry, Table, compare, figure, live, printed, tab
from .in_runs import construction, counted, latency, speeds
from .numbers import faster, less, per_pass, share, times


def threshold(size: int, temperature: float = 0.6, fixed: float | None = None) -> Data:
    """A tree by threshold."""
    more = "" if fixed is None else f",threshold={fixed}"
    return counted(f"dyspec-threshold:size={size},depth={16 if size < 200 else 24}{more} | dyspec", temperature, 0.6)


def greedy(size: int, temperature: float = 0.6) -> Data:
    """A tree node by node."""
    return counted(f"dyspec:size={size},depth=16,batch=1 | dyspec", temperature, 0.6)


def on_disk(temperature: float, ways: tuple[str, ...]) -> Data:
    """Plain decoding and other ways with the target's layers on the disk."""
    return speeds(ways=ways, temperature=temperature, tokens=32, draft_temperature=0.6, offload="disk")


# By temperature: DySpec's and Sequoia's trees for a target whose layers are read from the disk at every pass.
FROM_DISK = {
    t: (f"dyspec-threshold:size=64,depth=12 | {dyspec}", f"sequoia:size=64,depth=12 | {sequoia}")
    for t, dyspec, sequoia in ((0.0, "exact-match", "exact-match"), (0.6, "dyspec", "sequoia"))
}
DISK = {t: on_disk(t, ways) for t, ways in FROM_DISK.items()}
IN_MEMORY = speeds(ways=FROM_DISK[0.0], temperature=0.0, tokens=32, draft_temperature=0.6)
LATENCY = {
    "Node by node": latency(builder="dyspec:size=32,depth=16,batch=1", temperature=0.6),
    "Level by level": latency(builder="dyspec-threshold:size=32,depth=16", temperature=0.6),
}

COSTS = (
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
        "equation-3", "Section 4.3, equation 3", "The latency of a token: N draft passes and one of the target",
        "A step of the greedy method takes N T_d + T_t for N nodes, drawn level by level D T_d + T_t for D levels; "
        "divided by the accepted tokens this is the latency of a token. Here T_d and T_t are measured by themselves.",
        (
            *(claim(f"{way}: seconds of a run over equation 3's; counted as equal from 0.85 to 1.15",
                data, share("seconds", "predicted"), "within", (0.85, 1.15)) for way, data in LATENCY.items()),
            claim("Equation 3's seconds a token level by level over those node by node",
                tuple(reversed(LATENCY.values())), times(share("predicted", "tokens")), "<", 1),
            claim("Timed seconds a token level by level over those node by node",
                tuple(reversed(LATENCY.values())), times(share("seconds", "tokens")), "<", 1),
        ),
        (figure(lambda *all_: Table(("Tree of 32 nodes", "Equation 3, ms a token", "Timed, ms a token", "T_d / T_t"), [
            [way, 1000 * s["predicted"] / s["tokens"], 1000 * s["seconds"] / s["tokens"], s["draft"] / s["target"]]
            for way, s in zip(LATENCY, all_, strict=True)]), *LATENCY.values()),),
        (live("dyspec:size=32,batch=1", "dyspec", 0.6),),
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
        "table-3", "Table 3", "Llama2-70B with offloading, 64 nodes",
        "The text has up to 9.1 times the throughput and 9.4 times less latency; the table has 5.60 s against 0.54 s "
        "a token on C4 at temperature 0, which is 10.4 times less.",
        (
            missing("Latency of plain decoding over DySpec's, C4, temperature 0, Llama2-70B", ">", 9.4,
                "A target of 70 B parameters is not available here."),
            *(
                one for t, data in DISK.items() for one in (
                    claim(f"Temperature {t:g}, this pair's target on the disk: DySpec over plain decoding, speed", data,
                        faster(FROM_DISK[t][0]), ">", 1),
                    claim(f"Temperature {t:g}, this pair's target on the disk: DySpec over Sequoia, speed", data,
                        faster(*FROM_DISK[t]), ">", 1),
                )
            ),
            claim("Temperature 0: on the disk DySpec's tree gains more over plain decoding than in main memory",
                (DISK[0.0], IN_MEMORY), less(faster(FROM_DISK[0.0][0])), ">", 0),
        ),
        opens=(tab("speedup"),),
        quoted=printed("DySpec", "Table 3"),
    ),
)  # fmt: skip
