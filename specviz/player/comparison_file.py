"""A comparison as one file: its runs, each as it would be saved alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from .. import codec
from ..codec import Damaged, Most
from ..trace import SCHEMA, Trace

FEWEST, MOST = 2, 3


@dataclass(frozen=True)
class Comparison:
    """Runs on the same prompt.

    Args:
        runs: two or three; one with the builder "plain" is plain decoding.
    """

    runs: Annotated[tuple[Trace, ...], Most(MOST)]

    def check_fields(self) -> None:
        """See that they can be compared."""
        if len(self.runs) < FEWEST:
            raise Damaged(f"must have at least {FEWEST} runs; got {len(self.runs)}", ".runs")
        for i, run in enumerate(self.runs):
            if not run.steps:
                raise Damaged("must have at least one step", f".runs[{i}]")
            if run.prompt_tokens != self.runs[0].prompt_tokens:
                raise Damaged("must have the prompt of the first run", f".runs[{i}]")


def written(runs: Sequence[Trace]) -> str:
    """A comparison as JSON text: "schema", that of its runs, and "runs"."""
    return codec.dumps({"schema": SCHEMA, "runs": [run.to_dict() for run in runs]}, exact=True)


def read(text: str) -> tuple[Trace, ...]:
    """The runs of a comparison.

    Args:
        text: of a file, from a stranger.

    Raises:
        ValueError: if it is no comparison; the message says what is wrong with it.
    """
    data = codec.parse(text, "comparison")
    if not isinstance(data, dict) or "runs" not in data:
        raise ValueError("It is not a comparison. Open a single run in the tab Explore.")
    if data.get("schema") != SCHEMA:
        raise ValueError(f"comparison must have schema {SCHEMA}; got {data.get('schema')!r:.20}. Run it again.")
    return codec.read(Comparison, data, "comparison").runs
