"""The table of drafters of docs/strategies.md, from what `bench --drafter ... --json` measured: `make renew` runs it.

Not a test: `python -m tests.drafter_table drafters.json` replaces the table.
"""

import json
import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "docs/strategies.md"
HEAD = (
    "| drafter | draft, ms per step | tales, T 0 | tales, T 0.8 | code, T 0 | code, T 0.8 |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: |\n"
)
TABLE = re.compile(r"(<!-- drafters -->\n)(\|.*\n)+")


def table(rows: list[dict]) -> str:
    """A line for each drafter, in the order of its first row."""
    lines = []
    for drafter in dict.fromkeys(row["name"] for row in rows):
        own = {row["setting"]: row for row in rows if row["name"] == drafter}
        spent = [1000 * row["parts"]["draft"] for row in own.values()]
        cells = [own[f"{kind}, T {heat}"] for kind in ("tales", "code") for heat in (0, 0.8)]
        shown = [f"{one['tokens_per_pass']:.2f}, {one['speedup']:.2f} x" for one in cells]
        lines.append(f"| {drafter} | {min(spent):.1f} to {max(spent):.1f} | {' | '.join(shown)} |\n")
    return HEAD + "".join(lines)


if __name__ == "__main__":
    measured = table(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    README.write_text(TABLE.sub(rf"\g<1>{measured}", README.read_text(encoding="utf-8"), count=1), encoding="utf-8")
    print(measured, end="")
