"""The demo: the only package that uses gradio."""

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read when gradio is imported
# Read when torch is. Threads that spin while they wait fight with the page for the same cores: the rounds of one run
# spread from 0.7 to 1.5 times plain decoding then, and from 1.0 to 1.4 when they sleep.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Gradio keeps a table of events for a page of statistics that is never shown, and sums it up after every run.
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "100")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**9))
