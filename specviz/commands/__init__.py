"""The commands: one module each, with EXAMPLE, add_arguments(parser) and run(args), imported when it is asked for."""

from importlib import import_module
from types import ModuleType

COMMANDS = {
    "demo": "Serve the demo page.",
    "generate": "Generate text, coloured by the origin of each token.",
    "replay": "Show a recorded run in the terminal, or export it as an HTML page or a graph.",
    "check": "Prove which pairs of builder and rule are lossless (exit code 1 if a declaration is wrong).",
    "bench": "Time tree speculation against plain decoding and generation with transformers.",
    "calibrate": "Measure the acceptance probability of the k-th child, on a text or on the target's continuations.",
    "advise": "Find out whether speculation pays for a target, with which drafter and tree, and the flags of engines.",
    "doctor": "Find out from an engine's log or metrics whether speculation pays there, and at which draft length.",
    "sweep": "Measure a grid of pairs, builders, rules, temperatures and sizes; resume if interrupted.",
    "papers": "List the claims of the five sources with measurements.",
    "train": "Train a draft and target pair from text files.",
}


def command(name: str) -> ModuleType:
    """The module of a command."""
    return import_module(f"{__name__}.{name}")
