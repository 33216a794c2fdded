"""The loop: draft a tree, score it in one pass of the target, verify, commit, record.

Only this file knows their order. Plain decoding is the same loop with a tree that is only a root.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ..base.errors import ParameterError
from ..base.files import __version__
from ..config.run_config import RunConfig, compatible
from ..models.base import Pair
from ..record.step import Step
from ..record.trace import Trace
from ..sampling.randomness import Randomness, Seeded
from ..tree import TokenIds
from .session import DecodingSession, prompt_tokens


def speculate(
    pair: Pair,
    config: RunConfig,
    rng: Randomness | None = None,
    scheme: str | None = None,
    prompt: TokenIds | None = None,
) -> Iterator[Step]:
    """Tree speculative decoding, one `Step` per pass of the target. p target, q draft.

    Args:
        pair: target and draft.
        config: what to run.
        rng: randomness to use instead of the seed's; enumeration brings its own.
        scheme: how children are drawn, one of `strategy.SCHEMES`; None lets the rule choose.
        prompt: the token ids of the prompt where they are known already.

    Raises:
        ValueError: if builder, rule and drafter are incompatible or the prompt leaves no tokens to
            write.

    Source: Leviathan et al. 2023, algorithm 1, for chains; Miao et al. 2024 (SpecInfer), for trees.

    >>> config = specviz.RunConfig("ab", "sequoia:size=8", max_new_tokens=8, seed=1)
    >>> for step in specviz.speculate(specviz.toy_pair(), config):
    ...     print(step.drafted, len(step.path), "".join(step.emitted_texts))
    7 6 cacbaba
    0 0 a
    """
    config = _resolved(pair, config)
    # Builder, rule and drafter must go together; the rule says how children are drawn for it.
    # Without a scheme it is the question that the page asks, and the cache has its answer.
    match = compatible(config, scheme) if scheme else compatible(config)
    scheme = match.required().scheme
    builder = config.builder.prepare(config, pair.info)
    rng = rng or Seeded(config.seed)
    drafter = config.drafter if builder.reads_draft else None
    session = DecodingSession(pair, config, drafter, prompt)
    learned = builder.start()
    while session.tokens_left:
        # Draft: the builder decides where the tree grows and asks the drafter for rows of q there.
        draft = session.draft(scheme)
        tree = builder(draft, rng, session.tokens_left, learned)
        # Score: ONE pass of the target over the whole tree, in which a node sees only its path.
        p = session.score(tree)
        # Verify: the rule accepts a path from the root, and the target adds one token after it.
        verdict = session.verify(tree, p, rng)
        # What a builder learns may depend on all of this step, but only the next tree may use it:
        # a tree that looked at the verdict on itself would change the distribution of the text.
        learned = builder.learn(learned, tree, verdict, p)
        # Commit: the text grows by the accepted tokens; what happened becomes a record.
        yield session.commit(draft, tree, p, verdict)


def run(pair: Pair, config: RunConfig, steps: Iterable[Step] | None = None) -> Trace:
    """`speculate` to the end, as a `Trace`.

    Args:
        pair, config: as for `speculate`; errors too.
        steps: what `speculate` yielded until it was stopped; None decodes to the end.

    >>> config = specviz.RunConfig("ab", "sequoia:size=8", max_new_tokens=8, seed=1)
    >>> trace = specviz.run(specviz.toy_pair(), config)
    >>> trace.text, len(trace.steps), trace.tokens_per_pass, trace.stop
    ('cacbabaa', 2, 4.0, 'length')
    """
    trace = blank_trace(pair, config)
    if steps is None:
        steps = speculate(pair, config, prompt=trace.prompt_tokens)
    trace = replace(trace, steps=tuple(steps))
    # Why it ended is read off what was written, so steps from elsewhere give the same trace.
    written = trace.tokens
    stop = "stopped"
    if written and written[-1] in pair.eos_ids:
        stop = "end of text"
    elif len(written) >= config.max_new_tokens:
        stop = "length"
    elif len(trace.prompt_tokens) + len(written) >= pair.max_positions:
        stop = "context"
    return replace(trace, stop=stop)


def blank_trace(pair: Pair, config: RunConfig) -> Trace:
    """The trace of a run before its first step; arguments as for `speculate`, a `ValueError` if the
    pair cannot continue the prompt."""
    config = _resolved(pair, config)
    tokens = prompt_tokens(pair, config)
    # As a page shows it before the text; of a chat its last message.
    prompt: Any = config.prompt
    if config.is_chat:
        text = f"{prompt[-1].content}\n\n"
    else:
        text = prompt if isinstance(prompt, str) else pair.decode(prompt)
    return Trace(config, pair.info, tuple(tokens), text, (), "stopped", __version__)


def autoregress(pair: Pair, config: RunConfig) -> Trace:
    """Plain decoding with the target alone and the same seed, as a `Trace` of one-node trees: the
    measured baseline.

    Args:
        pair, config: as for `speculate`; builder, rule and drafter are not used.

    >>> trace = specviz.autoregress(specviz.toy_pair(), specviz.RunConfig("ab", max_new_tokens=8))
    >>> trace.tokens_per_pass
    1.0
    """
    return run(pair, _resolved(pair, config).autoregressive())


def _resolved(pair: Pair, config: RunConfig) -> RunConfig:
    """A configuration as the pair decodes it; both arguments are checked first."""
    if not isinstance(config, RunConfig):
        raise ParameterError(
            "config", "be a specviz.RunConfig, after the pair", config, "Write run(pair, config)."
        )
    if not hasattr(pair, "vocab_size"):
        raise ParameterError("pair", "be made by specviz.load_pair or specviz.toy_pair", pair)
    return config.for_pair(pair)
