"""A run as others see it: plain JSON for the browser, a page that plays offline, a graph, lines of
a terminal."""

from .graphml import graphml
from .offline import offline_page

FORMATS = {"html": offline_page, "graphml": graphml}  # what `replay` writes, each made of a Trace
