"""Many visitors at once, floods, and many runs in turn, against the demo on this machine; prints what happened.

    python tests/load.py                                 # toy tables: the queue, the memory and the failures
    python tests/load.py --pair embedded --tokens 24     # the embedded pair: waiting times that mean something
    python tests/load.py --floods                        # 45 trees, 45 runs opened, 40 visitors for a minute, 400 runs
    python tests/load.py --floods --root ../before       # the same against another checkout

Not a test. It serves the demo in a process of its own and calls it over loopback, every visitor by an address of its
own (X-Forwarded-For), and looks at the resident memory of that process and those it started. One run is cancelled
half-way and one breaks inside the target.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, sys.argv[sys.argv.index("--root") + 1] if "--root" in sys.argv else str(ROOT))
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
    """Resident memory of a process and those it started, in MB."""
    try:
        mine = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        started = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # it has just ended
        return 0.0
    return mine + sum(resident(int(child)) for children in started for child in children)


_visitors = count(1)


def address() -> dict[str, str]:
    """A header by which a new visitor comes; the server believes what comes from this machine."""
    number = next(_visitors)
    return {"X-Forwarded-For": f"10.0.{number // 250}.{number % 250 + 1}"}


class Visit:
    """One run of one visitor: served, rejected or failed; how long it waited, and whether it learnt its place."""

    def __init__(self, url: str, prompt: str, tokens: int) -> None:
        from gradio_client import Client

        self.client = Client(url, headers=address(), verbose=False)
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
    rejected = [visit for visit in visits if said(visit.error)]
    failed = [visit for visit in visits if visit.error and visit not in rejected]
    waits = sorted(visit.waited for visit in visits if not visit.error)
    print(f"{visitors} at once: {len(waits)} served, {len(rejected)} rejected, {len(failed)} errors")
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


class Page:
    """Requests of one visitor that are no runs, each answered by "served", "rejected" with a sentence or "failed".

    Args:
        url: of the served page.
        headers: with the visitor's address.
    """

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        import httpx

        limits = httpx.Limits(max_connections=100)
        self.http = httpx.Client(base_url=url, headers=headers, timeout=600, trust_env=False, limits=limits)
        config = self.http.get("config").json()
        self.ids = {part["props"].get("elem_id"): part["id"] for part in config["components"]}
        self.values = {part["id"]: part["props"].get("value") for part in config["components"]}
        preset = [self.ids["sv-lab-preset"], "input"]
        self.moved = next(event for event in config["dependencies"] if preset in event["targets"])
        self.numbers = count(1)

    def opened(self) -> float:
        """Seconds until the page itself is answered."""
        began = perf_counter()
        self.http.get("").raise_for_status()
        return perf_counter() - began

    def trees(self, nodes: int = 768, levels: int = 64) -> str:
        """All trees of the Tree lab for a vector that nobody asked for before."""
        new = (id(self) + next(self.numbers)) % 10**6
        data = [self.values.get(part) for part in self.moved["inputs"]]
        box = self.moved["inputs"].index(self.ids["sv-lab-box"])
        data[box] = f"0.5, 0.2, 0.1, 0.05, 0.04, 0.03, 0.02, 0.00{new:06d}"
        first = self.moved["inputs"].index(self.ids["sv-lab-preset"]) + 3  # after the look and the branching
        data[first : first + 2] = nodes, levels
        body = {"data": data, "fn_index": self.moved["id"], "session_hash": f"lab {id(self)}"}
        return self._kind(self.http.post("gradio_api/run/predict", json=body), "forest")

    def call(self, element: str, function: str, asked: object, word: str) -> str:
        """A function that the page's scripts call."""
        body = {"component_id": self.ids[element], "fn_name": function, "session_hash": "s", "data": asked}
        return self._kind(self.http.post("gradio_api/component_server", json=body), word)

    def table(self) -> str:
        p = [0.1 + (id(self) + next(self.numbers)) % 997 / 997, 0.3, 0.2, 0.2, 0.1]
        asked = {"p": p, "q": p[::-1], "children": 3, "levels": 1, "rule": "sequoia", "scheme": None, "seed": 0}
        return self.call("sv-verification", "table", asked, "rows")

    def open(self, trace: str) -> str:
        return self.call("sv-stage", "open_trace", trace, "steps")

    def _kind(self, answer, word: str) -> str:
        if word in answer.text:
            return "served"
        return "rejected" if said(answer.text) else f"failed ({answer.status_code})"


def said(answer: str) -> bool:
    """Whether an answer rejects a request with a sentence."""
    return any(words in answer for words in ("ueue is full", "already waiting", "must be at most"))


