"""The plain data of an advice as tables and sentences for people."""

from __future__ import annotations

from typing import Any

from ..base.files import printable
from ..measure.engine_ways import SAMPLED
from ..view.terminal import text_table
from .display import plus_minus, warn_if_busy


def print_advice(data: dict[str, Any], prompts: str) -> None:
    """The plain data of an advice for people; `prompts` says where the texts come from."""
    print(
        "tokens per pass and speedup over plain decoding, 95 % intervals over texts; "
        f"texts: {prompts}"
    )
    rows = []
    for one in data["options"]:
        row = {"draft": one["draft"], "tree": one["tree"], "price": one["predicted_price"]}
        for name, predicted in (("tokens", "predicted_tokens_per_pass"), ("speedup", "predicted")):
            value, low, high = one[predicted]
            row[f"{name}, predicted"] = (
                f"{value:.2f}" if low is None else f"{value:.2f} [{low:.2f}, {high:.2f}]"
            )
        if timed := one["measured"]:
            row["tokens, timed"] = (
                f"{timed['tokens_per_pass']:.2f}{plus_minus(timed['tokens_margin'])}"
            )
            row["speedup, timed"] = f"{timed['speedup']:.2f}{plus_minus(timed['margin'])}"
        rows.append(row)
    print(text_table(rows))
    for name, error in data["failed"].items():
        print(printable(f"{name}: not available: {error}"))
    print(printable(f"\n{data['sentence']}"))
    if data["best"]:
        print_best(data)
    warn_if_busy(data["busy_cores"])


def print_best(data: dict[str, Any]) -> None:
    """Why the best is as fast as it is, several texts, categories, and the flags of engines."""
    best = data["best"]
    print(data["why"])
    categories = best["measured"]["categories"] if best["measured"] else {}
    if categories:
        print("\nthe best by category of the prompts, timed:")
        rows = [{"category": name or "none"} | row for name, row in categories.items()]
        print(text_table(rows))
    if best["by_texts"]:
        print("\nseveral texts decoded together, predicted:")
        print(text_table([batch_row(best, texts) for texts in best["by_texts"]]))
    if data["engine_ways"]:
        print("\nwhat engines do with the drafter, on this machine:")
        print(text_table([engine_row(way, one) for way, one in data["engine_ways"].items()]))
    if data["faster"]:
        print(data["faster"])
    if not data["engine_ways"]:
        rules = "--verifier target-match --verifier speculative-sampling"
        print(f"\nThe profile has no rule of engines: calibrate with {rules} for a prediction.")
    print("\nsettings of engines that do this, whose own costs differ from those measured here:")
    for one in data["engines"]:
        speedup = "" if one["speedup"] is None else f"{one['speedup']:.2f} x"
        note = f"  ({one['note']})" if one["note"] else ""
        flags = one["flags"] or "-"
        line = f"  {one['engine']:12} {one['algorithm']:8} {speedup:>7}  {flags}{note}"
        print(printable(line))


def batch_row(best: dict[str, Any], texts: int) -> dict[str, Any]:
    """One number of texts: the best tree, an engine's fixed chain, and adaptive verification."""
    tree, speedup = best["by_texts"][texts]
    batch = best["batches"][texts]
    length, fixed = batch["fixed"]
    return {
        "texts": texts,
        "best tree": tree,
        "speedup": speedup,
        "chain": f"{length} tokens",
        "its speedup": fixed,
        "adaptive": f"{batch['verified']:.1f} of {batch['drafted']} verified",
        "adaptive speedup": batch["adaptive"],
    }


def engine_row(way: str, one: dict[str, Any]) -> dict[str, Any]:
    """One way to draft and verify."""
    row = {
        "drafts by": "sampling" if way == SAMPLED else "argmax",
        "rule": one["verifier"],
        "tree": one["tree"],
        "tokens, predicted": one["predicted_tokens_per_pass"],
        "speedup, predicted": one["predicted"],
    }
    if one["speedup"] is not None:
        row["tokens, timed"] = one["tokens_per_pass"]
        row["speedup, timed"] = f"{one['speedup']:.2f}{plus_minus(one['margin'])}"
    return row
