"""The table of drafters of docs/strategies.md: `make renew` measures it again.

Not a test: `python -m tests.drafter_table drafters.jsonl` measures what the file lacks and replaces
the table.
"""

import json
import re
import sys
from pathlib import Path

from specviz.base.files import HELD_OUT
from specviz.measure.grid import cells_of, measure_cell
from specviz.measure.results import append_result, read_results

DOCUMENT = Path(__file__).resolve().parent.parent / "docs/strategies.md"
DRAFTERS = (
    "model",
    "medusa",
    "eagle",
    "block",
    "ngram",
    "retrieval",
    "several",
    "cascade",
    "early-exit",
    "layer-skip",
)
GRID = {
    "builders": ["sequoia:size=7,depth=4"],
    "drafters": list(DRAFTERS),
    "temperatures": [0, 0.8],
    "rounds": 2,
}
KINDS = {"prose": "tales", "code": "code"}
HEAD = (
    "| drafter | draft, ms per step | tales, T 0 | tales, T 0.8 | code, T 0 | code, T 0.8 |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: |\n"
)
TABLE = re.compile(r"(<!-- drafters -->\n)(\|.*\n)+")


def measure(path: str) -> dict[tuple[str, str, float], dict]:
    """The results by drafter, kind of text and temperature."""
    results, rows = read_results(path), {}
    for kind, prompts in json.loads(HELD_OUT.read_text(encoding="utf-8")).items():
        cells, prompts = cells_of(GRID, prompts[:5])
        for cell in cells:
            if "result" not in results.get(cell.key, {}):
                results[cell.key] = measure_cell(cell, prompts)
                append_result(path, results[cell.key])
            at = cell.data["drafter"], KINDS[kind], cell.data["temperature"]
            rows[at] = results[cell.key]["result"]
    return rows


def table(rows: dict[tuple[str, str, float], dict]) -> str:
    """A line for each drafter, in the order of its first row."""
    lines = []
    for drafter in dict.fromkeys(drafter for drafter, _, _ in rows):
        cells = [rows[drafter, kind, heat] for kind in KINDS.values() for heat in (0, 0.8)]
        spent = [one["parts_ms"]["draft"] for one in cells]
        texts = [f"{one['tokens_per_pass']:.2f}, {one['speedup']:.2f} x" for one in cells]
        lines.append(
            f"| {drafter} | {min(spent):.1f} to {max(spent):.1f} | {' | '.join(texts)} |\n"
        )
    return HEAD + "".join(lines)


if __name__ == "__main__":
    measured = table(measure(sys.argv[1]))
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(TABLE.sub(rf"\g<1>{measured}", text, count=1), encoding="utf-8")
    print(measured, end="")
