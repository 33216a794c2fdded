"""A grid of measurements, cell by cell: pairs x builders x verifiers x temperatures x sizes.

A cell is plain data and one function measures it, so it makes no difference whether this process does it or another
machine. Every outcome is a line of a file; what is in the file is not measured again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from .. import codec
from ..acceptance.on_text import acceptance_vector, own_texts
from ..acceptance.text_units import sources
from ..builders.base import TreeBuilder
from ..compatibility import compatible
from ..config import RunConfig
from ..decode import run
from ..files import __version__, parse_json
from ..metrics import Counts, estimate, known, ratio_of_rates
from ..models.base import Pair
from ..planning.machine_profile import machine
from ..plugins.load import load_known
from ..plugins.load import sources as plugins_loaded
from ..strategy import parse_strategy, split_strategy
from ..trace import Trace
from .alternating_rounds import paired
from .sweep_grid import key_of

BEGINS = b'{"cell": {'  # how a line of results begins
LONGEST = 4_000_000  # bytes of a line


def measured(cell: dict[str, Any], prompts: Sequence[str], plugins: Sequence[str] = ()) -> dict[str, Any]:
    """The outcome of one cell: "cell" with its "result", or with why it is "impossible", or how it "failed".

    Args:
        cell, prompts: what to measure.
        plugins: what another machine must load first, see `plugins.load.sources`.
    """
    load_known(plugins)
    try:
        return {"cell": cell} | (_calibrated(cell, prompts) if cell["kind"] == "calibrate" else _timed(cell, prompts))
    except Exception as error:  # one cell that fails must not end a night's work
        sentence = " ".join(str(error).split())[:300]
        return {
            "cell": cell,
            "failed": sentence if isinstance(error, ValueError) else f"{type(error).__name__}: {sentence}",
        }


def here(cells: Sequence[dict], prompts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The outcomes of cells, measured one after the other on this machine."""
    return (measured(cell, prompts) for cell in cells)


