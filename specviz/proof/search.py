"""Random configurations, to find where `compatible` declares lossless what enumeration refutes.

`lossless` proves the menu with small parameters. Here builders, rules and drafters have parameters of any kind, and
temperatures, top-k, top-p and the sampling schemes are mixed. The same seed gives the same configurations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compatibility import compatible
from ..config import RunConfig
from ..models.table import toy_pair
from ..sampling import SCHEMES
from ..strategy import REGISTRIES
from ..validation import Schema
from .enumerate import TooManyRuns
from .lossless import EXACT, PROMPT, compare_texts, error_in

MOST = 20_000  # runs of an enumeration; a configuration that takes more is left out
WIDEST = 3  # whole-number parameters are at most that much above their least value
TEXTS = 6  # runs that are compared with plain decoding where a rule is keyed
FREE: dict[str, tuple[Any, ...]] = {  # parameters that their classes check themselves
    "acceptance": ((0.5, 0.3), (0.6,), ((0.6, 0.3), (0.5,)), ((0.7,), (0.4, 0.3))), "threshold": ("auto", 0.2, 0.5),
}  # fmt: skip
SAMPLING: dict[str, tuple[Any, ...]] = {  # mostly such that the target keeps several tokens, or nothing can drift
    "temperature": (0.0, 0.7, 1.0, 1.0, 1.6, 1.6),
    "draft_temperature": (None, None, 0.0, 0.0, 0.001, 0.6, 2.0),
    "top_k": (None, None, None, None, None, 1, 2, 2),
    "top_p": (1.0, 1.0, 1.0, 0.9, 0.9, 0.6),
}


@dataclass(frozen=True)
class Found:
    """One configuration that was tried.

    Attributes:
        number: which it was, from 0; scheme: how children were drawn, None where the rule chose.
        lossless: whether it is declared so; reason: why.
        error: of the exact output distribution; 0 where equal texts were compared and are equal, 1 where not; None
            where it was impossible, or too large to enumerate.
    """

    number: int
    config: RunConfig
    scheme: str | None
    lossless: bool
    reason: str
    error: float | None

    @property
    def holds(self) -> bool:
        """Whether what was found agrees with the declaration."""
        return self.error is None or not self.lossless or self.error <= EXACT


def search(count: int, seed: int = 0) -> Iterator[Found]:
    """Try so many random configurations.

    Args:
        count: how many.
        seed: configuration number i depends on the seed and on i alone.
    """
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        config, scheme = _configuration(rng)
        match = compatible(config, scheme)
        error = _error(config, scheme, rng) if match.possible else None
        yield Found(number, config, scheme, match.lossless, match.reason, error)


def _configuration(rng: np.random.Generator) -> tuple[RunConfig, str | None]:
    strategies = {kind: _strategy(kind, rng) for kind in REGISTRIES}
    sampling = {name: _one(values, rng) for name, values in SAMPLING.items()}
    config = RunConfig(PROMPT, max_new_tokens=int(rng.integers(3, 5)), **strategies, **sampling)
    return config, _one((None, None, *SCHEMES), rng)


def _strategy(kind: str, rng: np.random.Generator) -> Any:
    """One of a menu with random parameters, some of them as small as its proofs take them."""
    menu = [cls for cls in REGISTRIES[kind].values() if not getattr(cls, "alone", False)]
    if kind == "drafter":  # half of the time several at once, where most can go wrong
        menu += [REGISTRIES[kind]["several"]] * len(menu)
    cls = _one(menu, rng)
    while True:
        random = {name: _value(name, schema, rng) for name, schema in cls.parameter_schema().items()}
        try:
            return cls(
                **random | {name: value for name, value in getattr(cls, "small", {}).items() if rng.random() < 0.4}
            )
        except ValueError:  # two parameters that do not go together
            continue


def _value(name: str, schema: Schema, rng: np.random.Generator) -> Any:
    low, high = schema.get("minimum"), schema.get("maximum")
    match schema.get("type"):
        case "integer":
            return int(rng.integers(low, min(high, low + WIDEST) + 1))
        case "number":
            return float(_one((low, high, schema["default"], rng.uniform(low, high)), rng))
        case "boolean":
            return bool(rng.random() < 0.5)
        case "string":
            return _one(schema["enum"], rng)
        case "array" if "enum" in schema["items"]:
            return tuple(map(str, rng.permutation(schema["items"]["enum"])[: rng.integers(1, 4)]))
        case "array":
            return tuple(int(width) for width in rng.integers(1, 3, size=rng.integers(1, 3)))
    return _one(FREE[name], rng)


def _error(config: RunConfig, scheme: str | None, rng: np.random.Generator) -> float | None:
    if config.verifier.shared_noise or scheme == "race":
        return float(compare_texts(config, scheme, TEXTS)[1] is not None)
    pair = toy_pair(
        int(_one((2, 3, 3), rng)), seed=int(rng.integers(1000)), closeness=float(_one((0.0, 0.2, 0.7), rng))
    )
    try:
        return error_in(config, pair, scheme, most=MOST)[0]
    except TooManyRuns:
        return None


def _one(values: Any, rng: np.random.Generator) -> Any:
    return values[rng.integers(len(values))]
