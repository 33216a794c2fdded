"""The rank of every token of a text under the draft: would one of its k best guesses have been right?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..config import RunConfig
from ..models.base import Pair
from ..sampling import most_probable
from .positions import distributions_on_text


@dataclass(frozen=True)
class DraftRank:
    """One token of a text as the draft saw it coming.

    Attributes:
        token: its id.
        rank: 1 where the draft thought it most probable; of equally probable ones the lower id comes first.
        draft_prob, target_prob: q and p of it at temperature 1.
        best: ids of the draft's most probable tokens there, the first one first.
        best_probs: q of each of them.
    """

    token: int
    rank: int
    draft_prob: float
    target_prob: float
    best: tuple[int, ...]
    best_probs: tuple[float, ...]


def draft_ranks(pair: Pair, text: Sequence[int], config: RunConfig, best: int = 5) -> list[DraftRank]:
    """The ranks of the tokens of a text, from its second one on (of a `Written` text those after the prompt).

    Args:
        pair: the models.
        text: token ids.
        config: the drafter; ranks do not depend on the temperature, so temperature, top-p and top-k are not used.
        best: how many of the draft's guesses are kept at each position.

    >>> from specviz.acceptance.draft_ranks import draft_ranks
    >>> [found.rank for found in draft_ranks(specviz.toy_pair(), [0, 1, 2, 0], specviz.RunConfig())]
    [2, 3, 1]
    """
    found = []
    plain = replace(config, temperature=1.0, draft_temperature=1.0, top_p=1.0, top_k=None)
    for position, p, q in distributions_on_text(pair, text, plain):
        token = text[position + 1]
        ahead = np.count_nonzero(q > q[token]) + np.count_nonzero(q[:token] == q[token])
        guesses = most_probable(q, min(best, len(q)))
        found.append(
            DraftRank(
                token, int(ahead) + 1, float(q[token]), float(p[token]),
                tuple(guesses), tuple(q[guesses].tolist()),
            )
        )  # fmt: skip
    return found


def among_best(ranks: Sequence[int], k: int) -> int:
    """How many ranks are at most k (top-k success, section 7.1.1 of the survey "Decoding speculation")."""
    return sum(rank <= k for rank in ranks)
