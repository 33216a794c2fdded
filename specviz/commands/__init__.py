"""The commands, by name: one module each, with HELP, EXAMPLE, add_arguments(parser) and run(args)."""

from .. import train
from . import bench, check, generate, tree

COMMANDS = {"generate": generate, "tree": tree, "check": check, "bench": bench, "train": train}
