"""A run as one graph, for programs that read graphs: GraphML and DOT."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Any

from ..trace import Trace

if TYPE_CHECKING:
    import networkx

# What XML cannot hold: control characters, halves of characters and two that are none. Parsers change a lone \r.
UNWRITABLE = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SHAPES = {"root": "circle", "accepted": "box", "rejected": "diamond", "passed": "triangle", "probe": "invtriangle"}


def run_graph(trace: Trace) -> networkx.DiGraph:
    """All steps of a run as one tree: node "3.2" is node 2 of step 3, with the data of `Step.to_networkx`.

    The root of a step is a child of the last accepted node of the previous step; the target's last token is a separate
    root. What XML cannot hold of a text is written as Python escapes it: a null is "\\x00".
    """
    import networkx

    graph = networkx.DiGraph(prompt=_writable(trace.prompt_text), text=_writable(trace.text))
    last = None
    for index, step in enumerate(trace.steps):
        tree = step.to_networkx()
        graph.update(networkx.relabel_nodes(tree, {node: f"{index}.{node}" for node in tree}))
        if last:
            graph.add_edge(last, f"{index}.0")
        last = f"{index}.{step.path[-1] if step.path else 0}"
    if last and step.bonus is not None:
        root = f"{len(trace.steps)}.0"
        graph.add_node(root, tokens=step.bonus, texts=step.pieces[-1], outcome="root")
        graph.add_edge(last, root)
    for data in graph.nodes.values():
        data.update({name: _writable(value) for name, value in data.items() if isinstance(value, str)})
    return graph


def graphml(trace: Trace) -> str:
    """The graph of a run as GraphML."""
    import networkx

    file = BytesIO()
    networkx.write_graphml_xml(run_graph(trace), file, infer_numeric_types=True)
    return file.getvalue().decode()


def dot(trace: Trace) -> str:
    """The graph of a run as DOT, in the language of Graphviz: nodes show their token, data are attributes."""
    graph = run_graph(trace)
    lines = ["digraph run {", "rankdir=LR"]
    for node, data in graph.nodes.items():
        shown = {"label": data.pop("texts"), "shape": SHAPES.get(data["outcome"], "ellipse")} | data
        lines.append(f'"{node}" [{", ".join(f"{name}={_quoted(value)}" for name, value in shown.items())}]')
    lines += [f'"{parent}" -> "{child}"' for parent, child in graph.edges]
    return "\n".join([*lines, "}", ""])


def _writable(text: str) -> str:
    return UNWRITABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _quoted(value: Any) -> str:
    """A value in quotes; Graphviz reads backslashes and HTML entities inside them."""
    text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;").replace("\n", "\\n")
    return f'"{text}"'
