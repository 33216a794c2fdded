"""The records of a run: the verdict of a verifier, a step, and the whole run as a trace.

Everything here is plain data, so a trace can be drawn and replayed on any machine.
A `Step` holds columns over the nodes of its tree; p = target, q = draft.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from . import validation as reading
from .config import Choice, RunConfig
from .metrics import PARTS, Counts, known
from .shown import Detail, Growth, as_plain, read_detail, read_growth
from .tree import Topology

SCHEMA = 3
OUTCOMES = ("root", "accepted", "rejected", "unreached", "passed", "probe")


@dataclass(frozen=True)
class Verdict:
    """What a verifier decided about one tree.

    Args:
        path: the accepted nodes from below the root downwards.
        bonus: the token the target adds after the last accepted node: a correction where children were rejected.
        outcome: one of `OUTCOMES` for each node, [n].
        accept_prob: the probability with which each compared node would be accepted, [n]; None where a rule has none.
        coin: the uniform draw u that was compared with it, [n]; None where there was none.
        detail: further details, node -> `Detail`.
    """

    path: tuple[int, ...]
    bonus: int
    outcome: tuple[str, ...]
    accept_prob: tuple[float | None, ...]
    coin: tuple[float | None, ...]
    detail: dict[int, Detail] = field(default_factory=dict)


@dataclass(frozen=True)
class Timing:
    """Seconds of one step: draft passes, target passes, the rule's arithmetic, and all the rest."""

    draft: float = 0.0
    target: float = 0.0
    verify: float = 0.0
    other: float = 0.0

    @property
    def total(self) -> float:
        return self.draft + self.target + self.verify + self.other


@dataclass(frozen=True)
class Step:
    """One step of a run: a drafted tree, the target's distributions, and the verdict, as columns over its nodes, [n].

    Args:
        index: number of the step in its run, from 0.
        start: absolute position of the root in the text.
        parents, tokens, texts: the tree; `texts` are the tokens as a person reads them.
        draft_prob: q of each token after its parent; None for the root and where no draft was asked.
        target_prob: p of each token after its parent, after temperature, top-k and top-p; None for the root.
        target_prob_plain: the same at temperature 1 without top-k and top-p.
        outcome, accept_prob, coin, detail: see `Verdict`.
        emitted: the token ids this step added to the text, in order, cut at end of text and at the limits.
        pieces: the text each emitted token added; together they are exactly the text of the run.
        bonus: the last of `emitted` where it came from the target (a correction or a bonus), else None.
        corrected: whether the bonus replaced rejected children.
        scheme: how children were drawn.
        keys: what each node was chosen by when the tree grew, or None.
        growth: what the builder recorded about how its tree grew.
        draft_passes: how many passes of the draft the tree took.
        seconds: where the time went.
        drafter: the drafter of each node, by menu name, [n]; () in records that do not say.
    """

    index: int
    start: int
    parents: tuple[int, ...]
    tokens: tuple[int, ...]
    texts: tuple[str, ...]
    draft_prob: tuple[float | None, ...]
    target_prob: tuple[float | None, ...]
    target_prob_plain: tuple[float | None, ...]
    outcome: tuple[str, ...]
    accept_prob: tuple[float | None, ...]
    coin: tuple[float | None, ...]
    emitted: tuple[int, ...]
    pieces: tuple[str, ...]
    bonus: int | None
    corrected: bool
    scheme: str
    keys: tuple[float | None, ...]
    growth: Growth
    detail: dict[int, Detail]
    draft_passes: int
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
        data = "tokens texts draft_prob target_prob target_prob_plain outcome accept_prob coin keys drafter"
        return Topology(self.parents).to_networkx(**{name: getattr(self, name) for name in data.split()})

    def to_dict(self) -> dict[str, Any]:
        """The step as plain data, its numbers with six significant digits."""
        return as_plain(self)

    def to_json(self) -> str:
        """The step as JSON text, as it stands in a trace."""
        return _json(self.to_dict())


