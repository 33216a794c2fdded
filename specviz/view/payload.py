"""The messages to the browser: steps and information about a run, as plain JSON. No HTML here.

The text of tokens and prompts is untrusted. It is sent only as JSON strings, and the page shows it
only as text nodes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from ..base.codec import JsonObject, json_data
from ..config.run_config import RunConfig, compatible
from ..config.strategy import REGISTRIES
from ..drafters import DRAFTERS
from ..record.metrics import COMPARED, Counts
from ..record.step import BEST, Step
from ..record.trace import Trace
from ..record.vectors import PAIR_TITLES
from ..tree import Topology
from ..verifiers.base import Verifier

NUMBERS = ("temperature", "top_p", "top_k", "draft_temperature", "max_new_tokens", "seed")
LETTERS = {
    "root": "r",
    "accepted": "a",
    "rejected": "x",
    "unreached": "u",
    "passed": "p",
    "probe": "o",
}

# Fields of a `Step` that the page has under the same name.
UNCHANGED = (
    "index",
    "parents",
    "tokens",
    "texts",
    "coin",
    "detail",
    "scheme",
    "draft_passes",
    "drafter",
)


def step_payload(step: Step, verifier: Verifier | None) -> JsonObject:
    """One step for the page: columns over its nodes, and each node's sentence from its verifier.

    Most nodes share their sentence with others (all nodes that were not visited, for example), so
    each sentence is sent once.
    """
    # Sentences are numbered as they first occur, and nodes refer to them.
    sentences: dict[str, int] = {}
    why = []
    for node in range(len(step.parents)):
        sentence = explained(step, node, verifier)
        why.append(sentences.setdefault(sentence, len(sentences)))
    sent: JsonObject = {name: getattr(step, name) for name in UNCHANGED}
    sent |= {
        "q": step.draft_prob,
        "p": step.target_prob,
        "plain": step.target_prob_at_1,
        "outcome": "".join(LETTERS[outcome] for outcome in step.outcome),
        "accept": step.accept_prob,
        "order": step.order or order_of(step, verifier),
        "sentences": list(sentences),
        "why": why,
        "growth": growth_payload(step),
        "pieces": step.emitted_texts,
        "own": step.bonus,
        "last": step.added,
    }
    return json_data(sent)


def explained(step: Step, node: int, verifier: Verifier | None) -> str:
    """The rule's sentence on a node and its drafter; empty for a damaged trace, or without a
    rule."""
    if verifier is None:
        return ""
    try:
        sentences = (verifier.explain(step, node), limited(step, node), guessed(step, node))
        return " ".join(filter(None, sentences))
    except (TypeError, KeyError, IndexError, ValueError):
        return ""


def limited(step: Step, node: int) -> str:
    """What the best of all lossless rules would have accepted, of a node whose siblings were all
    rejected with it; "" where that is not recorded."""
    above = step.parents[node]
    if step.outcome[node] != "rejected" or above not in step.detail:
        return ""
    best = step.detail[above].facts.get(BEST)
    if best is None:
        return ""
    count = step.parents.count(above)
    drafts = "this draft" if count == 1 else f"one of these {count} drafts"
    # A rule that weighs whole paths may accept more here, and less above.
    return f"No rule that is lossless at this node alone accepts {drafts} above {best:.3f}."


def order_of(step: Step, verifier: Verifier | None) -> list[int]:
    """The order in which the rule tried the nodes of a step that was recorded without it: down from
    the root, or with the nodes below a node before it."""
    children = Topology(step.parents).children

    def below(node: int) -> list[int]:
        # Records before the order was kept say only what became of each node.
        tried = [child for child in children[node] if step.outcome[child] in COMPARED]
        leaves_first = verifier is not None and verifier.leaves_first
        order = [] if leaves_first else list(tried)
        for child in tried:
            order += below(child)
            if leaves_first:
                order.append(child)
        return order

    return below(0)


def guessed(step: Step, node: int) -> str:
    """The drafter of a node and how it drafted it; "" if only the draft model drafts, or it is
    unknown."""
    name = step.drafter[node] if node < len(step.drafter) else None
    # Where only the draft model drafts, every node would say the same.
    if name is None or (name == "model" and {name, None}.issuperset(step.drafter)):
        return ""
    if name not in DRAFTERS:  # of a plugin that is not loaded here
        return ""
    guess = step.growth.guesses.get(node, {})
    words = f"Drafted by {DRAFTERS[name].title_in_sentence}"
    depth = Topology(step.parents).depth[node]
    if name == "medusa":
        words += f": head {depth}, which only depends on the text before the last token"
    elif name == "eagle":
        root = step.parents[node] == 0
        words += f" from {'the target’s' if root else 'its own predicted'} hidden state"
    elif name == "block":
        words += f": place {depth} of the positions that one pass predicts"
    elif "order" in guess:
        last = "no history" if guess["order"] == 0 else f"the last {guess['order']:d} tokens"
        words += f": seen {guess['seen']:d} times after {last}"
    elif "match" in guess:
        words += f": seen {guess['seen']:d} times after the last {guess['match']:d} tokens"
        words += f", for instance in {guess['where']}" if guess.get("where") else ""
        words += f", line {guess['line']:d}" if "line" in guess else ""
    return words.replace("seen 1 times", "seen once").replace("last 1 tokens", "last token") + "."


def growth_payload(step: Step) -> JsonObject:
    """What the builder recorded about the growth of a tree, as far as a page can play it; {} where
    that is nothing.

    Returns:
        any of "keys", [n]; "waiting", for each node after the root the best slots [parent, key]
        left waiting; "split", the sizes of subtrees, [n]; "cut", candidates left out; "candidates",
        "expected" and "length", numbers.
    """
    growth = step.growth
    below = len(step.parents) - 1
    payload = {name: getattr(growth, name) for name in ("candidates", "expected", "length")}
    if any(key is not None for key in step.keys):
        payload["keys"] = step.keys
    if growth.waiting and len(growth.waiting) == below:
        payload["waiting"] = growth.waiting
    if growth.split and below:
        payload["split"] = growth.split
    if growth.cut and growth.cut.rows.get("keys"):
        payload["cut"] = {"texts": growth.cut.texts, "keys": growth.cut.rows["keys"]}
    return json_data({name: value for name, value in payload.items() if value is not None})


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
    data |= {key: value for key, value in more.items() if value is not None}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # "<" only ever occurs inside strings; escaped, no layer between here and the page can mistake
    # it for markup.
    return text.replace("<", "\\u003c")


def figures(counts: Counts) -> JsonObject:
    """A run in numbers, times in milliseconds, as plain JSON data; None where nothing was
    measured."""
    drafters = {}
    for name in dict.fromkeys(name for name, _ in counts.guesses):
        accepted = counts.guesses[name, "accepted"]
        compared = sum(counts.guesses[name, outcome] for outcome in COMPARED)
        rate = Counts(accepted=accepted, compared=compared).acceptance
        drafters[name] = {"accepted": accepted, "compared": compared, "acceptance": rate}
    return json_data(
        {
            "tokens": counts.tokens,
            "passes": counts.passes,
            "accepted": counts.accepted,
            "compared": counts.compared,
            "per_pass": counts.tokens_per_pass,
            "acceptance": counts.acceptance,
            "rate": counts.tokens_per_s,
            "step_ms": 1000 * counts.seconds_per_step,
            "step_parts": [1000 * seconds for seconds in counts.step_parts.values()],
            "drafters": drafters,
        }
    )


def worth_showing(steps: Sequence[Step]) -> int:
    """The step that a run is opened at: one with a rejection, and of those the one with the most
    tokens."""
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
    verifier = None if setting else trace.config.verifier
    steps = [step_payload(step, verifier) for step in trace.steps]
    # As it was asked for, so that a link shows the request and not what a pair made of it.
    about = head(config or trace.config, trace)
    if setting:
        about |= {"title": str(setting), "settings": ""}
    return message(
        name,
        steps,
        head=about | {"recorded": True, "badge": badge, "show": worth_showing(trace.steps)},
        state="done",
        figures=figures(trace.counts),
        speedup=json_data(trace.speedup),
        **pair,
    )


def head(config: RunConfig, trace: Trace) -> JsonObject:
    """What a run is, sent once: its configuration as it was asked for, and its trace."""
    match = compatible(config)
    verifier = config.verifier
    return {
        "title": f"{settings_title(trace.config)}, seed {config.seed}",
        "pair": described(trace.pair),
        "prompt": typed(trace),
        "chat": trace.config.is_chat,
        "lossy": None if match.lossless else match.reason,
        "key": config.builder.key_title,
        "rule": verifier.name,
        "settings": settings_text(config),
        "offload": trace.pair.get("offload"),
        "declared": not type(verifier).__module__.startswith("specviz."),
    }


def typed(trace: Trace) -> str:
    """The prompt of a run as it was typed; of a chat the last message."""
    text = trace.prompt_text
    return text.removesuffix("\n\n") if trace.config.is_chat else text


def settings_title(config: RunConfig) -> str:
    """Tree, rule, drafter and temperature of a configuration, for people."""
    title = f"Tree: {config.builder.title} · Rule: {config.verifier.title}"
    if config.drafter.name != "model" and config.builder.reads_draft:
        title += f", drafted by {config.drafter.title_in_sentence}"
    return f"{title}, temperature {config.temperature:g}"


def settings_text(config: RunConfig) -> str:
    """All of a configuration but its prompt as the parameters of a link, the same for equal
    configurations."""
    named = {kind: getattr(config, kind).to_text(defaults=True) for kind in REGISTRIES}
    for name in NUMBERS:
        value = getattr(config, name)
        if value is not None:
            named[name] = f"{value:g}" if isinstance(value, float) else str(value)
    return urlencode(named, safe=":,=")


def described(info: JsonObject) -> str:
    """The title of a pair, and how much of the target's probability its draft can propose if the
    vocabularies differ."""
    common = info.get("common")
    mass = common.get("mass") if isinstance(common, dict) else None
    name: str = info["name"]
    title = PAIR_TITLES.get(name, name)
    speed = info.get("disk_speed")
    if isinstance(speed, int | float):
        return f"{title}, weights read at {speed / 1e9:.1f} GB/s"
    if not isinstance(mass, int | float):
        return title
    return f"{title}, whose common tokens have {mass:.1%} of the target's probability"
