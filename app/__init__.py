"""The demo: the only package that uses gradio."""

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read when gradio is imported
# Read when torch is, for passes that are not compiled: of several texts at once, and of large
# models. A thread that waits for the others spins for so many rounds and then sleeps. Never to spin
# (OMP_WAIT_POLICY=PASSIVE) costs a third on idle cores, the 300 000 rounds of the library fight
# with the page for them. Compiled passes do not depend on it.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "30000")
# Gradio keeps a table of events for a page of statistics that is never shown, and sums it up after
# every run.
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "100")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**9))
