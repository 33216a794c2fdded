"""The messages to the browser: the head of a run, its steps and its figures, as JSON. No HTML here.

The text of tokens and prompts is untrusted. It is sent only as JSON strings, and the page shows it
only as text nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from ..base.codec import JsonObject, compact_json, json_data
from ..config.run_config import RunConfig, compatible
from ..config.strategy import REGISTRIES
from ..record.metrics import COMPARED, Counts
from ..record.step import Step
from ..record.trace import PairedSpeedup, Trace
from ..record.vectors import PAIR_TITLES
from .step_payload import step_payload

NUMBERS = ("temperature", "top_p", "top_k", "draft_temperature", "max_new_tokens", "seed")


def message(run: str, steps: Iterable[JsonObject] = (), **more: object) -> str:
    """One message to the page as JSON.

    Args:
        run: a name for the run; a message with a new name starts a new history.
        steps: the steps that are new since the last message.
        more: `head` (what is run, once per run), `state` ("loading", "running", "done", "stopped",
            "error"), `note` (a sentence), `figures` (of all steps so far), `speedup` (against plain
            decoding), `show` (the step to go to, unless the visitor has moved).
    """
    data: JsonObject = {"run": run, "steps": list(steps)}
    # What is None would only travel.
    for key, value in more.items():
        if value is not None:
            data[key] = value
    return page_json(data)


def page_json(data: object) -> str:
    """JSON for the page, in which "<" is escaped: it only ever occurs inside strings, and no layer
    between here and the page can mistake it for markup."""
    return compact_json(data).replace("<", "\\u003c")


def figures(counts: Counts, speedup: PairedSpeedup | None = None) -> JsonObject:
    """A run in numbers, times in milliseconds, as plain JSON data; None where nothing was measured.

    Args:
        counts: of the run.
        speedup: over plain decoding; where it was timed its rate gives the times, so that they
            agree with it.
    """
    if speedup:
        counts = counts.at_rate(speedup.tokens_per_s)
    # Of several drafters each has a rate of its own; nodes that were not visited do not count.
    drafters = {}
    for name in dict.fromkeys(name for name, _ in counts.guesses):
        accepted = counts.guesses[name, "accepted"]
        compared = sum(counts.guesses[name, outcome] for outcome in COMPARED)
        drafters[name] = "none compared"
        if compared:
            drafters[name] = f"{accepted} of {compared} compared, {100 * accepted / compared:.0f} %"
    return json_data(
        {
            "tokens": counts.tokens,
            "passes": counts.passes,
            "per_pass": counts.tokens_per_pass,
            "rate": counts.tokens_per_s,
            "drafters": drafters,
            "table": measured(counts, speedup),
        }
    )


def measured(counts: Counts, speedup: PairedSpeedup | None) -> list[tuple[str, str, str]]:
    """A run in numbers: rows with a name, a value and a note below it."""
    per_pass = acceptance = rate = factor = plain = step = ("–", "")  # was not measured
    if counts.passes:
        per_pass = f"{counts.tokens_per_pass:.2f}", ""
    if counts.compared:
        note = f"{counts.accepted} of {counts.compared} compared"
        acceptance = f"{100 * counts.acceptance:.0f} %", note
    if counts.tokens_per_s > 0:  # which nan is not
        rate = f"{counts.tokens_per_s:.1f}", ""
    if speedup is not None:
        factor = f"{speedup.speedup:.2f}×", speedup.spread
        plain = f"{speedup.plain_tokens_per_s:.1f}", f"{speedup.date}, {speedup.machine}"
    if counts.seconds_per_step > 0:
        parts = counts.step_parts.items()
        note = " · ".join(f"{part} {1000 * seconds:.1f}" for part, seconds in parts)
        step = f"{1000 * counts.seconds_per_step:.1f} ms", note
    return [
        ("tokens written", f"{counts.tokens} in {counts.passes} passes", ""),
        ("tokens per target pass", *per_pass),
        ("acceptance rate", *acceptance),
        ("tokens per second", *rate),
        ("speedup vs. plain decoding", *factor),
        ("plain decoding, tokens per second", *plain),
        ("time per step after the first", *step),
    ]


def worth_showing(steps: Sequence[Step]) -> int:
    """The step that a run is opened at: one with a rejection, and of those the one with the most
    tokens."""
    # A rejection first, then length: what a visitor learns most from.
    worth = [("rejected" in step.outcome, len(step.emitted)) for step in steps]
    return worth.index(max(worth))


def recorded_message(
    trace: Trace,
    name: str = "recorded",
    badge: str = "recorded run",
    config: RunConfig | None = None,
    **pair: str,
) -> str:
    """A recorded run as one message, opened at a step with a rejection, the one that writes the
    most tokens.

    Args:
        trace: the run.
        name: of the run on the page.
        badge: what the page calls it.
        config: as it was asked for, where that is not its own: a pair may have replaced the
            drafter by its default.
        pair: its `models` and `weights` as the menus name them, where they do.

    Raises:
        ValueError: if there is nothing to show, or its builder or rule is unknown here.
    """
    if not trace.steps:
        raise ValueError("trace must have at least one step to be shown.")
    setting = trace.pair.get("setting")  # of a run whose configuration and rule are not known
    verifier = trace.config.verifier
    if setting:
        verifier = None
    steps = [step_payload(step, verifier) for step in trace.steps]
    # As it was asked for, so that a link shows the request and not what a pair made of it.
    about = head(config or trace.config, trace)
    if setting:
        about |= {"title": str(setting), "settings": ""}
    return message(
        name,
        steps,
        head=about | {"recorded": True, "badge": badge},
        show=worth_showing(trace.steps),
        state="done",
        figures=figures(trace.counts, trace.speedup),
        speedup=json_data(trace.speedup),
        **pair,
    )


def head(config: RunConfig, trace: Trace) -> JsonObject:
    """What a run is, sent once: its configuration as it was asked for, and its trace."""
    match = compatible(config)
    is_chat = trace.config.is_chat
    prompt = trace.prompt_text
    if is_chat:  # as it was typed, without what divides it from the answer
        prompt = prompt.removesuffix("\n\n")
    return {
        "title": f"{settings_title(trace.config)}, seed {config.seed}",
        "pair": described(trace.pair),
        "prompt": prompt,
        "chat": is_chat,
        "lossy": None if match.lossless else match.reason,
        "key": config.builder.key_title,
        "rule": config.verifier.name,
        "settings": settings_text(config),
        "offload": trace.pair.get("offload"),
        "in_memory": trace.pair.get("in_memory"),
        "declared": not config.verifier.is_built_in(),
    }


def settings_title(config: RunConfig) -> str:
    """Tree, rule, drafter and temperature of a configuration, for people."""
    title = f"Tree: {config.builder.title} · Rule: {config.verifier.title}"
    if config.drafter.name != "model" and config.builder.reads_draft:
        title += f", drafted by {config.drafter.title_in_sentence}"
    return f"{title}, temperature {config.temperature:g}"


def settings_text(config: RunConfig) -> str:
    """All of a configuration but its prompt as the parameters of a link, the same for equal
    configurations."""
    named = {}
    for kind in REGISTRIES:
        named[kind] = getattr(config, kind).to_text(defaults=True)
    for name in NUMBERS:
        value = getattr(config, name)
        if value is not None:
            named[name] = f"{value:g}" if isinstance(value, float) else str(value)
    return urlencode(named, safe=":,=")


def described(info: JsonObject) -> str:
    """The title of a pair, and how much of the target's probability its draft can propose if the
    vocabularies differ."""
    common = info.get("common")
    mass = None
    if isinstance(common, dict):
        mass = common.get("mass")
    name: str = info["name"]
    title = PAIR_TITLES.get(name, name)
    speed = info.get("disk_speed")
    weights = "in memory"
    if info.get("in_memory"):
        weights = f"in memory, not on disk: {info['in_memory']}"
    elif isinstance(speed, int | float):
        weights = f"on disk, read at {speed / 1e9:.1f} GB/s"
    if isinstance(mass, int | float):
        title += f", whose common tokens have {mass:.1%} of the target's probability"
    return f"{title}, weights {weights}"
