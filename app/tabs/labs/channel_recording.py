"""The recorded text of the channel: what a sender with both models sent, and what receivers with the draft alone wrote.

`python -m app.record_traces --only channel` records it. The codewords are made when the page asks, for any code.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from specviz import codec
from specviz.distributions import Sampling, distributions_of
from specviz.files import VIEWS
from specviz.models.base import Pair
from specviz.randomness import Seeded
from specviz.theory.accepted_index_entropy import race_index_chances, race_index_entropy
from specviz.theory.bounds import kl_divergence
from specviz.theory.channel import Rows, drafts, receive, send
from specviz.tree import TokenTree

from ..lessons.lesson import SHIP, TALE

PATH = VIEWS / "channel.json"
TEMPERATURE, TOKENS = 0.8, 64
SEED, OTHER = 3, 4  # of the sender, and of a receiver that has another
TUNING, TUNED = 1, 160  # seed and tokens of the text that the code is made for
SYMBOLS = 4  # index 1, 2, 3, and all later ones
SHOWN = 4  # drafts of a position that are named, besides the accepted one


def rows_of(pair: Pair, side: int) -> Rows:
    """The rows of one model of a pair: 0 the target, 1 the draft. It reads every text from its beginning."""

    def row(text: Sequence[int]) -> np.ndarray:
        session: Any = pair.open(list(text))[side]
        logits = session.forward(TokenTree(text[-1], len(text) - 1), [0])
        return np.array(distributions_of(logits, Sampling(TEMPERATURE))[0])

    return row


def record(pair: Pair) -> dict[str, Any]:
    """Send a text and receive it twice, with the seed of the sender and with another."""
    target, draft = rows_of(pair, 0), rows_of(pair, 1)
    prompt = pair.encode(SHIP)
    text, indices = send(target, draft, prompt, TOKENS, Seeded(SEED))
    rows = [(target(before), draft(before)) for before in _befores(prompt, text)]
    return {
        "pair": pair.info["name"], "prompt": SHIP, "vocabulary": pair.vocab_size, "temperature": TEMPERATURE,
        "code": {"shares": _shares(target, draft, pair.encode(TALE)), "prompt": TALE, "tokens": TUNED},
        "indices": indices,
        "kl": [kl_divergence(p, q) / math.log(2) for p, q in rows],
        "entropy": [race_index_entropy(p, q) / math.log(2) for p, q in rows],
        "sender": _shown(pair, draft, prompt, text, indices, SEED),
        "receivers": [
            _shown(pair, draft, prompt, receive(draft, prompt, indices, Seeded(seed)), indices, seed)
            for seed in (SEED, OTHER)
        ],
    }  # fmt: skip


def _shares(target: Rows, draft: Rows, prompt: list[int]) -> list[float]:
    """The chances of the symbols of a code, as means over another text."""
    text, _ = send(target, draft, prompt, TUNED, Seeded(TUNING))
    rows = [race_index_chances(target(b), draft(b), SYMBOLS - 1) for b in _befores(prompt, text)]
    head = np.mean(rows, axis=0)
    return [*head.tolist(), 1 - float(head.sum())]


def _shown(
    pair: Pair, draft: Rows, prompt: list[int], text: list[int], indices: list[int], seed: int
) -> dict[str, Any]:
    """One side's text: its tokens, what each adds to the text, and of every position the first drafts and the last."""
    rng, drawn = Seeded(seed), []
    for position, (before, index) in enumerate(zip(_befores(prompt, text), indices, strict=True), len(prompt)):
        tokens = drafts(draft(before), rng, position, index).tokens
        named = tokens if index <= SHOWN + 1 else [*tokens[:SHOWN], tokens[-1]]
        drawn.append([pair.piece(int(token)) for token in named])
    pieces = list(map(pair.stream(prompt), text))
    return {"seed": seed, "tokens": text, "pieces": pieces, "drawn": drawn}


def _befores(prompt: list[int], text: list[int]) -> list[list[int]]:
    """What stands before every token of a text."""
    return [[*prompt, *text[:at]] for at in range(len(text))]


def write(pair: Pair) -> None:
    """Record it into its file."""
    found = record(pair)
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(codec.dumps(found) + "\n", encoding="utf-8")
    print(f"{PATH.name}: {len(found['indices'])} tokens: {''.join(found['sender']['pieces'])!r}")


@cache
def recorded() -> dict[str, Any]:
    """What was recorded."""
    return json.loads(PATH.read_text("utf-8"))
