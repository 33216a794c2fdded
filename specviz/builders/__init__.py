"""The tree builders, by menu name; the order is the order of the menu."""

from ..strategy import BUILDERS as BUILDERS
from .batch import Batch
from .branching import Branching
from .cape import Cape
from .chain import Chain
from .ddd import Ddd
from .dyspec import DySpec
from .dyspec_threshold import DySpecThreshold
from .eagle2 import Eagle2
from .heuristic import Heuristic
from .k_ary import KAry
from .k_sequences import KSequences
from .lookahead import Lookahead
from .optimal import Optimal
from .plain import Plain
from .prompt_lookup import PromptLookup
from .sequoia import Sequoia
from .svip import Svip
from .svip_tree import SvipTree

BUILDERS.add(
    Chain, Heuristic, Svip, Cape, KSequences, KAry, Branching, Batch, Sequoia, Optimal,
        DySpec, DySpecThreshold, SvipTree, Eagle2, Ddd, PromptLookup, Lookahead, Plain,
)  # fmt: skip
