"""What the browser is sent: steps, and what is said about a run, as plain JSON. No HTML here.

The text of tokens and prompts is whatever a model or a visitor wrote. It travels as JSON strings only, and the page
puts it on the screen as text nodes only.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any

from .protocols import compatible
from .record import Step, Trace
from .registry import build

LETTERS = {"root": "r", "accepted": "a", "rejected": "x", "unreached": "u", "passed": "p"}

MOST_SHOWN = 16  # tokens of a row


def step_payload(step: Step, verifier: Any) -> dict[str, Any]:
    """One step for the page: columns over its nodes, and each node's sentence from its verifier.

    Most nodes share their sentence with others (all that were never reached, for one), so a sentence travels once.
    """
    sentences: dict[str, int] = {}
    why = [sentences.setdefault(explained(step, node, verifier), len(sentences)) for node in range(len(step.parents))]
    return {
        "index": step.index,
        "parents": step.parents,
        "tokens": step.tokens,
        "texts": step.texts,
        "q": rounded(step.draft_prob),
        "p": rounded(step.target_prob),
        "plain": rounded(step.target_prob_plain),
        "outcome": "".join(LETTERS[outcome] for outcome in step.outcome),
        "accept": rounded(step.accept_prob),
        "coin": rounded(step.coin),
        "sentences": list(sentences),
        "why": why,
        "detail": detail_payload(step.detail),
        "growth": growth_payload(step),
        "law": step.law,
        "pieces": step.pieces,
        "own": step.bonus,
        "last": None if step.bonus is None else ("correction" if step.corrected else "bonus"),
        "seconds": [rounded(getattr(step.seconds, part)) for part in ("draft", "target", "verify", "other")],
        "draft_passes": step.draft_passes,
    }


def explained(step: Step, node: int, verifier: Any) -> str:
    """The rule's sentence on a node; nothing where a trace that was tampered with gives it nothing to say."""
    try:
        return verifier.explain(step, node)
    except (TypeError, KeyError, IndexError, ValueError):
        return ""


