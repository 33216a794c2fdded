"""A class and a flood against the demo on this machine: order of service, longest wait, memory.

    python tests/load.py                                 # toy tables
    python tests/load.py --pair embedded --tokens 24     # the embedded pair: waiting times that mean something
    python tests/load.py --root ../before                # the same against another checkout

Not a test. It serves the demo in a process of its own and calls `/generate` over loopback, every visitor by an address
(X-Forwarded-For) and a session: 30 behind one address, 30 behind thirty, and one address that asks for 200 runs while
another comes. Then files are opened and runs follow one another, with the resident memory of the process and those
that it started.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path
from statistics import median
from time import perf_counter

import httpx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, sys.argv[sys.argv.index("--root") + 1] if "--root" in sys.argv else str(ROOT))
CLIENT = {"timeout": 900, "trust_env": False, "limits": httpx.Limits(max_connections=600)}
JSON = {"Content-Type": "application/json"}


def serve(name: str) -> None:
    """Serve the demo until standard input ends; the address goes to standard output."""
    import specviz
    from app.page import build_demo, launch

    demo = build_demo(lambda: specviz.toy_pair(vocab=26) if name == "toy" else specviz.load_pair())
    with redirect_stdout(sys.stderr):  # where agents are served, gradio says so even when it is to be quiet
        _, url, _ = launch(demo, prevent_thread_lock=True, quiet=True, server_name="127.0.0.1")
    print(url, flush=True)
    sys.stdin.read()


def memory(pid: int) -> float:
    """Resident memory of a process and those it started, in MB."""
    try:
        own = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        started = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # it has just ended
        return 0.0
    return own + sum(memory(int(child)) for children in started for child in children)


class Site:
    """The served page.

    Args:
        url: of it.
        tokens: of a run.
    """

    def __init__(self, url: str, tokens: int) -> None:
        self.url, self.tokens, self.finished = url, tokens, list[str]()
        config = httpx.get(f"{url}config", trust_env=False).json()
        (event,) = (event for event in config["dependencies"] if event["api_name"] == "generate")
        self.event, self.inputs = event["id"], len(event["inputs"])

    async def run(self, client: httpx.AsyncClient, address: str, session: str) -> tuple[float, str]:
        """One run of one visitor: seconds until its first tokens, and "served", "rejected" or "failed"."""
        strategies, rest = ["sequoia:size=16,depth=6", "sequoia"], [self.tokens, 0, "", 0, "model", "memory"]
        data = ["Once upon a time", *strategies, 0.8, 1, None, None, *rest][: self.inputs]
        name = f"{address} {session}".replace(" ", "x")
        body = {"data": data, "fn_index": self.event, "session_hash": name}
        began = perf_counter()
        answer = await client.post("gradio_api/queue/join", json=body, headers={"X-Forwarded-For": address})
        if answer.status_code != 200:
            return perf_counter() - began, "rejected"
        first, path = 0.0, "gradio_api/queue/data"
        async with client.stream("GET", path, params={"session_hash": name}) as lines:
            async for line in lines.aiter_lines():
                message = json.loads(line[5:]) if line.startswith("data:") else {}
                if message.get("msg") == "process_generating" and not first and message["output"]["data"][0]:
                    first = perf_counter() - began
                if message.get("msg") == "process_completed":
                    self.finished.append(f"{address} {session}")
                    return first, "served" if message["success"] else "failed"
        return first, "failed"

    def together(self, title: str, visitors: list[tuple[str, str]], late: tuple[str, str] | None = None) -> None:
        """All visitors at once, and one who comes when they wait; prints what happened."""

        async def all_runs() -> list[tuple[float, str]]:
            async with httpx.AsyncClient(base_url=self.url, **CLIENT) as client:
                tasks = [asyncio.create_task(self.run(client, *visitor)) for visitor in visitors]
                if late:
                    await asyncio.sleep(1.0)
                    tasks.append(asyncio.create_task(self.run(client, *late)))
                return await asyncio.gather(*tasks)

        self.finished.clear()
        found = asyncio.run(all_runs())
        waits = [wait for wait, kind in found if kind == "served"]
        kinds = dict(Counter(kind for _, kind in found))
        print(f"{title}: {kinds}; first tokens after {median(waits):.2f} s (median), {max(waits):.2f} s (longest)")
        if late:
            wait, kind = found[-1]
            place = self.finished.index(" ".join(late)) + 1 if kind == "served" else "-"
            print(f"  who came later: {kind}, first tokens after {wait:.2f} s, served as number {place}", flush=True)

    def open_files(self, pid: int, count: int) -> None:
        """Open a large run again and again."""
        import specviz

        config = specviz.RunConfig("abc", "sequoia:size=33", max_new_tokens=50)
        once = json.loads(specviz.run(specviz.toy_pair(vocab=26), config).to_json())
        text = json.dumps(once | {"steps": once["steps"] * max(1, 2_000_000 // len(json.dumps(once)))})
        before, kinds = memory(pid), Counter[int]()
        with httpx.Client(base_url=self.url, **CLIENT) as client:
            for _ in range(count):
                kinds[client.post("open", content=text, headers=JSON).status_code] += 1
        print(f"{count} files of {len(text) / 1e6:.1f} MB: {dict(kinds)}; {before:.0f} MB, then {memory(pid):.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pair", choices=["toy", "embedded"], default="toy")
    parser.add_argument("--tokens", type=int, default=24, help="new tokens of each run")
    parser.add_argument("--flood", type=int, default=200, help="runs that one address asks for")
    parser.add_argument("--runs", type=int, default=100, help="runs one after another")
    parser.add_argument("--root", default=str(ROOT), help="folder of the checkout whose demo is served")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve(args.pair)
    command = [sys.executable, str(Path(__file__).resolve()), "--serve", "--pair", args.pair, "--root", args.root]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=args.root, text=True, **pipes) as server:
        site = Site(server.stdout.readline().strip(), args.tokens)
        site.together("one visitor", [("10.0.0.1", "first")])  # loads the models
        print(f"{args.pair} pair, {args.tokens} tokens a run, {memory(server.pid):.0f} MB with the models loaded")
        site.together("30 behind one address", [("10.0.0.1", str(number)) for number in range(30)])
        site.together("30 behind thirty", [(f"10.0.1.{number}", "1") for number in range(30)])
        flood = [("10.0.2.1", str(number)) for number in range(args.flood)]
        site.together(f"a flood of {args.flood}", flood, late=("10.0.2.2", "1"))
        site.open_files(server.pid, 5)
        before = memory(server.pid)
        for number in range(args.runs):
            with redirect_stdout(None):
                site.together("", [(f"10.0.3.{number}", "1")])
        print(f"{args.runs} runs in turn: {before:.0f} MB before, {memory(server.pid):.0f} MB after")
        server.stdin.close()


if __name__ == "__main__":
    main()
