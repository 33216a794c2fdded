"""The commands: one module each, with EXAMPLE, add_arguments(parser) and run(args), imported when it is asked for."""

from importlib import import_module
from types import ModuleType

COMMANDS = {
    "demo": "Serve the demo page.",
    "generate": "Generate text, coloured by the origin of each token.",
    "replay": "Show a recorded run: its text, coloured by the origin of each token, and its statistics.",
    "export": "Export a recorded run as one HTML file that plays offline, or as a graph.",
    "tree": "Print the shape of a builder's tree, without a model.",
    "check": "Prove which pairs of builder and rule are lossless (exit code 1 if a declaration is wrong).",
    "bench": "Time tree speculation against plain decoding and generation with transformers.",
    "calibrate": "Measure the acceptance probability of the k-th child, on a text or on the target's continuations.",
    "cost": "Time the target's pass over n nodes, the draft's passes and the overhead on this machine.",
    "optimize": "Choose the tree and the rule with the largest predicted speedup on this machine.",
    "advise": "Find out whether speculation pays for a target, with which drafter and tree, and the flags of engines.",
    "agree": "Compare predicted tokens per pass or speedup with measurements (exit code 1 if they differ).",
    "scale": "Measure time and memory of a step as the tree, the text and the vocabulary grow.",
    "doctor": "Find out from an engine's log or metrics whether speculation pays there, and at which draft length.",
    "sweep": "Measure a grid of pairs, builders, rules, temperatures and sizes; resume if interrupted.",
    "strategies": "List builders, rules and drafters with their parameters, ranges and defaults.",
    "papers": "List the claims of the five sources with measurements.",
    "train": "Train a draft and target pair from text files.",
}
ELSEWHERE = {"train": "specviz.training.train"}  # beside what they run


def command(name: str) -> ModuleType:
    """The module of a command."""
    return import_module(ELSEWHERE.get(name, f"{__name__}.{name}"))
