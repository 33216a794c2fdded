"""The sessions of a run: the draft of a step, and the text that both models have read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from .config.run_config import RunConfig
from .drafters.base import Draft, Drafter, DrafterSession, Seen, open_drafter
from .models.base import Pair
from .record.step import Detail, Step, Timing
from .sampling.children import drafter_of
from .sampling.distributions import Blend, Distributions, distributions_of
from .tree import Chart, TokenTree
from .verifiers.base import Verdict


class Stopwatch:
    """Seconds since it was made, by part: `with watch("target"): ...` counts for the target, the
    rest is "other"."""

    def __init__(self) -> None:
        self.began = perf_counter()
        self.parts = {"draft": 0.0, "target": 0.0, "verify": 0.0}

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        began = perf_counter()
        yield
        self.parts[part] += perf_counter() - began

    def read(self) -> Timing:
        """The seconds so far."""
        total = perf_counter() - self.began
        return Timing(**self.parts, other=max(0.0, total - sum(self.parts.values())))


class DecodingSession:
    """The sessions of the target and its drafter on one text; a `ValueError` if the prompt or the
    pair will not do."""

    def __init__(self, pair: Pair, config: RunConfig, drafter: Drafter | None) -> None:
        self.pair, self.config, self.drafter = pair, config, drafter
        self.context = prompt_tokens(pair, config)
        self.limit = min(len(self.context) + config.max_new_tokens, pair.max_positions)
        self.target, model = pair.open(self.context)
        self.drafting = (
            open_drafter(drafter, pair, self.target, model, self.context) if drafter else None
        )
        self.pieces = pair.stream(self.context)
        self.steps = 0
        self.ended = False

    @property
    def tokens_left(self) -> int:
        """How many tokens may still be written, 0 after the end of the text."""
        return 0 if self.ended else self.limit - len(self.context)

    def draft(self, scheme: str, watch: Stopwatch) -> Draft:
        """The draft of the next step: a tree that is only a root, for a builder to grow."""
        tree = TokenTree(self.context[-1], start=len(self.context) - 1, scheme=scheme)
        sparse = self.drafter is not None and self.drafter.sparse
        return Draft(self.drafting, tree, self.context, self.config.draft_sampling, watch, sparse)

    def score(self, tree: TokenTree) -> Distributions:
        """The target's distributions after every node of a tree, in one pass."""
        return distributions_of(
            self.target.forward(tree, range(len(tree))), self.config.target_sampling
        )

    def commit(self, draft: Draft, tree: TokenTree, p: Distributions, verdict: Verdict) -> Result:
        """Append the tokens of a verdict, cut where the text ends, to every session."""
        written = [*(tree.tokens[node] for node in verdict.path), verdict.bonus][: self.tokens_left]
        end = next(
            (place for place, token in enumerate(written, 1) if token in self.pair.eos_ids),
            len(written),
        )
        emitted = written[:end]
        sources = _sources(
            self.drafting, tree
        )  # before the commit: then drafters forget how they came by them
        nodes = (0, *verdict.path)
        features = (
            self.target.features(nodes)
            if self.drafter is not None and self.drafter.reads_features
            else None
        )
        self.target.commit(tree, verdict.path, emitted)
        if self.drafting is not None:
            origin = tree.origin or {node: node for node in verdict.path}
            accepted = [origin[node] for node in verdict.path if node in origin]
            self.drafting.commit(draft.tree, accepted, emitted, Seen(nodes, p, features))
        self.context.extend(emitted)
        self.ended = emitted[-1] in self.pair.eos_ids
        self.steps += 1
        return Result(
            **vars(verdict),
            index=self.steps - 1,
            tree=tree,
            p=p,
            emitted=tuple(emitted),
            pieces=tuple(map(self.pieces, emitted)),
            draft_passes=draft.passes,
            seconds=draft.watch.read(),
            **sources,
        )


