"""The commands: one module each, with EXAMPLE, add_arguments(parser) and run(args), imported when
it is asked for."""

from importlib import import_module
from types import ModuleType

COMMANDS = {
    "demo": "Serve the demo page.",
    "prepare": "Download and convert a model once, so that later runs need no network.",
    "generate": "Generate text, coloured by the origin of each token.",
    "replay": "Show a recorded run in the terminal, or export it as an HTML page or a graph.",
    "check": (
        "Prove which pairs of builder and rule are lossless (exit code 1 if a declaration is "
        "wrong)."
    ),
    "bench": (
        "Time a grid of builders, rules, drafters, temperatures, sizes and pairs against plain "
        "decoding."
    ),
    "calibrate": (
        "Measure acceptance vectors and costs of a pair: one profile, which other commands read."
    ),
    "advise": (
        "Find out whether speculation pays for a target, with which drafter and tree, and flags "
        "of engines."
    ),
    "doctor": (
        "Find out from an engine's log or metrics whether speculation pays there, and at which "
        "draft length."
    ),
    "papers": "List the claims of the sources with measurements.",
    "train": "Train a draft and target pair from text files.",
}


def command(name: str) -> ModuleType:
    """The module of a command."""
    return import_module(f"{__name__}.{name}")
