"""The smallest node on which a rule that is declared lossless does not write the target's distribution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import gcd
from typing import Any
from urllib.parse import urlencode

import numpy as np

from ..compatibility import DRAWN, compatible
from ..config import RunConfig
from ..errors import cause
from ..plugins.load import blamed
from ..sampling import SCHEMES
from ..strategy import REGISTRIES
from ..verifiers.base import Verifier
from .enumerate import Shape, enumerate_node

SHAPES = (Shape(1, 1), Shape(2, 1), Shape(1, 2), Shape(3, 1), Shape(1, 3))
DENOMINATORS = {2: 6, 3: 4}  # tokens -> the largest one of a row
EXACT = 1e-9  # what rounding may explain
LETTERS = "abc"
Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class Counterexample:
    """A node on which a rule is wrong.

    Args:
        rule, scheme: menu name of the rule, and how the children are drawn.
        p, q: the target's and the draft's row, [V].
        shape: the tree, with these rows at every level.
        text: the tokens that are written too often or too seldom; () where the rule failed.
        found, wanted: their probability, and what it should be.
        failure: what the rule failed with; "" where it did not.
    """

    rule: str
    scheme: str
    p: Row
    q: Row
    shape: Shape
    text: tuple[int, ...] = ()
    found: float = 0.0
    wanted: Fraction = Fraction(0)
    failure: str = ""

    @property
    def link(self) -> str:
        """What opens the Verification lab on this node, after the address of the page."""
        asked = {
            "tab": "labs", "lab": "verification", "rule": self.rule, "p": _row(self.p), "q": _row(self.q),
            "children": self.shape.children, "levels": self.shape.levels, "scheme": self.scheme,
        }  # fmt: skip
        return f"/?{urlencode(asked, safe='/,')}"

    def to_dict(self) -> dict[str, Any]:
        """The node as plain JSON data, its fractions as text."""
        told = {name: value for name, value in vars(self).items() if name != "shape"} | vars(self.shape)
        texts = {"p": list(map(str, self.p)), "q": list(map(str, self.q)), "wanted": str(self.wanted)}
        return told | texts | {"text": list(self.text), "link": self.link}

    def __str__(self) -> str:
        names, levels, children = LETTERS[: len(self.p)], self.shape.levels, self.shape.children
        tree = (
            f"a chain of {levels}, the same distributions at every level" if levels > 1 else f"a root with {children} "
        )
        tree += "" if levels > 1 else "child" if children == 1 else "children"
        said = f"fails  {self.failure}" if self.failure else (
            f"writes {''.join(names[token] for token in self.text)} with probability {_number(self.found)}; it should "
            f"be {_number(self.wanted)}"
        )  # fmt: skip
        return "\n".join([
            f"{self.rule} is declared lossless for children {DRAWN[self.scheme]}, but it is not.",
            "the smallest counterexample:",
            f"  tokens {', '.join(names)}",
            f"  p      {', '.join(map(str, self.p))}   (target)",
            f"  q      {', '.join(map(str, self.q))}   (draft)",
            f"  tree   {tree}",
            f"  {said}",
        ])  # fmt: skip


def smallest(rule: Verifier) -> Counterexample | None:
    """The first node in order of size on which a rule is wrong: fewest drafted nodes, tokens, then denominators.

    Args:
        rule: the rule, with the children for which `compatible` declares it lossless.

    Returns:
        None if all are right, or the rule is keyed, whose noise cannot be enumerated.
    """
    if rule.shared_noise:
        return None
    for shape, tokens in product(SHAPES, DENOMINATORS):
        schemes = [scheme for scheme in SCHEMES if _declared(rule, shape, scheme)]
        for (p, q), scheme in product(_rows(tokens, rule.greedy_only) if schemes else (), schemes):
            if found := _tried(rule, p, q, shape, scheme):
                return found
    return None


def _declared(rule: Verifier, shape: Shape, scheme: str) -> bool:
    chain, batch = REGISTRIES["builder"]["chain"], REGISTRIES["builder"]["batch"]
    builder = chain(depth=shape.levels) if shape.children == 1 else batch(width=shape.children)
    match = compatible(RunConfig(builder=builder, verifier=rule, temperature=0.0 if rule.greedy_only else 1.0), scheme)
    return match.possible and match.lossless


def _tried(rule: Verifier, p: Row, q: Row, shape: Shape, scheme: str) -> Counterexample | None:
    target, draft = (np.array([float(share) for share in row]) for row in (p, q))
    try:
        outcome = enumerate_node(rule, target, draft, shape, scheme)
    except Exception as error:
        failure = blamed(error) or f"{type(error).__name__}: {cause(error)}"
        return Counterexample(rule.name, scheme, p, q, shape, failure=failure)
    if outcome.deviation <= EXACT:
        return None
    text, wanted = outcome.worst, Fraction(1)
    for token in text:
        wanted *= p[token]
    return Counterexample(rule.name, scheme, p, q, shape, text, outcome.texts[text], wanted)


def _rows(tokens: int, greedy: bool) -> Iterator[tuple[Row, Row]]:
    """Pairs of rows in order of their larger denominator; p falls, since the order of tokens means nothing.

    Args:
        tokens: V.
        greedy: whether the target has all of its mass on one token.
    """
    of = {size: [*_fractions(tokens, size)] for size in range(1, DENOMINATORS[tokens] + 1)}
    for size in of:
        for one, other in product(range(1, size + 1), repeat=2):
            if max(one, other) == size and (one == 1 or not greedy):
                yield from ((p, q) for p, q in product(of[one], of[other]) if list(p) == sorted(p, reverse=True))


def _fractions(tokens: int, size: int) -> Iterator[Row]:
    """Every row of so many shares with this denominator and no smaller one."""
    for parts in product(range(size + 1), repeat=tokens):
        if sum(parts) == size and gcd(*parts) == 1:
            yield tuple(Fraction(part, size) for part in parts)


def _row(row: Row) -> str:
    return ",".join(map(str, row))


def _number(value: float | Fraction) -> str:
    """A probability as a fraction where it is a simple one, else with six digits."""
    simple = Fraction(value).limit_denominator(1000)
    return str(simple) if abs(float(simple) - float(value)) < 1e-12 else f"{float(value):.6g}"
