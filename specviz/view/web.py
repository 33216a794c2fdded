"""The browser's code: ES modules under assets/web, joined into one script that needs no server to
find its parts.

    // base/add.js                                const base_add = (() => {
    export function add(a, b) { ... }      ->       function add(a, b) { ... }
                                                    return { add };
    // index.js                                   })();
    import { add } from './base/add.js';          const index = (() => {
                                                    const { add } = base_add;

There is no build step. Comments are removed. The words of the page are made from a table in Python;
`npm run made` writes them as a file, which eslint, tsc and the unit tests read.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache

from ..base.files import WEB
from . import words

GENERATED = {"base/words.js": words.script}
IMPORT = re.compile(r"^import \{([^}]*)\} from '([^']+)';\n", re.MULTILINE)
# A comment on lines of its own.
COMMENT = re.compile(r"^ *(?://[^\n]*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|const|class) (\w+))", re.MULTILINE)


def asset(name: str) -> str:
    """The text of a file that the browser gets, "stage/stage.html" say."""
    if name in GENERATED:
        return GENERATED[name]()
    return (WEB / name).read_text(encoding="utf-8")


@cache
def joined(entry: str) -> str:
    """A module and all that it imports, as statements that make the constant `entry`, an object of
    its exports.

    Args:
        entry: such as "index.js"; it and every module below it import and export as the header of
            this file shows.

    Raises:
        ValueError: if a module imports in a circle, or is written in another way; that it imports
            what there is `npm run lint` checks.
    """
    parts: dict[str, tuple[str, ...]] = {}
    code: list[str] = []
    _join(entry, (), parts, code)
    return "'use strict';\n" + "".join(code)


def exports(entry: str) -> tuple[str, ...]:
    """The names that a module exports."""
    return tuple(EXPORT.findall(asset(entry)))


def _join(
    name: str, above: tuple[str, ...], parts: dict[str, tuple[str, ...]], code: list[str]
) -> None:
    if name in above:
        raise ValueError(f"Modules import in a circle: {' imports '.join((*above, name))}.")
    text = asset(name)
    needs = []
    for names, path in IMPORT.findall(text):
        other = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
        # Depth first: a module stands below all that it imports.
        if other not in parts:
            _join(other, (*above, name), parts, code)
        needs.append(f"const {{{names.replace(' as ', ': ')}}} = {_constant(other)};\n")
    body = COMMENT.sub("", EXPORT.sub("", IMPORT.sub("", text)))
    if re.search(r"^(import|export)\b", body, re.MULTILINE):
        raise ValueError(
            f"{name} must only use import {{ a }} from './b.js' and export before a declaration."
        )
    parts[name] = exports(name)
    returned = f"return {{ {', '.join(parts[name])} }};\n"
    code.append(f"const {_constant(name)} = (() => {{\n{''.join(needs)}{body}{returned}}})();\n")


def _constant(name: str) -> str:
    return re.sub(r"[/.-]", "_", name.removesuffix(".js"))


def write() -> None:
    """Write the modules of `GENERATED` as files."""
    for place, script in GENERATED.items():
        (WEB / place).write_text(script(), encoding="utf-8")
