"""A text being written: what both models have read of it, how much may still come, and the record of each step."""

from __future__ import annotations

from dataclasses import replace

from .config import RunConfig
from .desk import Drafter, Seen
from .distributions import Rows, rows_of
from .drafting import DraftSession, guesses, open_drafter
from .protocols import Pair
from .record import Step, Verdict
from .stopwatch import Stopwatch
from .tree import TokenTree


class Writing:
    """The sessions of the target and of who drafts for it, on one text.

    Args:
        pair: the models.
        config: prompt, limits and sampling.
        drafter: who fills the trees; None where nobody is asked.

    Raises:
        ValueError: if the prompt is empty, unknown or too long, or the pair has not what the drafter takes.
    """

    def __init__(self, pair: Pair, config: RunConfig, drafter: Drafter | None) -> None:
        self.pair, self.config, self.drafter = pair, config, drafter
        self.context = _checked(pair, prompt_tokens(pair, config))
        self.limit = min(len(self.context) + config.max_new_tokens, pair.max_positions)
        self.target, model = pair.open(self.context)
        self.drafting = open_drafter(drafter, pair, self.target, model, self.context) if drafter else None
        self.pieces = pair.stream(self.context)
        self.steps = 0
        self.ended = False

    @property
    def room(self) -> int:
        """How many tokens may still be written, 0 after the end of the text."""
        return 0 if self.ended else self.limit - len(self.context)

    def draft(self, law: str, watch: Stopwatch) -> DraftSession:
        """The draft of the next step: a tree that is only a root, for a builder to grow."""
        tree = TokenTree(self.context[-1], start=len(self.context) - 1, law=law)
        sparse = self.drafter is not None and self.drafter.sparse
        return DraftSession(self.drafting, tree, self.context, self.config.draft_sampling, watch, sparse)

    def score(self, tree: TokenTree) -> Rows:
        """The target's rows after every node of a tree, in one pass."""
        return rows_of(self.target.forward(tree, range(len(tree))), self.config.target_sampling)

    def commit(self, draft: DraftSession, tree: TokenTree, p: Rows, verdict: Verdict) -> list[int]:
        """Write down what a verdict adds to the text, once in every session; the tokens, cut where the text ends."""
        emitted = _emitted(tree, verdict, self.room, self.pair.eos_ids)
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

    def step(self, draft: DraftSession, tree: TokenTree, p: Rows, verdict: Verdict, emitted: list[int]) -> Step:
        """The record of a step that was committed."""
        parents, tokens, piece = tree.parents, tree.tokens, self.pair.piece
        target_prob, plain = p.of_both(parents[1:], tokens[1:])
        whole = len(emitted) == len(verdict.path) + 1
        last = verdict.path[-1] if verdict.path else 0
        drafters, probs, details = self.guesses
        self.steps += 1
        return Step(
            index=self.steps - 1,
            start=tree.start,
            parents=tuple(parents),
            tokens=tuple(tokens),
            texts=tuple(map(piece, tokens)),
            draft_prob=probs,
            target_prob=(None, *target_prob),
            target_prob_plain=(None, *plain),
            outcome=verdict.outcome,
            accept_prob=verdict.accept_prob,
            coin=verdict.coin,
            emitted=tuple(emitted),
            pieces=tuple(map(self.pieces, emitted)),
            bonus=emitted[-1] if whole else None,
            corrected=whole and bool(tree.children[last]),
            law=tree.law,
            keys=tuple(tree.keys),
            growth=replace(tree.growth, guesses=details).named(piece),
            detail={node: detail.named(piece) for node, detail in verdict.detail.items()},
            draft_passes=draft.passes,
            drafter=drafters,
            seconds=draft.watch.read(),
        )


def prompt_tokens(pair: Pair, config: RunConfig) -> list[int]:
    """The token ids of a configuration's prompt."""
    return list(pair.encode(config.prompt) if isinstance(config.prompt, str) else config.prompt)


def _checked(pair: Pair, prompt: list[int]) -> list[int]:
    if not prompt:
        raise ValueError("prompt must hold at least one token; this one has none. Type a few words.")
    if bad := [token for token in prompt if not 0 <= token < pair.vocab_size]:
        raise ValueError(f"prompt must hold token ids from 0 to {pair.vocab_size - 1}; got {bad[0]}.")
    if len(prompt) >= pair.max_positions:
        raise ValueError(
            f"prompt must be shorter than the models' context of {pair.max_positions} tokens; "
            f"got {len(prompt)} tokens. Shorten it."
        )
    return prompt


def _emitted(tree: TokenTree, verdict: Verdict, room: int, eos_ids: frozenset[int]) -> list[int]:
    """The tokens a verdict adds to the text, cut where plain decoding would have stopped."""
    emitted = []
    for token in [*(tree.tokens[node] for node in verdict.path), verdict.bonus][:room]:
        emitted.append(int(token))
        if token in eos_ids:
            break
    return emitted
