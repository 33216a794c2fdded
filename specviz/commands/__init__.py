"""The commands: one module each, with EXAMPLE, add_arguments(parser) and run(args), imported when it is asked for."""

from importlib import import_module
from types import ModuleType

COMMANDS = {
    "demo": "Serve the demo: a page on which runs can be watched.",
    "generate": "Write a text, coloured by where each token came from.",
    "replay": "Show a recorded run: its text, coloured by where each token came from, and what it took.",
    "export": "Write a recorded run as one HTML file that plays with no server and no network, or as a graph.",
    "tree": "Print the shape a builder would draft, with no model.",
    "check": "Prove which builder and rule are lossless together (exit code 1 if one is declared wrongly).",
    "bench": "Time tree speculation against own plain decoding and transformers' generation.",
    "calibrate": "Measure how often the k-th child is accepted, on a text or on the target's own continuations.",
    "cost": "Time the target's pass over n nodes, the draft's passes and the overhead on this machine.",
    "optimize": "Choose the tree and the rule of largest predicted speedup on this machine.",
    "agree": "Hold predicted tokens per pass or speedup against measurement; exit code 1 where they differ.",
    "scale": "Time a step and weigh its memory as the tree, the text and the vocabulary grow.",
    "sweep": "Measure a grid of pairs, builders, rules, temperatures and sizes, and go on where it was interrupted.",
    "strategies": "List builders, rules and drafters with their parameters, ranges and defaults.",
    "papers": "What the five sources say beside what was measured here, entry by entry.",
    "train": "Train a draft and target pair of your own from text files.",
}


def command(name: str) -> ModuleType:
    """The module of a command."""
    return import_module("specviz.training.train" if name == "train" else f"{__name__}.{name}")
