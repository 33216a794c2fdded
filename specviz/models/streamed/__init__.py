"""Layers that are read from disk for every pass: the file they lie in, and the stream of layers
from it."""
