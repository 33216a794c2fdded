"""A draft that learns on the text it drafts for: the weights of one run, and the step that moves them.

Weights are trained as they were loaded, in float32, and drafted with in the draft's own type. Until it has learnt
something a session drafts with the draft itself; then it takes a copy, which it leaves to a later session. After every
step what drafts is given the new weights and reads the text again: no weight and no key in the cache is older than the
last step.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any
from weakref import finalize

import numpy as np
import torch

from ..passes.huggingface import HuggingFaceModel
from ..passes.threads import using
from ..tree import TokenTree

READ = 256  # tokens of the text that a step of the optimiser reads at most


class Learner:
    """Copies of a draft: weights that are trained, and a model that drafts with them.

    Args:
        draft: what is copied.
        rate: of the optimiser.
    """

    def __init__(self, draft: HuggingFaceModel, rate: float) -> None:
        self.draft, self.rate = draft, rate
        self.weights = copy.deepcopy(draft.model).float()
        self.reader = HuggingFaceModel(copy.deepcopy(draft.model).requires_grad_(False), draft.vocab_size)
        self.reader.threads = draft.threads
        if draft.direct is None:
            self.reader.leave_to_transformers()

    def begin(self) -> None:
        """Start from the draft's weights, with nothing learnt."""
        self.weights.load_state_dict(self.draft.model.state_dict())
        self.weights.requires_grad_(True)
        self.optimizer = torch.optim.AdamW(self.weights.parameters(), lr=self.rate, weight_decay=0.0)

    def step(self, loss: torch.Tensor) -> None:
        """One step of the optimiser, and the new weights for what drafts."""
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        with torch.inference_mode():
            self.reader.model.load_state_dict(self.weights.state_dict())
            if self.reader.direct is not None:
                self.reader.direct.lay_out_again()


class LearningModel:
    """What opens sessions that learn, each with weights of its own.

    Args:
        draft: where the weights come from; it is left as it is.
        rate: of the optimiser.
    """

    def __init__(self, draft: HuggingFaceModel, rate: float) -> None:
        self.draft, self.rate = draft, rate
        self._spare: list[Learner] = []

    def open(self, tokens: Sequence[int], target: Any = None) -> LearningSession:
        """A session that starts with `tokens`."""
        return LearningSession(self, tokens)

    def take(self, session: LearningSession) -> Learner:
        """Copies for a session, which come back when it is gone; one of them is kept for the next."""
        learner = self._spare.pop() if self._spare else Learner(self.draft, self.rate)
        learner.begin()
        finalize(session, self._keep, learner)
        return learner

    def _keep(self, learner: Learner) -> None:
        learner.optimizer.state.clear()
        self._spare[:] = [learner]


class LearningSession:
    """A session on one text whose model changes between steps."""

    def __init__(self, model: LearningModel, tokens: Sequence[int]) -> None:
        self.model, self.draft = model, model.draft
        self.session = self.draft.open(tokens)
        self._learner: Learner | None = None

    @property
    def weights(self) -> Any:
        """The model it drafts with, as transformers knows it; in float32 once it has learnt."""
        return self.draft.model if self._learner is None else self._learner.weights

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
        learner = self._learner = self._learner or self.model.take(self)
        end = len(self.context) - 1
        begin = max(0, end - max(READ, len(rows)))
        ids = torch.tensor([self.context[begin:end]], device=self.draft.device)
        ids = ids.clamp(max=self.draft.embeddings - 1)
        places = torch.arange(begin, end, device=ids.device)[None]
        wanted = torch.tensor(rows, device=self.draft.device)
        with using(self.draft.threads.count), torch.inference_mode(False), torch.enable_grad():
            logits = learner.weights(input_ids=ids, position_ids=places, use_cache=False).logits[0, -len(rows) :]
            size = min(logits.shape[1], wanted.shape[1])  # vocabularies may be padded
            found = torch.log_softmax(logits[:, :size] / temperature, dim=-1)
            learner.step(-(wanted[:, :size] * found).sum(-1).mean())
        self.session = learner.reader.open(self.context)
