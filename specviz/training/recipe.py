"""The sizes and rates of a training run, apart from its text and its time."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Shape:
    """Sizes of a Llama: width, layers, attention heads, width of the MLP."""

    hidden: int
    layers: int
    heads: int
    mlp: int


@dataclass(frozen=True)
class Stage:
    """A part of the target's training: the shape it has then, and the share of the target's time."""

    shape: Shape
    share: float


@dataclass(frozen=True)
class Recipe:
    """What a run was started with, and can only be continued with.

    The target grows from stage to stage: a small model sees more text in the same time, a large one makes the draft's
    passes cheap beside its own. `window` is the context length in tokens, `rows` the windows a step of the target would
    hold; its steps read that many tokens in windows of `spans`, in turn (short ones cost less attention).
    `draft_batch` is the tokens per step of the draft, a shard `sample_rows` samples of `sample_length` tokens,
    `most_samples` the tokens at which sampling ends early and leaves its time to the draft (6 GB on disk). Rates are
    peaks: `matrix_rate` of Muon for the target's matrices (None: AdamW for them too), the others of AdamW.
    """

    vocabulary: int = 4096
    window: int = 512
    stages: tuple[Stage, ...] = (Stage(Shape(384, 8, 6, 1024), 0.4), Stage(Shape(512, 8, 8, 1408), 0.6))
    draft: Shape = Shape(256, 1, 4, 768)
    rows: int = 8
    spans: tuple[int, ...] = (256, 256, 256, 512)
    code_share: float = 0.2
    matrix_rate: float | None = 0.02
    target_rate: float = 2e-3
    draft_rate: float = 1.5e-3
    draft_batch: int = 2048
    sample_rows: int = 128
    sample_length: int = 128
    most_samples: int = 8_000_000
    seed: int = 0

    def going_on(self, matrix_rate: float | None = None) -> "Recipe":
        """The recipe for a target that has learnt much already: its last shape at once, small steps by AdamW.

        Steps of Muon at its usual rate (`matrix_rate` 0.02) are four times as long and wash out what the model knew; a
        run that reads several million tokens gains more by them than it loses.
        """
        last = replace(self.stages[-1], share=1.0)
        if matrix_rate:
            return replace(self, stages=(last,), matrix_rate=matrix_rate)
        return replace(self, stages=(last,), matrix_rate=None, target_rate=8e-4, rows=max(1, self.rows // 2))
