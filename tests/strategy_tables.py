"""The tables of builders and rules in docs/strategies.md, from the classes.

`python -m tests.strategy_tables` renews them.
"""

from pathlib import Path

import specviz
from specviz.config.strategy_text import format_value

DOCUMENT = Path(__file__).resolve().parent.parent / "docs/strategies.md"


def table(menu):
    """A row for each strategy of a menu: its name, the first sentence of its docstring and its
    parameters."""
    rows = ["| name | what it does | parameters |", "| --- | --- | --- |"]
    for name, cls in menu.items():
        sentence = " ".join(cls.__doc__.split("\n\n")[0].split()).replace("|", "\\|")
        parameters = (f"`{key}={format_value(value)}`" for key, value in cls().parameters.items())
        rows.append(f"| **{name}** | {sentence} | {' '.join(parameters)} |")
    return "\n".join(rows)


def renewed(text):
    """The document with both tables as they are now."""
    for kind, menu in (("builders", specviz.BUILDERS), ("verifiers", specviz.VERIFIERS)):
        mark = f"<!-- {kind}: python -m tests.strategy_tables -->\n"
        new = f"{mark}{table(menu)}\n<!-- end"
        before, _, rest = text.partition(mark)
        text = before + new + rest.partition("<!-- end")[2]
    return text


if __name__ == "__main__":
    DOCUMENT.write_text(renewed(DOCUMENT.read_text("utf-8")), "utf-8")
