"""What the Tree lab draws, as plain data: the trees side by side, the mask of one of them, and the curve of blocks."""

from __future__ import annotations

import csv
import io
from typing import Any, NamedTuple

from specviz import codec
from specviz.plots.layout import place
from specviz.theory.mask_order import ORDERS, block_pairs, fewest_blocks
from specviz.tree import Topology

from ...parts.card import harmless
from .asked import BLOCKS
from .forest import Sizes, Tree
from .paper_trees import PRESETS

READ = (
    "The leftmost node is the last token of the text, a filled circle a drafted token with children, a ring a leaf; "
    "size shows the acceptance probability. A first child is drawn beside its parent, its siblings below. The "
    "probabilities add up to the expected tokens per target pass, including the target's own token; plain decoding "
    "has 1."
)
SYNTHETIC = (
    "A dynamic tree depends on the draft's distributions, so these trees use synthetic ones: their mean is your "
    "vector, the spread sets how much they differ, and the target agrees with the draft. At a spread of 0 all "
    "distributions are equal, and no tree beats the best static one."
)
HINT = "Click a node, or focus the picture and use the arrow keys, to mark its row in the masks below."
PAPER = 32  # rows of a block in DySpec's appendix C
CURVE = (32, 64, 96, 128, 192, 256, 384, 512, 768)
COLUMNS = (
    "name", "title", "kind", "settings",
    "nodes", "levels", "leaves", "draft_passes", "tokens_per_pass", "standard_error",
)  # fmt: skip


class Look(NamedTuple):
    """Which tree is shown large, and the rows of a block of its mask; None for what suits the size of a tree."""

    tree: str = "sequoia"
    block: int | None = None


def look_at(preset: str, vector: tuple[float, ...], sizes: Sizes, look: Look) -> Look:
    """The look that is possible: the tree asked for, or else Sequoia's, or else one from the middle."""
    names = [tree.name for tree in PRESETS[preset].trees(vector, sizes) if tree.shape]
    name = next((name for name in (look.tree, "sequoia") if name in names), names[(len(names) - 1) // 2])
    return Look(name, look.block if type(look.block) is int and look.block in BLOCKS else None)


def drawn(preset: str, vector: tuple[float, ...], sizes: Sizes, look: Look) -> tuple[Look, str]:
    """The look that is possible, and the value of the picture."""
    look = look_at(preset, vector, sizes, look)
    return look, picture(preset, vector, sizes, look)


def picture(preset: str, vector: tuple[float, ...], sizes: Sizes, look: Look) -> str:
    """The value of the lab's picture, JSON."""
    trees = PRESETS[preset].trees(vector, sizes)
    shown = next(tree for tree in trees if tree.name == look.tree)
    assert shown.shape  # `look_at` chooses no other
    block = look.block or (PAPER if len(shown.shape) >= 256 else BLOCKS[0])
    forest = {
        "source": {"kind": "theory", "label": "computed from the vector"},
        "where": PRESETS[preset].source,
        "read": READ,
        "synthetic": SYNTHETIC if any(tree.kind == "synthetic" for tree in trees) else "",
        "hint": HINT,
        "trees": [_tree(tree) for tree in trees],
        "csv": to_csv(trees),
    }
    return harmless({"forest": forest, "one": one(shown, block)})


def _tree(tree: Tree) -> dict[str, Any]:
    plain = {"name": tree.name, "title": tree.title, "kind": tree.kind, "settings": tree.settings, "note": tree.note}
    if tree.shape is None:
        return plain
    return plain | {
        "parents": list(tree.shape.parents), "rows": [row for _, row in place(tree.shape)],
        "chance": tree.chance,
        "tokens": tree.tokens, "error": tree.error, "stats": stats(tree),
    }  # fmt: skip


def leaves(shape: Topology) -> int:
    """How many nodes have no child."""
    return sum(not children for children in shape.children)


def stats(tree: Tree) -> str:
    """The numbers of a tree in words."""
    shape = tree.shape
    assert shape
    counted = [
        (len(shape), "node"), (int(shape.depth.max()), "level"), (leaves(shape), "leaf"), (tree.passes, "draft pass")
    ]  # fmt: skip
    plural = {"leaf": "leaves", "draft pass": "draft passes"}
    return ", ".join(
        f"{round(count, 1):g} {noun if count == 1 else plural.get(noun, noun + 's')}" for count, noun in counted
    )


def to_csv(trees: tuple[Tree, ...]) -> str:
    """The numbers of every tree, one a line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for tree in trees:
        if tree.shape is not None:
            size = len(tree.shape), int(tree.shape.depth.max()), leaves(tree.shape)
            numbers = codec.plain((*size, tree.passes, tree.tokens, tree.error))
            writer.writerow([*tree[:4], *numbers])
    return text.getvalue()


def one(tree: Tree, block: int) -> dict[str, Any]:
    """The attention mask of a tree in every order that differs."""
    assert tree.shape
    orders = {name: make(tree.shape) for name, make in ORDERS.items()}
    if orders["as drawn"] == orders["breadth-first"]:
        del orders["as drawn"]
    rows = -(-len(tree.shape) // block)
    fewest = fewest_blocks(tree.shape, block)
    return {
        "name": tree.name, "block": block, "choices": BLOCKS,
        "orders": [
            _mask(name, tree.shape, order, block, rows * (rows + 1) // 2) for name, order in orders.items()
        ],
        "bound": f"Blocks of {block} × {block} in the lower triangle: {rows * (rows + 1) // 2:,}. "
        f"No order of these nodes needs fewer than {fewest:,}.",
    }  # fmt: skip


def _mask(name: str, shape: Topology, order: tuple[int, ...], block: int, triangle: int) -> dict[str, Any]:
    pairs = block_pairs(shape, order, block)
    rows, columns = pairs.nonzero()
    blocks = [[int(r), int(c), int(pairs[r, c])] for r, c in zip(rows, columns, strict=True)]
    words = f"{len(blocks):,} of {triangle:,} blocks"
    return {"name": name, "order": list(order), "blocks": blocks, "said": words}