@dataclass(frozen=True)
class Trace:
    """A whole run: its configuration, its prompt, its steps and its text.

    Args:
        config: the configuration it ran with.
        pair: name of the model pair and what else describes it, plain JSON data with at least "name".
        prompt_tokens: token ids of the prompt.
        prompt_text: the prompt as text.
        steps: the steps in order.
        stop: why it ended: "length", "end of text", "context" or "stopped".
    """

    config: RunConfig
    pair: dict[str, Any]
    prompt_tokens: tuple[int, ...]
    prompt_text: str
    steps: tuple[Step, ...]
    stop: str
    version: str = ""

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
        return {
            "schema": SCHEMA,
            "version": self.version,
            "config": self.config.to_dict(),
            "pair": self.pair,
            "prompt_tokens": list(self.prompt_tokens),
            "prompt_text": self.prompt_text,
            "text": self.text,
            "stop": self.stop,
            "steps": [step.to_dict() for step in self.steps],
        }

    def to_json(self) -> str:
        """The trace as JSON text; the numbers of steps keep six significant digits."""
        return _json(self.to_dict())

    def _repr_html_(self) -> str:
        """The run as a notebook shows it: the player, in a frame that needs no network."""
        # The player stands above the records, so it is looked up when a notebook asks.
        return import_module("specviz.player.notebook").in_notebook(self)

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """Read what `to_json` wrote.

        Raises:
            ValueError: if the text is not JSON or not a trace; the message says what is wrong with it.
        """
        data = reading.parse(text)
        if not isinstance(data, dict) or "schema" not in data:
            raise ValueError("Not a specviz run: it has no schema number.")
        if data["schema"] != SCHEMA:
            raise ValueError(
                f"trace has schema {data['schema']!r:.20}; this version reads schema {SCHEMA}. Record the run again."
            )
        top = reading.record(data, "trace", {
            "version": reading.text, "pair": _read_pair, "prompt_text": reading.text, "stop": reading.text,
            "prompt_tokens": reading.many(reading.whole(0), most=reading.MAX_TEXT),
            "config": _read_config, "steps": reading.many(_read_step, most=reading.MAX_STEPS),
        })  # fmt: skip
        return cls(**top)


def _read_pair(value: Any, where: str) -> dict[str, Any]:
    info = reading.mapping(value, where)
    return info | reading.record(info, where, {"name": reading.text})


def _read_choice(value: Any, where: str) -> Choice:
    return Choice(**reading.record(value, where, {"name": reading.text, "parameters": reading.mapping}))


def _read_prompt(value: Any, where: str) -> Any:
    return reading.text(value, where) if isinstance(value, str) else reading.many(reading.whole(0), 10**6)(value, where)


def _read_config(value: Any, where: str) -> RunConfig:
    given = value if isinstance(value, dict) else {}
    drafter = _read_choice(given["drafter"], f"{where}.drafter") if "drafter" in given else None
    return RunConfig(drafter=drafter, **reading.record(value, where, {
        "prompt": _read_prompt, "builder": _read_choice, "verifier": _read_choice,
        "temperature": reading.number(0), "top_p": reading.number(0, 1), "top_k": reading.maybe(reading.whole(1)),
        "draft_temperature": reading.maybe(reading.number(0)),
        "max_new_tokens": reading.whole(1), "seed": reading.whole(0),
    }))  # fmt: skip


def _read_step(value: Any, where: str) -> Step:
    parents = reading.record(value, where, {"parents": reading.many(reading.whole(-1))})["parents"]
    prob, n = reading.maybe(reading.number(0, 1 + 1e-6)), len(parents)
    columns = {
        "parents": reading.whole(-1), "tokens": reading.whole(0), "texts": reading.text,
        "draft_prob": prob, "target_prob": prob, "target_prob_plain": prob, "outcome": reading.one_of(OUTCOMES),
        "accept_prob": prob, "coin": prob, "keys": reading.maybe(reading.number()),
    }  # fmt: skip
    step = reading.record(value, where, {name: reading.many(check, length=n) for name, check in columns.items()} | {
        "index": reading.whole(0), "start": reading.whole(0), "emitted": reading.many(reading.whole(0)),
        "pieces": reading.many(reading.text), "bonus": reading.maybe(reading.whole(0)), "corrected": reading.flag,
        "scheme": reading.text, "growth": lambda value, at: read_growth(value, at, n),
        "detail": lambda value, at: read_detail(value, at, n),
        "draft_passes": reading.whole(0),
        "seconds": lambda value, at: Timing(**reading.record(value, at, dict.fromkeys(PARTS, reading.number(0)))),
    })  # fmt: skip
    if value.get("drafter"):
        step["drafter"] = reading.many(reading.maybe(reading.text), length=n)(value["drafter"], f"{where}.drafter")
    try:
        Topology(parents)
    except ValueError as error:
        raise ValueError(f"trace is damaged: {where}.{error}") from None
    if step["outcome"].count("root") != 1 or step["outcome"][0] != "root":
        raise ValueError(f"trace is damaged: {where}.outcome must have the root first and nowhere else.")
    if len(step["pieces"]) != len(step["emitted"]):
        raise ValueError(f"trace is damaged: {where}.pieces must have one text for each emitted token.")
    path = [node for node, outcome in enumerate(step["outcome"]) if outcome == "accepted"]
    if [parents[node] for node in path] != [0, *path][: len(path)]:
        raise ValueError(f"trace is damaged: the accepted nodes of {where} must form one path from the root.")
    bonus = [] if step["bonus"] is None else [step["bonus"]]
    written = [*(step["tokens"][node] for node in path), *bonus]
    if not step["emitted"] or list(step["emitted"]) != written[: len(step["emitted"])]:
        raise ValueError(f"trace is damaged: {where}.emitted must be the accepted tokens and then the bonus.")
    return Step(**step)


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
