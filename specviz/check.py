"""Which pairs of builder and rule are lossless: declared by `compatible`, proven here by enumeration.

Two whole steps of the real loop are enumerated on toy models, since one step cannot see chance that is shared between
steps, and the law of the text is compared with the target's own. Rules whose noise is keyed by position cannot be
enumerated; for them the text must equal that of plain decoding, seed by seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np

from .config import RunConfig
from .decode import autoregress_steps, speculate
from .distributions import Sampling, probabilities
from .exact import law as exact_law
from .models.table import TablePair, toy_pair
from .protocols import TreeBuilder, Verifier, compatible
from .registry import REGISTRIES

PROMPT = "ab"
LENGTH = 3  # tokens whose joint law is compared
STEPS = 2
CLOSENESS = 0.2  # a draft far from the target, or a lossy rule would hardly show
# Parameters that make a builder's trees small enough to enumerate while they keep a depth of two and a branch.
SMALL: dict[str, dict[str, Any]] = {
    "chain": {"depth": 2},
    "k-sequences": {"width": 2, "depth": 2},
    "k-ary": {"width": 2, "depth": 2},
    "heuristic": {"depth": 1},
    "svip": {"depth": 2, "h": 0.35},
    "branching": {"widths": (2, 1)},
    "batch": {"width": 2},
    "optimal": {"size": 4, "depth": 2, "width": 2, "acceptance": (0.5, 0.3)},
    "dyspec": {"size": 4, "depth": 2},
    "dyspec-threshold": {"size": 4, "depth": 2, "threshold": 0.2},
    "svip-tree": {"size": 4, "depth": 2, "h": 0.35},
    "eagle2": {"size": 5, "depth": 2, "width": 2},
    "prompt-lookup": {"depth": 2, "width": 2},
    "sequoia": {"size": 4, "depth": 2, "width": 2, "acceptance": (0.5, 0.3)},
}


@dataclass(frozen=True)
class Row:
    """One line of the table: a builder, a rule and a law, what is declared of them and what was found.

    Attributes:
        error: the largest difference between the exact law of the text and the target's, over all texts; None where
            the proof is another.
        proof: "enumeration" or "text equality"; runs: how many outcomes were enumerated or texts compared.
    """

    builder: str
    verifier: str
    law: str
    temperature: float
    lossless: bool
    useful: bool
    error: float | None
    proof: str
    runs: int
    reason: str

    @property
    def holds(self) -> bool:
        """Whether what was found is what is declared."""
        if self.error is None:
            return self.lossless
        return self.error <= 1e-12 if self.lossless else self.error >= 1e-3


def table(
    seeds: Sequence[int] = (1, 5), builders: Sequence[str] | None = None, verifiers: Sequence[str] | None = None
) -> Iterator[Row]:
    """A row for each builder, rule and law that can go together.

    Args:
        seeds: toy pairs to check each of them on; the error is the largest over them.
        builders, verifiers: menu names; None means all.
    """
    for b, v in product(builders or REGISTRIES["builder"], verifiers or REGISTRIES["verifier"]):
        builder = REGISTRIES["builder"][b](**SMALL.get(b, {}))
        verifier = REGISTRIES["verifier"][v]()
        temperature = 0.0 if verifier.greedy_only else 1.0
        for law in ("top",) if temperature == 0 else builder.laws:
            match = compatible(builder, verifier, temperature, law=law)
            if not match.possible:
                continue
            if verifier.keyed and temperature > 0:
                error, runs, proof = None, same_text(builder, verifier, law), "text equality"
            else:
                pairs = [toy_pair(seed=seed, closeness=CLOSENESS) for seed in seeds]
                found = [error_of(builder, verifier, pair, temperature, law) for pair in pairs]
                error, runs, proof = max(e for e, _ in found), sum(n for _, n in found), "enumeration"
            yield Row(b, v, law, temperature, match.lossless, match.useful, error, proof, runs, match.reason)


def error_of(
    builder: TreeBuilder,
    verifier: Verifier,
    pair: TablePair,
    temperature: float = 1.0,
    law: str | None = None,
    **sampling: Any,
) -> tuple[float, int]:
    """The largest error of the exact law of the text over two steps, and how many outcomes were enumerated.

    `sampling` are further fields of the `RunConfig`: draft_temperature, top_p, top_k. Texts of fewer than `LENGTH`
    tokens are completed by the target's own law; longer ones are cut.
    """
    config = RunConfig(PROMPT, builder, verifier, temperature, max_new_tokens=LENGTH, seed=0, **sampling)
    outcomes = exact_law(partial(_write, pair, config, law))
    row = partial(_target_row, pair, config.target_sampling)
    found: dict[tuple[int, ...], float] = {}
    for text, weight in outcomes.items():
        for rest in product(range(pair.vocab_size), repeat=LENGTH - len(text)):
            whole = text + rest
            chance = weight * np.prod([row(whole[:i])[whole[i]] for i in range(len(text), LENGTH)])
            found[whole] = found.get(whole, 0.0) + chance
    wanted = {
        text: np.prod([row(text[:i])[text[i]] for i in range(LENGTH)])
        for text in product(range(pair.vocab_size), repeat=LENGTH)
    }
    return float(max(abs(found.get(text, 0.0) - wanted[text]) for text in wanted)), len(outcomes)


def _write(pair: TablePair, config: RunConfig, law: str | None, rng: Any) -> tuple[int, ...]:
    steps = islice(speculate(pair, config, rng, law=law), STEPS)
    return tuple(token for step in steps for token in step.emitted)


def _target_row(pair: TablePair, sampling: Sampling, text: tuple[int, ...]) -> np.ndarray:
    return probabilities(pair.target.logits([*pair.encode(PROMPT), *text]), sampling)


def same_text(builder: TreeBuilder, verifier: Verifier, law: str, runs: int = 40) -> int:
    """How many random toy runs gave plain decoding's text, seed by seed.

    Raises:
        AssertionError: at the first text that differs.
    """
    for seed in range(runs):
        pair = toy_pair(vocab=3 + seed % 4, seed=seed)
        config = RunConfig(PROMPT, builder, verifier, 0.5 + (seed % 3) / 2, max_new_tokens=12, seed=seed)
        written = [token for step in speculate(pair, config, law=law) for token in step.emitted]
        plain = [token for step in autoregress_steps(pair, replace(config, builder=builder)) for token in step.emitted]
        if written != plain:
            raise AssertionError(f"{builder.name} with {verifier.name}, seed {seed}: {written} is not {plain}.")
    return runs
