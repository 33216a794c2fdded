"""Several texts in one loop, and what speculation brings them."""
