"""The tabs, one module or folder each."""
