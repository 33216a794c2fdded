"""The figures, one module each: `info(data)` is the arithmetic as plain data, `draw(info)` the plotly figure.

Each module also has a `TITLE` and `HOW_TO_READ`, a sentence or two for whoever looks at it. `plot` does both steps;
`export` has the numbers as JSON and CSV. Nothing here loads torch.
"""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import plotly.io as pio

from . import (
    acceptance,
    blocks,
    bounds,
    cost,
    depth,
    draft_entropy,
    length,
    marginal,
    policies,
    predicted,
    probability,
    ratio,
    rejection,
    ribbon,
    run_strip,
    shapes,
    speedup,
    sweep,
    temperature,
    top_p,
    transfer,
    tree,
)

PLOTS = {
    "acceptance": acceptance,  # of an Acceptance or several
    "depth": depth,  # of a DepthAcceptance
    "rejection": rejection,  # of RejectionRates
    "probability": probability,  # of a Doubt
    "doubt": draft_entropy,  # of a Doubt
    "length": length,  # of a Doubt
    "bounds": bounds,  # of a Doubt
    "ratio": ratio,  # of a Doubt
    "shapes": shapes,  # of an acceptance vector and sizes
    "cost": cost,  # of a CostTable
    "speedup": speedup,  # of a Forecast
    "predicted": predicted,  # of predicted.Points
    "sweep": sweep,  # of an acceptance vector, a CostTable, widths and lengths
    "marginal": marginal,  # of an acceptance vector, a CostTable and sizes
    "policies": policies,  # of Traces by (policy, kind of text)
    "top_p": top_p,  # of a TopP
    "transfer": transfer,  # of Transfers
    "temperature": temperature,  # of Promises by temperature
    "lengths": run_strip,  # of a Trace
    "ribbon": ribbon,  # of a Trace
    "tree": tree,  # of a Step
    "blocks": blocks,  # of trees' shapes
}


if pio.renderers.default == "plotly_mimetype":  # in a notebook, which without HTML is blank where it is converted
    pio.renderers.default = "plotly_mimetype+notebook"


def plot(name: str, *data: Any, **options: Any) -> go.Figure:
    """The figure called `name` of its data.

    Raises:
        ValueError: if there is no such figure; the message lists what there is.
    """
    if name not in PLOTS:
        raise ValueError(f"plot must be one of {', '.join(PLOTS)}; got {name!r}.")
    return PLOTS[name].draw(PLOTS[name].info(*data, **options))
