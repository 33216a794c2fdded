"""The data sent to the browser: a run as plain JSON, or as one page that plays offline."""

from .graph import dot, graphml
from .offline import in_notebook, offline_page

# What a run is exported as, each made of a Trace.
FORMATS = {"html": offline_page, "embed": in_notebook, "graphml": graphml, "dot": dot}
