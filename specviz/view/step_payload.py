"""One step for the browser: columns over its nodes, a sentence for each, and how its tree grew."""

from __future__ import annotations

from ..base.codec import JsonObject, json_data
from ..drafters import DRAFTERS
from ..record.step import Step
from ..verifiers.base import Verifier

# Fields of a `Step` that the page has under the same name.
UNCHANGED = (
    "index",
    "parents",
    "tokens",
    "texts",
    "outcome",
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
    step = step.written  # nothing is shown of what stands behind the end of the text
    # Sentences are numbered as they first occur, and nodes refer to them.
    sentences: dict[str, int] = {}
    why = []
    # Of one drafter, unless it saw the token before, every node would say the same.
    names_drafters = len({*step.drafter} - {None}) > 1 or bool(step.growth.guesses)
    for node in range(len(step.parents)):
        sentence = explained(step, node, verifier, names_drafters)
        why.append(sentences.setdefault(sentence, len(sentences)))
    sent: JsonObject = {name: getattr(step, name) for name in UNCHANGED}
    sent |= {
        "q": step.draft_prob,
        "p": step.target_prob,
        "accept": step.accept_prob,
        "order": step.order,
        "sentences": list(sentences),
        "why": why,
        "growth": growth_payload(step),
        "pieces": step.emitted_texts,
        "own": step.bonus,
        "last": step.added,
    }
    return json_data(sent)


def explained(step: Step, node: int, verifier: Verifier | None, names_drafters: bool) -> str:
    """The rule's sentence on a node, and with `names_drafters` its drafter; empty for a damaged
    trace, or without a rule."""
    if verifier is None:
        return ""
    try:
        sentences = [verifier.explain(step, node)]
        if names_drafters:
            sentences.append(guessed(step, node))
        return " ".join(filter(None, sentences))
    except (TypeError, KeyError, IndexError, ValueError):
        return ""


def guessed(step: Step, node: int) -> str:
    """The drafter of a node, and where it had seen the token before; "" if it is unknown."""
    name = None
    if node < len(step.drafter):
        name = step.drafter[node]
    # A root, or of a plugin that is not loaded here.
    if name is None or name not in DRAFTERS:
        return ""
    guess = step.growth.guesses.get(node, {})
    words = f"Drafted by {DRAFTERS[name].title_in_sentence}"
    after = guess.get("order", guess.get("match"))
    if after is not None:
        words += f": seen {guess['seen']:d} times after the last {after:d} tokens"
        words += f", for instance in {guess['where']}" if guess.get("where") else ""
        words += f", line {guess['line']:d}" if "line" in guess else ""
    return words.replace("seen 1 times", "seen once").replace("last 1 tokens", "last token") + "."


def growth_payload(step: Step) -> JsonObject:
    """What the builder recorded about the growth of a tree, as far as a page can play it; {} where
    that is nothing.

    Returns:
        any of "keys", [n]; "waiting", for each node after the root the best slots [parent, key]
        left waiting; "split", the sizes of subtrees, [n]; "cut", candidates left out; "candidates",
        "expected", "cost" and "length", numbers.
    """
    growth = step.growth
    below = len(step.parents) - 1
    payload = {}
    for name in ("candidates", "expected", "cost", "length"):
        payload[name] = getattr(growth, name)
    if any(key is not None for key in step.keys):
        payload["keys"] = step.keys
    if growth.waiting and len(growth.waiting) == below:
        payload["waiting"] = growth.waiting
    if growth.split and below:
        payload["split"] = growth.split
    if growth.cut and growth.cut.rows.get("keys"):
        payload["cut"] = {"texts": growth.cut.texts, "keys": growth.cut.rows["keys"]}
    return {name: value for name, value in payload.items() if value is not None}
