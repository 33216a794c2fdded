"""What is shipped: the version, and where the files are (models, recordings, vectors, what the browser gets)."""

from __future__ import annotations

from pathlib import Path

__version__ = "0.1.0"
HERE = Path(__file__).resolve().parent
# An installed package carries its files inside; in a checkout they lie beside it.
ASSETS = next((folder for folder in (HERE / "assets", HERE.parent / "assets") if folder.is_dir()), HERE / "assets")
PAIR = ASSETS / "pair"
ACCEPTANCE = ASSETS / "acceptance"
TRACES = ASSETS / "traces"
VIEWS = ASSETS / "views"  # what else was recorded for lessons and pages of the Lab
PAPERS = ASSETS / "papers"
WEB = ASSETS / "web"  # what the browser gets: scripts, styles, templates
CURVES = ASSETS / "curves.json"
TALES = ASSETS / "library" / "tales.txt"
CLOCKMAKER = ASSETS / "library" / "clockmaker.txt"
PUBLISHED = ASSETS / "published.json"
HELD_OUT = ASSETS / "prompts.json"


def asset(name: str) -> str:
    """The text of a file that the browser gets.

    Args:
        name: of the file, "stage/stage.html" say.
    """
    return (WEB / name).read_text(encoding="utf-8")
