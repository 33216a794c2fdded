"""One step for the browser: columns over its nodes, a sentence for each, and how its tree grew."""

from __future__ import annotations

from ..base.codec import JsonObject, json_data
from ..drafters import DRAFTERS
from ..record.metrics import COMPARED
from ..record.step import BEST, Step
from ..tree import Topology
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
    # Where only the draft model drafts, every node would say the same.
    names_drafters = bool({*step.drafter} - {None, "model"})
    for node in range(len(step.parents)):
        sentence = explained(step, node, verifier, names_drafters)
        why.append(sentences.setdefault(sentence, len(sentences)))
    sent: JsonObject = {name: getattr(step, name) for name in UNCHANGED}
    sent |= {
        "q": step.draft_prob,
        "p": step.target_prob,
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


def explained(step: Step, node: int, verifier: Verifier | None, names_drafters: bool) -> str:
    """The rule's sentence on a node, and with `names_drafters` its drafter; empty for a damaged
    trace, or without a rule."""
    if verifier is None:
        return ""
    try:
        sentences = [verifier.explain(step, node), limited(step, node)]
        if names_drafters:
            sentences.append(guessed(step, node))
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
    guesses = "its guess" if count == 1 else f"one of its {count} guesses"
    # A rule that weighs whole paths may accept more here, and less above.
    return (
        "Over all draws, a lossless rule that decides at this node alone accepts "
        f"{guesses} with probability at most {best:.3f}."
    )


def order_of(step: Step, verifier: Verifier | None) -> list[int]:
    """The order in which the rule tried the nodes of a step that was recorded without it: down from
    the root, or with the nodes below a node before it."""
    children = Topology(step.parents).children

    def below(node: int) -> list[int]:
        # Records before the order was kept say only what became of each node.
        tried = [child for child in children[node] if step.outcome[child] in COMPARED]
        leaves_first = verifier is not None and verifier.leaves_first
        order = []
        if not leaves_first:
            order = list(tried)
        for child in tried:
            order += below(child)
            if leaves_first:
                order.append(child)
        return order

    return below(0)


def guessed(step: Step, node: int) -> str:
    """The drafter of a node and how it drafted it; "" if it is unknown."""
    name = None
    if node < len(step.drafter):
        name = step.drafter[node]
    # A root, or of a plugin that is not loaded here.
    if name is None or name not in DRAFTERS:
        return ""
    guess = step.growth.guesses.get(node, {})
    words = f"Drafted by {DRAFTERS[name].title_in_sentence}"
    depth = 0
    above = node
    while above:
        above = step.parents[above]
        depth += 1
    if name == "medusa":
        words += f": head {depth}, which only depends on the text before the last token"
    elif name == "eagle":
        if step.parents[node] == 0:
            words += " from the target’s hidden state"
        else:
            words += " from a hidden state that it predicted itself"
    elif name == "block":
        words += f": place {depth} of the positions that one pass predicts"
    elif "order" in guess:
        last = "no history"
        if guess["order"] != 0:
            last = f"the last {guess['order']:d} tokens"
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
