"""The grid of `bench`: pairs x builders x rules x drafters x temperatures x sizes, as cells,
measured one by one.

A cell and its outcome are plain JSON data, as they stand in a file of results.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field

from ..base import codec
from ..base.codec import JsonObject, Positive, Record, Whole, one_of
from ..base.errors import UnknownName
from ..base.files import __version__, parse_json, read_text
from ..base.progress import final_result
from ..builders import BUILDERS
from ..config.run_config import RunConfig, compatible
from ..models.base import Pair
from ..sampling.distributions import Temperature, TopK, TopP
from . import against_transformers
from .against_engines import is_engine, side_of
from .processor import machine
from .quiet import Watch
from .timing import time_runs

LOADING = ("target", "draft", "device", "dtype", "offload", "offload_folder", "chat")
PAIRS = {"embedded": {}, "toy": {"toy": 12}}
ROWS = ("draft_temperature", "top_p", "top_k")  # of `RunConfig`
RUN = ("builder", "verifier", "drafter", "temperature", "max_new_tokens", "seed", *ROWS)
NO_STEP = "the models end every text at once, so there is no step to time. Use other prompts."

Name = Annotated[str, Field(min_length=1)]
Loading = dict[Annotated[str, one_of(*LOADING, "drafters")], str | bool | tuple[Name, ...]]
SomePair = Annotated[str, one_of(*PAIRS)] | Annotated[Loading, Field(min_length=1)]
Item = TypeVar("Item")
Several = Annotated[tuple[Item, ...], Field(min_length=1)]


@dataclass(frozen=True)
class Grid(Record):
    """What `bench` reads: every combination of its lists is a cell.

    Attributes:
        pairs: "embedded", "toy", or arguments of `load_pair`, among which `drafters` stands for
            those of the runs.
        temperatures, builders, verifiers, drafters, sizes: of the runs. The builder "all" stands
            for the menu, the rule "auto" for the first one that suits.
        max_new_tokens, seed, draft_temperature, top_p, top_k: as in `RunConfig`.
        rounds: over all prompts.
        prompts: texts to continue; () for those of the caller.
    """

    pairs: Several[SomePair] = ("embedded",)
    temperatures: Several[Temperature] = (RunConfig.temperature,)
    builders: Several[Name] = ("all",)
    verifiers: Several[Name] = ("auto",)
    drafters: Several[Name] = ("model",)
    sizes: Several[Annotated[int, Field(ge=2, le=1024)] | None] = (None,)
    max_new_tokens: Positive = 64
    seed: Whole = 0
    rounds: Annotated[int, Field(ge=1, le=10**6)] = 1
    draft_temperature: Temperature | None = None
    top_p: TopP = 1.0
    top_k: TopK | None = None
    prompts: tuple[Name, ...] = ()


ENTRIES = tuple(field.name for field in fields(Grid))


@dataclass(frozen=True)
class Cell:
    """One entry of the grid.

    Attributes:
        data: plain JSON data, by which results know it.
        config: what is run, its builder not yet of the cell's size; of another engine, what both
            sides generate.
    """

    data: JsonObject
    config: RunConfig

    @classmethod
    def of(cls, data: JsonObject) -> Cell:
        """The cell of plain data, which may lack a rule and a drafter."""
        settings = {name: data[name] for name in RUN if name in data}
        if is_engine(data["builder"]):
            del settings["builder"]
        config = RunConfig(**settings)
        return cls(data, config.autoregressive() if config.builder.autoregressive else config)

    @property
    def key(self) -> str:
        """What tells it from all others."""
        return json.dumps(self.data, sort_keys=True)

    @property
    def speculates(self) -> bool:
        """Whether it has a rule, a drafter and a size."""
        return not (is_engine(self.data["builder"]) or self.config.builder.autoregressive)


def read_grid(path: str | Path) -> object:
    """The data of a TOML or JSON file."""
    is_toml = Path(path).suffix.lower() == ".toml"
    text = read_text(path, "grid")
    try:
        if is_toml:
            return tomllib.loads(text)
        return parse_json(text)
    except (ValueError, RecursionError) as error:
        kind = "JSON"
        if is_toml:
            kind = "TOML"
        raise ValueError(f"grid {str(path)!r} is not valid {kind}: {str(error)[:100]}.") from None


def cells_of(data: object, prompts: Sequence[str]) -> tuple[list[Cell], Sequence[str]]:
    """The cells of a grid, each once and pair by pair, and the prompts that all of them continue.

    Args:
        data: plain data of a `Grid`.
        prompts: what is continued where the grid has no prompts.

    Raises:
        ValueError: if an entry is unknown, or a value is none that `Grid` takes.
    """
    # Before the types are checked: a misspelt entry is named, with the nearest that exists.
    for name in data if isinstance(data, dict) else ():
        if name not in ENTRIES:
            raise UnknownName("entry of the grid", name, ENTRIES)
    grid = codec.read(Grid, data, "grid")
    prompts = [*(grid.prompts or prompts)]
    shared: JsonObject = {
        "max_new_tokens": grid.max_new_tokens,
        "seed": grid.seed,
        "rounds": grid.rounds,
        "prompts": sha256(json.dumps(prompts).encode()).hexdigest()[:12],
    }
    for name in ROWS:
        if getattr(grid, name) != getattr(RunConfig, name):
            shared[name] = getattr(grid, name)
    menu = [name for name, builder in BUILDERS.items() if not builder.autoregressive]
    builders = [name for name in grid.builders if name != "all"]
    if len(builders) < len(grid.builders):
        builders = menu + builders
    runs: list[tuple[JsonObject, float, str, str, str, int | None]] = []
    for pair in grid.pairs:
        spec: JsonObject = dict(PAIRS[pair] if isinstance(pair, str) else pair)
        drafters = spec.pop("drafters", grid.drafters)
        runs += product([spec], grid.temperatures, builders, grid.verifiers, drafters, grid.sizes)
    cells = {}
    for spec, temperature, builder, verifier, drafter, size in runs:
        run = {"pair": spec, "builder": builder, "temperature": float(temperature)} | shared
        # First without drafter and size, which plain decoding and other engines do not have.
        cell = Cell.of(run)  # its rule is the one that suits
        if cell.speculates:
            rule = verifier
            if verifier == "auto":
                rule = cell.config.verifier.name
            sized = {}
            if size is not None:
                sized = {"size": size}
            cell = Cell.of(run | {"drafter": drafter, "verifier": rule} | sized)
        # Combinations that come to the same run, plain decoding at several sizes say, are one cell.
        cells[cell.key] = cell
    return list(cells.values()), prompts


def measure_cell(cell: Cell, prompts: Sequence[str]) -> JsonObject:
    """The outcome of one cell: "cell" with its "result", or with why it is "impossible", or how it
    "failed"."""
    watch = Watch()
    try:
        outcome = _measure(cell, prompts)
    except Exception as error:  # one cell that fails must not end a night's work
        kind = ""
        if not isinstance(error, ValueError):
            kind = f"{type(error).__name__}: "
        return {"cell": cell.data, "failed": f"{kind}{' '.join(str(error).split())[:300]}"}
    if "result" in outcome:
        outcome["result"] |= {
            "version": __version__,
            "machine": machine(),
            "busy_cores": round(watch.cores, 2),
        }
    return {"cell": cell.data} | outcome


def _measure(cell: Cell, prompts: Sequence[str]) -> JsonObject:
    config = cell.config
    # All sides ask a chat model in the same way, so that they continue the same tokens.
    spec = {"chat": None} | cell.data["pair"]
    rounds = cell.data["rounds"]
    builder = cell.data["builder"]
    if is_engine(builder):
        name, side = side_of(builder, spec)
        rows, settings = against_transformers.time_beside(spec, name, side, prompts, config, rounds)
        more = {"settings": settings, "lossless": True}
    else:
        try:
            if size := cell.data.get("size"):
                # What the builder was given explicitly stays, a depth say.
                own = config.builder.model_dump(exclude_unset=True)
                sized = config.builder.replace(**config.builder.sized(size) | own)
                config = replace(config, builder=sized)
            match = compatible(config).required()
        except ValueError as error:
            return {"impossible": str(error)}
        pair = load_cell_pair(json.dumps(spec, sort_keys=True))
        rows = final_result(time_runs({"tree": (pair, config)}, prompts, rounds))
        drafter = str(config.for_pair(pair).drafter)
        # A head that came as the draft, which is not always the default drafter.
        if drafter == "eagle" and getattr(pair, "head", None) is not None:
            draft = pair.info["draft"]
            drafter = f"{draft['architecture']} head {draft['name']}"
        more = {
            "drafter": drafter,
            "dtype": pair.info.get("dtype"),
            "offload": pair.info.get("offload"),
            "lossless": match.lossless,
        }
    if not rows:
        raise ValueError(NO_STEP)
    return {"result": rows[0].to_dict() | more}


@lru_cache(maxsize=1)
def load_cell_pair(pair: str) -> Pair:
    """The pair of a cell, cached until another is needed."""
    spec = json.loads(pair)
    if "toy" in spec:
        from ..models.table import toy_pair

        return toy_pair(vocab=spec["toy"])
    from ..models.pair import load_pair

    return load_pair(**spec)
