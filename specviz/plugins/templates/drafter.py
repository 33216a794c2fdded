"""A drafter: say here what it does, and its source.

python -m specviz check --plugin mine.py --drafter mine --builder chain --verifier sequoia   # prove it, or refute it
python -m specviz generate --plugin mine.py --drafter mine --prompt "Once upon a time"
python -m specviz demo --plugin mine.py
"""

import numpy as np
from pydantic import Field

import specviz
from specviz.distributions import probabilities
from specviz.drafters.base import Drafter, DrafterSession


class Counting(DrafterSession):
    """How often each token was in the text so far."""

    def __init__(self, name, context, vocab_size, before):
        super().__init__(name)
        self.counts = before + np.bincount(context, minlength=vocab_size)

    def expand(self, tree, nodes, sampling):
        return [probabilities(np.log(self.counts), sampling)] * len(nodes)  # a distribution after each node

    def commit(self, tree, path, emitted, seen):
        np.add.at(self.counts, emitted, 1)


@specviz.register
class Mine(Drafter):
    """Tokens in proportion to their number in the text, whatever stands before them."""

    name, title = "mine", "Mine"
    before: float = Field(0.01, ge=0.001, le=1.0, title="Before", description="What is added to every count.")

    def open(self, desk):
        return Counting(self.name, desk.context, desk.pair.vocab_size, self.before)
