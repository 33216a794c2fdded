"""Many visitors at once, then many runs one after another, against the demo on this machine; prints what happened.

    python tests/load.py                                 # toy tables: the queue, the memory and the failures
    python tests/load.py --pair embedded --tokens 24     # the embedded pair: waiting times that mean something

Not a test. It serves the demo in a process of its own, calls its endpoint `/generate` over loopback with gradio_client,
and looks at the resident memory of that process. One run is cancelled half-way and one breaks inside the target.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
from contextlib import redirect_stdout
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
BREAKS = "unlucky"  # a prompt with this word breaks the target at its third pass


class Tried:
    """A pair whose target breaks for one prompt.

    Args:
        pair: the models.
        seconds: to add to every pass of the target, where it has nothing to compute.
    """

    def __init__(self, pair, seconds=0.0):
        self.pair, self.seconds, self.breaking = pair, seconds, set()

    def __getattr__(self, name):
        return getattr(self.pair, name)

    def encode(self, text):
        tokens = self.pair.encode(text)
        if BREAKS in text:
            self.breaking.add(tuple(tokens))
        return tokens

    def open(self, tokens):
        target, draft = self.pair.open(tokens)
        forward, breaks, passes = target.forward, tuple(tokens) in self.breaking, count(1)

        def tried(tree, nodes):
            sleep(self.seconds)
            if next(passes) == 3 and breaks:
                raise RuntimeError("broken on purpose")
            return forward(tree, nodes)

        target.forward = tried
        return target, draft


def serve(name: str) -> None:
    """Serve the demo until standard input ends; the address goes to standard output."""
    import specviz
    from app.page import build_demo, launch

    toy = name == "toy"
    demo = build_demo(lambda: Tried(specviz.toy_pair(vocab=26) if toy else specviz.load_pair(), 0.02 if toy else 0.0))
    with redirect_stdout(sys.stderr):  # where agents are served, gradio says so even when it is to be quiet
        _, url, _ = launch(demo, prevent_thread_lock=True, quiet=True, server_name="127.0.0.1")
    print(url, flush=True)
    sys.stdin.read()


def resident(pid: int) -> float:
    """Resident memory of a process, in MB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


class Visit:
    """One run of one visitor: served, refused or failed; how long it waited, and whether it learnt its place."""

    def __init__(self, url: str, prompt: str, tokens: int) -> None:
        from gradio_client import Client

        self.client = Client(url, verbose=False)
        self.prompt, self.tokens = prompt, tokens
        self.error, self.waited, self.placed, self.items = "", 0.0, False, 0

    def run(self, leave_after: int | None = None) -> Visit:
        """Decode; leave after that many items, if it is given."""
        began = perf_counter()
        try:
            job = self.client.submit(self.prompt, max_new_tokens=self.tokens, api_name="/generate")
            while not job.done():
                self.items = len(job.outputs())
                self.waited = self.waited or (perf_counter() - began if self.items else 0.0)
                self.placed = self.placed or job.status().rank is not None
                if leave_after is not None and self.items >= leave_after:
                    job.cancel()
                    return self
                sleep(0.01)
            job.result()
            self.items = len(job.outputs())
            self.waited = self.waited or perf_counter() - began
        except Exception as error:
            self.error = str(error) or type(error).__name__
        return self


def together(url: str, visitors: int, tokens: int) -> None:
    """All visitors at once."""
    visits = [Visit(url, f"visitor {number} writes", tokens) for number in range(visitors)]
    threads = [threading.Thread(target=visit.run) for visit in visits]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = [visit for visit in visits if "Queue is full" in visit.error]
    failed = [visit for visit in visits if visit.error and visit not in refused]
    waits = sorted(visit.waited for visit in visits if not visit.error)
    print(f"{visitors} at once: {len(waits)} served, {len(refused)} refused, {len(failed)} errors")
    print(f"  learnt their place in the queue: {sum(visit.placed for visit in visits)}")
    print(
        f"  wait for the first item: median {median(waits):.2f} s, longest {waits[-1]:.2f} s"
        if waits
        else "  none served"
    )
    for visit in failed[:3]:
        print(f"  error: {visit.error}")


def trouble(url: str) -> None:
    """A run that is left half-way, and one that breaks; each time the next visitor is served."""
    left = Visit(url, "a long story", 400).run(leave_after=3)
    after = Visit(url, "the next one", 8).run()
    print(f"cancelled after {left.items} items; the next waited {after.waited:.2f} s, error: {after.error or 'none'}")
    broken = Visit(url, f"an {BREAKS} story", 40).run()
    after = Visit(url, "the next one", 8).run()
    print(f'broke after {broken.items} items with "{broken.error}"; the next: error {after.error or "none"}')


def in_turn(url: str, runs: int, tokens: int, pid: int) -> None:
    """One run after another, each a new visitor."""
    first, errors = resident(pid), 0
    for number in range(1, runs + 1):
        visit = Visit(url, f"run {number} writes", tokens).run()
        visit.client.close()
        errors += bool(visit.error)
        if number % 50 == 0 or number == runs:
            print(f"  run {number}: {resident(pid):.0f} MB")
    after = resident(pid)
    print(f"{runs} in turn: {runs - errors} served, {errors} errors; {first:.0f} MB before, {after:.0f} MB after")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pair", choices=["toy", "embedded"], default="toy")
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--tokens", type=int, default=24, help="new tokens of each run")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve(args.pair)
    command = [sys.executable, __file__, "--serve", "--pair", args.pair]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        url = server.stdout.readline().strip()
        Visit(url, "to begin with", 8).run()  # loads the models
        print(f"{args.pair} pair, {args.tokens} tokens a run, {resident(server.pid):.0f} MB with the models loaded")
        together(url, args.visitors, args.tokens)
        trouble(url)
        in_turn(url, args.runs, args.tokens, server.pid)
        server.stdin.close()


if __name__ == "__main__":
    main()
