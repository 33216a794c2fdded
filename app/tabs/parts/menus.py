"""What the strategy pickers offer: the parameters of every strategy, and marks at those that do not
fit the others.

Everything comes from the strategies' schemas and from `compatible`; nothing here knows one of them
by name.
"""

from __future__ import annotations

import math
from dataclasses import replace

from specviz.base.codec import JsonObject
from specviz.config.run_config import Compatibility, RunConfig, compatible
from specviz.config.strategy import REGISTRIES, Choice, Strategy
from specviz.config.strategy_text import format_value

WORDS = {"builder": "tree builder", "verifier": "rule", "drafter": "drafter"}
MARKS = {"impossible": "✕ incompatible", "lossy": "≠ lossy", "useless": "! no effect"}


def offered(kind: str) -> dict[str, type[Choice]]:
    """The strategies that may be chosen, by name, without plain decoding."""
    return {
        name: cls
        for name, cls in REGISTRIES[kind].items()
        if not getattr(cls, "autoregressive", False)
    }


def drawn_menus() -> dict[str, list[JsonObject]]:
    """What the browser draws, by kind: name, title and parameters of every strategy, also of plain
    decoding, which only some pickers offer."""
    menus = {}
    for kind, registry in REGISTRIES.items():
        menus[kind] = [
            {"name": name, "title": cls.title, "fields": fields(cls())}
            for name, cls in registry.items()
        ]
    return menus


def fields(strategy: Strategy) -> list[JsonObject]:
    """The parameters for the browser: each a "number" with its range, a "choice", a "flag" or a
    "text"."""
    parameters = []
    for name, schema in strategy.parameter_schema().items():
        field = {
            "name": name,
            "label": schema.get("title", name),
            "help": schema.get("description", ""),
        }
        field["value"] = format_value(getattr(strategy, name))
        match schema:
            # A number by default, or a word: its slider stays, and the box takes the word.
            case {
                "default": int() | float(),
                "anyOf": [{"const": word}, {"minimum": _} as numbers],
            }:
                schema = numbers
                field["word"] = word
        match schema:
            case {"type": "integer" | "number" as number, "minimum": low, "maximum": high}:
                step = 1.0
                if number == "number":  # a power of ten, some fifty steps from end to end
                    step = 10.0 ** math.floor(math.log10((high - low) / 50))
                field |= {"type": "number", "min": low, "max": high, "step": step}
            case {"type": "string", "enum": options}:
                field |= {"type": "choice", "options": options}
            case {"type": "boolean"}:
                field["type"] = "flag"
            case _:
                field["type"] = "text"
        parameters.append(field)
    return parameters


def labels(kind: str) -> dict[str, str]:
    """What the page calls each parameter, such as "sequoia.size"."""
    titles = {}
    for name, cls in offered(kind).items():
        for key, schema in cls.parameter_schema().items():
            titles[f"{name}.{key}"] = f"{cls.title}: {schema.get('title', key)}"
    return titles


def kind(match: Compatibility) -> str:
    """One word for a verdict on a configuration: "impossible", "lossy", "useless" or "lossless"."""
    if not match.possible:
        return "impossible"
    if not match.lossless:
        return "lossy"
    if match.useful:
        return "lossless"
    return "useless"


def marks(config: RunConfig) -> dict[str, dict[str, str]]:
    """The marks in each picker: kind -> name -> the mark and, on the next line, why; the chosen one
    has none."""
    marked: dict[str, dict[str, str]] = {family: {} for family in REGISTRIES}
    for family, marks_of_kind in marked.items():
        chosen = getattr(config, family).name
        for name, match in matches(config, family).items():
            if name != chosen and kind(match) in MARKS:
                marks_of_kind[name] = f"{MARKS[kind(match)]}\n{match.reason}"
    return marked


def matches(config: RunConfig, family: str) -> dict[str, Compatibility]:
    """The verdict on each strategy of a kind, with its default parameters, in place of the one that
    is chosen."""
    return {
        name: compatible(replace(config, **{family: cls()}))
        for name, cls in offered(family).items()
    }


def nearest(config: RunConfig) -> dict[str, str] | None:
    """One other choice that makes an impossible configuration possible, as a sentence and a link;
    None if none does."""
    # The rule first: with another one the tree stays as it is.
    for family in ("verifier", "builder", "drafter"):
        for name, match in matches(config, family).items():
            if match.possible:
                title = REGISTRIES[family][name].title
                text = f"For instance, the {WORDS[family]} {title} works."
                return {"text": text, "label": f"Use {title}", "search": f"?{family}={name}"}
    return None
