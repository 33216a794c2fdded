"""Acceptance vectors: one record for what is measured, published, stored and planned with.

P[k] is the probability that the k-th child of a node is accepted, given that the node is. Measured
and published vectors are JSON files in assets/acceptance, each with its source.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from ..base import codec
from ..base.codec import JsonObject, Levels, NonNegative, Positive, Probability, Record, one_of
from ..base.errors import ParameterError
from ..base.files import ACCEPTANCE, parse_json
from ..config.strategy import Choice, Strategy
from ..tree import Topology

MAX_RANKS = 64  # ranks of a vector, and levels
EMBEDDED = "embedded pair"
# What people read in place of the names of the pairs that are shipped or catalogued.
PAIR_TITLES = {EMBEDDED: "Tales 28M", "smollm2": "SmolLM2 135M (chat)"}
# pair -> the folder of its vectors, a file for each drafter
STORED = {folder.name: folder for folder in ACCEPTANCE.iterdir() if folder.is_dir()}
STORED[EMBEDDED] = STORED.pop("embedded")
ROUNDED = 5e-4  # what five digits of each of 64 numbers can add to a sum

Vector = Annotated[tuple[Probability, ...], Field(max_length=MAX_RANKS)]
Plan = Vector | tuple[Vector, ...]  # a vector, or one for each level


@dataclass(frozen=True)
class AcceptanceVector(Record):
    """How often each child of an accepted node is accepted, and how that is known.

    It is conditional; rates of all steps, which engines publish too, are `marginal_rates` of it.

    Attributes:
        acceptance: P[k], the probability that the k-th child is accepted, given that its parent is.
        levels: P of level 1, 2, ..., what is below them as the last one, where it depends on the
            level; else none.
        low, high: intervals at 95 % with texts as the unit; None where there was one text only.
        positions, method: how many positions were measured, and how: "expected" over the rule's
            coins, or "counted".
        verifier, scheme, temperature, draft_temperature: what was measured.
        drafter, parameters: menu name of the drafter, and its parameters.
        pair, dtype, version, texts: name and number format of the pair, the version, and what was
            measured, in words.
        by_text: of each text its positions and its own `plan`; empty in files without them.
        categories: of each of them its category; empty where there are none.
        title, source, url: of a published vector.
    """

    acceptance: Vector
    levels: tuple[Vector, ...] = ()
    low: tuple[Probability | None, ...] = ()
    high: tuple[Probability | None, ...] = ()
    positions: Positive = 1
    method: Annotated[str, one_of("expected", "counted")] = "counted"
    verifier: str = ""
    scheme: str = ""
    temperature: NonNegative | None = None
    draft_temperature: NonNegative | None = None
    drafter: str = ""
    parameters: JsonObject = field(default_factory=dict)
    pair: str = ""
    dtype: str = ""
    version: str = ""
    texts: str = ""
    by_text: tuple[tuple[Positive, Levels], ...] = ()
    categories: tuple[str, ...] = ()
    title: str = ""
    source: str = ""
    url: str = ""

    @property
    def plan(self) -> Plan:
        """What a tree is planned with: the vector, or one per level where they differ."""
        return self.levels or self.acceptance

    @property
    def conditional(self) -> Vector:
        """Of the steps that accept a chain's positions before, the fraction that accept this
        one."""
        return tuple(level[0] for level in by_level(self.plan))

    def over(self, texts: Sequence[int]) -> Plan:
        """`plan` of some of the texts alone, by their places in `by_text`."""
        return mean_plan([self.by_text[place] for place in texts])

    @model_validator(mode="after")
    def _check(self) -> AcceptanceVector:
        check_acceptance(self.acceptance)
        if self.levels:
            check_acceptance(self.levels, "levels")
        if {len(self.low), len(self.high)} - {0, len(self.acceptance)}:
            raise ValueError("must have acceptance, low and high of one length")
        # An interval that does not hold its own value was mixed up with another one.
        for value, low, high in zip(self.acceptance, self.low, self.high, strict=False):
            if (low is not None and low > value) or (high is not None and high < value):
                raise ValueError("must have acceptance between low and high")
        shape = [len(level) for level in by_level(self.plan)]
        if any([len(level) for level in by_level(plan)] != shape for _, plan in self.by_text):
            raise ValueError("must have vectors in by_text as long as the measured one")
        return self


def places_of(categories: Sequence[str]) -> dict[str, list[int]]:
    """The places of each category, if there are several; else {}."""
    places: dict[str, list[int]] = {}
    for place, category in enumerate(categories):
        places.setdefault(category, []).append(place)
    return places if len(places) > 1 else {}


def by_level(plan: Plan) -> tuple[Vector, ...]:
    """The vectors of a plan, one where all levels are alike."""
    return plan if isinstance(plan[0], tuple) else (plan,)


def mean_plan(texts: Sequence[tuple[int, Plan]]) -> Plan:
    """The mean over texts, each given as its positions and its plan.

    A text of n positions shows level d + 1 only n - d times.
    """
    # A text counts by how many positions it has.
    counts = np.array([count for count, _ in texts])
    levels = []
    for depth, level in enumerate(zip(*(by_level(plan) for _, plan in texts), strict=True)):
        # The last positions of a text have no deeper levels below them.
        positions = np.maximum(0, counts - depth)
        mean = np.minimum(1.0, positions @ np.array(level) / max(1, positions.sum()))
        levels.append(tuple(mean.tolist()))
    return tuple(levels) if isinstance(texts[0][1][0], tuple) else levels[0]


def check_acceptance(plan: Plan, where: str = "acceptance") -> Plan:
    """An acceptance vector, or one per level, that is sound.

    Args:
        plan: numbers from 0 to 1.
        where: its name in messages.

    Raises:
        ValueError: if it is empty or too long, or a level sums to more than 1.

    >>> check_acceptance(((0.5, 0.25), (0.5,)))
    ((0.5, 0.25), (0.5,))
    """
    levels = by_level(plan) if plan else ()
    if not 0 < len(levels) <= MAX_RANKS or not all(0 < len(level) <= MAX_RANKS for level in levels):
        must = f"list 1 to {MAX_RANKS} numbers from 0 to 1, or up to {MAX_RANKS} such lists"
        raise ParameterError(where, must, plan)
    # At most one child of a node is accepted, so chances that sum to more are no chances.
    total = max(map(sum, levels))
    if total > 1 + ROUNDED:
        must = "sum to at most 1, because at most one child of a node is accepted"
        hint = "Give the acceptance probability of each child."
        raise ParameterError(where, must, round(total, 4), hint)
    return plan


def expected_tokens(shape: Topology, acceptance: Plan) -> float:
    """Tokens per pass that a shape is expected to bring: the sum over its nodes of P along the
    path, root included.

    Args:
        shape: the tree.
        acceptance: P[k], or one vector per level (the last one is repeated); ranks beyond its end
            count 0.

    Source: Sequoia (Chen et al. 2024), proposition 3.4.

    >>> expected_tokens(Topology((-1, 0, 0, 1)), (0.5, 0.25))  # 1 + 0.5 + 0.25 + 0.5 * 0.5
    2.0
    """
    return sum(path_acceptance(shape, acceptance))


def path_acceptance(shape: Topology, acceptance: Plan) -> list[float]:
    """How likely each node of a shape is to be accepted, the product of P along its path; arguments
    as above."""
    levels = by_level(acceptance)
    reach = [1.0]
    for node, parent in enumerate(shape.parents[1:], 1):
        # Below the last level that was measured, the last one is repeated.
        level = levels[min(int(shape.depth[node]), len(levels)) - 1]
        rank = int(shape.rank[node])
        reach.append(reach[parent] * level[rank] if rank < len(level) else 0.0)
    return reach


@lru_cache
def stored(drafter: str = "model", pair: str = EMBEDDED) -> tuple[AcceptanceVector, ...]:
    """What was measured on a pair with a drafter; () where nothing was."""
    if pair not in STORED or drafter not in {path.stem for path in STORED[pair].glob("*.json")}:
        return ()
    profile = parse_json((STORED[pair] / f"{drafter}.json").read_text(encoding="utf-8"))
    return codec.read(tuple[AcceptanceVector, ...], profile["vectors"], "stored vectors")


def find_acceptance(
    verifier: str, temperature: float, drafter: str = "model", pair: str = EMBEDDED
) -> tuple:
    """The vector of a pair and drafter for a rule at the nearest measured temperature; one per
    level where they differ.

    Where a rule has none it is Sequoia's, where the pair has none the embedded pair's, and where
    the drafter has none the draft model's: trees that begin with these learn, and `planned_with`
    says so.

    Args:
        verifier: menu name of the rule.
        temperature: the target's.
        drafter: menu name of the drafter.
        pair: the name that the pair gives itself.

    >>> 0 < find_acceptance("sequoia", temperature=0.8)[0] < 1
    True
    """
    vectors = stored(drafter, pair) or stored(drafter) or stored()
    return find_vector(vectors, verifier, temperature).plan


def find_vector(
    vectors: Sequence[AcceptanceVector], verifier: str, temperature: float
) -> AcceptanceVector:
    """The vector for a rule at the nearest measured temperature."""
    names = [verifier, "sequoia"]
    # At temperature 0 all rules accept the same tokens, so exact match stands for them.
    if temperature == 0:
        names.insert(0, "exact-match")
    for name in names:
        # The first of the names that has a vector; Sequoia's is stored for every pair.
        found = [vector for vector in vectors if vector.verifier == name]
        if found:
            return min(found, key=lambda vector: abs((vector.temperature or 0.0) - temperature))
    raise ValueError(
        f"no acceptance vector is stored for {verifier}. Give the builder one in numbers."
    )


def planned_with(builder: Strategy, drafter: Choice, pair: str = EMBEDDED) -> str:
    """A sentence where a tree is not planned with a vector of its own pair and drafter; else ""."""
    if getattr(builder, "acceptance", None) not in ("auto", "measured"):
        return ""
    title = drafter.title_in_sentence
    vectors = stored(drafter.name, pair)
    if not vectors:
        return (
            f"Learning: no acceptance of this pair with {title} is stored, so the tree begins with "
            "another's and follows the run."
        )
    # Through JSON, where a tuple is a list.
    if json.loads(json.dumps(drafter.parameters)) != vectors[0].parameters:
        return (
            f"The tree is planned with the vector of {title} with other parameters; it may not be "
            "the best tree. Measure its own vector."
        )
    return ""
