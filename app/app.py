"""Start the demo: `python app/app.py`, from any folder.

Neither torch nor a model is loaded here: the page opens with a recorded run, the models come with
the first live one.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Python puts this script's own folder first, where `import app` would find this file instead of the
# package.
sys.path[:] = [
    str(ROOT),
    *(entry for entry in sys.path if Path(entry or ".").resolve() not in (ROOT, ROOT / "app")),
]


def main() -> None:
    """Open the demo."""
    try:
        from app.service.http.server import check_address
        from specviz.config.plugins import load_installed

        check_address()
        load_installed()  # before the page makes its menus
        from app.page import serve  # which reads the settings

        serve()
    except ValueError as error:
        print(f"specviz: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
