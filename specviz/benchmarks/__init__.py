"""Timings and comparisons of the models, at scale and in grids."""
