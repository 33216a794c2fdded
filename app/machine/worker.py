"""The worker process of the page: it computes one request at a time, at lower priority.

A thread would slow down every run: while it holds the interpreter, a step that gives it up for each product must wait
to get it back.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import Any

from specviz.plugins.load import load_known, sources

from . import limits

START = "import sys; sys.path[:] = {!r}; from app.machine.worker import serve; serve({!r})"
TOO_LONG = (
    f"A request may use at most {limits.SECONDS} s of CPU time. Reduce the input (SPECVIZ_MAX_SECONDS sets the limit)."
)
LOWER = 10  # steps of priority: a run that wants the same core has nine tenths of it, and nothing starves
LOST = "This was not computed: its process ended, perhaps because memory ran out. Reduce the input."


class Worker:
    """Calls functions in a separate process, which is started at first use."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self, work: Callable[..., Any], *args: Any) -> Any:
        """What work(*args) returns.

        Args:
            work: a function of a module.
            args: plain data that can travel to another process.

        Raises:
            ValueError: from the work, or because it takes too long.
            RuntimeError: with the text of any other exception.
        """
        try:
            sent = pickle.dumps((work, args))
        except RecursionError:
            raise ValueError("What was sent is nested too deeply.") from None
        if self._process is None:
            command = [sys.executable, "-c", START.format(sys.path, sources())]
            one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, env=os.environ | one, stdin=pipe, stdout=pipe)
        there, back = self._process.stdin, self._process.stdout
        assert there and back  # both are pipes
        try:
            there.write(sent)
            there.flush()
            right, answer = pickle.load(back)
        except (OSError, EOFError, pickle.UnpicklingError):
            self.end()
            raise ValueError(LOST) from None
        if right:
            return answer
        raise answer

    def end(self) -> None:
        """End the process; the next call starts another."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def serve(plugins: list[str]) -> None:
    """Compute until standard input ends.

    Args:
        plugins: files and modules that the page has loaded.
    """
    if hasattr(os, "nice"):
        os.nice(LOWER)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the page, whose end is the end of the input here
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what is printed by mistake must not stand between two answers
    load_known(plugins)
    while True:
        try:
            work, args = pickle.load(asked)
        except EOFError:
            return
        pickle.dump(answered(work, args), answers)
        answers.flush()


def answered(work: Callable[..., Any], args: tuple) -> tuple[bool, Any]:
    """True and what the work returns, or False and its exception, which can travel."""
    try:
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGPROF, _stop)
            signal.setitimer(signal.ITIMER_PROF, limits.SECONDS)
        try:
            return True, work(*args)
        finally:
            if hasattr(signal, "setitimer"):
                signal.setitimer(signal.ITIMER_PROF, 0)
    except _Stopped:
        return False, ValueError(TOO_LONG)
    except ValueError as error:
        return False, ValueError(str(error))
    except Exception:
        return False, RuntimeError(traceback.format_exc())


class _Stopped(BaseException):
    """Passes whatever catches exceptions within the work."""


def _stop(*_: Any) -> None:
    raise _Stopped
