"""A run as others see it: plain JSON for the browser, a page that plays offline, lines of a
terminal."""

from .offline import offline_page

__all__ = ["offline_page"]
