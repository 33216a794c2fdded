"""What a menu says about its choices: which of them are impossible, lossy or pointless with all else that is chosen.

Everything comes from `compatible`. A dropdown cannot disable a single choice, so a choice that is not plainly fine
carries its mark and its sentence in its label; a style sheet greys out what is impossible, and Run is off while such a
choice is taken.
"""

from __future__ import annotations

from typing import Any

from specviz import compatible
from specviz.protocols import Compatibility, TreeBuilder

MARKS = {"impossible": "✕ impossible", "lossy": "≠ lossy", "useless": "! pointless"}


def kind(match: Compatibility) -> str:
    """One word for a verdict on a builder and a rule: "impossible", "lossy", "useless" or "lossless"."""
    if not match.possible:
        return "impossible"
    if not match.lossless:
        return "lossy"
    return "lossless" if match.useful else "useless"


def choices(
    candidates: dict[str, Any], chosen: str, others: Any, temperature: float, draft_temperature: float | None
) -> list[tuple[str, str]]:
    """The choices of one menu, (label, name).

    Args:
        candidates: name -> builder or verifier, with its parameters.
        chosen: the name that is taken now; its sentence stands in the notice already.
        others: what is taken in the other menu, a verifier or a builder.
        temperature, draft_temperature: as in `compatible`.
    """
    listed = []
    for name, candidate in candidates.items():
        pair = (candidate, others) if isinstance(candidate, TreeBuilder) else (others, candidate)
        match = compatible(*pair, temperature, draft_temperature)
        mark = MARKS.get(kind(match))
        label = candidate.title if mark is None else f"{candidate.title} {mark}"
        if mark is not None and name != chosen:
            label += f"\n{match.reason}"
        listed.append((label, name))
    return listed
