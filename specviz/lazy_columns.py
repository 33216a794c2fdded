"""Records of which a part is made only when somebody reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self


class Unread:
    """What a frozen dataclass without slots needs for that."""

    @classmethod
    def unread(cls, rest: Callable[[], dict[str, Any]], **columns: Any) -> Self:
        """A record of which some columns are made when one of them is first read; decoding does not wait for them.

        Args:
            rest: makes them, always the same.
            columns: the others, which include those with a default.
        """
        step = object.__new__(cls)
        vars(step).update(columns, _rest=rest)
        return step

    def complete(self) -> Self:
        """The same record, with all columns made."""
        if rest := vars(self).get("_rest"):
            vars(self).update(rest())
            vars(self).pop("_rest", None)
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:  # asked for what is not there (yet)
            if name in self.__dataclass_fields__ and "_rest" in vars(self):
                return getattr(self.complete(), name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return vars(self.complete())
