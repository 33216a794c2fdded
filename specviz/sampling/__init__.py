"""Distributions, randomness, and how the children of a node are drawn. Knows no tree and no model."""

from .children import SequentialProposal as SequentialProposal
