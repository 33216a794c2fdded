"""The data sent to the browser: a run as plain JSON, or as one page that plays offline."""

from .graph import dot, graphml
from .offline import offline_page

FORMATS = {"html": offline_page, "graphml": graphml, "dot": dot}  # what a run is exported as, each made of a Trace
