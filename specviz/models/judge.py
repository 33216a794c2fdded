"""The judge of passes: transformers' own pass in float32, with the same weights.

It is computed from token ids and nothing of ours: no mask, no positions, no cache. Such passes take
seconds, so the rows of a model whose weights have a known hash are computed once on a machine.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn

from ..passes.huggingface import HuggingFaceModel
from .stored import Arrays, computed_once

# All differences are root mean squares of logits, over the logits' standard deviation.
MARGIN = 1.5  # how many times the difference of transformers' own pass a pass may differ
FLOOR = {torch.float64: 1e-5, torch.float32: 1e-3, torch.float16: 3e-3, torch.bfloat16: 2e-2}
BOUND = 0.25  # less than a wrong mask or position differs by
# What a pass may differ from transformers' own in the same format, where there is none in float32.
WITHOUT_JUDGE = {torch.float16: 3e-2, torch.bfloat16: 1e-1}

Text = tuple[int, ...]  # token ids


class Judge:
    """Logits of transformers' own passes over whole texts in float32, and how far those in the
    model's own format are from them."""

    def __init__(self, model: HuggingFaceModel) -> None:
        self.model = model
        self.own_difference = 0.0  # of transformers' own passes so far, the largest
        # By text: the row in float32, [V], and the root mean square of own minus float32.
        self._rows: dict[Text, tuple[np.ndarray, float]] = {}
        self._in_float32 = model.dtype.itemsize < 4

    def compare(self, logits: np.ndarray, texts: Sequence[Sequence[int]]) -> tuple[float, float]:
        """How far logits, [n, V], after n texts are from float32, and how far transformers' own
        are."""
        new = []
        for text in dict.fromkeys(map(tuple, texts)):
            if text not in self._rows:
                new.append(text)
        if new:
            # Minutes for a large model, so they are kept by the hash of the weights.
            stored = computed_once(self.model, ("judge", new), lambda: self._compute(new))
            rows = zip(stored["exact"], stored["errors"], strict=True)
            self._rows.update(zip(new, rows, strict=True))
        exact = np.array([self._rows[tuple(text)][0] for text in texts])
        errors = np.array([self._rows[tuple(text)][1] for text in texts])
        size = min(self.model.vocab_size, exact.shape[1])  # beyond its vocabulary a row is padded
        # Over the spread: a difference counts by how far logits lie apart.
        found = rms(logits[:, :size] - exact[:, :size]) / spread(exact)
        rounding = rms(errors) / spread(exact)
        self.own_difference = max(self.own_difference, rounding)
        return found, rounding

    def allowed(self, rounding: float) -> float:
        """What a pass may differ by, where transformers' own differs by `rounding`."""
        dtype = self.model.dtype
        if not rounding and dtype in WITHOUT_JUDGE:
            return WITHOUT_JUDGE[dtype]
        return min(BOUND, max(MARGIN * rounding, FLOOR[dtype]))

    def same_text_twice(self, ids: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Logits after the first half of a text, read alone and with the other half."""
        half = len(ids) // 2
        alone = self._logits([ids[:half]], [0], [half - 1])
        return alone[0], self._logits([ids], [0], [half - 1])[0]

    def _compute(self, texts: list[Text]) -> Arrays:
        """The rows after texts in float32, "exact" [n, V], and how far own ones are from them,
        "errors" [n]."""
        whole: list[Text] = []  # a text with which another one begins needs no pass
        for text in sorted(texts, key=len, reverse=True):
            if not any(other[: len(text)] == text for other in whole):
                whole.append(text)
        longest = len(whole[0])
        # What is padded on the right comes after everything that is looked at.
        padded = [[*text, *[text[-1]] * (longest - len(text))] for text in whole]
        at = []
        for text in texts:
            at.append(next(i for i, other in enumerate(whole) if other[: len(text)] == text))
        ends = [len(text) - 1 for text in texts]
        own = self._logits(padded, at, ends)
        exact = own
        if self._in_float32:
            try:
                with in_float32(self.model.model):
                    exact = self._logits(padded, at, ends)
            except Exception as error:  # weights that are elsewhere, or packed
                logging.getLogger(__name__).info("No float32 pass of this model: %s", error)
                self._in_float32 = False
        return {"exact": exact, "errors": np.array(list(map(rms, own - exact)))}

    def _logits(
        self, ids: Sequence[Sequence[int]], rows: Sequence[int], places: Sequence[int]
    ) -> np.ndarray:
        """Logits of one of transformers' own passes over texts, [n, V], at `places` of texts
        `rows`."""
        tokens = torch.tensor(ids, device=self.model.device).clamp(max=self.model.embeddings - 1)
        with torch.inference_mode():
            output = self.model.model(input_ids=tokens, use_cache=False)
        # Picked where they are: all of a long text would take longer to come than to compute.
        return output.logits[rows, places].float().cpu().numpy()


@contextmanager
def in_float32(model: nn.Module) -> Iterator[None]:
    """Let a model compute in float32; each module's weights are widened while it is used, and no
    longer."""
    narrow_weights: dict[nn.Module, dict[str, nn.Parameter]] = {}

    def widen(module: nn.Module, inputs: object) -> None:
        narrow_weights[module] = dict(module._parameters)
        for name, weight in narrow_weights[module].items():
            if weight is not None and weight.is_floating_point():
                module._parameters[name] = nn.Parameter(weight.float(), requires_grad=False)

    def narrow(module: nn.Module, inputs: object, output: object) -> None:
        module._parameters.update(narrow_weights.pop(module))

    hooks = []
    for module in model.modules():
        if module._parameters:
            # Before and after each module: never are all weights in float32 at once.
            hooks.append(module.register_forward_pre_hook(widen))
            hooks.append(module.register_forward_hook(narrow, always_call=True))
    try:
        with torch.inference_mode():
            yield
    finally:
        for hook in hooks:
            hook.remove()


def rms(values: np.ndarray) -> float:
    """The root mean square."""
    return float(np.sqrt(np.mean(np.square(values, dtype=np.float64))))


def spread(logits: np.ndarray) -> float:
    """The standard deviation of logits, never 0."""
    return float(logits.std(dtype=np.float64)) + 1e-9
