"""The sessions of a run: the draft of a step, and the text that both models have read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any
from weakref import ref

import numpy as np

from .config import RunConfig
from .distributions import Blend, Distributions, Sampling, distributions_of
from .drafters.base import Draft, Drafter, DrafterContext, DrafterSession, Seen
from .models.base import Pair, Session
from .record import Step
from .record_parts import Timing
from .sampling import whose
from .tree import TokenTree
from .verifiers.base import Verdict

UNREAD = 1 << 21  # logits that are kept of the latest steps, to make their probabilities when they are read


class Stopwatch:
    """Seconds since it was made, by part: `with watch("target"): ...` counts for the target, the rest is "other"."""

    def __init__(self) -> None:
        self.began = perf_counter()
        self.parts = {"draft": 0.0, "target": 0.0, "verify": 0.0}

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        began = perf_counter()
        try:
            yield
        finally:
            self.parts[part] += perf_counter() - began

    def read(self) -> Timing:
        """The seconds so far."""
        total = perf_counter() - self.began
        return Timing(**self.parts, other=max(0.0, total - sum(self.parts.values())))


class StepDraft(Draft):
    """The draft during one step: it grows one tree and counts its passes.

    Args:
        drafting: the drafter session; None without a drafter.
        tree: a fresh tree with only its root.
        context: the committed token ids.
        sampling: how the drafter's rows are post-processed.
        watch: counts the seconds of its passes, post-processing included.
        sparse: whether the drafter gives mass to few tokens alone.
    """

    def __init__(
        self,
        drafting: DrafterSession | None,
        tree: TokenTree,
        context: Sequence[int],
        sampling: Sampling,
        watch: Stopwatch | None = None,
        sparse: bool = False,
    ) -> None:
        self.drafting = drafting
        self.tree = tree
        self.context = context
        self.sampling = sampling
        self.sparse = sparse
        self.watch = watch or Stopwatch()
        self._before = drafting.passes if drafting else 0

    @property
    def passes(self) -> int:
        """Passes of a model that the tree took."""
        return self.drafting.passes - self._before if self.drafting else 0

    def expand(self, nodes: Sequence[int]) -> list[np.ndarray]:
        assert self.drafting is not None  # or the builder needs no drafter
        with self.watch("draft"):
            rows = self.drafting.expand(self.tree, nodes, self.sampling)
        self.tree.draft_distributions.update(zip(nodes, rows, strict=True))
        return rows

    def plain(self, node: int, q: np.ndarray) -> np.ndarray:
        return q if self.sampling.temperature > 0 or self.drafting is None else self.drafting.plain(node, q)


def open_drafter(
    drafter: Drafter, pair: Pair, target: Session, draft: Session | None, context: Sequence[int]
) -> DrafterSession:
    """A drafter at work on a text.

    Raises:
        ValueError: if the pair has not what it takes.
    """
    features = target.watch() if drafter.reads_features else None
    return drafter.open(DrafterContext(pair, target, draft, context, features))


def guesses(
    drafting: DrafterSession | None, tree: TokenTree
) -> tuple[tuple[str | None, ...], tuple[float | None, ...], dict[int, dict]]:
    """The drafter of each node, [n], its probability in the row it was drawn from, [n], and how it was made.

    The last is plain JSON data for the nodes of which there is something to tell.

    Args:
        drafting: the drafter session; None without a drafter.
        tree: the tree that was verified.
    """
    details: dict[int, dict] = {}
    probs, rows = tree.draft_prob(), tree.draft_distributions
    if drafting is None:
        return (None,) * len(tree), tuple(probs), details
    names: list[str | None] = [drafting.name if parent in rows else None for parent in tree.parents]
    for node, row in rows.items():
        if not (drafting.describes or isinstance(row, Blend)):
            continue
        children = tree.children[node]
        tokens = [tree.tokens[child] for child in children]
        for child, part in zip(children, whose(row, tree.scheme, tokens), strict=True):
            name = drafting.name
            if part is not None and isinstance(row, Blend):
                name = row.whose[part]
                probs[child] = float(row.parts[part][tree.tokens[child]])
            names[child] = name
            path = [tree.tokens[above] for above in tree.topology.path(child)]
            if guess := drafting.describe_guess(path, name):
                details[child] = guess
    return tuple(names), tuple(probs), details


class DecodingSession:
    """The sessions of the target and its drafter, on one text.

    Args:
        pair: the models.
        config: prompt, limits and sampling.
        drafter: the drafter; None for none.

    Raises:
        ValueError: if the prompt is empty, unknown or too long, or the pair lacks the drafter's model.
    """

    def __init__(self, pair: Pair, config: RunConfig, drafter: Drafter | None) -> None:
        self.pair, self.config, self.drafter = pair, config, drafter
        self.context = _checked(pair, prompt_tokens(pair, config))
        self.limit = min(len(self.context) + config.max_new_tokens, pair.max_positions)
        self.target, model = pair.open(self.context)
        self.drafting = open_drafter(drafter, pair, self.target, model, self.context) if drafter else None
        self.pieces = pair.stream(self.context)
        self.steps = 0
        self._latest: deque[ref[Step]] = deque()
        self.ended = False

    @property
    def tokens_left(self) -> int:
        """How many tokens may still be written, 0 after the end of the text."""
        return 0 if self.ended else self.limit - len(self.context)

    def draft(self, scheme: str, watch: Stopwatch) -> StepDraft:
        """The draft of the next step: a tree that is only a root, for a builder to grow."""
        tree = TokenTree(self.context[-1], start=len(self.context) - 1, scheme=scheme)
        sparse = self.drafter is not None and self.drafter.sparse
        return StepDraft(self.drafting, tree, self.context, self.config.draft_sampling, watch, sparse)

    def score(self, tree: TokenTree) -> Distributions:
        """The target's distributions after every node of a tree, in one pass."""
        return distributions_of(self.target.forward(tree, range(len(tree))), self.config.target_sampling)

    def commit(self, draft: StepDraft, tree: TokenTree, p: Distributions, verdict: Verdict) -> list[int]:
        """Commit the tokens of a verdict to every session; the tokens, cut where the text ends."""
        emitted = _emitted(tree, verdict, self.tokens_left, self.pair.eos_ids)
        nodes = (0, *verdict.path)
        wanted = self.drafting is not None and self.drafter is not None and self.drafter.reads_features
        seen = Seen(nodes, p, self.target.features(nodes) if wanted else None)
        self.guesses = guesses(self.drafting, tree)  # before the commit: then drafters forget how they came by them
        self.target.commit(tree, verdict.path, emitted)
        if self.drafting is not None:
            self.drafting.commit(draft.tree, tree.read_by_draft(verdict.path), emitted, seen)
        self.context.extend(emitted)
        self.ended = emitted[-1] in self.pair.eos_ids
        return emitted

    def step(self, draft: StepDraft, tree: TokenTree, p: Distributions, verdict: Verdict, emitted: list[int]) -> Step:
        """The record of a step that was committed."""
        parents, tokens, keys, piece = tuple(tree.parents), tuple(tree.tokens), tuple(tree.keys), self.pair.piece
        drafters, probs, details = self.guesses
        growth, noted = tree.growth, verdict.detail  # and not the tree, with all rows of its draft

        def rest() -> dict[str, Any]:
            target_prob, plain = p.of_both(parents[1:], tokens[1:])
            return {
                "texts": tuple(map(piece, tokens)),
                "target_prob": (None, *target_prob),
                "target_prob_plain": (None, *plain),
                "growth": replace(growth, guesses=details).named(piece),
                "detail": {node: detail.named(piece) for node, detail in noted.items()},
            }

        whole = len(emitted) == len(verdict.path) + 1
        last = verdict.path[-1] if verdict.path else 0
        self.steps += 1
        step = Step.unread(
            rest,
            index=self.steps - 1,
            start=tree.start,
            parents=parents,
            tokens=tokens,
            draft_prob=probs,
            outcome=verdict.outcome,
            accept_prob=verdict.accept_prob,
            coin=verdict.coin,
            emitted=tuple(emitted),
            pieces=tuple(map(self.pieces, emitted)),
            bonus=emitted[-1] if whole else None,
            corrected=whole and bool(tree.children[last]),
            scheme=tree.scheme,
            keys=keys,
            draft_passes=draft.passes,
            drafter=drafters,
            seconds=draft.watch.read(),
        )
        self._latest.append(ref(step))
        while len(self._latest) * len(tree) * self.pair.vocab_size > UNREAD:
            if (old := self._latest.popleft()()) is not None:
                old.complete()
        return step


def prompt_tokens(pair: Pair, config: RunConfig) -> list[int]:
    """The token ids of a configuration's prompt."""
    return list(pair.encode(config.prompt) if isinstance(config.prompt, str) else config.prompt)


def _checked(pair: Pair, prompt: list[int]) -> list[int]:
    if not prompt:
        raise ValueError("prompt must have at least one token; got none. Give a few words.")
    if bad := [token for token in prompt if not 0 <= token < pair.vocab_size]:
        raise ValueError(f"prompt must have token ids from 0 to {pair.vocab_size - 1}; got {bad[0]}.")
    if len(prompt) >= pair.max_positions:
        raise ValueError(
            f"prompt must be shorter than the models' context of {pair.max_positions} tokens; "
            f"got {len(prompt)} tokens. Shorten it."
        )
    return prompt


def _emitted(tree: TokenTree, verdict: Verdict, tokens_left: int, eos_ids: frozenset[int]) -> list[int]:
    """The tokens a verdict adds to the text, cut where plain decoding would have stopped."""
    emitted = []
    for token in [*(tree.tokens[node] for node in verdict.path), verdict.bonus][:tokens_left]:
        emitted.append(int(token))
        if token in eos_ids:
            break
    return emitted
