"""The demo: the only package that uses gradio."""

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read when gradio is imported
# Read when torch is. A thread that waits for the others spins for so many rounds and then sleeps. Never to spin
# (OMP_WAIT_POLICY=PASSIVE) costs a third on idle cores: a pass of the embedded target over 16 nodes has 33 products and
# took 6.4 ms, with 30 000 rounds 4.2, with the library's own 300 000 4.1. To spin for long fights with the page for the
# same cores; beside several busy programs sleeping is ahead, and `specviz.passes.threads` then takes one thread, which
# waits for none.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "30000")
# Gradio keeps a table of events for a page of statistics that is never shown, and sums it up after every run.
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "100")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**9))
