"""The figures, one module each: `info(data)` is the arithmetic as plain data, `draw(info)` the plotly figure.

Each module also has a `TITLE` and `HOW_TO_READ`, a sentence or two for the reader. `plot` does both steps;
`export` has the numbers as JSON and CSV. Nothing here loads torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, get_origin, get_type_hints

import plotly.graph_objects as go
import plotly.io as pio

from ..errors import ParameterError, UnknownName
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
    step_tree,
    temperature,
    top_p,
    transfer,
    widths_and_lengths,
)

PLOTS = {
    "acceptance": acceptance,  # of an Acceptance or several
    "depth": depth,  # of a DepthAcceptance
    "rejection": rejection,  # of RejectionRates
    "probability": probability,  # of a DraftUncertainty
    "doubt": draft_entropy,  # of a DraftUncertainty
    "length": length,  # of a DraftUncertainty
    "bounds": bounds,  # of a DraftUncertainty
    "ratio": ratio,  # of a DraftUncertainty
    "shapes": shapes,  # of an acceptance vector and sizes
    "cost": cost,  # of a CostTable
    "speedup": speedup,  # of a Forecast
    "predicted": predicted,  # of predicted.Points
    "sweep": widths_and_lengths,  # of an acceptance vector, a CostTable, widths and lengths
    "marginal": marginal,  # of an acceptance vector, a CostTable and sizes
    "policies": policies,  # of Traces by (policy, kind of text)
    "top_p": top_p,  # of a TopP
    "transfer": transfer,  # of Transfers
    "temperature": temperature,  # of SpeedupPredictions by temperature
    "lengths": run_strip,  # of a Trace
    "ribbon": ribbon,  # of a Trace
    "tree": step_tree,  # of a Step
    "blocks": blocks,  # of trees' shapes
}


if pio.renderers.default == "plotly_mimetype":  # in a notebook, which without HTML is blank where it is converted
    pio.renderers.default = "plotly_mimetype+notebook"


def plot(name: str, *data: Any, **options: Any) -> go.Figure:
    """The figure called `name` of its data.

    Args:
        name: one of `PLOTS`.
        data: what it is drawn from, see `PLOTS`.
        options: what else the `info` of its module takes.

    Raises:
        ValueError: if there is no such figure, or it is not drawn from such data; the message says what there is.

    >>> trace = specviz.run(specviz.toy_pair(), specviz.RunConfig("ab", "chain:depth=2", max_new_tokens=8))
    >>> figure = plot("tree", trace.steps[0])  # a plotly figure: figure.show(), figure.write_html("tree.html")
    >>> [series.type for series in plot("lengths", trace).data]
    ['bar', 'bar', 'scatter']
    """
    if name not in PLOTS:
        raise UnknownName("plot", name, PLOTS)
    _check_data(name, PLOTS[name].info, data, options)
    return PLOTS[name].draw(PLOTS[name].info(*data, **options))


def _check_data(name: str, info: Callable, data: Sequence[Any], options: dict[str, Any]) -> None:
    """See that a figure is given what its `info` declares."""
    takes = signature(info)
    wanted = ", ".join(str(one).partition(" = ")[0].replace("'", "") for one in takes.parameters.values())
    try:
        given = takes.bind(*data, **options).arguments
    except TypeError as error:
        raise ValueError(f"plot {name!r} takes {wanted}: {error}.") from None
    for argument, hint in get_type_hints(info).items():
        kind = get_origin(hint) or hint
        kind = (int, float) if kind is float else kind
        if argument in given and isinstance(kind, type | tuple) and not isinstance(given[argument], kind):
            raise ParameterError(argument, f"be what plot {name!r} takes ({wanted})", given[argument])
