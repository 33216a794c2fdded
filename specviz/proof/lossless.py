"""Which pairs of builder and rule are lossless: declared by `compatible`, proven here by
enumeration.

Two whole steps of the real loop are enumerated on toy models, since one step cannot see chance that
is shared between steps, and the distribution of the text is compared with the target's own. Rules
whose noise is keyed by position cannot be enumerated; for them the text must equal that of plain
decoding, seed by seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

import numpy as np

from ..base.codec import JsonObject
from ..base.errors import UnknownName
from ..builders import BUILDERS
from ..config.run_config import RunConfig, compatible
from ..decode import speculate
from ..drafters import DRAFTERS
from ..drafters.base import Drafter
from ..models.table import TablePair, toy_pair
from ..record.step import written_tokens
from ..sampling.distributions import probabilities
from ..verifiers import VERIFIERS
from .counterexample import Counterexample, failure_text
from .enumerate import ScriptedRandomness, Text, compare_with_target, distribution_of
from .same_text import comparing

PROMPT = "abab"  # it repeats itself, or a look-up in it would find nothing
LENGTH = 3  # tokens whose joint distribution is compared
STEPS = 2  # that are enumerated; one alone cannot see chance that is shared between steps
SEEDS = (1, 5)  # of the toy pairs that a case is tried on, until one refutes it
TEXTS = 40  # that are compared with plain decoding where noise is keyed by position
EXACT = 1e-12  # the largest error of a lossless row
LOSSY = 1e-3  # the smallest error of a lossy one
SAMPLINGS: tuple[JsonObject, ...] = (
    {},
    {"draft_temperature": 0.0},
    {"draft_temperature": 0.6},
    {"top_k": 2},
    {"top_p": 0.9},
)


def drafter_cases() -> Mapping[str, Drafter]:
    """Drafters as they are checked, with small parameters, by their name in the table."""
    small: dict[str, Drafter] = {name: cls(**cls.small) for name, cls in DRAFTERS.items()}
    small["several-merged"] = small["several"].replace(merge=True)
    return small


@dataclass(frozen=True)
class Case:
    """A configuration to be proven or refuted.

    Args:
        builder, drafter: as the table names them.
        config: the run.
        scheme: how children are drawn.
    """

    builder: str
    drafter: str
    config: RunConfig
    scheme: str

    def prove(self) -> Row:
        """What is declared and what is found; a plugin that fails is refuted by its error."""
        config = self.config
        # What is declared stands beside what is found: a row that differs is a bug in one of them.
        match = compatible(config, self.scheme)
        keyed = config.verifier.shared_noise and config.temperature > 0
        row = Row(
            builder=self.builder,
            verifier=config.verifier.name,
            scheme=self.scheme,
            temperature=config.temperature,
            lossless=match.lossless,
            useful=match.useful,
            reason=match.reason,
            drafter=self.drafter,
            draft_temperature=config.draft_temperature,
            top_k=config.top_k,
            top_p=config.top_p,
        )
        try:
            if keyed:
                runs, difference = compare_texts(config, self.scheme)
                return replace(row, proof="text equality", runs=runs, difference=difference)
            runs, error = self._largest_error()
            return replace(row, runs=runs, error=error)
        except Exception as failure:
            if all(one.is_built_in() for one in (config.builder, config.verifier, config.drafter)):
                raise
            return replace(row, difference=f"it fails: {failure_text(failure)}")

    def _largest_error(self) -> tuple[int, float]:
        """How many outcomes were enumerated, and the largest error over the toy pairs."""
        runs = 0
        error = 0.0
        for seed in SEEDS:
            # The draft is far from the target, or a lossy rule would hardly show.
            pair = toy_pair(seed=seed, closeness=0.2)
            largest, more = error_in(self.config, pair, self.scheme)
            error = float(np.maximum(error, largest))  # keeps a NaN, the worst of errors
            runs += more
            if not error < LOSSY:
                break
        return runs, error


@dataclass(frozen=True)
class Row:
    """One line of the table: a builder, a rule and a sampling scheme, what is declared of them and
    what was found.

    Attributes:
        error: the largest difference between the exact output distribution and the target's, over
            all texts; None where the proof is another.
        proof: "enumeration" or "text equality"; runs: how many outcomes were enumerated, or texts
            compared.
        difference: what was found wrong beside the error: the first text that was not plain
            decoding's, or what a plugin failed with.
        draft_temperature, top_k, top_p: as in `RunConfig`.
        counterexample: the smallest tree that refutes a rule, of a search for it.
    """

    builder: str
    verifier: str
    scheme: str
    temperature: float
    lossless: bool = True
    useful: bool = True
    error: float | None = None
    proof: str = "enumeration"
    runs: int = 0
    reason: str = ""
    difference: str | None = None
    drafter: str = "model"
    draft_temperature: float | None = None
    top_k: int | None = None
    top_p: float = 1.0
    counterexample: Counterexample | None = None

    @property
    def holds(self) -> bool:
        """Whether what was found is what is declared, drift included."""
        if self.error is None or self.difference is not None:
            return self.lossless and self.difference is None
        if self.lossless:
            return self.error <= EXACT
        return self.error >= LOSSY

    @property
    def refuted(self) -> bool:
        """Whether what is declared is wrong. A text that may drift need not drift on two toy
        pairs."""
        return not self.holds and (self.lossless or self.error is None or np.isnan(self.error))


def cases(
    builders: Sequence[str] | None = None,
    verifiers: Sequence[str] | None = None,
    drafters: Sequence[str] = ("model",),
) -> Iterator[Case]:
    """Every compatible combination of builder, rule, scheme, drafter and sampling.

    A builder has its small parameters; a tree with a width is narrowed to a chain as well.

    Args:
        builders, verifiers: menu names; None means all but plain decoding, which the rest is
            compared with.
        drafters: names of `drafter_cases`; a builder without a drafter is checked with the first of
            them alone.
    """
    small_drafters = drafter_cases()
    for name in drafters:
        if name not in small_drafters:
            raise UnknownName("drafter", name, small_drafters)
    builders = builders or [name for name, cls in BUILDERS.items() if not cls.autoregressive]
    verifiers = verifiers or [name for name, cls in VERIFIERS.items() if not cls.autoregressive]
    for d, b, v in product(drafters, builders, verifiers):
        small = BUILDERS[b].proof_instance()
        verifier = VERIFIERS[v]()
        # Two merged children would be exact; it takes three to show what merging breaks.
        if small_drafters[d].merges and "acceptance" in small.parameters:
            small = small.replace(size=5, width=3, acceptance=(0.4, 0.3, 0.2))
        shapes = {b: small}
        if not small.is_chain and {"width", "depth"} <= small.parameters.keys():
            shapes[f"{b}:width=1"] = small.replace(width=1)
        for (name, builder), sampling in product(shapes.items(), SAMPLINGS):
            # Without a draft neither a second drafter nor its temperature changes anything.
            if not builder.reads_draft and (d != drafters[0] or "draft_temperature" in sampling):
                continue
            config = RunConfig(
                PROMPT,
                builder,
                verifier,
                0.0 if verifier.greedy_only else 1.0,
                max_new_tokens=LENGTH,
                drafter=small_drafters[d],
                **sampling,
            )
            schemes = ("top",)
            if config.temperature > 0:
                schemes = builder.schemes
            for scheme in schemes:
                if compatible(config, scheme).possible:
                    yield Case(name, d, config, scheme)


def error_in(config: RunConfig, pair: TablePair, scheme: str | None = None) -> tuple[float, int]:
    """The largest error of the exact output distribution over `STEPS` steps, and how many outcomes
    were enumerated.

    Args:
        config: of the run, with `PROMPT`; texts are compared in their first `LENGTH` tokens.
        pair: toy models.
        scheme: how children are drawn; None lets the rule choose.

    Raises:
        ValueError: if builder, rule and drafter are incompatible.
    """

    def write(rng: ScriptedRandomness) -> Text:
        steps = islice(speculate(pair, config, rng, scheme=scheme), STEPS)
        return tuple(written_tokens(steps))

    def row(text: Text) -> np.ndarray:
        return probabilities(
            pair.target.logits([*pair.encode(PROMPT), *text]), config.target_sampling
        )

    # The largest of all differences, and not their mean: one wrong text is a wrong rule.
    comparison = compare_with_target(distribution_of(write), row, LENGTH)
    return comparison.deviation, comparison.runs


def compare_texts(config: RunConfig, scheme: str | None = None) -> tuple[int, str | None]:
    """How many random toy runs were compared with plain decoding, seed by seed, and the first that
    differs.

    Args:
        config: builder, rule, drafter and sampling; each run has a temperature, a seed and a
            vocabulary of its own.
        scheme: how children are drawn; None lets the rule choose.
    """
    for seed in range(TEXTS):
        # Vocabularies of three to six tokens and three temperatures, in every combination.
        pair = toy_pair(vocab=3 + seed % 4, seed=seed)
        case = replace(config, temperature=0.5 + (seed % 3) / 2, max_new_tokens=12, seed=seed)
        written = written_tokens(speculate(pair, case, scheme=scheme))
        *_, result = comparing(pair, case, written)
        if not result.equal:
            return seed + 1, f"seed {seed}: {result.sentence()}"
    return TEXTS, None
