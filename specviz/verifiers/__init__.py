"""The verification rules, by menu name; the order is the order of the menu."""

from ..config.strategy import VERIFIERS as VERIFIERS
from .block import Block, Traversal
from .coins import DySpecRule, SequoiaRule, SpecInfer, SpeculativeSampling
from .match import ExactMatch, Naive, PlainRule, Race, TargetMatch
from .spectr import SpecTr
from .typical import Typical

VERIFIERS.add(
    SequoiaRule,
    DySpecRule,
    Traversal,
    SpecInfer,
    SpecTr,
    SpeculativeSampling,
    Block,
    TargetMatch,
    Naive,
    Race,
    ExactMatch,
    Typical,
    PlainRule,
)
