"""The defined terms of the page: outcomes, distributions and numbers.

They stand in `assets/words.toml`; the browser gets them as base/words.js (`web.py`).
"""

from __future__ import annotations

import json

from ..base.files import read_table
from ..drafters import DRAFTERS

WORDS: dict[str, dict[str, str]] = read_table("words.toml")
OUTCOMES = WORDS["OUTCOMES"]
RECORD = "/** @type {Record<string, string>} */\n"


def script() -> str:
    """The tables as the browser gets them."""
    # The target's own tokens are named by what they are.
    own = {name: name for name in WORDS["OWN"]}
    tables = WORDS | {
        "OUTCOMES": OUTCOMES | own,
        "DRAFTERS": {name: drafter.title for name, drafter in DRAFTERS.items()},
    }
    text = "// Made from assets/words.toml: npm run made\n"
    for name, table in tables.items():
        words = json.dumps(table, ensure_ascii=False, indent=2)
        text += f"\n{RECORD}export const {name} = {words};\n"
    return text
