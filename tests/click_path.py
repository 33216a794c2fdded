"""How far it is from a click on Run to the first tree: `python -m tests.click_path`.

`--list` prints every function.

Counts functions of this project, generators and threads that take part, by `sys.setprofile`, from
the handler that the page calls to the first message with a step, with a pair that is in memory. The
thread that computes goes on with the next step while the message travels, so it is watched until it
sends it.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

import specviz
from app.page import build_demo
from app.service.queued_run import QueuedRun
from tests.loops import is_busy, until

ROOT = Path(__file__).resolve().parent.parent
GENERATOR = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR


class ClickPath:
    """The functions that were entered, the generators among them, and the threads."""

    def __init__(self) -> None:
        self.functions: set[CodeType] = set()
        self.generators: dict[CodeType, int] = {}
        self.threads: set[int] = set()
        self.done: set[int] = set()  # threads that have sent the message
        self.is_counting = False

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        thread = threading.get_ident()
        if code is QueuedRun.send.__code__ and event == "return":
            self.done.add(thread)
        own = code.co_filename.startswith((str(ROOT / "app"), str(ROOT / "specviz")))
        if not self.is_counting or thread in self.done or event != "call":
            return
        if not own or code.co_name.startswith("<"):
            return
        self.functions.add(code)
        self.threads.add(thread)
        if code.co_flags & GENERATOR:
            self.generators[code] = self.generators.get(code, 0) + 1


def measure() -> ClickPath:
    """The way of the second click; the first loads the pair and fills caches."""
    demo = build_demo(lambda: specviz.toy_pair(vocab=12))
    run = next(
        event.fn
        for event in demo.fns.values()
        if getattr(event.fn, "__qualname__", "") == "Answers.run"
    )
    values = [
        control.value for event in demo.fns.values() if event.fn is run for control in event.inputs
    ]

    async def first_tree() -> None:
        items = run(None, *values)
        async for update in items:
            if any('"parents"' in str(value) for value in update):
                break
        path.is_counting = False  # what ends the run is no part of the way
        await items.aclose()

    # The thread that computes starts with the first click, and is watched from then on.
    path = ClickPath()
    threading.setprofile(path.profile)
    sys.setprofile(path.profile)
    try:
        asyncio.run(first_tree())
        until(
            lambda: not is_busy(demo.service)
        )  # the end of the first run is no part of the second
        path.done.clear()
        path.is_counting = True
        asyncio.run(first_tree())
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return path


def main() -> None:
    path = measure()
    row = [code.co_qualname for code in path.generators]
    print(
        f"{len(path.functions)} functions in {len({c.co_filename for c in path.functions})} files"
    )
    for room in ("app", "specviz"):
        own = [code for code in path.functions if f"/{room}/" in code.co_filename]
        print(f"  {len(own)} in {room}")
    print(f"{len(path.threads)} threads")
    print(f"{len(row)} generators: {', '.join(row)}")
    if "--list" in sys.argv:
        for code in sorted(path.functions, key=lambda code: (code.co_filename, code.co_qualname)):
            print(Path(code.co_filename).relative_to(ROOT), code.co_qualname)


if __name__ == "__main__":
    main()
