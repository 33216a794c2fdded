"""Trees that papers show or use, computed anew here, each with the place it stands in."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from specviz import BUILDERS
from specviz.acceptance.vectors import published
from specviz.randomness import Seeded
from specviz.theory.mask_order import random_tree

from .forest import Sizes, Tree, every_builder, shaped, static

SEQUOIA = "Chen et al., Sequoia (2024)"
APPENDIX_E = "llama3-8b-70b-cnn"
TABLE_5 = {256: (36, 22.5), 512: (135.5, 52.8), 1024: (490.2, 119.3)}


class Preset(NamedTuple):
    """Trees to show together: a title, where they come from, and how they are made from a vector and sizes."""

    title: str
    source: str
    trees: Callable[[tuple[float, ...], Sizes], tuple[Tree, ...]]


def sequoia(name: str, size: int, depth: int, vector: tuple[float, ...], note: str = "") -> Tree:
    builder = BUILDERS["sequoia"](size=size, depth=depth, acceptance=vector)
    return static(name, f"Sequoia, {size} nodes", builder, vector, note)


def sequences(width: int, depth: int, vector: tuple[float, ...], note: str) -> Tree:
    builder = BUILDERS["k-sequences"](width=width, depth=depth)
    return static(f"sequences-{width}", f"SpecInfer, {width} × {depth}", builder, vector, note)


def printed() -> tuple[float, ...]:
    return published()[APPENDIX_E]["acceptance"]


# The paper numbers the root's level 1, this project counts the levels below it: its depth D is D - 1 levels.


@lru_cache
def figure_2(vector, sizes) -> tuple[Tree, ...]:
    note = "Right half of the figure: size 64, maximum depth 12 with the root, so 11 levels below it."
    free = "The same size where the depth is not limited, as in figure 5 (d)."
    return sequoia("figure-2", 64, 12 - 1, printed(), note), sequoia("figure-5-64", 64, 63, printed(), free)


@lru_cache
def figure_5(vector, sizes) -> tuple[Tree, ...]:
    shown = zip("abcdef", (8, 16, 32, 64, 128, 256), strict=True)
    return tuple(sequoia(f"figure-5-{n}", n, min(n - 1, 64), printed(), f"Figure 5 ({part}).") for part, n in shown)


@lru_cache
def tables(vector, sizes) -> tuple[Tree, ...]:
    return (
        sequences(5, 8, vector, "Baseline of table 1 (A100)."),
        sequoia("table-1", 128, 10 - 1, vector, "Table 1: (128, 10) with the root, for Llama2-7B on an A100."),
        sequences(16, 48, vector, "Baseline of table 2 (L40, weights offloaded)."),
        sequences(24, 32, vector, "Table 7."),
        sequences(32, 24, vector, "Table 7."),
        sequoia("table-2", 768, 18 - 1, vector, "Table 2: (768, 18) with the root, for the 70B models on an L40."),
    )


@lru_cache
def races(vector, sizes) -> tuple[Tree, ...]:
    drafted = min(sizes.nodes - 1, 64)
    parting = [1, 1, 3, *[1] * ((drafted - 2) // 3 - 1)] if drafted >= 5 else [1] * drafted
    made = (
        ("batch", "Batch", BUILDERS["batch"](width=drafted), "Children of the root only."),
        ("sequence", "Sequence", BUILDERS["chain"](depth=drafted), "One chain."),
        ("specinfer", "SpecInfer tree", BUILDERS["branching"](widths=tuple(parting)),
         "Three sequences with their first two tokens in common."),
        ("optimal", "Optimal tree", BUILDERS["optimal"](size=drafted + 1, depth=drafted, acceptance=vector),
         "Algorithm 3."),
    )  # fmt: skip
    return tuple(static(name, title, builder, vector, note) for name, title, builder, note in made)


@lru_cache
def table_5(vector, sizes) -> tuple[Tree, ...]:
    return tuple(
        shaped(f"random-{n}", f"Random tree, {n} nodes", random_tree(n, Seeded(sizes.seed)), vector, "",
               f"The paper prints {drawn} blocks of 32 × 32 as drawn and {reordered} reordered.")
        for n, (drawn, reordered) in TABLE_5.items()
    )  # fmt: skip


PRESETS = {
    "builders": Preset("Every builder, at your sizes", "", every_builder),
    "figure-2": Preset(
        "Sequoia figure 2: 64 nodes, depth 12",
        f"{SEQUOIA}, figure 2, computed from the vector of appendix E, whatever the box says: the paper does not print "
        "the one it drew this tree from.",
        figure_2,
    ),
    "figure-5": Preset(
        "Sequoia figure 5: 8 to 256 nodes",
        f"{SEQUOIA}, appendix E, figure 5: depth not limited, computed from the vector printed there, whatever the box "
        "says.",
        figure_5,
    ),
    "tables": Preset(
        "Sequoia tables 1, 2, 7: what was raced",
        f"{SEQUOIA}, tables 1, 2 and 7: the sizes are the paper's, the vector is yours, since theirs are not printed.",
        tables,
    ),
    "races": Preset(
        "Exponential races figure 3: four strategies",
        "Kobus and Gündüz (2025), section 5 and figure 3: the shapes are the paper's, nodes (65 at most) and vector "
        "are yours. Depth is not limited.",
        races,
    ),
    "table-5": Preset(
        "DySpec table 5: random trees",
        "Xiong et al., DySpec (2024), appendix C, table 5. The paper says no more than random; trees in which every "
        "node hangs from any earlier one with equal chance have its block counts.",
        table_5,
    ),
}
