"""Everything that runs a clock or runs the models side by side, at scale and in grids."""
