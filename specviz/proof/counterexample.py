"""The smallest tree on which a rule that is declared lossless does not write the target's
distribution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import gcd, prod
from typing import Any
from urllib.parse import urlencode

import numpy as np

from ..base.errors import cause
from ..config.run_config import RunConfig, compatible
from ..config.strategy import REGISTRIES, SCHEMES
from ..verifiers.base import Verifier
from .enumerate import enumerate_node

SHAPES = ((1, 1), (2, 1), (1, 2), (3, 1), (1, 3))  # children and levels
DENOMINATORS = {2: 6, 3: 4}  # tokens -> the largest one of a row
ROUNDING = 1e-9
Row = tuple[Fraction, ...]
Rows = tuple[Row, ...]


@dataclass(frozen=True)
class Counterexample:
    """A small tree on which a rule is wrong.

    Attributes:
        rule, scheme: menu name of the rule, and how the children are drawn.
        children, levels: the tree: children below the root, or a chain of some levels.
        p, q: the target's and the draft's rows by depth; a single one stands for every depth.
        text: the tokens that are written too often or too seldom; () where the rule failed.
        probability, target: the text's probability, and what it should be.
        failure: what the rule failed with; "" where it did not.
    """

    rule: str
    scheme: str
    children: int
    levels: int
    p: Rows
    q: Rows
    text: tuple[int, ...] = ()
    probability: float = 0.0
    target: Fraction = Fraction(0)
    failure: str = ""

    @property
    def link(self) -> str:
        """The page's address of the Verification lab with this tree; "" where its rows differ by
        depth."""
        if len(self.p) > 1:
            return ""
        p, q = (",".join(map(str, row)) for (row,) in (self.p, self.q))
        query = {
            "tab": "labs",
            "lab": "verification",
            "rule": self.rule,
            "p": p,
            "q": q,
            "children": self.children,
            "levels": self.levels,
            "scheme": self.scheme,
        }
        return f"/?{urlencode(query, safe='/,')}"

    def to_dict(self) -> dict[str, Any]:
        """The tree as plain JSON data, its fractions as text, p and q as lists of rows by depth."""
        p, q = ([list(map(str, row)) for row in rows] for rows in (self.p, self.q))
        return vars(self) | {
            "p": p,
            "q": q,
            "text": list(self.text),
            "target": str(self.target),
            "link": self.link,
        }

    def __str__(self) -> str:
        names, deep, differ = "abc"[: len(self.p[0])], self.levels > 1, len(self.p) > 1
        lines = [
            f"{self.rule} is declared lossless for children {SCHEMES[self.scheme]}, but it is not.",
            "the smallest counterexample:",
            f"  tokens {', '.join(names)}",
        ]
        for name, rows, model in (("p", self.p, "target"), ("q", self.q, "draft")):
            for depth, row in enumerate(rows):
                level = f", depth {depth}" * differ
                lines.append(f"  {name}      {', '.join(map(str, row))}   ({model}{level})")
        tree = (
            f"chain of {self.levels}"
            if deep
            else f"root with {self.children} child{'ren' * (self.children > 1)}"
        )
        lines.append(
            f"  tree   a {tree}{', the same distributions at every level' * (deep and not differ)}"
        )
        if self.failure:
            return "\n".join([*lines, f"  fails  {self.failure}"])
        text, ratio = (
            "".join(names[token] for token in self.text),
            Fraction(self.probability).limit_denominator(1000),
        )
        simple = (
            ratio if abs(float(ratio) - self.probability) < 1e-12 else f"{self.probability:.6g}"
        )
        return "\n".join(
            [*lines, f"  writes {text} with probability {simple}; it should be {self.target}"]
        )


def smallest(rule: Verifier) -> Counterexample | None:
    """The first tree in order of size on which a rule is wrong.

    Trees with the same rows at every depth come first: by drafted nodes, tokens, then denominators.
    Trees whose rows differ by depth follow; they show rules that mix up the levels.

    Args:
        rule: the rule, with the children for which `compatible` declares it lossless.

    Returns:
        None if all are right, or the rule is keyed, whose noise cannot be enumerated.
    """
    if rule.shared_noise:
        return None
    chain, batch = REGISTRIES["builder"]["chain"], REGISTRIES["builder"]["batch"]
    schemes: dict[tuple[int, int], list[str]] = {}  # those for which the rule is declared lossless
    for children, levels in SHAPES:
        builder = chain(depth=levels) if children == 1 else batch(width=children)
        config = RunConfig(
            builder=builder, verifier=rule, temperature=0.0 if rule.greedy_only else 1.0
        )
        schemes[children, levels] = [
            scheme for scheme in SCHEMES if compatible(config, scheme).lossless
        ]
    for (children, levels), p, q in _trees(rule.greedy_only):
        targets, drafts = (
            np.array(rows if len(rows) > 1 else rows * levels, float) for rows in (p, q)
        )
        for scheme in schemes[children, levels]:
            example = Counterexample(rule.name, scheme, children, levels, p, q)
            try:
                outcome = enumerate_node(rule, targets, drafts, scheme, children)
            except Exception as error:
                return replace(example, failure=f"{type(error).__name__}: {cause(error)}")
            if not outcome.deviation <= ROUNDING:
                text = outcome.worst
                target = prod(
                    (p[min(depth, len(p) - 1)][token] for depth, token in enumerate(text)),
                    start=Fraction(1),
                )
                return replace(example, text=text, probability=outcome.texts[text], target=target)
    return None


def _trees(greedy: bool) -> Iterator[tuple[tuple[int, int], Rows, Rows]]:
    """Trees in order of size, with p and q by depth; p falls where it is one row, since the order
    means nothing.

    With `greedy` the target has all of its mass on one token.
    """
    for tree, (tokens, largest) in product(SHAPES, DENOMINATORS.items()):
        rows = {size: [*_fractions(tokens, size)] for size in range(1, largest + 1)}
        for size, of_p, of_q in product(rows, rows, rows):
            if max(of_p, of_q) == size and (of_p == 1 or not greedy):
                falling = [p for p in rows[of_p] if list(p) == sorted(p, reverse=True)]
                yield from ((tree, (p,), (q,)) for p, q in product(falling, rows[of_q]))
    few = [*_fractions(2, 1), *_fractions(2, 2)]
    for children, levels in SHAPES[:3]:
        targets, drafts = (
            product(few[:2] if greedy else few, repeat=levels + 1),
            product(few, repeat=levels),
        )
        yield from (((children, levels), p, q) for p, q in product(targets, drafts))


def _fractions(tokens: int, size: int) -> Iterator[Row]:
    """Every row of so many tokens with this denominator and no smaller one."""
    for parts in product(range(size + 1), repeat=tokens):
        if sum(parts) == size and gcd(*parts) == 1:
            yield tuple(Fraction(part, size) for part in parts)
