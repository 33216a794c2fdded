"""Projected costs of machines that are not here: a GPU, weights that are transferred, ideals, and
mixtures of experts."""

from __future__ import annotations

import re

from ..base.errors import ParameterError
from ..base.files import read_table
from .cost_table import CostTable

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1024)
MOE_SIZES = (*range(1, 17), *range(18, 33, 2), *range(36, 65, 4), 80, 96, *SIZES[7:])


def roofline(
    machine: str,
    note: str,
    pass_s: float,
    draft_s: float,
    overhead_s: float,
    flat: float,
    unit: str = "s",
) -> CostTable:
    """A projected table: a target pass costs `pass_s` up to `flat` nodes and grows in proportion
    beyond.

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
    # The corner is an entry too, as the table is read off straight lines between its entries.
    corner = min(int(flat), SIZES[-1])
    sizes = tuple(sorted({*SIZES, corner}))
    return CostTable(
        machine=machine,
        projection=True,
        note=note,
        plain_s=pass_s,
        sizes=sizes,
        target_s=tuple(pass_s * max(1.0, size / flat) for size in sizes),
        overhead_s=tuple(overhead_s if size > 1 else 0.0 for size in sizes),
        widths=(1, sizes[-1]),
        draft_s=(draft_s, draft_s),
        unit=unit,
    )


MACHINES = {name: roofline(**row) for name, row in read_table("machines.toml").items()}


def flat_up_to(nodes: float, draft_cost: float = 0.05) -> CostTable:
    """An idealised machine: a pass costs 1 up to `nodes` nodes, a draft pass `draft_cost`, nothing
    else anything."""
    return roofline(
        f"constant up to {nodes:g} nodes",
        (
            f"Projection: a target pass costs 1 up to {nodes:g} nodes, a draft pass "
            f"{draft_cost:g}, everything else 0."
        ),
        pass_s=1.0,
        draft_s=draft_cost,
        overhead_s=0.0,
        flat=nodes,
        unit="pass",
    )


def mixture_of_experts(active: int, experts: int, draft_cost: float = 0.05) -> CostTable:
    """A machine whose passes cost the reading of experts: tokens of a tree need different ones.

    m tokens that choose `active` of n experts each, independently, read n (1 - (1 - active / n)^m)
    of them. Weights that every token reads make the curve flatter, tokens that choose alike too.

    Args:
        active: experts of a token, from 1.
        experts: how many there are, n.
        draft_cost: of a draft pass, in passes of one token.

    Raises:
        ValueError: if more are active than there are.

    >>> cost = mixture_of_experts(8, 128)
    >>> round(cost.target(8) / cost.target(1), 2)
    6.45
    """
    if not 1 <= active <= experts <= 4096:
        raise ParameterError(
            "moe:active/experts",
            "have 1 to 4096 experts, of which some are active",
            f"{active}/{experts}",
        )
    idle = 1 - active / experts  # the chance that a token leaves an expert alone
    # Experts that are read at all, in passes of a single token.
    target = tuple(experts * (1 - idle**size) / active for size in MOE_SIZES)
    return CostTable(
        machine=f"mixture of experts, {active} of {experts} active",
        projection=True,
        note=(
            "Projection: a target pass costs the reading of its experts, "
            f"{active} of {experts} for a token, chosen independently; "
            f"a draft pass {draft_cost:g} of a token's pass, everything else 0."
        ),
        plain_s=1.0,
        sizes=MOE_SIZES,
        target_s=target,
        overhead_s=(0.0,) * len(MOE_SIZES),
        widths=(1, MOE_SIZES[-1]),
        draft_s=(draft_cost, draft_cost),
        unit="pass",
    )


def machine(name: str) -> CostTable:
    """The table of a named machine: "a100", "l40-offload", "flat:N" (N nodes at the price of one)
    or "moe:K/N" (K of N experts active).

    Raises:
        ValueError: if there is no such machine.
    """
    kind, colon, numbers = name.partition(":")
    if kind in MACHINES and not colon:
        return MACHINES[kind]
    if kind == "flat" and numbers.isdecimal() and int(numbers) >= 1:
        return flat_up_to(int(numbers))
    if kind == "moe" and re.fullmatch(r"[0-9]{1,4}/[0-9]{1,4}", numbers):
        active, experts = map(int, numbers.split("/"))
        return mixture_of_experts(active, experts)
    raise ValueError(
        f"machine must be one of {', '.join(MACHINES)}, flat:N with N from 1, or moe:K/N with K "
        f"active of N experts; got {name!r}."
    )
