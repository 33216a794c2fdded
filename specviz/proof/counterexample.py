"""A small tree on which a rule declared lossless does not write the target's distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from urllib.parse import urlencode

from ..base.codec import JsonObject
from ..base.errors import cause
from ..config.strategy import SCHEMES
from ..tree import Topology
from ..verifiers.base import Verifier

Parents = tuple[int, ...]
Row = tuple[Fraction, ...]
Rows = tuple[Row, ...]


@dataclass(frozen=True)
class Counterexample:
    """A small tree on which a rule is wrong.

    Above temperature 0 its tokens are drawn, and rows are listed by depth. At temperature 0 its
    tokens are given, and rows are listed by node.

    Attributes:
        rule, scheme: menu name of the rule, and how the children are drawn.
        parents: the shape of the tree, as in `Topology`.
        p, q: the target's and the draft's rows; a single one stands for all.
        tokens: the drafted tokens below the root at temperature 0; () where they are drawn.
        text: the tokens that are written too often or too seldom; () where the rule failed.
        probability, target: the text's probability, and what it should be.
        failure: what the rule failed with; "" where it did not.
    """

    rule: str
    scheme: str
    parents: Parents
    p: Rows
    q: Rows
    tokens: tuple[int, ...] = ()
    text: tuple[int, ...] = ()
    probability: float = 0.0
    target: Fraction = Fraction(0)
    failure: str = ""

    @property
    def children(self) -> int:
        """How many children the root has."""
        return self.parents.count(0)

    @property
    def levels(self) -> int:
        """How many levels the tree has below its root."""
        return int(Topology(self.parents).depth.max())

    @property
    def link(self) -> str:
        """The page's address of the Verification lab with this tree; "" where the lab cannot show
        it."""
        # The lab draws a chain or one node with children, from one row of each model.
        is_chain_or_star = len(self.parents) - 1 == max(self.children, self.levels)
        if self.tokens or len(self.p) > 1 or not is_chain_or_star:
            return ""
        query = {
            "tab": "labs",
            "lab": "verification",
            "rule": self.rule,
            "p": ",".join(map(str, self.p[0])),
            "q": ",".join(map(str, self.q[0])),
            "children": self.children,
            "levels": self.levels,
            "scheme": self.scheme,
        }
        return f"/?{urlencode(query, safe='/,')}"

    def to_dict(self) -> JsonObject:
        """The tree as plain JSON data, its fractions as text, p and q as lists of rows."""
        return vars(self) | {
            "parents": list(self.parents),
            "tokens": list(self.tokens),
            "children": self.children,
            "levels": self.levels,
            "p": [list(map(str, row)) for row in self.p],
            "q": [list(map(str, row)) for row in self.q],
            "text": list(self.text),
            "target": str(self.target),
            "link": self.link,
        }

    def __str__(self) -> str:
        claim = ": at temperature 0 it must write the target's most probable tokens, but does not."
        if not self.tokens:
            claim = f" is declared lossless for children {SCHEMES[self.scheme]}, but it is not."
        # In the order in which one works it out by hand: the rows, the tree, then what is written.
        lines = [
            f"{self.rule}{claim}",
            "the smallest counterexample:",
            f"  tokens {', '.join(letters(range(len(self.p[0]))))}",
            *self._row_lines("p", "target", self.p),
            *self._row_lines("q", "draft", self.q),
            f"  tree   {self._tree_text()}",
        ]
        if self.failure:
            return "\n".join([*lines, f"  fails  {self.failure}"])
        written = "".join(letters(self.text))
        probability = exact_text(self.probability, self.target)
        lines.append(
            f"  writes {written} with probability {probability}; it should be {self.target}"
        )
        return "\n".join(lines)

    def _row_lines(self, name: str, model: str, rows: Rows) -> list[str]:
        """The rows of a model, each with the place it stands for."""
        lines = []
        for index, row in enumerate(rows):
            place = ""
            if len(rows) > 1 and self.tokens:
                place = f", after {self._node_text(index)}"
            elif len(self.p) > 1 and not self.tokens:
                place = f", depth {index}"
            if row:  # a leaf has no row of the draft
                lines.append(f"  {name}      {', '.join(map(str, row))}   ({model}{place})")
        return lines

    def _tree_text(self) -> str:
        # At temperature 0 the drafted tokens matter, above it only the shape does.
        if self.tokens:
            nodes = map(self._node_text, range(1, len(self.parents)))
            return f"drafted: {', '.join(nodes)}"
        every = ""
        if len(self.p) == 1:
            every = ", the same distributions at every level"
        if self.children == 1 and len(self.parents) == self.levels + 1 > 2:
            return f"a chain of {self.levels}{every}"
        if self.levels == 1:
            return f"a root with {self.children} child{'ren' * (self.children > 1)}"
        return f"the parents of its nodes are {list(self.parents)}{every}"

    def _node_text(self, node: int) -> str:
        """The drafted tokens down to a node."""
        path = Topology(self.parents).path(node)
        return "".join(letters([self.tokens[step - 1] for step in path])) or "the root"


def fits(rule: Verifier, parents: Parents) -> bool:
    """Whether a rule is defined for trees of this shape."""
    if rule.chain_only:
        return parents == (-1, *range(len(parents) - 1))
    if not rule.paths_only:
        return True
    # Chains of one length that share only the root: the root alone may branch.
    shape = Topology(parents)
    ends: set[int] = set()
    for node, below in enumerate(shape.children):
        if len(below) > 1 and node > 0:
            return False
        if not below:
            ends.add(int(shape.depth[node]))
    return len(ends) == 1


def letters(tokens: Sequence[int]) -> list[str]:
    """Tokens as letters, from a."""
    return [chr(ord("a") + token) for token in tokens]


def exact_text(probability: float, other: Fraction) -> str:
    """A probability as a fraction where it is one, else with enough digits to differ from
    `other`."""
    fraction = Fraction(probability).limit_denominator(1000)
    if abs(float(fraction) - probability) < 1e-12 and fraction != other:
        return str(fraction)
    digits = 6
    # As many digits as it takes to see that the two differ; 17 show every number of Python's.
    while digits < 17 and float(f"{probability:.{digits}g}") == float(f"{float(other):.{digits}g}"):
        digits += 1
    return f"{probability:.{digits}g}"


def normalised(weights: Sequence[int]) -> Row:
    """The row with these weights."""
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def failure_text(error: Exception) -> str:
    """What a rule failed with, for people."""
    if isinstance(error, ValueError) and "read-only" in str(error):
        return (
            "it writes into the target's or the draft's distribution, which is read again; "
            "change a copy, such as p[node].copy()"
        )
    return f"{type(error).__name__}: {cause(error)}"


@dataclass(frozen=True)
class Search:
    """What a search for a counterexample found.

    Attributes:
        trees: how many trees were tried.
        error: the largest error of a text's probability; nan where the rule failed.
        counterexample: the first tree on which the rule is wrong; None if there is none.
    """

    trees: int
    error: float
    counterexample: Counterexample | None
