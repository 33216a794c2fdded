"""Cost of a step, predicted speedup of a tree, and choice of a tree. Nothing is timed here."""
