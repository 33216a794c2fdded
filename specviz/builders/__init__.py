"""The tree builders, by menu name; the order is the order of the menu."""

from .chain import Chain
from .k_ary import KAry
from .k_sequences import KSequences
from .sequoia import Sequoia

BUILDERS = {builder.name: builder for builder in (Chain, KSequences, KAry, Sequoia)}
