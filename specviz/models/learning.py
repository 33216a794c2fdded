"""A draft that learns on the text it drafts for: it trains a copy in float32, and drafts in its own type.

After every step it reads the text again: no weight and no key in the cache is older than the last step.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..passes.huggingface import HuggingFaceModel
from ..passes.threads import using
from ..tree import TokenTree

CONTEXT = 256  # tokens of the text that a step of the optimiser reads at most


@dataclass
class LearningModel:
    """What opens sessions that learn, each with weights of its own."""

    draft: HuggingFaceModel
    rate: float

    def open(self, tokens: Sequence[int], target: Any = None) -> LearningSession:
        """A session that starts with `tokens`."""
        return LearningSession(self.draft, self.rate, tokens)


class LearningSession:
    """A session on one text whose model changes between steps."""

    def __init__(self, draft: HuggingFaceModel, rate: float, tokens: Sequence[int]) -> None:
        self.draft, self.rate, self.weights = draft, rate, draft.model
        self.session = draft.open(tokens)
        self._reader: HuggingFaceModel | None = None

    @property
    def context(self) -> Sequence[int]:
        """The committed token ids."""
        return self.session.context

    def forward(self, tree: TokenTree, nodes: Sequence[int]) -> Any:
        """See `Session.forward`."""
        return self.session.forward(tree, nodes)

    def commit(self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int]) -> None:
        """See `Session.commit`."""
        self.session.commit(tree, path, emitted)

    def learn(self, rows: np.ndarray, temperature: float) -> None:
        """One step of the optimiser towards the target's rows."""
        reader = self._reader = self._reader or self._copy()
        end = len(self.context) - 1
        begin = max(0, end - max(CONTEXT, len(rows)))
        ids = torch.tensor([self.context[begin:end]], device=self.draft.device).clamp(max=self.draft.embeddings - 1)
        positions = torch.arange(begin, end, device=ids.device)[None]
        p = torch.tensor(rows, device=ids.device)
        with using(self.draft.threads.count), torch.inference_mode(False), torch.enable_grad():
            logits = self.weights(input_ids=ids, position_ids=positions, use_cache=False).logits[0, -len(rows) :]
            size = min(logits.shape[1], p.shape[1])  # vocabularies may be padded
            log_q = torch.log_softmax(logits[:, :size] / temperature, dim=-1)
            (-(p[:, :size] * log_q).sum(-1).mean()).backward()
            self._optimizer.step()
            self._optimizer.zero_grad()
        with torch.inference_mode():
            reader.model.load_state_dict(self.weights.state_dict())
            if reader.direct is not None:
                reader.direct.lay_out_again()
        self.session = reader.open(self.context)

    def _copy(self) -> HuggingFaceModel:
        """Make the weights that are trained, and return a model that drafts with them."""
        self.weights = copy.deepcopy(self.draft.model).float().requires_grad_(True)
        self._optimizer = torch.optim.AdamW(self.weights.parameters(), lr=self.rate, weight_decay=0.0)
        reader = HuggingFaceModel(copy.deepcopy(self.draft.model).requires_grad_(False), self.draft.vocab_size)
        reader.threads = self.draft.threads
        if self.draft.direct is None:
            reader.leave_to_transformers()
        return reader