def whole(bytes: int) -> str:
    """A run as a file of about so many bytes."""
    import specviz

    config = specviz.RunConfig("abc", specviz.BUILDERS["sequoia"](size=33), max_new_tokens=50)
    once = json.loads(specviz.run(specviz.toy_pair(vocab=26), config).to_json())
    times = max(1, bytes // len(json.dumps(once)))
    return json.dumps(once | {"steps": once["steps"] * times})


def watched(what: str, url: str, pid: int, work) -> None:
    """Do work(), which returns kinds of answers, while another visitor opens the page again and again; print both."""
    page, over, waits, memory = Page(url, address()), threading.Event(), [], []

    def visits() -> None:
        while not over.is_set():
            waits.append(page.opened())
            memory.append(resident(pid))
            over.wait(0.2)

    thread = threading.Thread(target=visits)
    thread.start()
    began = perf_counter()
    kinds = Counter(work())
    took = perf_counter() - began
    over.set()
    thread.join()
    failed = sum(kinds.values()) - kinds["served"] - kinds["rejected"]
    print(
        f"{what}: {kinds['served']} served, {kinds['rejected']} rejected with a sentence, {failed} failed, "
        f"in {took:.1f} s; longest wait of GET / {max(waits):.2f} s of {len(waits)}; at most {max(memory):.0f} MB",
        flush=True,
    )
    for kind in sorted(set(kinds) - {"served", "rejected"})[:3]:
        print(f"  {kind}: {kinds[kind]}")


def run_kind(url: str, tokens: int) -> str:
    error = Visit(url, "a visitor writes", tokens).run().error
    return "rejected" if said(error) else f"failed ({error})" if error else "served"


def floods(url: str, pid: int, size: int, visitors: int, seconds: float, runs: int, tokens: int) -> None:
    """Two floods by one visitor each, many visitors who do this and that, tables beside a run, and runs in turn."""
    trace, small = whole(800_000), whole(1)

    def flood(ask) -> list[str]:
        with ThreadPoolExecutor(size) as threads:
            return [sent.result() for sent in [threads.submit(ask) for _ in range(size)]]

    one, two = Page(url, address()), Page(url, address())
    watched(f"{size} trees", url, pid, lambda: flood(one.trees))
    watched(f"{size} runs of {len(trace) / 1e6:.1f} MB opened", url, pid, lambda: flood(lambda: two.open(trace)))

    def mixed(until: float) -> list[str]:
        mine, kinds = Page(url, address()), []
        ways = [lambda: mine.trees(64, 12), mine.table, lambda: mine.open(small), lambda: run_kind(url, tokens)]
        for turn in count(next(_visitors)):
            if perf_counter() > until:
                return kinds
            kinds.append(ways[turn % len(ways)]())

    def many() -> list[str]:
        with ThreadPoolExecutor(visitors) as threads:
            until = perf_counter() + seconds
            return [kind for found in threads.map(mixed, [until] * visitors) for kind in found]

    watched(f"{visitors} mixed visitors for {seconds:.0f} s", url, pid, many)

    def timed_run() -> float:
        began = perf_counter()
        Visit(url, "how long does it take", tokens).run()
        return perf_counter() - began

    alone, over = median(timed_run() for _ in range(3)), threading.Event()

    def tables() -> None:
        mine = Page(url, address())
        while not over.is_set():
            mine.table()

    with ThreadPoolExecutor(10) as threads:
        for _ in range(10):
            threads.submit(tables)
        beside = median(timed_run() for _ in range(3))
        over.set()
    print(f"a run takes {alone:.2f} s alone and {beside:.2f} s beside ten visitors who ask for tables", flush=True)
    watched(f"{runs} runs in turn", url, pid, lambda: [run_kind(url, tokens) for _ in range(runs)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pair", choices=["toy", "embedded"], default="toy")
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--runs", type=int, help="runs in turn: 300, or 400 after the floods")
    parser.add_argument("--tokens", type=int, default=24, help="new tokens of each run")
    parser.add_argument("--floods", action="store_true", help="floods, a minute of mixed visitors, and runs in turn")
    parser.add_argument("--flood", type=int, default=45, help="requests of a flood")
    parser.add_argument("--mixed", type=int, default=40, help="mixed visitors")
    parser.add_argument("--seconds", type=float, default=60.0, help="for which mixed visitors come")
    parser.add_argument("--root", default=str(ROOT), help="folder of the checkout whose demo is served")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve(args.pair)
    command = [sys.executable, str(Path(__file__).resolve()), "--serve", "--pair", args.pair, "--root", args.root]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=args.root, text=True, **pipes) as server:
        url = server.stdout.readline().strip()
        Visit(url, "to begin with", 8).run()  # loads the models
        print(f"{args.pair} pair, {args.tokens} tokens a run, {resident(server.pid):.0f} MB with the models loaded")
        if args.floods:
            floods(url, server.pid, args.flood, args.mixed, args.seconds, args.runs or 400, args.tokens)
        else:
            together(url, args.visitors, args.tokens)
            trouble(url)
            in_turn(url, args.runs or 300, args.tokens, server.pid)
        server.stdin.close()


if __name__ == "__main__":
    main()
