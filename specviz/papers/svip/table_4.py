"""Table 4: the entropy test on a tree."""

from ...builders import BUILDERS
from ...verifiers import VERIFIERS
from ..bench import drafted, speedup, tokens_per_pass
from ..entry import Entry, Table, compare, judge

TEMPERATURE = 1.0


def measure(bench):
    prompts, rows = bench.prompts[:6], []
    plain = bench.plain(TEMPERATURE, prompts)
    for name, builder in (("EAGLE-2's tree", BUILDERS["eagle2"]()), ("SVIP's test on a tree", BUILDERS["svip-tree"]())):
        runs = bench.runs(builder, TEMPERATURE, VERIFIERS["target-match"](), prompts)
        rows.append([name, speedup(runs, plain), tokens_per_pass(runs), drafted(runs)])
    return {"rows": rows}


def told(data):
    eagle, ours = data["rows"]
    each = [row[2] / max(row[3], 1e-9) for row in (eagle, ours)]
    return judge(
        ours[1] > eagle[1],
        f"With this pair's own draft model in place of EAGLE's head: {eagle[1]:.2f} times plain decoding for the "
        f"re-ranked tree and {ours[1]:.2f} for a tree that stops in doubt; tokens a pass for every drafted node "
        f"{each[0]:.2f} and {each[1]:.2f}.",
        f"With this pair's own draft model in place of EAGLE's head the re-ranked tree runs {eagle[1]:.2f} times as "
        f"fast as plain decoding and the tree that stops in doubt {ours[1]:.2f} times: it drafts {ours[3]:.0f} nodes "
        f"a step against {eagle[3]:.0f}. The paper keeps EAGLE-2's tree and only stops its levels early.",
    )


ENTRY = Entry(
    "table-4",
    "Table 4",
    "On top of EAGLE-2",
    "SVIP adds about 5 % for Vicuna 7B and 13B and 2 % for LLaMA-2 with EAGLE-2, testing the entropy after every "
    "second level.",
    told,
    quoted=Table(
        ("Target", "EAGLE-2", "+ SVIP"),
        (
            ("LLaMA-2 7B", 3.10, 3.16),
            ("LLaMA-2 13B", 3.41, 3.46),
            ("Vicuna 7B", 2.58, 2.73),
            ("Vicuna 13B", 2.83, 2.98),
        ),
    ),
    measure=measure,
    how="timed",
    opens=(
        compare(
            (BUILDERS["eagle2"](), VERIFIERS["target-match"]()),
            (BUILDERS["svip-tree"](), VERIFIERS["target-match"]()),
            temperature=TEMPERATURE,
        ),
    ),
    shown=lambda data: [Table(("Tree", "Speedup", "Tokens a pass", "Nodes drafted"), data["rows"])],
)
