"""The smallest tree on which a rule that is declared lossless does not write the target's distribution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import gcd, prod
from typing import Any
from urllib.parse import urlencode

import numpy as np

from ..compatibility import DRAWN, compatible
from ..config import RunConfig
from ..errors import cause
from ..sampling import SCHEMES
from ..strategy import REGISTRIES
from ..verifiers.base import Verifier
from .enumerate import Shape, enumerate_node

SHAPES = (Shape(1, 1), Shape(2, 1), Shape(1, 2), Shape(3, 1), Shape(1, 3))  # with the same rows at every depth
DEEP_SHAPES = (Shape(1, 1), Shape(2, 1), Shape(1, 2))  # with other rows at every depth
DENOMINATORS = {2: 6, 3: 4}  # tokens -> the largest one of a row
ROUNDING = 1e-9
LETTERS = "abc"
Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class Counterexample:
    """A small tree on which a rule is wrong.

    Attributes:
        rule, scheme: menu name of the rule, and how the children are drawn.
        p, q: the target's and the draft's rows by depth; a single one stands for every depth.
        shape: the tree.
        text: the tokens that are written too often or too seldom; () where the rule failed.
        probability, target: the text's probability, and what it should be.
        failure: what the rule failed with; "" where it did not.
    """

    rule: str
    scheme: str
    p: tuple[Row, ...]
    q: tuple[Row, ...]
    shape: Shape
    text: tuple[int, ...] = ()
    probability: float = 0.0
    target: Fraction = Fraction(0)
    failure: str = ""

    @property
    def link(self) -> str:
        """The page's address of the Verification lab with this tree; "" where its rows differ by depth."""
        if len(self.p) > 1:
            return ""
        query = {
            "tab": "labs", "lab": "verification", "rule": self.rule, "p": ",".join(map(str, self.p[0])),
            "q": ",".join(map(str, self.q[0])), "children": self.shape.children, "levels": self.shape.levels,
            "scheme": self.scheme,
        }  # fmt: skip
        return f"/?{urlencode(query, safe='/,')}"

    def to_dict(self) -> dict[str, Any]:
        """The tree as plain JSON data, its fractions as text, p and q as lists of rows by depth."""
        return {
            "rule": self.rule, "scheme": self.scheme, **vars(self.shape),
            "p": [list(map(str, row)) for row in self.p], "q": [list(map(str, row)) for row in self.q],
            "text": list(self.text), "probability": self.probability, "target": str(self.target),
            "failure": self.failure, "link": self.link,
        }  # fmt: skip

    def __str__(self) -> str:
        names, children, levels = LETTERS[: len(self.p[0])], self.shape.children, self.shape.levels
        tree = f"a chain of {levels}" if levels > 1 else f"a root with {children} child{'ren' * (children > 1)}"
        text = "".join(names[token] for token in self.text)
        fault = f"fails  {self.failure}" if self.failure else (
            f"writes {text} with probability {_number(self.probability)}; it should be {_number(self.target)}"
        )  # fmt: skip
        return "\n".join([
            f"{self.rule} is declared lossless for children {DRAWN[self.scheme]}, but it is not.",
            "the smallest counterexample:",
            f"  tokens {', '.join(names)}",
            *_lines("p", self.p, "target"),
            *_lines("q", self.q, "draft"),
            f"  tree   {tree}{', the same distributions at every level' * (levels > 1 and len(self.p) == 1)}",
            f"  {fault}",
        ])  # fmt: skip