def detail_payload(detail: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What a verifier kept about its nodes, sorted by how it is drawn.

    Returns:
        node -> any of "tried" (rows over a few tokens before the node was tried), "after" (the same for the token that
        follows it), "race" (name -> racers and their arrival times) and "facts" (numbers). What has none of these
        shapes is left out: a trace may come from anywhere.
    """
    return {node: found for node, facts in detail.items() if isinstance(facts, dict) and (found := _sorted(facts))}


def growth_payload(step: Step) -> dict[str, Any]:
    """What the builder recorded about the growth of a tree, as far as a page can play it; {} where that is nothing.

    Returns:
        any of "keys", [n]; "waiting", for each node after the root the best slots [parent, key] left waiting; "split",
        the sizes of subtrees, [n]; "cut", candidates left out; "candidates", "expected" and "length", numbers.
    """
    n, notes = len(step.parents), step.growth
    found = {name: rounded(notes[name]) for name in ("candidates", "expected", "length") if _number(notes.get(name))}
    if any(key is not None for key in step.keys):
        found["keys"] = rounded(list(step.keys))
    if _listed(notes.get("split"), _number, n, most=n):
        found["split"] = list(notes["split"])
    if _listed(notes.get("waiting"), lambda slots: _slots(slots, n), n - 1, most=n):
        found["waiting"] = rounded(list(notes["waiting"]))
    cut = notes.get("cut")
    chart = _chart(cut) if isinstance(cut, dict) else None
    if chart and "keys" in chart["rows"]:
        found["cut"] = {"texts": chart["texts"], "keys": chart["rows"]["keys"]}
    return found


def _slots(value: Any, n: int) -> bool:
    """Whether these are pairs of a node and a number."""
    return isinstance(value, list | tuple) and all(
        _listed(slot, _number, 2) and isinstance(slot[0], int) and 0 <= slot[0] < n for slot in value
    )


def _sorted(facts: dict[str, Any]) -> dict[str, Any]:
    found = {"tried": _chart(facts), "facts": {name: rounded(value) for name, value in facts.items() if _number(value)}}
    for value in facts.values():
        if isinstance(value, dict):
            racers = {
                name: chart for name, racer in value.items() if isinstance(racer, dict) and (chart := _chart(racer))
            }
            found |= {"after": _chart(value)} if "tokens" in value else {"race": racers}
    return {name: value for name, value in found.items() if value}


def _chart(data: dict[str, Any]) -> dict[str, Any] | None:
    """Tokens with their texts and, in "rows", one number each under every name; None where it is not that."""
    tokens, texts = data.get("tokens"), data.get("texts")
    if not (_listed(tokens, _number) and _listed(texts, lambda text: isinstance(text, str), len(tokens))):
        return None
    rows = {
        name: rounded(list(row))
        for name, row in data.items()
        if name not in ("tokens", "texts") and _listed(row, _number, len(tokens))
    }
    return {"tokens": list(tokens), "texts": list(texts), "rows": rows} if rows else None


def _listed(value: Any, check: Callable[[Any], bool], length: int | None = None, most: int = MOST_SHOWN) -> bool:
    right = isinstance(value, list | tuple) and 0 < len(value) <= most and all(map(check, value))
    return right and length in (None, len(value))


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def message(run: str, steps: Iterable[dict[str, Any]] = (), **more: Any) -> str:
    """One message to the page as JSON.

    Args:
        run: a name for the run; a message with a new name starts a new history.
        steps: the steps that are new since the last message.
        more: `head` (what is run, once per run), `state` ("loading", "running", "done", "stopped", "error"), `note`
            (a sentence), `plain_rate` (tokens/s of plain decoding, where it is known).
    """
    data = {"run": run, "steps": list(steps)} | {key: value for key, value in more.items() if value is not None}
    # "<" only ever occurs inside strings; escaped, no layer between here and the page can mistake it for markup.
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def recorded_message(
    trace: Trace, plain: Trace | None = None, name: str = "recorded", badge: str = "recorded run"
) -> str:
    """A recorded run as one message, opened at a step worth seeing: many tokens accepted, and a token rejected.

    Args:
        trace: the run.
        plain: plain decoding of the same prompt on the same machine, to compare speeds with.
        name: of the run on the page.
        badge: what the page calls it.

    Raises:
        ValueError: if there is nothing to show, or its builder or rule is unknown here.
    """
    if not trace.steps:
        raise ValueError("trace has no steps, so there is nothing to show.")
    config, verifier = trace.config, build("verifier", trace.config.verifier)
    match = compatible(build("builder", config.builder), verifier, config.temperature, config.draft_temperature)
    steps = [step_payload(step, verifier) for step in trace.steps]
    worth = [len(step.emitted) + 2 * ("rejected" in step.outcome) for step in trace.steps]
    about = head(config, trace.prompt_text, trace.pair["name"], match.reason if not match.lossless else None)
    return message(
        name,
        steps,
        head=about | {"recorded": True, "badge": badge, "show": worth.index(max(worth))},
        state="done",
        plain_rate=plain and decode_rate(plain.steps),
    )


def head(config: Any, prompt: str, pair: str, lossy: str | None = None) -> dict[str, Any]:
    """What is run, said once at its start; `lossy` is the reason why its text is not the target's own, if it is not."""
    builder, verifier = build("builder", config.builder), build("verifier", config.verifier)
    title = f"{builder.title} × {verifier.title}, temperature {config.temperature:g}, seed {config.seed}"
    return {"title": title, "pair": pair, "prompt": prompt, "lossy": lossy, "key": builder.key_title}


def decode_rate(steps: Iterable[Step]) -> float | None:
    """Tokens per second of engine time, without the first step because that one also reads the prompt."""
    rest = list(steps)[1:]
    seconds = sum(step.seconds.total for step in rest)
    return sum(len(step.emitted) for step in rest) / seconds if seconds > 0 else None


def rounded(value: Any) -> Any:
    """Numbers with four significant digits, as many as a page can show."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value
