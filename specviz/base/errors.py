"""Errors with named parts, so that code need not parse messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ParameterError(ValueError):
    """An invalid parameter: its name, what it must be or do, the value it has (`...` hides it), and
    what to do.

    >>> print(specviz.base.errors.ParameterError("depth", "be at least 1", 0, "Use 1."))
    depth must be at least 1; got 0. Use 1.
    """

    def __init__(self, name: str, must: str, got: object = ..., hint: str = "") -> None:
        super().__init__(name, must, got, hint)  # all of them, so that the error can be pickled
        self.name = name
        self.must = must
        self.got = got
        self.hint = hint

    def named(self, name: str) -> ParameterError:
        """The same of a parameter that has another name where the value came from."""
        return ParameterError(name, self.must, self.got, self.hint)

    def __str__(self) -> str:
        sentence = f"{self.name} must {self.must}"
        if self.got is not ...:
            sentence += f"; got {short_repr(self.got)}"
            if isinstance(self.got, str) and "number" in self.must:
                sentence += ", text"  # '5' reads like a number
        return f"{sentence}. {self.hint}".rstrip()


class UnknownName(ParameterError, KeyError):
    """An unknown name; the message suggests the nearest one."""

    def __init__(self, name: str, got: object, options: Iterable[str]) -> None:
        options = list(options)
        hint = ""
        # Only short texts: the comparison takes the square of their length.
        if isinstance(got, str) and len(got) < 100:
            for near in get_close_matches(got, options, 1):
                hint = f"Did you mean {near!r}?"
        super().__init__(name, f"be one of {', '.join(options)}", got, hint)
        self.args = (name, got, options)  # those of this class, by which pickle makes it again


def short_repr(value: object, length: int = 60) -> str:
    """A value as a message shows it, on one line and not longer than that."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return "a number of thousands of digits"
    if len(text) <= length:
        return text
    return f"{text[:length]}..."


def cause(error: BaseException) -> str:
    """The first line of another library's error, for use in a message; its name if it is empty."""
    sentence = " ".join(str(error).split())[:200].split(". ")[0]
    return sentence.rstrip(" .:") or type(error).__name__
