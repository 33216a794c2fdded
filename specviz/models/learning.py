"""A draft that learns on the text it drafts for: it trains a copy in float32, and drafts in its own
type.

After every step it reads the text again: no weight and no key in the cache is older than the last
step.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import torch

from ..passes.huggingface import HuggingFaceModel, HuggingFaceSession

CONTEXT = 256  # tokens of the text that a step of the optimiser reads at most


class LearningSession(HuggingFaceSession):
    """A session on one text, with weights of its own that change between steps."""

    model: HuggingFaceModel

    def __init__(self, draft: HuggingFaceModel, tokens: Sequence[int], rate: float) -> None:
        super().__init__(draft, tokens)
        self.rate = rate
        self.weights = draft.model
        self._optimizer: torch.optim.Optimizer | None = None

    def learn(self, rows: np.ndarray, temperature: float) -> None:
        """One step of the optimiser towards the target's rows, [n, V], the last of them before the
        last token."""
        if self._optimizer is None:
            self._optimizer = self._copy_draft()
        optimizer = self._optimizer
        model = self.model
        end = len(self.context) - 1
        # The last tokens of the text; all of a long one would make steps slower and slower.
        start = max(0, end - max(CONTEXT, len(rows)))
        ids = torch.tensor([self.context[start:end]], device=model.device).clamp(
            max=model.embeddings - 1
        )
        positions = torch.arange(start, end, device=model.device)[None]
        p = torch.tensor(rows, device=model.device)
        with torch.inference_mode(False), torch.enable_grad():
            logits = self.weights(input_ids=ids, position_ids=positions, use_cache=False).logits[
                0, -len(rows) :
            ]
            size = min(logits.shape[1], p.shape[1])  # vocabularies may be padded
            log_q = torch.log_softmax(logits[:, :size] / temperature, dim=-1)
            (-(p[:, :size] * log_q).sum(-1).mean()).backward()
            optimizer.step()
            optimizer.zero_grad()
        with torch.inference_mode():
            model.model.load_state_dict(self.weights.state_dict())
            if model.direct is not None:
                model.direct.refresh_weights()
        # Keys of the old weights are wrong now, so the session begins again.
        super().__init__(model, self.context)

    def _copy_draft(self) -> torch.optim.Optimizer:
        """Copy the draft twice, to train weights and to draft with them; returns what trains
        them."""
        draft = self.model
        self.weights = copy.deepcopy(draft.model).float().requires_grad_(True)
        copied = copy.deepcopy(draft.model).requires_grad_(False)
        self.model = HuggingFaceModel(copied, draft.vocab_size)
        if draft.direct is None:
            self.model.use_transformers()
        return torch.optim.AdamW(self.weights.parameters(), lr=self.rate, weight_decay=0.0)
