"""What `specviz new` writes, read as text; each runs as it is."""
