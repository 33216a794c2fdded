"""The verification rules, by menu name; the order is the order of the menu."""

from ..strategy import VERIFIERS as VERIFIERS
from .block import Block
from .dyspec import DySpecRule
from .exact_match import ExactMatch
from .naive import Naive
from .plain import PlainRule
from .race import Race
from .sequoia import SequoiaRule
from .specinfer import SpecInfer
from .spectr import SpecTr
from .speculative_sampling import SpeculativeSampling
from .target_match import TargetMatch
from .traversal import Traversal
from .typical import Typical

VERIFIERS.add(
    SequoiaRule, DySpecRule, Traversal, SpecInfer, SpecTr, SpeculativeSampling, Block,
        TargetMatch, Naive, Race, ExactMatch, Typical, PlainRule,
)  # fmt: skip
