"""What a command prints while it works: rows as they come, and progress where there is no terminal."""

import sys
from threading import Event

import pytest

from specviz.acceptance.progress import SoFar
from specviz.commands import watching


def test_progress_is_lines_where_there_is_no_terminal_however_long_a_piece_takes(monkeypatch):
    """A piece ends only after a line about the pieces before it was printed."""
    lines, heard = [], Event()

    class Log:
        def isatty(self):
            return False

        def write(self, text):
            lines.append(text)
            if len(lines) > 1 and "1 of 2 texts" in text:
                heard.set()

        def flush(self):
            pass

    def news():
        yield SoFar(1, 2, 7)
        assert heard.wait(60)
        yield SoFar(2, 2, 8)

    monkeypatch.setattr(sys, "stderr", Log())
    monkeypatch.setattr(watching, "EVERY", 0.01)
    found = [one.known for one in watching.watched(news(), "texts", lambda one: f"; knows {one.known}")]
    assert found == [7, 8]
    assert any("1 of 2 texts after" in line and "; knows 7" in line for line in lines)


def test_the_lines_end_with_the_measurement_even_when_it_fails(monkeypatch, capsys):
    import threading

    monkeypatch.setattr(watching, "EVERY", 0.01)
    with pytest.raises(ValueError, match="broken"):
        for _ in watching.watched((fail() for _ in range(1)), "runs"):
            pass
    assert not [thread for thread in threading.enumerate() if thread.name == "progress"]


def fail():
    raise ValueError("broken")
