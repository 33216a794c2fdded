"""The names of pairs, in menus, links and settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from specviz.base.errors import ParameterError
from specviz.record.vectors import EMBEDDED, PAIR_TITLES

TALES = "tales"
TOY = "toy"
SMOLLM2 = "smollm2"
EARLY_EXIT = f"{TALES}|early-exit:3"
LABELS = {
    TALES: PAIR_TITLES[EMBEDDED],
    EARLY_EXIT: f"{PAIR_TITLES[EMBEDDED]}, its first 3 layers as draft",
    SMOLLM2: PAIR_TITLES[SMOLLM2],
    TOY: "Exact toy tables",
}
OLD_NAMES = {  # what older links call a pair
    "Embedded pair": TALES,
    "Embedded target, its first 3 layers as draft": EARLY_EXIT,
    "Exact toy tables": TOY,
}
OLD_DISK = ", weights on disk"  # which ended the name of a pair in older links
WEIGHTS = ("memory", "disk")


@dataclass(frozen=True)
class PairRef:
    """Which pair of models decodes, and where the target's weights are meanwhile.

    Args:
        target: a name such as "tales" or "smollm2", a folder, a file, or a name on the hub.
        draft: the same, or "early-exit:N"; empty for the one that belongs to the target.
        weights: "memory", or "disk" where every pass reads them again.
    """

    target: str
    draft: str = ""
    weights: str = "memory"

    @classmethod
    def read(cls, models: str, weights: str = "memory") -> PairRef:
        """The pair that a menu, a link or a setting calls "target|draft" or "target"; a
        `ValueError` for more than two names."""
        target, _, draft = (part.strip() for part in models.partition("|"))
        if not target or "|" in draft:
            raise ParameterError(
                "models", 'be like "target|draft"', models, "The draft may be omitted."
            )
        return cls(target, draft, weights)

    @property
    def models(self) -> str:
        """Both names as menus and links have them; `read` is the way back."""
        return f"{self.target}|{self.draft}" if self.draft else self.target

    @property
    def on_disk(self) -> bool:
        """Whether the target's weights are read from disk for every pass."""
        return self.weights == "disk"

    @cached_property  # every turn asks for it, and it looks at the disk
    def resolved(self) -> PairRef:
        """The same pair by the folders that it is in, of which a name can have many spellings."""
        # "./model" and "model/" are one pair, which must not be loaded twice.
        names = []
        for name in (self.target, self.draft):
            folder = Path(name).expanduser()
            names.append(str(folder.resolve()) if name and folder.exists() else name)
        return PairRef(names[0], names[1], self.weights)
