"""Theory without running a model: bounds, closed forms of one node, mask orders, distributions by enumeration."""
