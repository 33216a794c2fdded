"""The demo: the only place that knows gradio."""
