"""Compare drafters with the same tree, on stories and on code, beside plain decoding.

Deterministic at temperature 0; above it two drafters write two texts, and all prompts together are what counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..acceptance.progress import SoFar
from ..builders.base import TreeBuilder
from ..compatibility import compatible, suited
from ..config import RunConfig
from ..decode import autoregress, run
from ..drafters.base import Drafter
from ..metrics import Counts
from ..models.base import Pair
from ..strategy import format_strategy
from .trials import PLAIN, Method, Trial, by_round


def compare(
    pair: Pair,
    drafters: Sequence[Drafter],
    builder: TreeBuilder,
    prompts: Mapping[str, Sequence[str]],
    temperatures: Sequence[float],
    config: RunConfig,
    rounds: int = 3,
) -> Iterator[SoFar[tuple[Trial, ...]]]:
    """Time drafters with the same tree, at each temperature and on each kind of text; stop iterating to stop it.

    Args:
        pair: the models.
        drafters: who is compared.
        builder: the tree all of them fill; the first rule that suits it decides.
        prompts: texts to continue, by their kind.
        temperatures: of the target.
        config: length, seed, top-p and top-k; what it says of anything else is not used.
        rounds: how often each continues every prompt.

    Raises:
        ValueError: if the pair lacks a drafter's model, or nothing lossless goes with the builder.
    """
    before = 0
    rows: tuple[Trial, ...] = ()
    of = len(temperatures) * sum(map(len, prompts.values())) * rounds * (len(drafters) + 1)
    asked = [replace(config, builder=builder, temperature=temperature) for temperature in temperatures]
    for one in asked:
        one = replace(one, verifier=suited(one))
        methods: dict[str, Method] = {PLAIN: lambda config: autoregress(pair, config).counts}
        for drafter in drafters:
            if not (match := compatible(replace(one, drafter=drafter))).lossless:
                raise ValueError(match.reason)
            methods[format_strategy(drafter)] = partial(_drafted, pair, drafter)
        for kind, texts in prompts.items():
            setting = f"{kind}, T {one.temperature:g}"
            current: tuple[Trial, ...] = ()
            for news in by_round(methods, one, texts, rounds):
                current = tuple(
                    Trial.of(name, counts, news.known[PLAIN], setting=setting)
                    for name, counts in news.known.items()
                    if name != PLAIN
                )
                yield SoFar(before + news.done, of, rows + current)
            before, rows = before + news.of, rows + current


def _drafted(pair: Pair, drafter: Drafter, config: RunConfig) -> Counts:
    return run(pair, replace(config, drafter=drafter)).counts
