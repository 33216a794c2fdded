"""What a step costs by part, against plain decoding in turns: `python tests/step_cost.py`, on an idle machine.

Not a test, because it measures time. It times the checkout that it is run from, so another one is compared by running
this file there: `cd ../other && python path/to/tests/step_cost.py`.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, thread_time

sys.path.insert(0, str(Path.cwd()))
ROWS = ("sequoia:size=16,depth=6", "sequoia:size=12,depth=4", "sequoia:size=6,depth=3", "chain:depth=3", "k-ary")
DRAFTERS = ("eagle", "online")  # with the first of these trees
PARTS = ("draft", "target", "verify", "other")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--prompts", type=int, default=4, help="held-out tales, from 1")
    asked.add_argument("--tokens", type=int, default=96, help="of a run")
    asked.add_argument("--temperature", type=float, nargs="+", default=[0.0, 0.8])
    asked.add_argument("--builder", nargs="+", default=list(ROWS))
    asked.add_argument("--drafter", nargs="*", default=list(DRAFTERS), help="besides the draft model")
    asked.add_argument("--threads", type=int, help="of torch (default: its own number)")
    asked.add_argument("--busy", action="store_true", help="one thread, and its own CPU time in place of the clock's")
    asked.add_argument("--dtype", default="auto")
    args = asked.parse_args()

    import torch

    import specviz.session
    from specviz.files import HELD_OUT

    if args.busy:
        args.threads = 1
        specviz.session.perf_counter = thread_time
    if args.threads:
        torch.set_num_threads(args.threads)
    pair = specviz.load_pair(device="cpu", dtype=args.dtype)
    prompts = json.loads(HELD_OUT.read_text(encoding="utf-8"))["prose"][: args.prompts]
    policy = {name: os.environ[name] for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT") if name in os.environ}
    print(f"{Path(specviz.__file__).parent}: {pair.info['dtype']}, {torch.get_num_threads()} threads, {policy}")
    print(f"{args.prompts} tales, {args.rounds} rounds; parts are medians of a step in ms, total, record and cpu means")
    print("record: made when a step is read, in no part; calls: of functions, Python's and C's, for a step")
    head = "{:>4} {:34}" + " {:>7}" * 10 + "  {}"
    names = ("total", "/token", "tok/pass", "record", "cpu", "calls")
    print(head.format("T", "tree", *PARTS, *names, "x plain, paired (min to max)"))
    for temperature in args.temperature:
        first = specviz.RunConfig(builder="plain", verifier="plain", temperature=temperature, seed=1)
        first = replace(first, max_new_tokens=args.tokens)
        rule = "exact-match" if temperature == 0 else "sequoia"
        ways = {"plain": first}
        for builder in args.builder:
            ways[builder] = replace(first, builder=builder, verifier=rule)
        for drafter in args.drafter:
            ways[f"{args.builder[0]}, {drafter}"] = replace(ways[args.builder[0]], drafter=drafter)
        found = {name: [] for name in ways}  # a run each
        for config in ways.values():
            decoded(specviz, pair, replace(config, prompt=prompts[0]))  # a cold start counts for nobody
        for turn in range(args.rounds):
            for prompt in prompts:
                order = list(ways)[turn % len(ways) :] + list(ways)[: turn % len(ways)]
                for name in order:
                    found[name].append(decoded(specviz, pair, replace(ways[name], prompt=prompt, seed=turn)))
        for name, runs in found.items():
            steps = [step for run in runs for step in run["steps"]]
            parts = [1e3 * median(getattr(step.seconds, part) for step in steps) for part in PARTS]
            total, tokens = sum(step.seconds.total for step in steps), sum(len(step.emitted) for step in steps)
            ratios = [run["rate"] / other["rate"] for run, other in zip(runs, found["plain"], strict=True)]
            record, cpu = (1e3 * sum(run[what] for run in runs) / len(steps) for what in ("record", "cpu"))
            numbers = [*parts, 1e3 * total / len(steps), 1e3 * total / tokens, tokens / len(steps), record, cpu]
            calls = counted(specviz, pair, replace(ways[name], prompt=prompts[0]))
            print(head.format(
                f"{temperature:g}", name, *(f"{number:.2f}" for number in numbers), f"{calls:.0f}",
                f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
            ), flush=True)  # fmt: skip


def decoded(specviz, pair, config) -> dict:
    """One run: its results after the first, their tokens a second, and what their records took."""
    from specviz.decode import decode
    from specviz.session import record

    cpu = process_time()
    steps = list(decode(pair, config))[1:]
    cpu = process_time() - cpu
    began = perf_counter()
    for result in steps:
        record(result, pair.piece)
    spent = perf_counter() - began
    rate = sum(len(step.emitted) for step in steps) / sum(step.seconds.total for step in steps)
    return {"steps": steps, "rate": rate, "record": spent, "cpu": cpu}


def counted(specviz, pair, config) -> float:
    """Calls of functions per step, of Python and of C."""
    profile = cProfile.Profile()
    from specviz.decode import decode

    steps = decode(pair, config)
    next(steps)
    profile.enable()
    rest = list(steps)
    profile.disable()
    return pstats.Stats(profile).total_calls / len(rest)


if __name__ == "__main__":
    main()
