"""The figures for notebooks and the page: `plot(name, data)` returns a plotly figure. Nothing here
loads torch."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go
import plotly.io as pio

from ..base.errors import UnknownName
from .acceptance import plot_acceptance, plot_positions
from .speed import plot_cost, plot_predicted, plot_sizes

PLOTS: dict[str, Callable[..., go.Figure]] = {
    "acceptance": plot_acceptance,  # of acceptance vectors
    "positions": plot_positions,  # of accepted lengths and the depth of a chain
    "cost": plot_cost,  # of cost tables by name
    "sizes": plot_sizes,  # of Forecasts by machine
    "predicted": plot_predicted,  # of Points by machine
}

if pio.renderers.default == "plotly_mimetype":  # a converted notebook would be blank without HTML
    pio.renderers.default = "plotly_mimetype+notebook"


def plot(name: str, *data: object, **options: object) -> go.Figure:
    """Draw a figure.

    Args:
        name: one of `PLOTS`.
        data, options: the arguments of the figure's function.

    Returns:
        A plotly figure: `figure.show()`, `figure.write_html("cost.html")`, `figure.to_json()`.

    Raises:
        ValueError: if there is no such figure, or its function does not take these arguments.

    >>> plot("positions", [0, 2, 5, 1]).layout.xaxis.title.text
    'position of the guess in the chain'
    """
    if name not in PLOTS:
        raise UnknownName("plot", name, PLOTS)
    try:
        return PLOTS[name](*data, **options)
    except (TypeError, AttributeError) as error:
        summary = (PLOTS[name].__doc__ or "").partition("\n")[0]
        raise ValueError(
            f"plot {name!r} cannot draw these arguments ({error}). {summary}"
        ) from error
