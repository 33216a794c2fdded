"""The smallest counterexample of each rule in examples/wrong_rules, in the file's own docstring.

`python -m tests.gallery` renews them.
"""

import re
from pathlib import Path

import specviz
from specviz.config import plugins
from specviz.proof.counterexample import Counterexample
from specviz.proof.search import find_counterexample

FOLDER = Path(__file__).resolve().parent.parent / "examples/wrong_rules"
FILES = sorted(FOLDER.glob("*.py"))
MARK = "\n\nWhat `specviz check` prints of it:\n\n"


def counterexample(path: Path) -> Counterexample | None:
    """The smallest counterexample of the rule in a file, which is loaded."""
    plugins.load(str(path))
    name = re.search(r'"(wrong-[a-z0-9-]+)"', path.read_text("utf-8"))[1]
    return find_counterexample(specviz.VERIFIERS[name]())


def renewed(text: str, example: Counterexample) -> str:
    """A file with the counterexample at the end of its docstring."""
    docstring = text.split('"""')[1]
    described = docstring.partition(MARK)[0].rstrip()
    printed = "\n".join(f"    {line}" for line in str(example).splitlines())
    return text.replace(docstring, f"{described}{MARK}{printed}\n", 1)


if __name__ == "__main__":
    for path in FILES:
        path.write_text(renewed(path.read_text("utf-8"), counterexample(path)), "utf-8")
