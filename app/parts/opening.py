"""Which tab an address opens, and which of its pages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .frame import Tab

OLD = {  # former names of tabs, which links still use
    "live": "explore",
    "labs": "lab",
    **dict.fromkeys(
        ("acceptance", "speedup", "what is accepted", "what a step costs", "which tree pays"),
        "measure",
    ),
}
OLD_PAGES = [["Learn", "Lessons", "lab=race"], ["Learn", "Lessons", "lab=sender and receiver"]]


def opens(tabs: Sequence[Tab]) -> str:
    """JavaScript that says which tab an address such as ?tab=compare or ?lesson=3 opens, and which
    page of each tab."""
    inner = [tab for tab in tabs if tab.pages]
    named: list[Any] = [[tab.title, page.title, page.query] for tab in inner for page in tab.pages]
    named += [*OLD_PAGES, *([tab.title, None, tab.query] for tab in tabs)]
    return f"""() => {{
      const parameters = new URLSearchParams(location.search), places = {json.dumps(named)}, old = {json.dumps(OLD)};
      const title = (parameters.get('tab') || '').toLowerCase(), name = old[title] || title;
      const queried = query => {{
        const [key, value] = (query || '').split('='), text = (parameters.get(key) || '').toLowerCase();
        return parameters.has(key) && (value === undefined || (text && value.startsWith(text)));
      }};
      const [tab, page] = places.find(([, , query]) => queried(query))
        || places.find(([tab, page]) => (page || tab).toLowerCase() === name) || [];
      const shows = selected => ({{ __type__: 'update', ...(selected && {{ selected }}) }});
      return [shows(tab), ...{json.dumps([tab.title for tab in inner])}.map(title => shows(title === tab && page))];
    }}"""
