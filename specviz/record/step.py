"""The record of a step: plain data, so that it can be drawn and replayed on any machine.

A `Step` holds columns over the nodes of its tree; p = target, q = draft.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import AliasChoices, Field, model_validator

from ..base import codec
from ..base.codec import MAX_ITEMS, JsonObject, NonNegative, Record, Text, Whole, one_of
from ..tree import Chart, Growth, Topology

if TYPE_CHECKING:
    from networkx import DiGraph

OUTCOMES = ("root", "accepted", "rejected", "unreached", "passed", "probe")
BEST = "best possible"  # of a node's facts: what the best rule would accept of its children
COLUMNS = (
    "tokens",
    "texts",
    "draft_prob",
    "target_prob",
    "target_prob_at_1",
    "outcome",
    "accept_prob",
    "coin",
    "keys",
)
Column = Field(max_length=MAX_ITEMS)
Outcomes = Annotated[tuple[Annotated[str, one_of(*OUTCOMES)], ...], Column]
Probabilities = Annotated[tuple[Annotated[float, Field(ge=0, le=1 + 1e-6)] | None, ...], Column]
Tokens = Annotated[tuple[Whole, ...], Column]
Texts = Annotated[tuple[Text, ...], Column]


@dataclass(frozen=True)
class Detail(Record):
    """Details of one node, recorded by a rule.

    Args:
        tried, after: rows before the node was tried, and for the token that follows it.
        race: who raced for the token that follows, name -> arrival times, first arrivals first.
        facts: single numbers by name.
    """

    omit_empty: ClassVar[bool] = True
    tried: Chart | None = None
    after: Chart | None = None
    race: Mapping[str, Chart] = field(default_factory=dict)
    facts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Timing(Record):
    """Seconds of one step: draft passes, target passes, the rule's arithmetic, and all the rest but
    its record."""

    draft: NonNegative = 0.0
    target: NonNegative = 0.0
    verify: NonNegative = 0.0
    other: NonNegative = 0.0

    @property
    def total(self) -> float:
        """All four together, in seconds."""
        return self.draft + self.target + self.verify + self.other


@dataclass(frozen=True)
class Step(Record):
    """One step of a run: a drafted tree, the target's distributions, and the verdict, as columns
    over its nodes, [n].

    Args:
        index, start: its number in the run, from 0, and the absolute position of the root in the
            text, in tokens.
        parents, tokens, texts: the tree; `texts` are the tokens as a person reads them.
        draft_prob: q of each token after its parent; None for the root and where no draft was
            asked.
        target_prob: p of each token after its parent, after temperature, top-k and top-p; None for
            the root.
        target_prob_at_1: the same at temperature 1 without top-k and top-p.
        outcome, accept_prob, coin, order, detail: see `Verdict` of `verifiers/base.py`; no order in
            records of earlier versions.
        emitted: the token ids this step added to the text, in order, cut at end of text and at the
            limits.
        emitted_texts: the text each emitted token added; together they are exactly the text of the
            run. Runs that were saved earlier call it `pieces`.
        bonus, corrected: the last of `emitted` if the target added it, else None; whether it
            replaced rejected nodes.
        scheme: how children were drawn.
        keys, growth: what each node was chosen by, or None, and what the builder recorded of how
            its tree grew.
        draft_passes, seconds: how many passes of the draft the tree took, and where the time went.
        drafter: the drafter of each node, by menu name, [n]; () in records that do not say.
    """

    index: Whole
    start: Whole
    parents: Annotated[tuple[Annotated[int, Field(ge=-1)], ...], Column]
    tokens: Tokens
    texts: Texts
    draft_prob: Probabilities
    target_prob: Probabilities
    target_prob_at_1: Annotated[
        Probabilities, Field(validation_alias=AliasChoices("target_prob_at_1", "target_prob_plain"))
    ]
    outcome: Outcomes
    accept_prob: Probabilities
    coin: Probabilities
    emitted: Tokens
    emitted_texts: Annotated[Texts, Field(validation_alias=AliasChoices("emitted_texts", "pieces"))]
    bonus: Whole | None
    corrected: bool
    scheme: Text
    keys: Annotated[tuple[float | None, ...], Column]
    growth: Growth
    detail: dict[int, Detail]
    draft_passes: Whole
    seconds: Timing
    drafter: Annotated[tuple[Text | None, ...], Column] = ()
    order: Tokens = ()

    def __repr__(self) -> str:
        return (
            f"Step({self.index}: {self.drafted} drafted, {len(self.path)} accepted, "
            f"{''.join(self.emitted_texts)[:60]!r})"
        )

    @property
    def path(self) -> tuple[int, ...]:
        """The accepted nodes, top down."""
        return tuple(node for node, outcome in enumerate(self.outcome) if outcome == "accepted")

    @property
    def written(self) -> Step:
        """This step as far as the text goes: where it ends inside of what the rule accepted, nodes
        behind the end count as not reached."""
        if len(self.emitted) >= len(self.path):
            return self
        end = self.path[len(self.emitted) - 1]
        behind = {end}
        outcome = list(self.outcome)
        for node in range(end + 1, len(self.parents)):  # a node comes after its parent
            if self.parents[node] in behind:
                behind.add(node)
                outcome[node] = "unreached"
        order = tuple(node for node in self.order if node == end or node not in behind)
        return replace(self, outcome=tuple(outcome), order=order)

    @property
    def added(self) -> str | None:
        """What the target's own token is, "bonus" or "correction"; None where it added none."""
        if self.bonus is None:
            return None
        return "correction" if self.corrected else "bonus"

    @property
    def drafted(self) -> int:
        """How many nodes were drafted: all but the root and probes."""
        return len(self.parents) - 1 - self.outcome.count("probe")

    def to_networkx(self) -> DiGraph:
        """The tree as a `networkx.DiGraph`: nodes by number, the other columns as node data; None
        is left out."""
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(range(len(self.parents)))
        for name in (*COLUMNS, "drafter"):
            for node, cell in enumerate(getattr(self, name)):
                if cell is not None:
                    graph.nodes[node][name] = cell
        graph.add_edges_from((parent, node) for node, parent in enumerate(self.parents) if node)
        return graph

    def to_dict(self) -> JsonObject:
        """The step as plain data, its numbers with six significant digits."""
        return codec.json_data(self)

    def to_json(self) -> str:
        """The step as JSON text, as it stands in a trace."""
        return codec.dumps(self)

    @model_validator(mode="after")  # when it is read from JSON
    def _check(self) -> Step:
        n = len(self.parents)
        Topology(self.parents)  # raises where a parent does not come before its child
        columns = {name: getattr(self, name) for name in COLUMNS}
        columns |= {"growth.split": self.growth.split, "drafter": self.drafter or None}
        for name, column in columns.items():
            if column is not None and len(column) != n:
                raise ValueError(f"must have {n} values in {name}, one a node; got {len(column)}")
        parents: set[int] = set()
        for slots in self.growth.waiting or ():
            parents.update(parent for parent, _ in slots)
        named = {"detail": self.detail, "growth.waiting": parents, "order": self.order}
        for name, nodes in named.items():
            wrong = set(nodes) - set(range(n))
            if wrong:
                raise ValueError(f"must name nodes from 0 to {n - 1} in {name}; got {max(wrong)}")
        if self.outcome.count("root") != 1 or self.outcome[0] != "root":
            raise ValueError("must have the root first and nowhere else in outcome")
        if len(self.emitted_texts) != len(self.emitted):
            raise ValueError("must have one text for each emitted token in emitted_texts")
        if [self.parents[node] for node in self.path] != [0, *self.path][: len(self.path)]:
            raise ValueError("must have one path from the root of accepted nodes in outcome")
        # A run may end inside of what a step accepted, so `emitted` may be the beginning only.
        bonus = () if self.bonus is None else (self.bonus,)
        written = (*(self.tokens[node] for node in self.path), *bonus)
        if not self.emitted or self.emitted != written[: len(self.emitted)]:
            raise ValueError("must have the accepted tokens and then the bonus in emitted")
        return self


def written_tokens(steps: Iterable[Step]) -> list[int]:
    """The token ids that steps added to the text, in order."""
    tokens: list[int] = []
    for step in steps:
        tokens += step.emitted
    return tokens
