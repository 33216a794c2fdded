"""The commands, by name: one module each, with HELP, EXAMPLE, add_arguments(parser) and run(args)."""

from .. import train
from . import bench, calibrate, check, generate, tree

COMMANDS = {
    "generate": generate,
    "tree": tree,
    "check": check,
    "bench": bench,
    "calibrate": calibrate,
    "train": train,
}
