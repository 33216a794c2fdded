"""The size and shape of every room, in tokens of code: what `make house` prints.

Tokens are those of Python's `tokenize` without comments, docstrings and line ends, so a line may be
a line. A folder with its sub-folders is a room, and so is a file at a package's root.

`house.json` has a limit for each room, its size rounded up; `python -m tests.house --renew` writes
it again, after a room has become smaller, or where it must grow.
"""

from __future__ import annotations

import ast
import io
import json
import sys
import tokenize
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

from tests.test_architecture import FILES, ROOT, file_of, imports, relative

IGNORED = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
GOAL = 175_000  # tokens of specviz/ and app/ together
LIMITS = Path(__file__).with_name("house.json")  # room -> most tokens
STEP = 200  # tokens to which a limit is rounded up
WIDTH = 100


def count_tokens(source: str) -> tuple[int, int]:
    """Tokens of code of a module, and the lines on which they stand."""
    tokens = 0
    lines: set[int] = set()
    before = None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        at_start = before is None or before.type in IGNORED
        docstring = token.type == tokenize.STRING and token.string.startswith('"""') and at_start
        if token.type not in IGNORED and not docstring:
            tokens += 1
            lines.update(range(token.start[0], token.end[0] + 1))
        before = token
    return tokens, len(lines)


def room_of(path: Path) -> str:
    """The room of a file: "specviz/proof", "specviz/tree"; the doors of a package are not one."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return "/".join(parts[:2])


def floors(arrows: dict[str, set[str]]) -> int:
    """How many rooms stand on each other."""
    height: dict[str, int] = {}
    for room in TopologicalSorter(arrows).static_order():
        height[room] = 1 + max((height[below] for below in arrows.get(room, ())), default=0)
    return max(height.values())


def density(trees: list[ast.AST]) -> Counter[str]:
    """How often control flow stands inside expressions."""
    found: Counter[str] = Counter()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
                found["comprehensions"] += 1
            elif isinstance(node, ast.IfExp):
                found["conditional expressions"] += 1
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
                found["packed assignments"] += isinstance(node.targets[0], ast.Tuple)
            elif isinstance(node, ast.Name) and node.id == "Any":
                found["Any"] += 1
    return found


def sizes() -> tuple[Counter[str], Counter[str]]:
    """Tokens of code of each room, and the lines on which they stand."""
    tokens: Counter[str] = Counter()
    code_lines: Counter[str] = Counter()
    for path in FILES:
        count, lines = count_tokens(path.read_text(encoding="utf-8"))
        tokens[room_of(path)] += count
        code_lines[room_of(path)] += lines
    return tokens, code_lines


def read_limits() -> dict[str, int]:
    """The most tokens that each room may have."""
    return json.loads(LIMITS.read_text(encoding="utf-8"))


def renew() -> None:
    """Write the limits: today's sizes, rounded up."""
    limits = {room: -(-count // STEP) * STEP for room, count in sorted(sizes()[0].items())}
    LIMITS.write_text(json.dumps(limits, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    tokens, code_lines = sizes()
    arrows: dict[str, set[str]] = {}
    comments = wide = 0
    for path in FILES:
        room = room_of(path)
        text = path.read_text(encoding="utf-8").splitlines()
        comments += sum(line.lstrip().startswith("#") for line in text)
        wide += sum(len(line) > WIDTH for line in text)
        if path.name in ("__init__.py", "__main__.py") and len(path.relative_to(ROOT).parts) == 2:
            continue  # the doors of a package see everything
        others = {room_of(other) for module in imports(path) if (other := file_of(module))}
        doors = {f"{package}/{name}" for package in ("specviz", "app") for name in ("__init__",)}
        arrows.setdefault(room, set()).update(others - {room} - doors)
    for room, count in sorted(tokens.items()):
        print(f"{room:24} {count:8,} tokens {count / max(1, code_lines[room]):6.1f} a line")
    total, lines = tokens.total(), code_lines.total()
    found = density([ast.parse(path.read_text(encoding="utf-8")) for path in FILES])
    print(f"{'all':24} {total:8,} tokens {total / lines:6.1f} a line; at most {GOAL:,}")
    print(f"rooms {len(arrows)}, floors {floors(arrows)}, arrows {sum(map(len, arrows.values()))}")
    print(f"comments {comments / lines:.1%} of lines of code, lines over {WIDTH}: {wide}")
    for name, number in sorted(found.items()):
        print(f"{name}: {number}, {1000 * number / lines:.0f} a thousand lines")
    longest = max(FILES, key=lambda path: len(path.read_text(encoding="utf-8").splitlines()))
    print(f"longest file: {relative(longest)}")


if __name__ == "__main__":
    if "--renew" in sys.argv:
        renew()
    main()