def on_ray(
    cells: Sequence[dict], prompts: Sequence[str], address: str, cpus: float = 1, gpus: float = 0
) -> Iterator[dict[str, Any]]:
    """The outcomes of cells in the order in which a Ray cluster finishes them.

    Args:
        cells, prompts: what to measure; specviz must be installed on the cluster's machines.
        address: of the cluster, as `ray.init` takes it.
        cpus, gpus: what one cell takes of a machine; all of it where speeds are to be trusted.

    Raises:
        ValueError: if ray is not installed or the cluster cannot be reached.
    """
    try:
        import ray
    except ImportError:
        raise ValueError('--ray needs ray, which is not installed: pip install "ray>=2.9".') from None
    try:
        ray.init(address=address)
    except Exception as error:
        raise ValueError(f"--ray: no cluster found at {address!r}: {' '.join(str(error).split())[:200]}") from error
    try:
        task, texts = ray.remote(measured).options(num_cpus=cpus, num_gpus=gpus), ray.put(list(prompts))
        asked = {task.remote(cell, texts, plugins_loaded()): cell for cell in cells}
        while asked:
            (done, *_), _ = ray.wait(list(asked), num_returns=1)
            cell = asked.pop(done)
            try:
                outcome = ray.get(done)
            except Exception as error:  # the machine was lost, say
                outcome = {"cell": cell, "failed": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
            yield outcome
    finally:
        ray.shutdown()  # what still runs is given up


class Results:
    """The file of outcomes, one JSON object a line, each written whole before the next cell begins.

    Args:
        path: of the file; it need not exist. The cut-off beginning of an outcome at its end, as a power failure leaves
            one, is taken away. Whoever writes holds the file (`files.held`).

    Raises:
        ValueError: if it holds anything else; it is then left as it is.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.outcomes: dict[str, dict[str, Any]] = {}  # the latest of each cell
        if self.path.exists():
            with open(self.path, "rb") as file:
                whole = self._read(iter(partial(file.readline, LONGEST), b""))
            if whole < self.path.stat().st_size:
                os.truncate(self.path, whole)

    def _read(self, lines: Iterator[bytes]) -> int:
        """Take in what is there; returns how many bytes of it are outcomes."""
        whole = damaged = 0
        for number, line in enumerate(lines, 1):
            outcome = _outcome(line)
            if damaged or (outcome is None and not _cut_off(line, first=number == 1)):
                raise ValueError(
                    f"results {str(self.path)!r} are damaged in line {damaged or number}, which is not a result. "
                    "Remove that line, or use another file."
                )
            if outcome is None:
                damaged = number
                continue
            whole += len(line)
            self.outcomes[key_of(outcome["cell"])] = outcome
        return whole

    def lacks(self, cell: dict[str, Any]) -> bool:
        """Whether a cell has no outcome yet; one that failed is tried again."""
        return "failed" in self.outcomes.get(key_of(cell), {"failed": ""})

    def add(self, outcome: dict[str, Any]) -> None:
        """Write an outcome down."""
        line = json.dumps(codec.plain(outcome, exact=True), ensure_ascii=False).encode() + b"\n"
        with open(self.path, "ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self.outcomes[key_of(outcome["cell"])] = outcome


def _cut_off(line: bytes, first: bool) -> bool:
    """Whether a line is an outcome that was not written to its end, or the zeros that a power failure leaves."""
    begins = line.startswith(BEGINS) or (not first and BEGINS.startswith(line))
    return not line.endswith(b"\n") and (begins or not line.strip(b"\0"))


def _outcome(line: bytes) -> dict[str, Any] | None:
    try:
        outcome = codec.read(dict[str, Any], parse_json(line), "outcome")
    except ValueError:
        return None
    good = line.endswith(b"\n") and isinstance(outcome, dict) and isinstance(outcome.get("cell"), dict)
    kinds = {"result": dict, "impossible": str, "failed": str}
    return outcome if good and any(isinstance(outcome.get(name), kind) for name, kind in kinds.items()) else None


def sized(text: str, size: int | None) -> TreeBuilder:
    """A builder with trees of about `size` nodes, its root included.

    Args:
        text: as `parse_strategy` reads it; parameters that are given go before what follows from the size.
        size: None leaves the builder its own.

    Raises:
        ValueError: if the builder has no parameter for the size of its trees.
    """
    builder, (_, given) = parse_strategy("builder", text), split_strategy("builder", text)
    found = {} if size is None else builder.sized(size)
    return replace(builder, **{name: value for name, value in found.items() if name not in given})


def _timed(cell: dict[str, Any], prompts: Sequence[str]) -> dict[str, Any]:
    try:
        builder = sized(cell["builder"], cell["size"])
    except ValueError as error:
        return {"impossible": str(error)}
    config = RunConfig(
        builder=builder, verifier=cell["verifier"], temperature=cell["temperature"],
        max_new_tokens=cell["max_new_tokens"], drafter=cell.get("drafter"),
    )  # fmt: skip
    match = compatible(config)
    if not match.possible:
        return {"impossible": match.reason}
    pair = loaded(key_of(cell["pair"]))

    def ran(asked: RunConfig, turn: int) -> Trace:
        return run(pair, replace(asked, prompt=prompts[turn], seed=cell["seed"] + turn))

    run(pair, replace(config, prompt=prompts[0], max_new_tokens=8))  # warm up
    traces: dict[str, list[Trace]] = {"tree": [], "plain": []}
    ways = {"tree": partial(ran, config)} | ({} if builder.alone else {"plain": partial(ran, config.plainly())})
    for _, name, trace in paired(ways, len(prompts)):
        traces[name].append(trace)
    plain = traces["plain"] or traces["tree"]
    return {"result": _summary(traces["tree"], plain, prompts) | _where(pair) | {"lossless": match.lossless}}


def _summary(traces: Sequence[Trace], plain: Sequence[Trace], prompts: Sequence[str]) -> dict[str, Any]:
    runs, others = [trace.counts for trace in traces], [trace.counts for trace in plain]
    tokens, margin = estimate([(one.tokens, one.passes) for one in runs])
    total = sum(runs, Counts())
    rows = [
        (one.timed_tokens, sum(one.seconds), other.timed_tokens, sum(other.seconds), text)
        for one, other, text in zip(runs, others, sources(prompts), strict=True)
        if one.timed_tokens and other.timed_tokens
    ]
    speedup, spread = (
        estimate([row[:4] for row in rows], ratio_of_rates, [row[4] for row in rows]) if rows else (None, None)
    )
    return {
        "tokens_per_pass": tokens, "margin": margin, "tokens_per_s": known(total.tokens_per_s),
        "speedup": speedup, "speedup_margin": spread,
        "plain_tokens_per_s": known(sum(others, Counts()).tokens_per_s),
        "nodes": 1 + total.drafted, "steps": total.passes,
        "step_s": {part: known(seconds) for part, seconds in total.step_parts.items()},
    }  # fmt: skip


def _where(pair: Pair) -> dict[str, Any]:
    """Where a cell was measured, and with what."""
    threads = getattr(getattr(getattr(pair, "target", None), "threads", None), "count", None)
    return {"machine": machine(), "dtype": pair.info.get("dtype"), "threads": threads, "version": __version__}


def _calibrated(cell: dict[str, Any], prompts: Sequence[str]) -> dict[str, Any]:
    config = RunConfig(
        builder="chain", verifier=cell["verifier"], temperature=cell["temperature"],
        max_new_tokens=cell["max_new_tokens"], seed=cell["seed"], drafter=cell.get("drafter"),
    )  # fmt: skip
    match = compatible(config)
    if not match.possible:  # not even with the one child at a time that every rule can decide
        return {"impossible": match.reason}
    pair = loaded(key_of(cell["pair"]))
    texts = own_texts(pair, prompts, config)
    found = asdict(acceptance_vector(pair, config.verifier, texts, config, cell["width"]))
    return {"result": found | {"machine": machine()}}


@lru_cache(maxsize=1)
def loaded(pair: str) -> Pair:
    """The pair that a cell names, kept until another is asked for."""
    spec = json.loads(pair)
    if "toy" in spec:
        from ..models.table import toy_pair

        return toy_pair(vocab=spec["toy"])
    from ..models.pair import load_pair

    return load_pair(**spec)
