"""`python -m specviz`: see specviz.commands.cli."""

import sys

from .commands.cli import main

sys.exit(main())
