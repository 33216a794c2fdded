"""Studies that a visitor can start: what each runs, and the figure of its result."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from specviz import RunConfig
from specviz.benchmarks import studies
from specviz.benchmarks.measure_cost import PROMPT, measure_cost
from specviz.files import HELD_OUT
from specviz.plots import PLOTS

Steps = Iterator[tuple[int, int, Any]]  # done, of, the figure's info or None
TOKENS = 64  # of each run
TEMPERATURES = (0.0, 0.3, 0.6, 0.8, 1.0)
COSTED = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Study:
    """What a button starts.

    Args:
        name: of the figure, as in `PLOTS`.
        label: on the button.
        made: a sentence on what is run.
        steps: runs it, given the pair and a configuration.
        timed: whether it measures time, so that recording needs an idle machine.
    """

    name: str
    label: str
    made: str
    steps: Callable[[Any, RunConfig], Steps]
    timed: bool = False

    def run(self, pair: Any, config: RunConfig) -> Steps:
        """The study, each run with `TOKENS` tokens."""
        return self.steps(pair, replace(config, max_new_tokens=TOKENS))


def kinds(count: int) -> dict[str, list[str]]:
    """This many prompts of each kind that are not in the training data."""
    return {kind: prompts[:count] for kind, prompts in json.loads(HELD_OUT.read_text(encoding="utf-8")).items()}


def both(count: int) -> list[str]:
    """This many prompts of each kind, alternating."""
    return list(chain.from_iterable(zip(*kinds(count).values(), strict=True)))


def _shown(name: str, found: Iterator[tuple[int, int, Any]]) -> Steps:
    """The steps of a library's study with the info of its figure in place of the data."""
    for done, of, data in found:
        yield done, of, PLOTS[name].info(data) if data else None


def _costs(pair: Any, config: RunConfig, rounds: int, seconds: float) -> Generator[tuple[int, int, None], None, Any]:
    """The first quarter of a study that needs the costs of passes; returns their table."""
    table = None
    for news in measure_cost(pair, replace(config, prompt=PROMPT), COSTED, rounds=rounds, seconds=seconds):
        table = news.known
        yield news.done, 4 * news.of, None
    assert table  # or `measure_cost` raises
    return table


def _temperature(pair: Any, config: RunConfig) -> Steps:
    table = yield from _costs(pair, config, rounds=6, seconds=20.0)
    for done, of, data in studies.temperatures(pair, config, table, both(8), TEMPERATURES):
        yield of + 3 * done, 4 * of, PLOTS["temperature"].info(data) if data else None


STUDIES = {
    study.name: study
    for study in (
        Study(
            "depth", "Run a tree",
            "Counted while the pair decodes 16 prompts, prose and code alternating, with Sequoia's tree of 24 nodes "
            "and 6 levels. Intervals are Wilson's, 95 %.",
            lambda pair, config: _shown("depth", studies.levels(pair, config, both(8))),
        ),
        Study(
            "policies", "Run all policies",
            "Counted over chains on 8 prompts of each kind that are not in the training data: always five tokens, two "
            "more after full acceptance and one fewer otherwise, and SVIP's stop at high draft entropy.",
            lambda pair, config: _shown("policies", studies.policies(pair, config, kinds(8))),
        ),
        Study(
            "top_p", "Try several top-p",
            "Expected tokens per pass from each rule's acceptance vector, calibrated on text of the target at each "
            "top-p, for one tree of 16 nodes. No timing.",
            lambda pair, config: _shown("top_p", studies.top_p(pair, config, both(4))),
        ),
        Study(
            "transfer", "Run both trees on both texts",
            "Vectors are calibrated on half of the prompts of each kind; each tree of 16 nodes is run on the other "
            "half of both kinds. Counted, with 95 % CI across texts.",
            lambda pair, config: _shown("transfer", studies.transfer(pair, config, kinds(20))),
        ),
        Study(
            "temperature", "Time each temperature",
            "Costs are measured first; then the speedup of the best tree of 12 nodes is predicted and timed at each "
            "temperature, every prompt against its own plain decoding.",
            _temperature, timed=True,
        ),
        Study(
            "lengths", "Run a dynamic tree",
            "One run with DySpec's threshold tree, which stops growing when the next node is too unlikely to be "
            "reached.",
            lambda pair, config: _shown("lengths", studies.strip(pair, config, both(1)[0])),
        ),
    )
}  # fmt: skip


def studied(pair: Any, name: str, config: RunConfig) -> Steps:
    """A study by name, since a study itself cannot travel to another process; work for `Engine.compute`."""
    yield from STUDIES[name].run(pair, config)
