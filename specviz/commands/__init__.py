"""The commands, by name: one module each, with HELP, EXAMPLE, add_arguments(parser) and run(args)."""

from .. import train
from . import bench, calibrate, check, cost, export, generate, optimize, replay, scale, sweep, tree

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
    "scale": scale,
    "sweep": sweep,
    "train": train,
}
