"""Decoding: the loop, the sessions of a text, and the record of a step. Knows no page and no clock
but its own stopwatch."""

from .loop import autoregress as autoregress
from .loop import blank_trace as blank_trace
from .loop import run as run
from .loop import speculate as speculate
