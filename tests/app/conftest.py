"""Gradio is imported for all that comes later, without writing type stubs of its components, which
takes two fifths of the time."""

import inspect

import pytest

import app  # noqa: F401  says what gradio reads when it is imported

file_of = inspect.getfile


def without_source(one):
    """The file of anything but a component, of whose source gradio would write a stub."""
    if getattr(one, "__module__", "").startswith("gradio."):
        raise OSError("a stub is not written")
    return file_of(one)


with pytest.MonkeyPatch.context() as patch:
    patch.setattr(inspect, "getfile", without_source)
    import gradio  # noqa: F401
