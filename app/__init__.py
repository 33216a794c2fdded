"""The demo: the only place that knows gradio."""

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read when gradio is imported
# Read when torch is. Threads that spin while they wait fight with the browser for the same cores: on two cores, one of
# them busy, decoding is two to three times faster when they sleep. On idle cores spinning would be faster by half.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Gradio keeps a table of events for a page of statistics that is never shown, and sums it up after every run.
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "100")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**9))
