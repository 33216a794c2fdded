"""The drafters, by menu name; the order is the order of the menu."""

from ..config.strategy import DRAFTERS as DRAFTERS
from .block import Block
from .mixture import Cascade, Several, Staged
from .models import Eagle, EarlyExit, LayerSkip, Medusa, Model, Online, Quantized
from .ngram import NGram
from .retrieval import Retrieval

DRAFTERS.add(
    Model,
    EarlyExit,
    LayerSkip,
    Quantized,
    Medusa,
    Eagle,
    Block,
    NGram,
    Retrieval,
    Several,
    Cascade,
    Staged,
    Online,
)
