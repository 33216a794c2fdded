"""The page "Race": two exponential races with one noise, under the target p and the draft q."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from specviz.codec import dumps
from specviz.files import asset
from specviz.randomness import Seeded, first_arrivals

from ...parts.failures import explained
from ...parts.web import starts
from .microscope import Node
from .verification_lab import MOST_SEED, first_child, seed_asked, weights_asked

TITLE = "Race"
COUNTED = 1000  # seeds whose races are run for the share of equal winners


class Preset(NamedTuple):
    """Rows to start from, with a seed whose races show what the sentence says."""

    title: str
    why: str
    names: tuple[str, ...]
    p: tuple[float, ...]
    q: tuple[float, ...]
    seed: int


CAT = ("mat", "floor", "bed", "sofa", "roof", "table")
PRESETS = (
    Preset(
        "The cat sat on the …",
        "Every token has the same distance to run in both races, drawn from the seed; its speed is its probability. "
        "p and q are close, and the same token wins both. Lower the draft’s probability of the winner until another "
        "token wins.",
        CAT, (0.4, 0.22, 0.14, 0.12, 0.07, 0.05), (0.33, 0.25, 0.17, 0.1, 0.05, 0.1), 487,
    ),
    Preset(
        "The winners differ",
        "The draft gives “floor” about twice the target’s probability, and “floor” wins the draft’s race. “mat” wins "
        "the target’s: the draft’s token is rejected, and “mat” is written.",
        CAT, (0.4, 0.22, 0.14, 0.12, 0.07, 0.05), (0.2, 0.42, 0.14, 0.1, 0.08, 0.06), 487,
    ),
    Preset(
        "Equal distributions",
        "Draft and target are equal, and so are their races, whatever the seed. Change any bar of q to separate them.",
        CAT, (0.3, 0.25, 0.2, 0.1, 0.1, 0.05), (0.3, 0.25, 0.2, 0.1, 0.1, 0.05), 5,
    ),
)  # fmt: skip


def build(engine: Any) -> None:
    """Lay out the page."""
    import gradio as gr

    from ...machine.request_queue import apart

    gr.HTML(
        dumps({"presets": [preset._asdict() for preset in PRESETS], "most": {"seed": MOST_SEED}}),
        html_template=asset("labs/race.html"),
        js_on_load=starts("race"),
        server_functions=[apart(race)],
        elem_id="sv-race",
        apply_default_css=False,
    )


@explained("The computation failed.", lambda text: json.dumps({"error": text}), lambda error: str(error))
def race(asked: Any) -> str:
    """Both races as JSON: {"error": a sentence} where they cannot be run.

    Args:
        asked: "p", "q" (weights), "seed".
    """
    rows, said = weights_asked(asked)
    node = Node(rows["p"], rows["q"], 1)
    p, q = node.rows
    noise = Seeded(seed_asked(asked.get("seed"))).noise(0, len(p))
    share = np.mean([winner(p, line) == winner(q, line) for line in noises(len(p))])
    return dumps({
        "noise": noise.tolist(), "said": said,
        "times": {name: _times(noise, row) for name, row in rows.items()},
        "order": {name: first_arrivals(row, noise, len(p)).tolist() for name, row in (("p", p), ("q", q))},
        "worth": [(f"equal winners, counted with {COUNTED} seeds", float(share)), *first_child(node)],
    })  # fmt: skip


def _times(noise: np.ndarray, row: tuple[float, ...]) -> list[float | None]:
    """When each token arrives, None for never."""
    return [e / x if x > 0 else None for e, x in zip(noise.tolist(), row, strict=True)]


def winner(row: np.ndarray, noise: np.ndarray) -> int:
    """The token that arrives first."""
    return int(first_arrivals(row, noise)[0])


@lru_cache(maxsize=16)
def noises(size: int) -> np.ndarray:
    """The noise of every counted seed, [COUNTED, size]."""
    return np.array([Seeded(seed).noise(0, size) for seed in range(COUNTED)])
