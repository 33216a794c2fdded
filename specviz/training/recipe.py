"""The sizes and rates of a training run, apart from its text and its time."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """Sizes of a Llama: width, layers, attention heads, width of the MLP."""

    hidden: int
    layers: int
    heads: int
    mlp: int


@dataclass(frozen=True)
class Recipe:
    """What a run was started with, and can only be continued with.

    `window` is the context length in tokens, `rows` the windows per step of the target, `draft_batch` the tokens per
    step of the draft, a shard `sample_rows` samples of `sample_length` tokens, `most_samples` the tokens at which
    sampling ends early and leaves its time to the draft (6 GB on disk). Rates are peaks of a cosine.
    """

    vocabulary: int = 4096
    window: int = 512
    target: Shape = Shape(384, 8, 6, 1024)
    draft: Shape = Shape(384, 1, 6, 1024)
    rows: int = 8
    code_share: float = 0.4
    target_rate: float = 1e-3
    draft_rate: float = 1.5e-3
    draft_batch: int = 2048
    sample_rows: int = 128
    sample_length: int = 128
    most_samples: int = 8_000_000
    seed: int = 0
