"""ZeroGPU of Hugging Face Spaces: a GPU for one call, in a separate process.

`spaces` exists only on a Space and must be imported before torch; arguments and items travel
between processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

try:
    import spaces
except ImportError:
    spaces = None

ON = spaces is not None and os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")


def gpu(duration: Callable[..., int]) -> Callable[[Any], Any]:
    """A decorator for the generator that decodes, with the seconds to borrow; outside a Space it
    changes nothing."""
    return (lambda work: work) if spaces is None else spaces.GPU(duration=duration)
