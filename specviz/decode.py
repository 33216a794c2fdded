"""The loop: draft a tree, score it in one pass of the target, verify, commit; and plain decoding beside it.

This is the only place that knows the order of things. p = target, q = draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np

from ._version import __version__
from .config import RunConfig
from .distributions import Sampling, rows_of
from .protocols import Pair, Session, compatible
from .randomness import Randomness, Seeded, first_arrivals
from .record import Step, Timing, Trace, Verdict
from .registry import build
from .tree import TokenTree


class DraftSession:
    """The draft during one step: it grows one tree and counts its passes and their seconds."""

    def __init__(self, session: Session | None, tree: TokenTree, context: list[int], sampling: Sampling) -> None:
        self.session = session
        self.tree = tree
        self.context = context
        self.sampling = sampling
        self.passes = 0
        self.seconds = 0.0

    def expand(self, nodes: list[int]) -> list[np.ndarray]:
        began = perf_counter()
        level = rows_of(self.session.forward(self.tree, nodes), self.sampling, ahead=len(nodes))
        self.seconds += perf_counter() - began
        self.passes += 1
        rows = level.every()
        self.tree.draft_rows.update(zip(nodes, rows, strict=True))
        return rows


def speculate(pair: Pair, config: RunConfig, rng: Randomness | None = None, law: str | None = None) -> Iterator[Step]:
    """Tree speculative decoding, one `Step` per pass of the target.

    Args:
        pair: target and draft.
        config: what to run.
        rng: randomness to use instead of the seed's; the exact-law suite brings its own.
        law: how children are drawn; None lets the rule choose, anything else is for showing what goes wrong.

    Raises:
        ValueError: if builder and verifier cannot go together or the prompt leaves no room.
    """
    builder, verifier = build("builder", config.builder), build("verifier", config.verifier)
    match = compatible(builder, verifier, config.temperature, config.draft_temperature, law)
    if not match.possible:
        raise ValueError(match.reason)
    builder = builder.prepare(verifier, config.temperature)
    rng = rng or Seeded(config.seed)
    context, limit = _begin(pair, config)
    target, draft = pair.open(context)
    if draft is None and builder.reads_draft:
        raise ValueError(f"{builder.title} asks a draft model; this pair has none. Load one, or choose prompt-lookup.")
    pieces = pair.stream(context)
    notes = builder.start()
    index = 0
    while len(context) < limit:
        began = perf_counter()
        tree = TokenTree(context[-1], start=len(context) - 1, law=match.law)
        drafting = DraftSession(draft, tree, context, config.draft_sampling)
        tree = builder(drafting, rng, match.law, limit - len(context), notes)

        asked = perf_counter()
        logits = target.forward(tree, range(len(tree)))  # ONE pass over the whole tree under its attention mask
        rows = rows_of(logits, config.target_sampling)
        scored = perf_counter()
        verdict = verifier(tree, rows, rng)
        decided = perf_counter()

        notes = builder.learn(notes, tree, verdict)
        emitted = _emit(tree, verdict, limit - len(context), pair.eos_ids)
        target.commit(tree, verdict.path, emitted)
        if draft is not None:
            draft.commit(drafting.tree, tree.read_by_draft(verdict.path), emitted)
        context.extend(emitted)
        columns = _columns(index, tree, rows, verdict, emitted, pair, pieces)
        seconds = _timing(began, drafting.seconds, scored - asked, decided - scored)
        yield Step(**columns, draft_passes=drafting.passes, seconds=seconds)
        if emitted[-1] in pair.eos_ids:
            return
        index += 1


def autoregress_steps(pair: Pair, config: RunConfig) -> Iterator[Step]:
    """Plain decoding with the target: one token a pass, each the winner of the race E / p keyed by its position."""
    context, limit = _begin(pair, config)
    target, _ = pair.open(context)
    rng, pieces = Seeded(config.seed), pair.stream(context)
    index = 0
    while len(context) < limit:
        began = perf_counter()
        tree = TokenTree(context[-1], start=len(context) - 1)
        asked = perf_counter()
        logits = target.forward(tree, [0])
        rows = rows_of(logits, config.target_sampling)
        scored = perf_counter()
        token = next_token(rows[0], config.temperature, rng, tree.position(0))
        verdict = Verdict((), token, ("root",), (None,), (None,))
        decided = perf_counter()
        target.commit(tree, (), [token])
        context.append(token)
        columns = _columns(index, tree, rows, verdict, [token], pair, pieces)
        yield Step(**columns, draft_passes=0, seconds=_timing(began, 0.0, scored - asked, decided - scored))
        if token in pair.eos_ids:
            return
        index += 1


def next_token(p: np.ndarray, temperature: float, rng: Randomness, position: int) -> int:
    """The token plain decoding writes at `position`: argmin E / p, the most probable token at temperature 0."""
    if temperature == 0:
        return int(np.argmax(p))
    return int(first_arrivals(p, rng.noise(position, len(p)))[0])


def run(pair: Pair, config: RunConfig) -> Trace:
    """`speculate` to the end, as a `Trace`."""
    return collect(pair, config, speculate(pair, config))


def autoregress(pair: Pair, config: RunConfig) -> Trace:
    """Plain decoding with the target alone and the same seed, as a `Trace` of one-node trees: the measured baseline."""
    return collect(pair, config, autoregress_steps(pair, config))


def collect(pair: Pair, config: RunConfig, steps: Iterator[Step]) -> Trace:
    """The trace of the steps that an iterator yields (all of them, or those before it was stopped)."""
    prompt = tuple(_tokens(pair, config))
    steps = tuple(steps)
    written = [token for step in steps for token in step.emitted]
    if written and written[-1] in pair.eos_ids:
        stop = "end of text"
    elif len(written) >= config.max_new_tokens:
        stop = "length"
    elif len(prompt) + len(written) >= pair.max_positions:
        stop = "context"
    else:
        stop = "stopped"
    text = config.prompt if isinstance(config.prompt, str) else pair.decode(prompt)
    return Trace(config, pair.info, prompt, text, steps, stop, __version__)


def _tokens(pair: Pair, config: RunConfig) -> list[int]:
    if isinstance(config.prompt, str):
        return list(pair.encode(config.prompt))
    return list(config.prompt)


def _begin(pair: Pair, config: RunConfig) -> tuple[list[int], int]:
    """The prompt's tokens and the length at which the text ends."""
    context = _tokens(pair, config)
    if not context:
        raise ValueError("prompt must hold at least one token; this one has none. Type a few words.")
    if bad := [token for token in context if not 0 <= token < pair.vocab_size]:
        raise ValueError(f"prompt must hold token ids from 0 to {pair.vocab_size - 1}; got {bad[0]}.")
    if len(context) >= pair.max_positions:
        raise ValueError(
            f"prompt must be shorter than the models' context of {pair.max_positions} tokens; "
            f"got {len(context)} tokens. Shorten it."
        )
    return context, min(len(context) + config.max_new_tokens, pair.max_positions)


