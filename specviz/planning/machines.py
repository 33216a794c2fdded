"""Other machines, as cost tables: projections from published numbers.

A large model on a GPU spends a pass on moving its weights, so a pass over many tokens costs what one token costs, up
to the point where arithmetic takes over. The tables here have that one bend; where a paper's own step times are known,
overhead is what makes them come out.
"""

from __future__ import annotations

from collections.abc import Callable

from .cost_table import CostTable

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1024)


def roofline(
    machine: str, note: str, pass_s: float, draft_s: float, overhead_s: float, flat: float, unit: str = "s"
) -> CostTable:
    """A projected table: a target pass costs `pass_s` up to `flat` nodes and grows in proportion beyond.

    Args:
        machine, note: what it is called, and where the numbers come from.
        pass_s: a pass of one token, which is also a step of plain decoding, in seconds.
        draft_s: a draft pass of any width, in seconds.
        overhead_s: the rest of a speculative step, in seconds.
        flat: nodes up to which the pass costs the same, at least 1.
        unit: of the three times, as in `CostTable`.

    Raises:
        ValueError: if `flat` is below 1.

    >>> cost = roofline("a GPU", "assumed", pass_s=0.02, draft_s=0.001, overhead_s=0.002, flat=64)
    >>> cost.target(32), cost.target(128)
    (0.02, 0.04)
    """
    if flat < 1:
        raise ValueError(f"flat must be at least 1 node; got {flat}.")
    sizes = tuple(sorted({*SIZES, *([int(flat)] if flat < SIZES[-1] else [])}))
    return CostTable(
        machine=machine, projection=True, note=note, plain_s=pass_s, sizes=sizes,
        target_s=tuple(pass_s * max(1.0, size / flat) for size in sizes),
        overhead_s=tuple(overhead_s if size > 1 else 0.0 for size in sizes),
        widths=(1, sizes[-1]), draft_s=(draft_s, draft_s), unit=unit,
    )  # fmt: skip


def a100() -> CostTable:
    """Llama2-7B with a 68 M draft on one A100, from Sequoia's table 1."""
    return roofline(
        "A100",
        "Projection: Llama2-7B with a 68 M draft on an A100. 24.2 ms per token and 0.5 ms per draft pass as printed in "
        "Sequoia's table 1, 1.7 ms overhead from its times between tokens; constant up to 153 tokens, where 312 "
        "TFLOP/s meet 2.04 TB/s.",
        pass_s=0.0242, draft_s=0.0005, overhead_s=0.0017, flat=153,
    )  # fmt: skip


def l40_offload() -> CostTable:
    """Llama2-70B or Llama3-70B with a 7 B or 8 B draft on one L40, weights in main memory, from Sequoia's table 2."""
    return roofline(
        "L40 with offload",
        "Projection: a 70 B target offloaded to main memory with an 8 B draft on an L40. 5.7 s per token as printed in "
        "Sequoia's table 2; 0.02 s a draft pass, its 16 GB read at 864 GB/s; 0.8 s overhead from the table's times "
        "between tokens; constant for all sizes, because transferring the weights dominates.",
        pass_s=5.7, draft_s=0.02, overhead_s=0.8, flat=7000,
    )  # fmt: skip


def flat_up_to(nodes: float, draft_cost: float = 0.05) -> CostTable:
    """An idealised machine: a pass costs 1 up to `nodes` nodes, a draft pass `draft_cost`, nothing else anything."""
    return roofline(
        f"constant up to {nodes:g} nodes",
        f"Projection: a target pass costs 1 up to {nodes:g} nodes, a draft pass {draft_cost:g}, everything else 0.",
        pass_s=1.0, draft_s=draft_cost, overhead_s=0.0, flat=nodes, unit="pass",
    )  # fmt: skip


MACHINES: dict[str, Callable[[], CostTable]] = {"a100": a100, "l40-offload": l40_offload}


def machine(name: str) -> CostTable:
    """The table of a named machine: "a100", "l40-offload" or "flat:N" (N nodes at the price of one).

    Raises:
        ValueError: if there is no such machine.
    """
    kind, colon, number = name.partition(":")
    if kind in MACHINES and not colon:
        return MACHINES[kind]()
    if kind == "flat" and number.isdecimal() and int(number) >= 1:
        return flat_up_to(int(number))
    raise ValueError(f"machine must be one of {', '.join(MACHINES)} or flat:N with N from 1; got {name!r}.")
