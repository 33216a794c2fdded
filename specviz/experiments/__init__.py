"""Whole experiments: runs side by side, at scale, in grids, and the studies that figures are drawn from."""
