"""Acceptance vectors: stored, read from files, and updated during a run.

P[k] is the probability that the k-th child of a node is accepted, given that the node is. Measured
and published vectors are JSON files in assets/acceptance, each with its source.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from ..base.errors import ParameterError
from ..base.files import ACCEPTANCE
from ..tree import Topology

MAX_BYTES = 4_000_000  # bytes
MAX_RANKS = 64  # ranks of a vector, and levels
EMBEDDED = "embedded pair"
# pair -> the folder of its vectors, a file for each drafter
STORED = {folder.name: folder for folder in ACCEPTANCE.iterdir() if folder.is_dir()}
STORED[EMBEDDED] = ACCEPTANCE / "embedded"
ROUNDED = 5e-4  # what five digits of each of 64 numbers can add to a sum


def check_acceptance(value: Any, where: str = "acceptance") -> tuple:
    """An acceptance vector, or one per level, as nested tuples of floats.

    Args:
        value: P[k] as a list or tuple, a single number, or a list of such vectors.
        where: its name in messages.

    Raises:
        ValueError: if it is empty or too long, holds anything but numbers from 0 to 1, or a level
            sums to more than 1.

    >>> check_acceptance([[0.5, 0.25], [0.5]])
    ((0.5, 0.25), (0.5,))
    """
    value = (
        (value,) if isinstance(value, float) else value
    )  # a vector of one rank, written without brackets
    if (
        isinstance(value, list | tuple)
        and value
        and all(isinstance(level, list | tuple) for level in value)
    ):
        if len(value) > MAX_RANKS:
            raise ParameterError(where, f"have up to {MAX_RANKS} levels", len(value))
        return tuple(_vector(level, f"{where}, level {i}") for i, level in enumerate(value, 1))
    return _vector(value, where)


def _vector(value: Any, where: str) -> tuple[float, ...]:
    vector = checked_vector(value, where)
    if sum(vector) > 1 + ROUNDED:
        must = "sum to at most 1, because at most one child of a node is accepted"
        hint = "Give the acceptance probability of each child."
        raise ParameterError(where, must, round(sum(vector), 4), hint)
    return vector


def checked_vector(value: Any, where: str) -> tuple[float, ...]:
    """Up to `MAX_RANKS` numbers from 0 to 1."""
    good = isinstance(value, list | tuple) and len(value) > 0
    if good and len(value) > MAX_RANKS:
        raise ParameterError(where, f"have up to {MAX_RANKS} numbers", len(value))
    if not (
        good
        and all(
            isinstance(x, int | float) and not isinstance(x, bool) and 0 <= x <= 1 for x in value
        )
    ):
        raise ParameterError(where, "list numbers from 0 to 1, or one such list per level", value)
    return tuple(map(float, value))


def as_json(value: Any) -> Any:
    """A value as JSON holds it, where a tuple is a list."""
    return json.loads(json.dumps(value))


def expected_tokens(shape: Topology, acceptance: tuple) -> float:
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
    return sum(reach(shape, acceptance))


def reach(shape: Topology, acceptance: tuple) -> list[float]:
    """How likely each node of a shape is to be accepted, the product of P along its path; arguments
    as above."""
    levels = acceptance if isinstance(acceptance[0], tuple) else (acceptance,)
    reach = [1.0]
    for node, parent in enumerate(shape.parents[1:], 1):
        level = levels[min(int(shape.depth[node]), len(levels)) - 1]
        rank = int(shape.rank[node])
        reach.append(reach[parent] * level[rank] if rank < len(level) else 0.0)
    return reach


@dataclass(frozen=True)
class RunningAcceptance:
    """An acceptance vector that is updated during a run: a stored one counted as `PRIOR`
    observations, and new ones.

    Args:
        prior: the stored vector.
        tried, accepted: for each rank how often an accepted node had such a child, and how often it
            was accepted.
        steps: how many steps were seen.
        vector: the current estimate; it moves every `EVERY` steps, so that the tree is not planned
            again at each step.
    """

    PRIOR: ClassVar[int] = 8
    EVERY: ClassVar[int] = 4
    prior: tuple[float, ...]
    tried: tuple[int, ...]
    accepted: tuple[int, ...]
    steps: int
    vector: tuple[float, ...]

    @classmethod
    def begin(cls, prior: tuple) -> RunningAcceptance:
        """The estimate before the first step; of one vector per level it is the first."""
        prior = prior[0] if isinstance(prior[0], tuple) else prior
        return cls(prior, (0,) * len(prior), (0,) * len(prior), 0, prior)

    def learn(self, children: Sequence[Sequence[int]], path: Sequence[int]) -> RunningAcceptance:
        """The estimate after one more step; `children` of each node, and the accepted path."""
        tried, accepted = list(self.tried), list(self.accepted)
        for node, next_node in zip((0, *path), (*path, None), strict=True):
            for rank, child in enumerate(children[node][: len(tried)]):
                tried[rank] += 1
                accepted[rank] += child == next_node
        vector = self.vector
        if (self.steps + 1) % self.EVERY == 0:
            counts = zip(self.prior, tried, accepted, strict=True)
            vector = tuple(
                (self.PRIOR * p + hits) / (self.PRIOR + seen) for p, seen, hits in counts
            )
        return RunningAcceptance(self.prior, tuple(tried), tuple(accepted), self.steps + 1, vector)


@lru_cache
def stored(drafter: str = "model", pair: str = EMBEDDED) -> dict[str, Any] | None:
    """What was measured on a pair with a drafter, a profile as plain data; None where nothing
    was."""
    if pair not in STORED or drafter not in {path.stem for path in STORED[pair].glob("*.json")}:
        return None
    return json.loads((STORED[pair] / f"{drafter}.json").read_text(encoding="utf-8"))


def measured(drafter: str = "model") -> tuple[dict[str, Any], ...]:
    """The vectors measured on the embedded pair, each with "verifier", "temperature" and
    "acceptance"."""
    return tuple((stored(drafter) or {"vectors": ()})["vectors"])


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
    nearest = find_row(
        stored(drafter, pair) or stored(drafter) or stored() or {"vectors": ()},
        verifier,
        temperature,
    )
    return check_acceptance(nearest.get("levels") or nearest["acceptance"])


def find_row(record: dict[str, Any], verifier: str, temperature: float) -> dict[str, Any]:
    """The vector for a rule at the nearest measured temperature, of those that `stored`
    returned."""
    # At temperature 0 all rules accept the same tokens, so exact match stands for them.
    for name in (*(("exact-match",) if temperature == 0 else ()), verifier, "sequoia"):
        rows = [row for row in record["vectors"] if row["verifier"] == name]
        if rows:
            return min(rows, key=lambda row: abs(row["temperature"] - temperature))
    raise ValueError(
        f"no acceptance vector is stored for {verifier}. Give the builder one in numbers."
    )


def planned_with(builder: Any, drafter: Any, pair: str = EMBEDDED) -> str:
    """A sentence where a tree is not planned with a vector of its own pair and drafter; else ""."""
    if getattr(builder, "acceptance", None) not in ("auto", "measured"):
        return ""
    title = drafter.title_in_sentence
    record = stored(drafter.name, pair)
    if record is None:
        return (
            f"Learning: no acceptance of this pair with {title} is stored, so the tree begins with "
            "another's and follows the run."
        )
    if as_json(drafter.parameters) != record["drafter"]["parameters"]:
        return (
            f"The tree is planned with the vector of {title} with other parameters; it may not be "
            "the best tree. Measure its own vector."
        )
    return ""