def smallest(rule: Verifier) -> Counterexample | None:
    """The first tree in order of size on which a rule is wrong.

    Trees with the same rows at every depth come first: by drafted nodes, tokens, then denominators. Trees whose rows
    differ by depth follow; they show rules that mix up the levels.

    Args:
        rule: the rule, with the children for which `compatible` declares it lossless.

    Returns:
        None if all are right, or the rule is keyed, whose noise cannot be enumerated.
    """
    if rule.shared_noise:
        return None
    for shape, tokens in product(SHAPES, DENOMINATORS):
        schemes = _declared_schemes(rule, shape)
        for (p, q), scheme in product(_pairs(tokens, rule.greedy_only) if schemes else (), schemes):
            if found := _refuted(rule, (p,), (q,), shape, scheme):
                return found
    for shape in DEEP_SHAPES:
        rows = [*_fractions(2, 1), *_fractions(2, 2)]
        targets = product(rows[:2] if rule.greedy_only else rows, repeat=shape.levels + 1)
        drafts = product(rows, repeat=shape.levels)
        for p_by_depth, q_by_depth, scheme in product(targets, drafts, _declared_schemes(rule, shape)):
            if found := _refuted(rule, p_by_depth, q_by_depth, shape, scheme):
                return found
    return None


def _declared_schemes(rule: Verifier, shape: Shape) -> list[str]:
    """The sampling schemes for which a rule is declared lossless on a tree."""
    chain, batch = REGISTRIES["builder"]["chain"], REGISTRIES["builder"]["batch"]
    builder = chain(depth=shape.levels) if shape.children == 1 else batch(width=shape.children)
    config = RunConfig(builder=builder, verifier=rule, temperature=0.0 if rule.greedy_only else 1.0)
    matches = {scheme: compatible(config, scheme) for scheme in SCHEMES}
    return [scheme for scheme, match in matches.items() if match.possible and match.lossless]


def _refuted(
    rule: Verifier, p: tuple[Row, ...], q: tuple[Row, ...], shape: Shape, scheme: str
) -> Counterexample | None:
    """The tree as a counterexample, if the rule is wrong on it."""
    targets, drafts = (np.array(rows, dtype=float) for rows in (p, q))
    if len(p) == 1:
        targets, drafts = targets[0], drafts[0]
    try:
        outcome = enumerate_node(rule, targets, drafts, shape, scheme)
    except Exception as error:
        failure = f"{type(error).__name__}: {cause(error)}"
        return Counterexample(rule.name, scheme, p, q, shape, failure=failure)
    if outcome.deviation <= ROUNDING:
        return None
    text = outcome.worst
    target = prod((p[min(depth, len(p) - 1)][token] for depth, token in enumerate(text)), start=Fraction(1))
    return Counterexample(rule.name, scheme, p, q, shape, text, outcome.texts[text], target)


def _pairs(tokens: int, greedy: bool) -> Iterator[tuple[Row, Row]]:
    """Pairs of rows in order of their larger denominator; p falls, since the order of tokens means nothing.

    Args:
        tokens: V.
        greedy: whether the target has all of its mass on one token.
    """
    rows = {size: [*_fractions(tokens, size)] for size in range(1, DENOMINATORS[tokens] + 1)}
    for size in rows:
        for of_p, of_q in product(range(1, size + 1), repeat=2):
            if max(of_p, of_q) == size and (of_p == 1 or not greedy):
                falling = [p for p in rows[of_p] if list(p) == sorted(p, reverse=True)]
                yield from product(falling, rows[of_q])


def _fractions(tokens: int, size: int) -> Iterator[Row]:
    """Every row of so many tokens with this denominator and no smaller one."""
    for parts in product(range(size + 1), repeat=tokens):
        if sum(parts) == size and gcd(*parts) == 1:
            yield tuple(Fraction(part, size) for part in parts)


def _lines(name: str, rows: Sequence[Row], model: str) -> Iterator[str]:
    for depth, row in enumerate(rows):
        level = "" if len(rows) == 1 else f", depth {depth}"
        yield f"  {name}      {', '.join(map(str, row))}   ({model}{level})"


def _number(value: float | Fraction) -> str:
    """A probability as a fraction where it is a simple one, else with six digits."""
    simple = Fraction(value).limit_denominator(1000)
    return str(simple) if abs(float(simple) - float(value)) < 1e-12 else f"{float(value):.6g}"
