"""`replay`: a recorded run in the terminal, as a page that plays offline, or as a graph."""

from __future__ import annotations

import argparse

from .. import Trace
from ..files import MOST_TRACE, check_output, printable, read_text, write_text
from ..player.offline import offline_page
from .generate import paint, summary

EXAMPLE = "run.json --html run.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a trace from `generate --trace` or the demo")
    parser.add_argument("--steps", action="store_true", help="print one line per step")
    parser.add_argument("--html", metavar="OUT", help="write one HTML file that plays offline")
    graph = "write the trees of all steps as one graph, for networkx, Gephi or yEd"
    parser.add_argument("--graphml", metavar="OUT", help=graph)


def run(args: argparse.Namespace) -> None:
    outputs = {name: path for name in ("html", "graphml") if (path := getattr(args, name)) is not None}
    if outputs and args.steps:
        raise ValueError(f"--steps cannot be combined with --{next(iter(outputs))}. Omit one of them.")
    for path in outputs.values():
        check_output(path, args.file)
    trace = Trace.from_json(read_text(args.file, "trace", MOST_TRACE))
    for name, path in outputs.items():
        write_text(path, text := graph_of(trace) if name == "graphml" else offline_page(trace))
        print(f"{printable(path)}: {len(text.encode()) / 1000:.0f} kB")
    if args.steps:
        print_steps(trace)
    elif not outputs:
        print(printable(trace.prompt_text) + "".join(map(paint, trace.steps)))
    print(f"\n{summary(trace)}")


def graph_of(trace: Trace) -> str:
    """The trees of all steps as one graph in GraphML; the last accepted node of a step leads to the next root."""
    import networkx as nx

    graph, last = nx.DiGraph(), None
    for step in trace.steps:
        tree = step.to_networkx()
        for _, values in tree.nodes(data=True):
            values |= {name: printable(value) for name, value in values.items() if isinstance(value, str)}
        tree = nx.relabel_nodes(tree, {node: f"{step.index}.{node}" for node in tree})
        graph.update(tree.edges, ((node, values | {"step": step.index}) for node, values in tree.nodes(data=True)))
        if last:
            graph.add_edge(last, f"{step.index}.0")
        last = f"{step.index}.{step.path[-1] if step.path else 0}"
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def print_steps(trace: Trace) -> None:
    """One line a step: how much of its tree was accepted, and what it wrote."""
    for step in trace.steps:
        end = "" if step.bonus is None else f", {'corrected' if step.corrected else 'bonus'} {step.pieces[-1]!r}"
        written = " ".join(repr(piece) for piece in step.pieces[: len(step.path)])
        print(f"{step.index + 1:4}  {len(step.path)} of {step.drafted} drafted nodes accepted  {written}{end}")
