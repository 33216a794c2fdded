"""The Verification lab: one node with given p and q, a rule's tries one by one, and what every rule
writes there.

Whether a rule writes the target's distribution is computed, never read off its declaration: the
rule is run under every random outcome. Where this is not possible, the page says what is known of
the rule otherwise.
"""

from __future__ import annotations

import json
import math
from string import ascii_lowercase
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, Field, model_validator

from specviz.base.codec import JsonObject, json_data
from specviz.base.errors import cause
from specviz.base.files import ASSETS
from specviz.builders import BUILDERS
from specviz.builders.static import StaticBuilder
from specviz.config.run_config import RunConfig, compatible
from specviz.config.strategy import SCHEMES
from specviz.decode import speculate
from specviz.models.table import TableModel, TablePair
from specviz.proof.enumerate import Outcome, enumerate_tree
from specviz.verifiers import VERIFIERS
from specviz.view.payload import page_json
from specviz.view.step_payload import step_payload
from specviz.view.web import asset

from ..parts.request import MOST_TOKENS, Row, answer, one_of
from ..parts.web import component
from .rule_answers import caption, sentences

if TYPE_CHECKING:
    from ...service.service import RunService

TITLE = "Verification lab"
TOKENS = ascii_lowercase[:MOST_TOKENS]
CHILDREN = 4
LEVELS = 3
SEEDS = 2**31
MOST_RUNS = 20_000  # of one rule, by the estimate of `outcomes`
MOST_TEXTS = 12  # bars of a distribution
EXACT = 1e-12
RULES = [
    name for name, rule in VERIFIERS.items() if not rule.greedy_only and not rule.autoregressive
]
EXAMPLES = json.loads((ASSETS / "nodes.json").read_text("utf-8"))  # nodes to begin with


class NodeRequest(BaseModel):
    """What a visitor sets: weights of p and q, the tree, a rule, how children are drawn (None: as
    the rule asks)."""

    p: Row = Field(title="The target p")
    q: Row = Field(title="The draft q")
    rule: str = Field(max_length=80)
    children: int = Field(2, ge=1, le=CHILDREN, title="Children")
    levels: int = Field(1, ge=1, le=LEVELS, title="Levels")
    scheme: str | None = Field(None, pattern=one_of(SCHEMES))
    seed: int = Field(0, ge=0, le=SEEDS, title="Seed")

    @model_validator(mode="after")
    def _fits(self) -> NodeRequest:
        if len(self.p) != len(self.q):
            raise ValueError(
                f"p and q must have the same number of tokens; got {len(self.p)} and {len(self.q)}."
            )
        if self.levels > 1 and self.children > 1:
            raise ValueError(
                f"children must be 1 where there are several levels; got {self.children}."
            )
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}; got {self.rule!r:.40}.")
        return self


def build(service: RunService) -> None:
    """Lay out this page of the tab."""
    # only here: another process computes what this module does, without the server
    from ..parts.saving import server_function

    start = {
        "examples": EXAMPLES,
        "rules": [[name, VERIFIERS[name].title] for name in RULES],
        "schemes": list(SCHEMES.items()),
        "names": TOKENS,
        "most": {"children": CHILDREN, "levels": LEVELS, "seed": SEEDS},
        "first": preview(EXAMPLES[0]),
    }
    component(
        "verification",
        asset("labs/verification.html"),
        page_json(json_data(start)),
        server_functions=[server_function(service, preview), server_function(service, table)],
        elem_id="sv-verification",
    )


def preview(request: object) -> str:
    """One run of the chosen rule, and the distribution that it writes beside the target's, as
    JSON."""
    return answer(NodeRequest, request, one_rule)


def table(request: object) -> str:
    """A row for each rule of the menu, as JSON."""
    return answer(
        NodeRequest,
        request,
        lambda node: {
            "levels": node.levels,
            "rows": [written(result(node, name)[0]) for name in RULES],
        },
    )


