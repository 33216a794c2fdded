"""A run as one graph for networkx, Gephi or yEd."""

from __future__ import annotations

from ..base.files import printable
from ..record.trace import Trace


def graphml(trace: Trace) -> str:
    """The trees of all steps in GraphML; the last accepted node of a step leads to the next root.

    Args:
        trace: the run; node n of step s is called "s.n", and its columns are its data.
    """
    import networkx as nx

    graph = nx.DiGraph()
    last = ""
    for step in trace.steps:
        tree = step.to_networkx()
        nx.set_node_attributes(tree, step.index, "step")
        # XML has no control characters, which a token may be.
        for values in tree.nodes.values():
            for name, value in values.items():
                if isinstance(value, str):
                    values[name] = printable(value)
        # The nodes of all steps stand in one graph, so each has the number of its step.
        tree = nx.relabel_nodes(tree, {node: f"{step.index}.{node}" for node in tree})
        graph.update(tree)
        if last:
            graph.add_edge(last, f"{step.index}.0")
        last = f"{step.index}.{step.path[-1] if step.path else 0}"
    return "\n".join(nx.generate_graphml(graph)) + "\n"
