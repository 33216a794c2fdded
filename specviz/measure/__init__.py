"""Acceptance, costs, timings and forecasts, and the choice of a tree. Knows no page."""