def _emit(tree: TokenTree, verdict: Verdict, room: int, eos_ids: frozenset[int]) -> list[int]:
    """The tokens a verdict adds to the text, cut where plain decoding would have stopped."""
    emitted = []
    for token in [*(tree.tokens[node] for node in verdict.path), verdict.bonus][:room]:
        emitted.append(int(token))
        if token in eos_ids:
            break
    return emitted


def _timing(began: float, draft: float, target: float, verify: float) -> Timing:
    return Timing(draft, target, verify, max(0.0, perf_counter() - began - draft - target - verify))


def _columns(index, tree, rows, verdict, emitted, pair, pieces) -> dict[str, Any]:
    """The fields of the `Step` of one decided tree, all but what the loop measured."""
    parents, tokens = tree.parents, tree.tokens
    target_prob = rows.of(parents[1:], tokens[1:])
    plain = target_prob if rows.sampling == Sampling() else rows.of(parents[1:], tokens[1:], plain=True)
    whole = len(emitted) == len(verdict.path) + 1
    last = verdict.path[-1] if verdict.path else 0
    return dict(
        index=index,
        start=tree.start,
        parents=tuple(parents),
        tokens=tuple(tokens),
        texts=tuple(map(pair.piece, tokens)),
        draft_prob=tuple(tree.draft_prob()),
        target_prob=(None, *target_prob),
        target_prob_plain=(None, *plain),
        outcome=verdict.outcome,
        accept_prob=verdict.accept_prob,
        coin=verdict.coin,
        emitted=tuple(emitted),
        pieces=tuple(map(pieces, emitted)),
        bonus=emitted[-1] if whole else None,
        corrected=whole and bool(tree.children[last]),
        law=tree.law,
        keys=tuple(tree.keys),
        growth=_with_texts(tree.notes, pair.piece),
        detail=_with_texts(verdict.detail, pair.piece),
    )


def _with_texts(data: Any, piece: Callable[[int], str]) -> Any:
    """The same plain data with a list "texts" beside every list "tokens", so that a record needs no tokenizer."""
    if not isinstance(data, dict):
        return data
    texts = {"texts": list(map(piece, data["tokens"]))} if "tokens" in data else {}
    return {key: _with_texts(value, piece) for key, value in data.items()} | texts
