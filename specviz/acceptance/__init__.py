"""Acceptance vectors, and their measurement on texts, on nodes and in recorded runs."""
