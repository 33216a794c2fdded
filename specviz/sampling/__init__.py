"""Distributions, randomness, and how the children of a node are drawn. Knows no tree and no
model."""

from .children import SequentialProposal as SequentialProposal
from .children import draw_children as draw_children
