"""The data sent to the browser: a run as plain JSON, or as one page that plays offline."""

from .offline import in_notebook, offline_page

# What a run is saved as, each made of a Trace: a page, and a frame that a notebook or a web page can hold.
FORMATS = {"html": offline_page, "embed": in_notebook}
