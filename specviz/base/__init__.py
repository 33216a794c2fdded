"""What is not about decoding: errors, files, text forms of values, progress."""
