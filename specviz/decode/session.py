"""The text that both models have read: its sessions, the draft of a step, and what a step adds."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from ..builders.base import Draft
from ..config.run_config import RunConfig
from ..drafters.base import Drafter, DrafterSession, TargetOutputs, open_drafter
from ..models.base import Pair
from ..record.step import Step, Timing
from ..sampling.distributions import Distributions, distributions_of
from ..sampling.randomness import Randomness
from ..tree import TokenIds, TokenTree
from ..verifiers.base import Verdict
from .recording import find_sources, record_step


class DecodingSession:
    """The sessions of the target and its drafter on one text.

    Args:
        pair: the models.
        config: the prompt, how to sample, the rule and the limit of the text.
        drafter: None for a builder that reads no draft.
        prompt: its token ids where they are known already.

    Raises:
        ValueError: if the pair cannot continue the prompt, or has not what the drafter needs.
    """

    def __init__(
        self,
        pair: Pair,
        config: RunConfig,
        drafter: Drafter | None,
        prompt: TokenIds | None = None,
    ) -> None:
        self.pair = pair
        self.config = config
        self.drafter = drafter
        self.context = list(prompt or prompt_tokens(pair, config))
        self.limit = min(len(self.context) + config.max_new_tokens, pair.max_positions)
        self.target, draft = pair.open(self.context)
        self.drafting: DrafterSession | None = None
        if drafter is not None:
            self.drafting = open_drafter(drafter, pair, self.target, draft, self.context)
        # A token's text may depend on the one before it (a space, half a character), so one stream
        # per run.
        self.text_of_next = pair.stream(self.context)
        self.steps = 0
        self.is_over = False  # whether an end of text was written
        self.start = 0.0  # of the current step
        self.seconds = dict[str, float]()  # of its parts

    @property
    def tokens_left(self) -> int:
        """How many tokens may still be written, 0 after the end of the text."""
        return 0 if self.is_over else self.limit - len(self.context)

    def draft(self, scheme: str) -> Draft:
        """The draft of the next step: a tree that is only a root, for a builder to grow. The step's
        time begins here."""
        self.start = perf_counter()
        tree = TokenTree(self.context[-1], start=len(self.context) - 1, scheme=scheme)
        sparse = self.drafter is not None and self.drafter.sparse
        return Draft(
            self.drafting, tree, self.context, self.config.draft_sampling, perf_counter, sparse
        )

    def score(self, tree: TokenTree) -> Distributions:
        """The target's distributions after every node of a tree, in one pass."""
        start = perf_counter()
        logits = self.target.forward(tree, range(len(tree)))
        p = distributions_of(logits, self.config.target_sampling)
        self.seconds["target"] = perf_counter() - start
        return p

    def verify(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        """What the rule decides about a tree."""
        start = perf_counter()
        verdict: Verdict = self.config.verifier(tree, p, rng)
        self.seconds["verify"] = perf_counter() - start
        return verdict

    def commit(self, draft: Draft, tree: TokenTree, p: Distributions, verdict: Verdict) -> Step:
        """Append the tokens of a verdict, cut where the text ends, to every session."""
        # A text may end inside of what was accepted: what is behind the end was never written.
        emitted = self._until_end([*(tree.tokens[node] for node in verdict.path), verdict.bonus])
        sources = find_sources(self.drafting, tree)
        nodes = (0, *verdict.path)
        features = None
        if self.drafter and self.drafter.reads_features:
            # Before the commit: afterwards the target has forgotten the tree.
            features = self.target.features(nodes)
        # The caches keep the accepted path and forget the rest of the tree.
        self.target.commit(tree, verdict.path, emitted)
        if self.drafting is not None:
            # The draft has read its own tree, of which a builder may have selected a part. Nodes
            # that the builder added itself, from a lookup say, are unknown to the draft.
            origin = tree.origin or {node: node for node in verdict.path}
            accepted = [origin[node] for node in verdict.path if node in origin]
            self.drafting.commit(draft.tree, accepted, emitted, TargetOutputs(nodes, p, features))
        self.context.extend(emitted)
        self.is_over = emitted[-1] in self.pair.eos_ids
        self.steps += 1
        # The record itself is not part of the step's time. "other" is the rest, so that the parts
        # add up to the step even where no clock was read.
        total = perf_counter() - self.start
        seconds = self.seconds | {"draft": draft.seconds}
        other = max(0.0, total - sum(seconds.values()))
        return record_step(
            tree,
            p,
            verdict,
            sources,
            self.pair.token_text,
            index=self.steps - 1,
            emitted=tuple(emitted),
            emitted_texts=tuple(map(self.text_of_next, emitted)),
            draft_passes=draft.passes,
            seconds=Timing(**seconds, other=other),
        )

    def _until_end(self, tokens: list[int]) -> list[int]:
        """The tokens up to the limit and to the end of the text, which is included."""
        tokens = tokens[: self.tokens_left]
        for count, token in enumerate(tokens, 1):
            if token in self.pair.eos_ids:
                return tokens[:count]
        return tokens


def prompt_tokens(pair: Pair, config: RunConfig) -> list[int]:
    """The token ids of a configuration's prompt; a `ValueError` if the pair cannot continue it."""
    config = config.for_pair(pair)
    prompt: Any = config.prompt  # text, messages or token ids, see `read_prompt`
    if isinstance(prompt, str) or config.is_chat:
        prompt = pair.encode(prompt)
    prompt = list(prompt)
    if not prompt:
        raise ValueError("prompt must have at least one token; got none. Give a few words.")
    if bad := [token for token in prompt if not 0 <= token < pair.vocab_size]:
        raise ValueError(
            f"prompt must have token ids from 0 to {pair.vocab_size - 1}; got {bad[0]}."
        )
    if len(prompt) >= pair.max_positions:
        is_window = pair.info.get("window") == pair.max_positions
        context = "window of attention" if is_window else "context"
        raise ValueError(
            f"prompt must be shorter than the models' {context} of {pair.max_positions} tokens; "
            f"got {len(prompt)} tokens. Shorten it."
        )
    return prompt
