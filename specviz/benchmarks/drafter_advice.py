"""Does speculation pay for a target, and with which drafter and tree? Calibrate, measure, predict, then time the best.

Every drafter's acceptance is read on the target's own continuations of some prompts, its costs are measured in the
decoding loop, and from both follows the best tree. The best few of all drafters are timed on other prompts in turns
with plain decoding: only what was timed is advised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..acceptance.progress import SoFar, whole
from ..builders import BUILDERS
from ..compatibility import suited
from ..config import RunConfig
from ..drafters.base import Drafter
from ..models.base import Pair
from ..planning.choose import Candidate, candidates, runners_up
from ..planning.engine_flags import Nearest, engine_flags
from ..strategy import strategy_of
from .measure_cost import PROMPT, measure_cost
from .predictions import Predictor, predictor
from .trials import Trial, timed

SECONDS = 15.0  # of measuring the costs of a drafter
TIMED = 3  # trees that are timed, of all drafters together
OF_EACH = 2  # trees of one drafter that may be among them
Verdict = Literal["pays", "does-not-pay", "undecided"]


@dataclass(frozen=True)
class Option:
    """A drafter with one tree: what is predicted, and what was timed.

    Attributes:
        name: of the drafter, as it was asked for.
        drafter: its menu name.
        verifier: menu name of the rule.
        tree: the tree with its prediction; chain: the best chain, for engines that draft no trees.
        first: the chance that the first child of a node is accepted.
        trial: None where it was not timed.
    """

    name: str
    drafter: str
    verifier: str
    tree: Candidate
    chain: Candidate
    first: float
    trial: Trial | None = None


@dataclass(frozen=True)
class Advice:
    """What is known so far.

    Attributes:
        doing: what goes on, in a few words.
        options: the best tree of each drafter and runners-up, the fastest first.
        failed: drafters that cannot be used, and why.
    """

    doing: str
    options: tuple[Option, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()

    @property
    def best(self) -> Option | None:
        """The fastest of those that were timed."""
        timed = [one for one in self.options if one.trial]
        return max(timed, key=lambda one: one.trial.speedup if one.trial else 0.0, default=None)


def advise(
    ways: Mapping[str, tuple[Pair, Drafter]], config: RunConfig, prompts: Sequence[str], others: Sequence[str]
) -> Iterator[SoFar[Advice]]:
    """Try drafters of one target; stop iterating to stop it.

    Args:
        ways: name -> a pair and one of its drafters; all pairs have the same target.
        config: temperatures, length and seed; its builder, rule and drafter are not used.
        prompts: texts whose continuations are calibrated on.
        others: texts that are timed.
    """
    options: list[Option] = []
    failed: list[tuple[str, str]] = []
    of = len(ways) * (len(prompts) + 1) + (TIMED + 1) * len(others)
    for place, (name, (pair, drafter)) in enumerate(ways.items()):
        found: list[Option] = []
        try:
            for done, found in enumerate(_options(name, pair, drafter, config, prompts), 1):
                now = Advice(f"trying {name}", _ranked([*options, *found]), tuple(failed))
                yield SoFar(place * (len(prompts) + 1) + done, of, now)
        except ValueError as error:
            failed.append((name, str(error)))
        options += found
    chosen = _ranked(options)[:TIMED]
    rest = [one for one in options if one not in chosen]
    runs = {}
    for one in chosen:
        pair, drafter = ways[one.name]
        rule = strategy_of("verifier", one.verifier)
        runs[f"{one.name}, {one.tree.name}"] = (
            pair, replace(config, drafter=drafter, verifier=rule, builder=one.tree.builder)
        )  # fmt: skip
    before, known = of - (TIMED + 1) * len(others), Advice("", tuple(_ranked(options)), tuple(failed))
    for news in timed(runs, others) if runs else ():
        trials = {trial.name: trial for trial in news.known}
        measured = [replace(one, trial=trials.get(name)) for name, one in zip(runs, chosen, strict=True)]
        known = replace(known, doing="timing the best", options=_ranked([*measured, *rest]))
        yield SoFar(before + news.done, before + news.of, known)
    yield SoFar(of, of, known)


def _ranked(options: Sequence[Option]) -> tuple[Option, ...]:
    """Those that were timed first, by their speedup, then the others by their prediction."""
    return tuple(
        sorted(options, key=lambda one: (one.trial is None, -(one.trial or one.tree.predicted).speedup))
    )  # fmt: skip


def _options(
    name: str, pair: Pair, drafter: Drafter, config: RunConfig, prompts: Sequence[str]
) -> Iterator[list[Option]]:
    """Nothing after every prompt that was read, and at the end, with the costs, the best trees with this drafter."""
    config = replace(config, drafter=drafter, builder=BUILDERS["sequoia"]())
    rule = strategy_of("verifier", suited(config))
    config = replace(config, verifier=rule)
    known: Predictor | None = None
    for news in predictor(pair, rule, config, prompts):
        known = news.known
        yield []
    table = whole(measure_cost(pair, replace(config, prompt=PROMPT), seconds=SECONDS))
    assert known  # or `predictor` raises
    ranked = candidates(known.vector.plan, table, config)
    shown = [ranked[0], *runners_up(ranked, ranked[0], OF_EACH - 1)]
    chain = next((one for one in ranked if not one.builder.shape.rank.any()), ranked[0])
    first = known.vector.acceptance[0]
    yield [Option(name, drafter.name, rule.name, one, chain, first) for one in shown]


def verdict_of(option: Option | None) -> tuple[Verdict, tuple[float, float] | None]:
    """Whether it pays, and the 95 % interval of its speedup; "undecided" where that holds 1 or is not known."""
    if option is None or option.trial is None or option.trial.margin is None:
        return "undecided", None
    speedup, margin = option.trial.speedup, option.trial.margin
    interval = max(0.0, speedup - margin), speedup + margin
    return ("pays" if interval[0] > 1 else "does-not-pay" if interval[1] < 1 else "undecided"), interval


def reason(option: Option) -> str:
    """Why it is as fast as it is: tokens a pass against the price of a step, in plain steps."""
    trial = option.trial
    assert trial is not None
    price = trial.tokens_per_pass / trial.speedup
    seconds = {"draft": trial.parts["draft"], "target": trial.parts["target"], "overhead": trial.overhead}
    shares = {part: price * spent / trial.step_s for part, spent in seconds.items()}
    dearest = max(("draft", "overhead"), key=lambda part: shares[part])
    parts = ", ".join(f"{part} {share:.2f}" for part, share in shares.items())
    sentence = (
        f"A step writes {trial.tokens_per_pass:.2f} tokens and costs {price:.2f} plain steps ({parts}); "
        f"the first draft token is accepted {option.first:.0%} of the time."
    )
    if trial.speedup > 1:
        return sentence
    if option.first < 0.3:
        return f"{sentence} The draft is too far from the target: check chat template and tokenizer, or choose another."
    if shares["target"] > 1.5 and shares["target"] > shares[dearest]:
        return f"{sentence} Reading several tokens at once is expensive on this machine."
    return f"{sentence} The {dearest} is too expensive for what is accepted."


def engines_for(option: Option) -> tuple[Nearest, ...]:
    """The nearest settings of other engines."""
    shape, early = option.tree.builder.shape, option.name.startswith("early-exit")
    return engine_flags(
        "early-exit" if early else option.drafter, option.name, len(option.chain.builder.shape) - 1, len(shape),
        int(shape.depth.max()), max(map(len, shape.children)),
    )  # fmt: skip


def as_dict(option: Option) -> dict[str, Any]:
    """An option as plain data."""
    cell, trial = option.tree.predicted, option.trial
    measured = {} if trial is None else {
        "speedup": trial.speedup, "margin": trial.margin, "tokens_per_pass": trial.tokens_per_pass,
        "step_s": trial.step_s, "parts": trial.parts, "steps": trial.steps,
    }  # fmt: skip
    return {
        "draft": option.name, "drafter": option.drafter, "verifier": option.verifier, "tree": option.tree.name,
        "nodes": cell.size, "first_child": option.first, "predicted": cell.speedup,
        "predicted_tokens_per_pass": cell.tokens_per_pass, "measured": measured or None,
    }  # fmt: skip
