"""The records of a run: a step, and the whole run as a trace.

Everything here is plain data, so a trace can be drawn and replayed on any machine.
A `Step` holds columns over the nodes of its tree; p = target, q = draft.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Annotated, Any, ClassVar, Literal

from . import codec
from .codec import MAX_TEXT, Damaged, Most, Whole, Within
from .config import RunConfig
from .metrics import Counts, known
from .record_parts import PairedSpeedup, Timing, Unread
from .tree import Chart, Growth, Topology

SCHEMA = 3
OUTCOMES = ("root", "accepted", "rejected", "unreached", "passed", "probe")
Outcome = Annotated[str, Literal[OUTCOMES]]
COLUMNS = (
    "tokens", "texts", "draft_prob", "target_prob", "target_prob_plain", "outcome", "accept_prob", "coin", "keys",
)  # fmt: skip
Prob = Annotated[float, Within(0, 1 + 1e-6)]


@dataclass(frozen=True)
class Detail:
    """Details of one node, recorded by a rule.

    Args:
        tried: rows as they were before the node was tried.
        after: rows for the token that follows the node.
        race: who raced for the token that follows, name -> arrival times, first arrivals first.
        facts: single numbers by name.
    """

    SPARSE: ClassVar = True  # in JSON, what is empty is left out
    tried: Chart | None = None
    after: Chart | None = None
    race: Mapping[str, Chart] = field(default_factory=dict)
    facts: Mapping[str, float] = field(default_factory=dict)

    def named(self, piece: Callable[[int], str]) -> Detail:
        """The same with the texts of its tokens."""
        return replace(
            self,
            tried=self.tried and self.tried.named(piece),
            after=self.after and self.after.named(piece),
            race={name: chart.named(piece) for name, chart in self.race.items()},
        )


@dataclass(frozen=True)
class Step(Unread):
    """One step of a run: a drafted tree, the target's distributions, and the verdict, as columns over its nodes, [n].

    Args:
        index, start: its number in the run, from 0, and the absolute position of the root in the text, in tokens.
        parents, tokens, texts: the tree; `texts` are the tokens as a person reads them.
        draft_prob: q of each token after its parent; None for the root and where no draft was asked.
        target_prob: p of each token after its parent, after temperature, top-k and top-p; None for the root.
        target_prob_plain: the same at temperature 1 without top-k and top-p.
        outcome, accept_prob, coin, detail: see `Verdict` of `verifiers/base.py`.
        emitted: the token ids this step added to the text, in order, cut at end of text and at the limits.
        pieces: the text each emitted token added; together they are exactly the text of the run.
        bonus, corrected: the last of `emitted` if the target added it, else None; whether it replaced rejected nodes.
        scheme: how children were drawn.
        keys, growth: what each node was chosen by, or None, and what the builder recorded of how its tree grew.
        draft_passes, seconds: how many passes of the draft the tree took, and where the time went.
        drafter: the drafter of each node, by menu name, [n]; () in records that do not say.
    """

    index: Whole
    start: Whole
    parents: tuple[Annotated[int, Within(-1)], ...]
    tokens: tuple[Whole, ...]
    texts: tuple[str, ...]
    draft_prob: tuple[Prob | None, ...]
    target_prob: tuple[Prob | None, ...]
    target_prob_plain: tuple[Prob | None, ...]
    outcome: tuple[Outcome, ...]
    accept_prob: tuple[Prob | None, ...]
    coin: tuple[Prob | None, ...]
    emitted: tuple[Whole, ...]
    pieces: tuple[str, ...]
    bonus: Whole | None
    corrected: bool
    scheme: str
    keys: tuple[float | None, ...]
    growth: Growth
    detail: dict[int, Detail]
    draft_passes: Whole
    seconds: Timing
    drafter: tuple[str | None, ...] = ()

    def __repr__(self) -> str:
        return f"Step({self.index}: {self.drafted} drafted, {len(self.path)} accepted, {''.join(self.pieces)[:60]!r})"

    @property
    def path(self) -> tuple[int, ...]:
        """The accepted nodes, top down."""
        return tuple(node for node, outcome in enumerate(self.outcome) if outcome == "accepted")

    @property
    def drafted(self) -> int:
        """How many nodes were drafted: all but the root and probes."""
        return len(self.parents) - 1 - self.outcome.count("probe")

    def to_networkx(self) -> Any:
        """The tree as a `networkx.DiGraph`: nodes by number, the other columns as node data; None is left out."""
        return Topology(self.parents).to_networkx(**{name: getattr(self, name) for name in (*COLUMNS, "drafter")})

    def to_dict(self) -> dict[str, Any]:
        """The step as plain data, its numbers with six significant digits."""
        return codec.plain(self)

    def to_json(self) -> str:
        """The step as JSON text, as it stands in a trace."""
        return codec.dumps(self)

    def check_fields(self) -> None:
        """See that the columns are those of one tree, and the text that of its accepted path."""
        n = len(self.parents)
        try:
            Topology(self.parents)
        except ValueError as error:
            place, trouble = str(error).rstrip(".").split(" ", 1)
            raise Damaged(trouble, f".{place}") from None
        columns = {name: getattr(self, name) for name in COLUMNS} | {"growth.split": self.growth.split}
        for name, column in (columns | {"drafter": self.drafter or None}).items():
            if column is not None and len(column) != n:
                raise Damaged(f"must have {n} values, one a node; got {len(column)}", f".{name}")
        parents = {parent for slots in self.growth.waiting or () for parent, _ in slots}
        for name, nodes in (("detail", self.detail), ("growth.waiting", parents)):
            if nodes and max(nodes) >= n:
                raise Damaged(f"must name nodes from 0 to {n - 1}; got {max(nodes)}", f".{name}")
        if self.outcome.count("root") != 1 or self.outcome[0] != "root":
            raise Damaged("must have the root first and nowhere else", ".outcome")
        if len(self.pieces) != len(self.emitted):
            raise Damaged("must have one text for each emitted token", ".pieces")
        if [self.parents[node] for node in self.path] != [0, *self.path][: len(self.path)]:
            raise Damaged("must have one path from the root of accepted nodes", ".outcome")
        bonus = () if self.bonus is None else (self.bonus,)
        written = (*(self.tokens[node] for node in self.path), *bonus)
        if not self.emitted or self.emitted != written[: len(self.emitted)]:
            raise Damaged("must be the accepted tokens and then the bonus", ".emitted")


@dataclass(frozen=True)
class Trace:
    """A whole run: its configuration, its prompt, its steps and its text.

    Args:
        config: the configuration it ran with.
        pair: name of the model pair and what else describes it, plain JSON data with at least "name".
        prompt_tokens, prompt_text: the prompt as token ids and as text.
        steps: the steps in order.
        stop, version: why it ended ("length", "end of text", "context" or "stopped"), and what version recorded it.
        speedup: over plain decoding, as it was measured after the run; None where it was not.
    """

    config: RunConfig
    pair: dict[str, Any]
    prompt_tokens: Annotated[tuple[Whole, ...], Most(MAX_TEXT)]
    prompt_text: str
    steps: Annotated[tuple[Step, ...], Most(20_000)]
    stop: str
    version: str = ""
    speedup: PairedSpeedup | None = None

    @property
    def tokens(self) -> tuple[int, ...]:
        """The token ids that the run wrote, without the prompt."""
        return tuple(token for step in self.steps for token in step.emitted)

    @property
    def text(self) -> str:
        """The text that the run wrote, without the prompt."""
        return "".join(piece for step in self.steps for piece in step.pieces)

    @property
    def seconds(self) -> float:
        """How long its steps took together."""
        return sum(step.seconds.total for step in self.steps)

    @property
    def counts(self) -> Counts:
        """The sums over its steps, from which its rates follow."""
        return Counts.of(self.steps)

    @property
    def tokens_per_pass(self) -> float:
        """Tokens written per pass of the target, all steps; nan without steps."""
        return self.counts.tokens_per_pass

    @property
    def tokens_per_s(self) -> float:
        """Tokens written per second after the first step, which also reads the prompt; nan where there is no other."""
        return self.counts.tokens_per_s

    @property
    def acceptance(self) -> float | None:
        """Accepted over compared nodes (nodes that were not visited do not count); None if none was compared."""
        return known(self.counts.acceptance)

    def __repr__(self) -> str:
        name = f"{self.pair['name']:.60}"
        return f"Trace({name!r}, {len(self.steps)} steps, {len(self.tokens)} tokens, {self.text[:60]!r})"

    def to_dict(self) -> dict[str, Any]:
        """The trace as plain JSON data."""
        told = {name: getattr(self, name) for name in ("pair", "prompt_tokens", "prompt_text", "text", "stop")}
        steps = [step.to_dict() for step in self.steps]
        return {"schema": SCHEMA, "version": self.version, "config": self.config.to_dict(), **told, "steps": steps} | (
            {"speedup": codec.plain(self.speedup)} if self.speedup else {}
        )

    def to_json(self) -> str:
        """The trace as JSON text; the numbers of steps keep six significant digits."""
        return codec.dumps(self.to_dict(), exact=True)

    def _repr_html_(self) -> str:
        """The run as a notebook shows it: the player, in a frame that needs no network."""
        # The player stands above the records, so it is looked up when a notebook asks.
        return import_module("specviz.player.offline").in_notebook(self)

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """Read the `text` that `to_json` wrote.

        Raises:
            ValueError: if the text is not JSON or not a trace; the message says what is wrong with it.

        >>> trace = specviz.run(specviz.toy_pair(), specviz.RunConfig("ab", max_new_tokens=8))
        >>> specviz.Trace.from_json(trace.to_json()).tokens == trace.tokens
        True
        """
        data = codec.parse(text, "trace")
        if not isinstance(data, dict) or "schema" not in data:
            raise ValueError("Not a specviz run: it has no schema number.")
        if data["schema"] != SCHEMA:
            raise ValueError(
                f"trace has schema {data['schema']!r:.20}; this version reads schema {SCHEMA}. Record the run again."
            )
        return codec.read(cls, data, "trace")

    def check_fields(self) -> None:
        """See that the pair has a name."""
        if not isinstance(self.pair.get("name"), str):
            raise Damaged('must have a text "name"', ".pair")
