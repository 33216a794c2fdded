"""A draft that learns on the text it drafts for: the weights of one run, and the step that moves them.

Weights are trained as they were loaded, in float32, and drafted with in the draft's own type. What drafts is made anew
from them after every step, fused and laid out as ever, and reads the text again: no weight and no key in the cache is
older than the last step.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ..passes.huggingface import HuggingFaceModel, HuggingFaceSession
from ..passes.threads import using
from ..tree import TokenTree

READ = 256  # tokens of the text that a step of the optimiser reads at most


class LearningModel:
    """What opens sessions that learn, each with weights of its own.

    Args:
        draft: where the weights come from; it is left as it is.
        rate: of the optimiser.
    """

    def __init__(self, draft: HuggingFaceModel, rate: float) -> None:
        self.draft, self.rate = draft, rate

    def open(self, tokens: Sequence[int], target: Any = None) -> LearningSession:
        """A session that starts with `tokens`."""
        return LearningSession(self.draft, tokens, self.rate)


class LearningSession:
    """A session on one text whose model changes between steps."""

    def __init__(self, draft: HuggingFaceModel, tokens: Sequence[int], rate: float) -> None:
        self.draft = draft
        self.weights = copy.deepcopy(draft.model).float().requires_grad_(True)
        self.optimizer = torch.optim.AdamW(self.weights.parameters(), lr=rate, weight_decay=0.0)
        self.session = self._reading(tokens)

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
        """One step of the optimiser towards the target's rows.

        Args:
            rows: the target's after each of the last tokens of the text but the very last, [n, V].
            temperature: at which the draft's rows are drawn from.
        """
        end = len(self.context) - 1
        begin = max(0, end - max(READ, len(rows)))
        ids = torch.tensor([self.context[begin:end]], device=self.draft.device)
        ids = ids.clamp(max=self.draft.embeddings - 1)
        places = torch.arange(begin, end, device=ids.device)[None]
        wanted = torch.tensor(rows, device=self.draft.device)
        with using(self.draft.threads.count), torch.inference_mode(False), torch.enable_grad():
            logits = self.weights(input_ids=ids, position_ids=places, use_cache=False).logits[0, -len(rows) :]
            size = min(logits.shape[1], wanted.shape[1])  # vocabularies may be padded
            found = torch.log_softmax(logits[:, :size] / temperature, dim=-1)
            (-(wanted[:, :size] * found).sum(-1).mean()).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.session = self._reading(self.context)

    def _reading(self, tokens: Sequence[int]) -> HuggingFaceSession:
        """A session of the weights as they are now."""
        model = copy.deepcopy(self.weights).requires_grad_(False).to(self.draft.dtype)
        reader = HuggingFaceModel(model, self.draft.vocab_size)
        reader.threads = self.draft.threads
        if self.draft.direct is None:
            reader.leave_to_transformers()
        return reader.open(tokens)
