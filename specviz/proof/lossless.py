"""Which pairs of builder and rule are lossless: declared by `compatible`, proven here by enumeration.

Two whole steps of the real loop are enumerated on toy models, since one step cannot see chance that is shared between
steps, and the law of the text is compared with the target's own. Rules whose noise is keyed by position cannot be
enumerated; for them the text must equal that of plain decoding, seed by seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np

from ..compatibility import compatible
from ..config import Choice, RunConfig
from ..decode import speculate
from ..distributions import Sampling, probabilities
from ..drafters import DRAFTERS
from ..models.table import TablePair, toy_pair
from ..protocols import TreeBuilder, Verifier
from ..registry import REGISTRIES, build
from ..theory.enumerate import law as exact_law

PROMPT = "abab"  # it repeats itself, or a look-up in it would find nothing
LENGTH = 3  # tokens whose joint law is compared
DEEP = 4  # tokens a deep run may write, so that the trees of its second step have two levels as well
STEPS = 2
CLOSENESS = 0.2  # a draft far from the target, or a lossy rule would hardly show
# Drafters as they are checked: their name in the table, their menu name and small parameters.
CHECKED: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, cls.small) for name, cls in DRAFTERS.items()},
    "several-merged": ("several", {**DRAFTERS["several"].small, "merge": True}),
}


@dataclass(frozen=True)
class Row:
    """One line of the table: a builder, a rule and a law, what is declared of them and what was found.

    Attributes:
        error: the largest difference between the exact law of the text and the target's, over all texts; None where
            the proof is another. Of one large node the total variation.
        proof: "enumeration", "text equality" or "one large node" (`large_node`; its builder is the node's size);
            runs: how many outcomes were enumerated, texts compared or nodes decided.
        difference: what was found wrong beside the error, the first text that was not plain decoding's for one.
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
    difference: str | None = None
    drafter: str = "model"

    @property
    def holds(self) -> bool:
        """Whether what was found is what is declared."""
        if self.error is None or self.difference is not None:
            return self.lossless and self.difference is None
        return self.error <= 1e-12 if self.lossless else self.error >= 1e-3


def table(
    seeds: Sequence[int] = (1, 5),
    builders: Sequence[str] | None = None,
    verifiers: Sequence[str] | None = None,
    tokens: int = LENGTH,
    drafters: Sequence[str] = ("model",),
    steps: int = STEPS,
) -> Iterator[Row]:
    """A row for each builder, rule, law and drafter that can go together.

    Args:
        seeds: toy pairs to check each of them on; the error is the largest over them.
        builders, verifiers: menu names; None means all.
        drafters: names of `CHECKED` above; a builder that asks nobody is checked with the first of them alone.
        tokens: how many a run may write; with `DEEP` the second step has trees of two levels too, and takes longer.
        steps: how many are enumerated; one alone cannot see chance that is shared between steps.
    """
    for d, b, v in product(drafters, builders or _menu("builder"), verifiers or _menu("verifier")):
        drafter = build("drafter", Choice(*CHECKED[d]))
        builder = REGISTRIES["builder"][b].smallest()
        verifier = REGISTRIES["verifier"][v]()
        temperature = 0.0 if verifier.greedy_only else 1.0
        for law in ("top",) if temperature == 0 else builder.laws:
            match = compatible(builder, verifier, temperature, law=law, drafter=drafter)
            if not match.possible or not (builder.reads_draft or d == drafters[0]):
                continue
            declared = (b, v, law, temperature, match.lossless, match.useful)
            if verifier.keyed and temperature > 0:
                runs, difference = compare_texts(builder, verifier, law, drafter=drafter)
                yield Row(*declared, None, "text equality", runs, match.reason, difference, d)
            else:
                pairs = [toy_pair(seed=seed, closeness=CLOSENESS) for seed in seeds]
                ask = partial(error_of, builder, verifier, drafter=drafter)
                found = [ask(pair, temperature, law, tokens, steps) for pair in pairs]
                error, runs = float(np.max([e for e, _ in found])), sum(n for _, n in found)
                yield Row(*declared, error, "enumeration", runs, match.reason, drafter=d)


def _menu(kind: str) -> list[str]:
    """What is to be proven: all but plain decoding, which the rest is compared with."""
    return [name for name, cls in REGISTRIES[kind].items() if not cls.alone]


def error_of(
    builder: TreeBuilder,
    verifier: Verifier,
    pair: TablePair,
    temperature: float = 1.0,
    law: str | None = None,
    tokens: int = LENGTH,
    steps: int = STEPS,
    **sampling: Any,
) -> tuple[float, int]:
    """The largest error of the exact law of the text over `steps` steps, and how many outcomes were enumerated.

    `sampling` are further fields of the `RunConfig` (draft_temperature, drafter, ...). Texts of fewer than `LENGTH`
    tokens are completed by the target's own law; longer ones are cut.
    """
    config = RunConfig(PROMPT, builder, verifier, temperature, max_new_tokens=tokens, seed=0, **sampling)
    outcomes = exact_law(partial(_write, pair, config, law, steps))
    row = partial(_target_row, pair, config.target_sampling)
    found: dict[tuple[int, ...], float] = {}
    for written, weight in outcomes.items():
        text = written[:LENGTH]
        for rest in product(range(pair.vocab_size), repeat=LENGTH - len(text)):
            whole = text + rest
            chance = weight * np.prod([row(whole[:i])[whole[i]] for i in range(len(text), LENGTH)])
            found[whole] = found.get(whole, 0.0) + chance
    wanted = {
        text: np.prod([row(text[:i])[text[i]] for i in range(LENGTH)])
        for text in product(range(pair.vocab_size), repeat=LENGTH)
    }
    # numpy's max keeps a NaN, which would be the worst of errors
    return float(np.max([abs(found.get(text, 0.0) - wanted[text]) for text in wanted])), len(outcomes)


def _write(pair: TablePair, config: RunConfig, law: str | None, steps: int, rng: Any) -> tuple[int, ...]:
    written = islice(speculate(pair, config, rng, law=law), steps)
    return tuple(token for step in written for token in step.emitted)


def _target_row(pair: TablePair, sampling: Sampling, text: tuple[int, ...]) -> np.ndarray:
    return probabilities(pair.target.logits([*pair.encode(PROMPT), *text]), sampling)


def compare_texts(
    builder: TreeBuilder, verifier: Verifier, law: str, runs: int = 40, drafter: Any = None
) -> tuple[int, str | None]:
    """How many random toy runs were compared with plain decoding, seed by seed, and the first that differs."""
    for seed in range(runs):
        pair = toy_pair(vocab=3 + seed % 4, seed=seed)
        config = RunConfig(
            PROMPT, builder, verifier, 0.5 + (seed % 3) / 2, max_new_tokens=12, seed=seed, drafter=drafter
        )
        written = [token for step in speculate(pair, config, law=law) for token in step.emitted]
        plain = [token for step in speculate(pair, config.plainly()) for token in step.emitted]
        if written != plain:
            return seed + 1, f"seed {seed}: {pair.decode(written)} is not {pair.decode(plain)}"
    return runs, None
