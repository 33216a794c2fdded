"""The commands, by name: one module each, with HELP, EXAMPLE, add_arguments(parser) and run(args)."""

from .. import train
from . import agree, bench, calibrate, check, cost, export, generate, optimize, replay, scale, sweep, tree

COMMANDS = {
    "generate": generate,
    "replay": replay,
    "export": export,
    "tree": tree,
    "check": check,
    "bench": bench,
    "calibrate": calibrate,
    "cost": cost,
    "optimize": optimize,
    "agree": agree,
    "scale": scale,
    "sweep": sweep,
    "train": train,
}