@dataclass(frozen=True, kw_only=True)
class Result(Verdict):
    """What a step did, before it is written down as a `Step`, whose fields have the same names."""

    index: int
    tree: TokenTree
    p: Distributions
    emitted: tuple[int, ...]
    pieces: tuple[str, ...]
    drafter: tuple[str | None, ...]
    draft_prob: tuple[float | None, ...]
    guesses: dict[int, dict[str, Any]]
    draft_passes: int
    seconds: Timing


ALIKE = (
    "index",
    "draft_prob",
    "outcome",
    "accept_prob",
    "coin",
    "emitted",
    "pieces",
    "draft_passes",
    "seconds",
    "drafter",
)


def record(result: Result, token_text: Callable[[int], str]) -> Step:
    """The record of a step. Its probabilities, charts and texts are computed here and nowhere
    before."""
    tree, path = result.tree, result.path
    parents, tokens = tuple(tree.parents), tuple(tree.tokens)
    target_prob, at_temperature_1 = result.p.of(parents[1:], tokens[1:])
    complete = len(result.emitted) == len(path) + 1  # the limits cut nothing off
    return Step(
        **{name: getattr(result, name) for name in ALIKE},
        start=tree.start,
        parents=parents,
        tokens=tokens,
        texts=tuple(map(token_text, tokens)),
        target_prob=(None, *target_prob),
        target_prob_plain=(None, *at_temperature_1),
        bonus=result.emitted[-1] if complete else None,
        corrected=complete and bool(tree.children[path[-1] if path else 0]),
        scheme=tree.scheme,
        keys=tuple(tree.keys),
        growth=replace(
            tree.growth, cut=_recorded(tree.growth.cut, token_text), guesses=result.guesses
        ),
        detail={
            node: Detail(**_recorded(notes, token_text)) for node, notes in result.detail.items()
        },
    )


def _recorded(notes: Any, token_text: Callable[[int], str]) -> Any:
    """Notes of a rule or builder, those that are functions called, with texts of the tokens in
    charts."""
    if callable(notes):
        notes = notes()
    if isinstance(notes, Mapping):
        return {name: _recorded(note, token_text) for name, note in notes.items()}
    return (
        replace(notes, texts=tuple(map(token_text, notes.tokens)))
        if isinstance(notes, Chart)
        else notes
    )


def _sources(drafting: DrafterSession | None, tree: TokenTree) -> dict[str, Any]:
    """The drafter of each node, [n], its probability in the row it was drawn from, [n], and how it
    was guessed."""
    names, probs = list[str | None]([None] * len(tree)), list[float | None]([None] * len(tree))
    guesses: dict[int, dict[str, Any]] = {}
    for node, row in tree.draft_distributions.items():
        assert drafting is not None  # who else made the row
        children = tree.children[node]
        tokens = [tree.tokens[child] for child in children]
        origins = [(drafting.name, row)] * len(children)
        if isinstance(row, Blend):
            origins = [
                (row.drafters[part], row.parts[part])
                for part in drafter_of(row, tree.scheme, tokens)
            ]
        for child, token, (name, source) in zip(children, tokens, origins, strict=True):
            names[child], probs[child] = name, float(source[token])
            if guess := drafting.describe_guess(tree, child, name):
                guesses[child] = guess
    return {"drafter": tuple(names), "draft_prob": tuple(probs), "guesses": guesses}


def prompt_tokens(pair: Pair, config: RunConfig) -> list[int]:
    """The token ids of a configuration's prompt; a `ValueError` if the pair cannot continue it."""
    prompt = list(pair.encode(config.prompt) if isinstance(config.prompt, str) else config.prompt)
    if not prompt:
        raise ValueError("prompt must have at least one token; got none. Give a few words.")
    if bad := [token for token in prompt if not 0 <= token < pair.vocab_size]:
        raise ValueError(
            f"prompt must have token ids from 0 to {pair.vocab_size - 1}; got {bad[0]}."
        )
    if len(prompt) >= pair.max_positions:
        raise ValueError(
            f"prompt must be shorter than the models' context of {pair.max_positions} tokens; "
            f"got {len(prompt)} tokens. Shorten it."
        )
    return prompt
