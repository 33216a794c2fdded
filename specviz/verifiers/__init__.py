"""The verification rules, by menu name; the order is the order of the menu."""

from ..config.strategy import VERIFIERS as VERIFIERS
from .block import Block, GreedyMultiPath
from .coins import DySpecRule, SequoiaRule, SpecInfer, SpeculativeSampling, Traversal
from .fly import Fly
from .match import ExactMatch, Naive, PlainRule, Race, TargetMatch
from .spectr import SpecTr
from .transport import GreedyDraft, Transport
from .typical import Typical

VERIFIERS.add(
    SequoiaRule,
    DySpecRule,
    Traversal,
    Transport,
    GreedyDraft,
    SpecInfer,
    SpecTr,
    SpeculativeSampling,
    Block,
    GreedyMultiPath,
    TargetMatch,
    Naive,
    Race,
    ExactMatch,
    Typical,
    Fly,
    PlainRule,
)
