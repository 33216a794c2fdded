"""A profile of a pair: acceptance vectors and costs, in one file that `calibrate` writes and other
commands read.

The vectors that are shipped in assets/acceptance have the same form, without costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ..base import codec
from ..base.codec import JsonObject, Positive, Record
from ..base.files import parse_json, read_text
from ..config.run_config import RunConfig
from ..models.base import Pair
from ..record.chain_rates import PROFILE
from ..record.vector_files import MAX_BYTES, vector_of_rates
from ..record.vectors import AcceptanceVector, find_vector
from .cost_table import CostTable

OWN_RULE = "target-match"
ANY_RULE = "sequoia"  # stands in where a rule has no vector


@dataclass(frozen=True)
class Profile(Record):
    """What was measured of a pair with one drafter.

    Args:
        source: how it was made, in words.
        pair: what describes the pair, plain JSON data with at least "name".
        drafter: its "name" and "parameters".
        vectors: acceptance vectors of rules and temperatures.
        costs: seconds of passes on `machine`; None where they were not measured.
        machine: system, processor and cores.
    """

    source: str
    pair: JsonObject
    drafter: JsonObject
    vectors: tuple[AcceptanceVector, ...]
    costs: CostTable | None = None
    machine: tuple[str | Positive, ...] = ()

    def vector(self, verifier: str, temperature: float) -> AcceptanceVector:
        """The vector for a rule at the nearest measured temperature, Sequoia's where the rule has
        none."""
        return find_vector(self.vectors, verifier, temperature)

    def check(self, pair: Pair, config: RunConfig) -> None:
        """Check that the profile is one of a pair and a drafter.

        Raises:
            ValueError: if it is another's, or lacks the temperature.
        """
        if not self.pair:
            return  # published rates, which name no pair
        for kind, measured, used in (
            ("pair", self.pair.get("name"), pair.info.get("name")),
            ("drafter", self.drafter.get("name"), config.drafter.name),
        ):
            if measured != used:
                raise ValueError(
                    f"the profile is of the {kind} {measured!r}, not {used!r}. Run "
                    "`calibrate` for this one."
                )
        # A table of weights in memory would predict nothing of weights on disk.
        measured = self.costs and self.costs.settings.get("offload")
        used = pair.info.get("offload")
        if self.costs and measured != used:
            raise ValueError(
                f"the costs were measured with offload {measured}, not {used}. Run "
                "`calibrate` again."
            )
        # Acceptance changes with the temperature, but not within a twentieth of it.
        temperatures = sorted({vector.temperature or 0.0 for vector in self.vectors})
        if not any(abs(config.temperature - measured) <= 0.05 for measured in temperatures):
            listed = ", ".join(f"{measured:g}" for measured in temperatures)
            raise ValueError(
                f"the profile has temperature {listed}, not {config.temperature:g}. Use one "
                "of these, or calibrate."
            )

    def to_json(self) -> str:
        """The profile as JSON text, six digits of each number."""
        return codec.pretty_json(self) + "\n"


def read_profile(path: str | Path) -> Profile:
    """The profile in a file."""
    name = f"profile {str(path)!r}"
    text = read_text(path, "profile", MAX_BYTES)
    try:
        data = parse_json(text)
    except ValueError:
        raise ValueError(f"{name} is not valid JSON. Make it with `calibrate --out`.") from None
    if isinstance(data, dict) and data.keys() & PROFILE:
        return _published(data, name)
    if not isinstance(data, dict) or not {"pair", "drafter", "vectors"} <= data.keys():
        raise ValueError(f"{name} must be a file from `calibrate --out`; it is other JSON.")
    return codec.read(Profile, data, name)


def _published(data: JsonObject, where: str) -> Profile:
    """An acceptance profile as it travels with a checkpoint: rates of a chain, by an engine's own
    rule; what it says stands for all rules, since nothing else is known."""
    vector = replace(vector_of_rates(data, where), scheme="top", temperature=0.0)
    vectors = (replace(vector, verifier=OWN_RULE), replace(vector, verifier=ANY_RULE))
    return Profile(f"published, method {data.get('method', 'unknown')!s:.40}", {}, {}, vectors)
