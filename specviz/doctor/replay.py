"""A request of which the engine gives the counts of every step, as a run: a strip of chains for the player.

The counts say how many tokens were drafted and accepted, not which, so every token is a dot without a probability.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..config import RunConfig
from ..files import __version__
from ..record import Step
from ..record_parts import Timing
from ..trace import Trace
from ..tree import Growth

DOT = "•"
LONGEST = 64  # draft tokens of a chain that is drawn


def replayed(chains: Sequence[tuple[int, int]], engine: str) -> Trace:
    """The steps of a request as a recorded run.

    Args:
        chains: (drafted, accepted) of each step, in order.
        engine: its name.

    Raises:
        ValueError: if there is no step, or one of them drafted more than `LONGEST` tokens.
    """
    longest = max((drafted for drafted, _ in chains), default=0)
    if not longest or longest > LONGEST:
        raise ValueError(
            f"A run needs steps of 1 to {LONGEST} drafted tokens each; the text has none of such a request."
        )
    steps, start = [], 0
    for index, (drafted, accepted) in enumerate(chains):
        steps.append(_chain(index, start, drafted, accepted))
        start += accepted + 1
    config = RunConfig("?", f"chain:depth={longest}", "speculative-sampling", max_new_tokens=start)
    about = {
        "name": f"{engine}, one request",
        "setting": "Counts of an engine: rule, temperature, seed and tokens are not known",
    }
    return Trace(config, about, (0,), "", tuple(steps), "length", __version__)


def _chain(index: int, start: int, drafted: int, accepted: int) -> Step:
    """One step: the accepted tokens, the rejected one if there is one, and those after it."""
    n, none = drafted + 1, (None,) * (drafted + 1)
    rejected = ["rejected"] * (drafted > accepted)
    outcome = ["root", *["accepted"] * accepted, *rejected, *["unreached"] * (drafted - accepted - len(rejected))]
    return Step(
        index, start, tuple(range(-1, drafted)), (0,) * n, (DOT,) * n, none, none, none, tuple(outcome), none, none,
        emitted=(0,) * (accepted + 1), pieces=(DOT,) * (accepted + 1), bonus=0, corrected=bool(rejected), scheme="iid",
        keys=none, growth=Growth(length=drafted), detail={}, draft_passes=0, seconds=Timing(),
    )  # fmt: skip
