"""What can be said without running a model: bounds, one node's closed forms, mask orders, laws by enumeration."""
