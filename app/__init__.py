"""The demo: the only place that knows gradio."""

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read when gradio is imported
# Read when torch is. Threads that spin while they wait fight with the browser for the same cores: on two busy cores
# decoding is five times faster when they sleep.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
