"""Theory without running a model: bounds, closed forms of one node, and rates by running a rule."""
