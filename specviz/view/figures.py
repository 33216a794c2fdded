"""The figures for notebooks and the page: each function returns a plotly figure. Nothing here loads
torch.

>>> plot_positions([0, 2, 5, 1]).layout.xaxis.title.text
'position of the guess in the chain'
"""

from __future__ import annotations

import plotly.io as pio

from .acceptance import plot_acceptance, plot_positions
from .speed import plot_cost, plot_predicted, plot_sizes

__all__ = ["plot_acceptance", "plot_cost", "plot_positions", "plot_predicted", "plot_sizes"]

if pio.renderers.default == "plotly_mimetype":  # a converted notebook would be blank without HTML
    pio.renderers.default = "plotly_mimetype+notebook"
