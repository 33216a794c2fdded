"""One pass of a transformers model over a whole tree: its cache, its rows, and its
optimizations."""
