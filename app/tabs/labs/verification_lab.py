"""The Verification lab: one node with given p and q, a rule's tries one by one, and a comparison of all rules.

The page asks twice for every change: for one run, and for the exact table of all rules, which takes longer. Anyone
may ask, so everything is checked, and what is wrong becomes a sentence.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from specviz import VERIFIERS
from specviz.codec import dumps
from specviz.compatibility import DRAWN
from specviz.distributions import total_variation
from specviz.files import asset
from specviz.sampling import SCHEMES
from specviz.theory.bounds import coupling_bound, harmonic_bound, race_acceptance

from ...parts.failures import explained
from ...parts.menus import kind
from ...parts.web import starts
from .lab_presets import PRESETS
from .microscope import MOST_CHILDREN, MOST_LEVELS, MOST_TOKENS, NAMES, Node, explain_node, normalised
from .microscope_rules import Row, examine, own_law

TITLE = "Verification lab"
MOST_TEXTS = 16  # bars of a law
MOST_SEED = 2**31
RULES = [name for name, rule in VERIFIERS.items() if not rule.greedy_only and not rule.alone]


def build(engine: Any) -> None:
    """Lay out this half of the tab."""
    import gradio as gr

    from ...machine.pool import server_function

    start = {
        "presets": PRESETS,
        "rules": [
            {"name": name, "title": VERIFIERS[name].title, "scheme": VERIFIERS[name].schemes[0]} for name in RULES
        ],
        "schemes": {scheme: DRAWN[scheme] for scheme in SCHEMES},
        "names": NAMES,
        "most": {"tokens": MOST_TOKENS, "children": MOST_CHILDREN, "levels": MOST_LEVELS, "seed": MOST_SEED},
    }
    gr.HTML(
        dumps(start),
        html_template=asset("labs/verification.html"),
        js_on_load=starts("verification"),
        server_functions=[server_function(look), server_function(table)],
        elem_id="sv-verification",
        apply_default_css=False,
    )


_safely = explained(
    "The computation failed.",
    lambda text: json.dumps({"error": text}),
    lambda error: str(error)[:1].upper() + str(error)[1:],
)


@_safely
def look(asked: Any) -> str:
    """One run on a node, as JSON: {"error": a sentence} where it cannot be made.

    Args:
        asked: "p", "q" (weights), "children", "levels", "rule", "scheme" (None: the rule's own), "seed".
    """
    return _answered(asked, _look)


@_safely
def table(asked: Any) -> str:
    """The acceptance of every rule on a node, as JSON; `asked` as in `look`."""
    return _answered(asked, _table)


def _answered(asked: Any, answer: Any) -> str:
    return dumps(answer(*_read(asked)))


def _read(asked: Any) -> tuple[dict[str, Any], Node, list[str]]:
    """What was asked, the node, and what was done to the numbers."""
    rows, said = weights_asked(asked)
    if asked.get("rule") not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {asked.get('rule')!r:.40}.")
    if asked.get("scheme") not in (None, *SCHEMES):
        raise ValueError(f"scheme must be one of {', '.join(SCHEMES)}; got {asked['scheme']!r:.40}.")
    return asked, Node(rows["p"], rows["q"], asked.get("children", 2), asked.get("levels", 1)), said


def weights_asked(asked: Any) -> tuple[dict[str, tuple[float, ...]], list[str]]:
    """The rows p and q that were asked for, normalised, and what was done to them.

    Raises:
        ValueError: if they are no rows.
    """
    if not isinstance(asked, dict):
        raise ValueError(f"a node must have p, q, children and a rule; got {asked!r:.40}.")
    rows, said = {}, []
    for name, title in (("p", "the target p"), ("q", "the draft q")):
        rows[name], done = normalised(title, asked.get(name))
        said += [done[:1].upper() + done[1:]] * bool(done)
    return rows, said


def _look(asked: dict[str, Any], node: Node, said: list[str]) -> dict[str, Any]:
    rule = VERIFIERS[asked["rule"]]()
    match = node.compatible(rule, asked.get("scheme"))
    data = {"p": node.p, "q": node.q, "said": said, "kind": kind(match), "reason": match.reason, "scheme": match.scheme}
    if not match.possible:
        return data
    explanation = explain_node(node, rule, asked.get("scheme"), seed_asked(asked.get("seed")))
    run = {name: value for name, value in vars(explanation).items() if name not in ("step", "tries")}
    run["tries"] = explanation.tries
    return data | {"run": run, "exact": _exact(_examined(node, asked["rule"], asked.get("scheme")), node)}


def _table(asked: dict[str, Any], node: Node, said: list[str]) -> dict[str, Any]:
    rows = [_examined(node, name, asked.get("scheme")) for name in RULES]
    shown = ("rule", "title", "accepted", "ceiling", "deviation", "proof", "runs")
    return {
        "levels": node.levels,
        "first": first_child(node),
        "rows": [
            {name: getattr(row, name) for name in shown}
            | {"scheme": row.match.scheme, "kind": kind(row.match), "reason": row.match.reason}
            for row in rows
        ],
    }


def first_child(node: Node) -> list[tuple[str, float]]:
    """The acceptance of a first child drawn by a race, with its lower and upper bounds."""
    p, q = node.rows
    return [
        ("1 − TV, the upper bound of any rule", 1 - total_variation(p, q)),
        ("race, exact", race_acceptance(p, q)),
        ("(1 − TV) / (1 + TV), lower bound of the race", coupling_bound(p, q)),
        ("lemma 3.1, lower bound of the race", harmonic_bound(p, q)),
    ]


@lru_cache(maxsize=512)
def _examined(node: Node, rule: str, scheme: str | None) -> Row:
    return examine(node, VERIFIERS[rule](), scheme)


def _exact(row: Row, node: Node) -> dict[str, Any]:
    """The output distribution and the target's, for the most probable texts."""
    data = {"deviation": row.deviation, "proof": row.proof, "runs": row.runs}
    if row.texts is None:
        return data
    own, written = own_law(node), row.texts
    texts = list(own)
    if len(texts) > MOST_TEXTS:
        texts = sorted(texts, key=lambda text: -max(own[text], written[text]))[:MOST_TEXTS]
    return data | {
        "of": len(own),
        "texts": texts,
        "own": [own[t] for t in texts],
        "written": [written[t] for t in texts],
    }


def seed_asked(value: Any) -> int:
    """A seed as it was asked for; a `ValueError` says what it must be."""
    right = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_SEED
    if not right or int(value) != value:
        raise ValueError(f"seed must be a whole number from 0 to {MOST_SEED}; got {value!r:.20}.")
    return int(value)
