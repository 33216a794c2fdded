"""The plain data of an advice as tables and sentences for people."""

from __future__ import annotations

from itertools import starmap

from ..base.codec import JsonObject
from ..measure.engine_ways import SAMPLED
from ..measure.timing import Range
from ..view.terminal import text_table
from .display import say, timed_figures, warn_if_busy


def print_advice(data: JsonObject, prompts: str) -> None:
    """The plain data of an advice for people; `prompts` says where the texts come from."""
    print(
        "tokens per pass and speedup over plain decoding, 95 % intervals over texts; "
        f"texts: {prompts}"
    )
    print(text_table(map(option_row, data["options"])))
    for name, error in data["failed"].items():
        say(f"{name}: not available: {error}")
    say(f"\n{data['sentence']}")
    if data["best"]:
        print_best(data)
    warn_if_busy(data["busy_cores"])


def with_interval(estimate: Range, unit: str = "") -> str:
    """A value with its interval, as far as it has one."""
    value, low, high = estimate
    interval = ""
    if low is not None:
        interval = f" [{low:.2f}, {high:.2f}]"
    return f"{value:.2f}{unit}{interval}"


def option_row(option: JsonObject) -> JsonObject:
    """A drafter with one tree."""
    row = {
        "draft": option["draft"],
        "tree": option["tree"],
        "price": option["predicted_price"],
        "tokens, predicted": with_interval(option["predicted_tokens_per_pass"]),
        "speedup, predicted": with_interval(option["predicted"]),
    }
    return row | timed_columns(option["measured"])


def timed_columns(timed: JsonObject | None) -> JsonObject:
    """What was timed, if it was."""
    if timed is None:
        return {}
    tokens, speedup = timed_figures(timed)
    return {"tokens, timed": tokens, "speedup, timed": speedup}


def print_best(data: JsonObject) -> None:
    """Why the best is as fast as it is, several texts, categories, and the flags of engines."""
    best = data["best"]
    print(data["why"])
    categories = (best["measured"] or {}).get("categories")
    if categories:
        print("\nthe best by category of the prompts, timed:")
        rows = []
        for name, timed in categories.items():
            rows.append({"category": name or "none"} | timed_columns(timed))
        print(text_table(rows))
    if best["batches"]:
        print("\nseveral texts decoded together, predicted:")
        print(text_table(starmap(batch_row, best["batches"].items())))
    if data["engine_ways"]:
        print("\nwhat engines do with the drafter, at the same costs:")
        print(text_table(starmap(engine_row, data["engine_ways"].items())))
    else:
        rules = "--verifier target-match --verifier speculative-sampling"
        print(f"\nThe profile has no rule of engines: calibrate with {rules} for a prediction.")
    if data["faster"]:
        print(data["faster"])
    print("\nsettings of engines that do this, whose own costs differ:")
    for engine in data["engines"]:
        # An engine that differs too much from what was measured has no prediction.
        speedup = ""
        if engine["speedup"] is not None:
            speedup = f"{engine['speedup']:.2f} x"
        note = ""
        if engine["note"]:
            note = f"  ({engine['note']})"
        name = f"{engine['engine']:12} {engine['algorithm']:8}"
        say(f"  {name} {speedup:>7}  {engine['flags'] or '-'}{note}")


def batch_row(texts: int, batch: JsonObject) -> JsonObject:
    """One number of texts: the best tree, an engine's fixed chain, and adaptive verification."""
    length, fixed = batch["fixed"]
    return {
        "texts": texts,
        "best tree": batch["tree"],
        "speedup": batch["speedup"],
        "chain": f"{length} tokens",
        "its speedup": fixed,
        "adaptive": f"{batch['verified']:.1f} of {batch['drafted']} verified",
        "adaptive speedup": batch["adaptive"],
    }


def engine_row(way: str, row: JsonObject) -> JsonObject:
    """One way to draft and verify."""
    predicted = {
        "drafts by": "sampling" if way == SAMPLED else "argmax",
        "rule": row["verifier"],
        "tree": row["tree"],
        "tokens, predicted": row["predicted_tokens_per_pass"],
        "speedup, predicted": with_interval(row["predicted"]),
    }
    return predicted | timed_columns(row["measured"])
