"""What a step costs here or elsewhere, which tree that makes the fastest, and whether it comes true."""