def one_rule(request: NodeRequest) -> JsonObject:
    """What `preview` answers."""
    row, outcome = result(request, request.rule)
    data = {"p": request.p, "q": request.q, "row": written(row), "step": None, "law": None}
    if row["scheme"]:
        data["step"] = drawn(request, row["scheme"])
    if outcome:
        laws = outcome.texts
        # Those that either is likely to write: a text that only the rule writes is what is wrong.
        likely = sorted(laws, key=lambda text: -max(laws[text], outcome.target[text]))
        texts = sorted(likely[:MOST_TEXTS])
        data["law"] = {
            "caption": caption(request.levels, len(texts), len(laws)),
            "texts": texts,
            "target": [outcome.target[text] for text in texts],
            "rule": [laws[text] for text in texts],
        }
    return data


def written(row: JsonObject) -> JsonObject:
    """A row with its sentences."""
    return row | sentences(row)


def drawn(request: NodeRequest, scheme: str) -> JsonObject:
    """One run of the chosen rule, for the page: a step of the real loop on a pair whose
    distributions are p and q after every text."""
    with np.errstate(divide="ignore"):  # of a probability of 0
        target = np.log(np.array(request.p))
        draft = np.log(np.array(request.q))
    models = (TableModel(lambda context: target), TableModel(lambda context: draft))
    pair = TablePair(*models, len(target), (), "distributions typed by hand")
    # A rule with its default parameters: the lab is about rules, not about their settings.
    rule = VERIFIERS[request.rule]()
    config = RunConfig(
        [0], builder(request), rule, temperature=1.0, max_new_tokens=8, seed=request.seed
    )
    return step_payload(next(speculate(pair, config, scheme=scheme)), rule)


def result(request: NodeRequest, name: str) -> tuple[JsonObject, Outcome | None]:
    """What is known of a rule on this node, and the enumeration where it is possible.

    Returns:
        A row with "kind": "impossible", "equal" or "differs" (computed), "failed", or where nothing
        could be computed "proven", by `check`, or "only declared", by a plugin; "declared": whether
        the rule declares that it writes the target's distribution here.
    """
    rule = VERIFIERS[name]()
    match = compatible(
        RunConfig(builder=builder(request), verifier=rule, temperature=1.0), request.scheme
    )
    row: JsonObject = {
        "rule": name,
        "title": rule.title,
        "scheme": match.scheme if match.possible else None,
        "reason": match.reason,
        "declared": match.lossless,
        "kind": "impossible",
        "needs_chain": False,
        "accepted": None,
        "deviation": None,
        "runs": 0,
    }
    if not match.possible:
        if rule.chain_only and request.children > 1:
            here = f"this node has {request.children} children"
            row["reason"] = f"{rule.title} needs a chain; {here}."
            row["needs_chain"] = True
        return row, None
    if rule.shared_noise or outcomes(request, match.scheme) > MOST_RUNS:
        return row | {"kind": "proven" if rule.is_built_in() else "only declared"}, None
    p, q = (np.array([row] * request.levels) for row in (request.p, request.q))
    try:
        outcome = enumerate_tree(rule, builder(request).shape, p, q, match.scheme)
    except Exception as error:  # a plugin may do anything
        reason = f"The rule failed: {cause(error)}."
        return row | {"kind": "failed", "scheme": None, "reason": reason}, None
    deviation = outcome.deviation
    return row | {
        "accepted": outcome.accepted,
        "deviation": deviation,
        "runs": outcome.runs,
        "kind": "equal" if deviation <= EXACT else "differs",
    }, outcome


def builder(request: NodeRequest) -> StaticBuilder:
    """The builder whose tree this is."""
    if request.children == 1:
        return BUILDERS["chain"](depth=request.levels)
    return BUILDERS["batch"](width=request.children)


def outcomes(request: NodeRequest, scheme: str) -> int:
    """About how many outcomes an enumeration visits: every draft, and for each some coins and the
    last token."""
    size = len(request.q)
    support = sum(prob > 0 for prob in request.q)
    k = request.children
    # How many trees can be drawn; of other schemes at most as many as of iid draws.
    drafts = support ** (k * request.levels)
    if scheme == "top":
        drafts = 1
    elif scheme == "distinct" and request.levels == 1:  # of several levels each has one child
        drafts = math.perm(size, min(k, size))
    return drafts * request.levels * (k + size)
