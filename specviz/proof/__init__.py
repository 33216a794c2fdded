"""What is proven rather than declared: losslessness by enumeration, equal texts, one node by
hand."""
