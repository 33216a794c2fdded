"""The defined terms of the page: outcomes, distributions, numbers, sampling schemes. One table for
both languages.

The browser gets it as base/words.js (`web.py`).
"""

from __future__ import annotations

import json

from ..config import strategy
from ..drafters import DRAFTERS
from ..record.metrics import PARTS
from .payload import LETTERS

_PER_PASS = (
    "Tokens written per pass of the target, its own token included. Plain decoding writes 1."
)
_BONUS = (
    "The token that the target adds where a whole branch was accepted. It costs no further pass."
)
GLOSSARY = {
    "p": "The target's probability of a token after the tokens before it.",
    "q": (
        "The draft's probability of a token after the tokens before it; children are drawn from it."
    ),
    "u": (
        "A number drawn from 0 to 1 for a try: the token is kept if it is below the acceptance "
        "probability."
    ),
    "residual": "p − q for every token, 0 where that is negative, normalised to sum 1. After a "
    "rejection the next "
    "child is compared with it, or the target draws from it.",
    "target pass": "One computation of the large model. Plain decoding needs one for every token; "
    "here it scores a whole tree.",
    "exact": (
        "By enumeration: the text has the distribution of the target alone. Is it exact? "
        "samples it here."
    ),
    "recorded": "Decoded before and stored with the page. Run decodes now, on this machine.",
    "without replacement": (
        "No two children of a node are the same token: what was drawn is taken out before the next "
        "draw."
    ),
    "bonus": _BONUS,
    "bonus token": _BONUS,
    "correction": (
        "The token that the target writes itself where every child that was tried was rejected. "
        "It costs no further pass."
    ),
    "weights on disk": (
        "For every pass the target's weights are read again, as with a 70B model on a laptop, or "
        "with any model on a GPU, whose memory is its disk."
    ),
    "embedded pair": (
        "The two small models that come with specviz: a target of 28 million parameters and a "
        "draft of 2 million."
    ),
    "acceptance vector": (
        "The probability that the first child of a node is accepted, that the second is, and so "
        "on. Its sum is the probability that any child is accepted."
    ),
    "tokens per target pass": _PER_PASS,
    "tokens per pass": _PER_PASS,
    "lossless": (
        "The text follows exactly the distribution of the target alone, whatever the draft "
        "proposes."
    ),
}


OUTCOMES = {
    "root": "last token",
    "accepted": "accepted",
    "rejected": "rejected",
    "unreached": "not visited",
    "passed": "passed over",
    "probe": "probe",
}
OWN = {
    "bonus": "The tree ends here, so the target adds a token of its own at no extra pass.",
    "correction": "No child was accepted here, so the target writes the next token itself.",
}
MARKS = {
    "accepted": "■",
    "rejected": "✕",
    "passed": "△",
    "waiting": "○",
    "bonus": "◆",
    "correction": "◆",
}
ROWS = {
    "p": "target p",
    "q": "draft q",
    "draft": "remaining draft",
    "residual": "residual",
    "written": "written",
}
FACTS = {"rho": "ρ", "beta": "β", "ratio": "running ratio", "threshold": "threshold"}
SCHEMES = {
    "iid": "independent",
    "distinct": "without replacement",
    "top-draw": "most probable, the last drawn",
    "top": "most probable",
    "race": "shared race",
}

RECORD = "/** @type {Record<string, string>} */\n"


def script() -> str:
    """The table as the browser gets it."""
    letters = {LETTERS[outcome]: word for outcome, word in OUTCOMES.items()} | {
        name: name for name in OWN
    }
    tables = {
        "OUTCOMES": ("by letter, and the target's own tokens", letters),
        "OWN": ("descriptions of those", OWN),
        "MARKS": ("signs in a line of text", MARKS),
        "ROWS": ("of a chart", ROWS),
        "FACTS": ("numbers that a rule keeps", FACTS),
        "PARTS": ("of a step's time", PARTS),
        "DRAWN": ("children are ...", strategy.SCHEMES),
        "SCHEMES": ("the same in a table", SCHEMES),
        "GLOSSARY": ("terms that explain themselves", GLOSSARY),
        "DRAFTERS": (
            "who guesses, in the order of the menu",
            {name: cls.title for name, cls in DRAFTERS.items()},
        ),
    }
    head = "// The words of the page. Made from specviz/view/words.py: npm run made\n"
    return head + "".join(
        f"\n// {name}: {about}\n{RECORD if isinstance(table, dict) else ''}"
        f"export const {name} = {json.dumps(table, ensure_ascii=False, indent=2)};\n"
        for name, (about, table) in tables.items()
    )
