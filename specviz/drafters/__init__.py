"""The drafters, by menu name; the order is the order of the menu."""

from ..strategy import DRAFTERS as DRAFTERS
from .cascade import Cascade
from .eagle import Eagle
from .early_exit import EarlyExit
from .layer_skip import LayerSkip
from .medusa import Medusa
from .model import Model
from .ngram import NGram
from .online import Online
from .retrieval import Retrieval
from .several import Several
from .staged import Staged

DRAFTERS.add(
    Model, EarlyExit, LayerSkip, Medusa, Eagle, NGram, Retrieval, Several, Cascade, Staged, Online,
)  # fmt: skip
