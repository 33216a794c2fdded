"""The tree builders, by menu name; the order is the order of the menu."""

from ..config.strategy import BUILDERS as BUILDERS
from .ddtree import DDTree
from .dyspec import DySpec, DySpecThreshold
from .eagle2 import Ddd, Eagle2
from .lookup import Lookahead, PromptLookup
from .sequoia import EqualGrowth, Optimal, Sequoia
from .static import Batch, Branching, Chain, Heuristic, KAry, KSequences, Plain
from .svip import Cape, Svip, SvipTree

BUILDERS.add(
    Chain,
    Heuristic,
    Svip,
    Cape,
    KSequences,
    KAry,
    Branching,
    Batch,
    Sequoia,
    Optimal,
    EqualGrowth,
    DySpec,
    DySpecThreshold,
    SvipTree,
    Eagle2,
    Ddd,
    DDTree,
    PromptLookup,
    Lookahead,
    Plain,
)
