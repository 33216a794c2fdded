"""Which tab an address opens."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .frame import Tab

OLD = {  # former names of tabs, which links still use
    "live": "explore",
    "learn": "lessons",
    "papers": "lessons",
    **dict.fromkeys(("lab", "labs"), "verification lab"),
    **dict.fromkeys(
        ("acceptance", "speedup", "what is accepted", "what a step costs", "which tree pays"),
        "measure",
    ),
}
OLD_QUERIES = [["Lessons", "lab=race"], ["Lessons", "lab=sender and receiver"]]


def opens(tabs: Sequence[Tab]) -> str:
    """JavaScript that says which tab an address such as ?tab=compare or ?lesson=3 opens."""
    # Older addresses first: some of them name what is a part of another tab now.
    named = [*OLD_QUERIES, *([tab.title, tab.query] for tab in tabs)]
    return f"""() => {{
      const parameters = new URLSearchParams(location.search);
      const tabs = {json.dumps(named)}, old = {json.dumps(OLD)};
      const title = (parameters.get('tab') || '').toLowerCase(), name = old[title] || title;
      const queried = query => {{
        const [key, value] = (query || '').split('=');
        const text = (parameters.get(key) || '').toLowerCase();
        return parameters.has(key) && (value === undefined || (text && value.startsWith(text)));
      }};
      const [selected] = tabs.find(([, query]) => queried(query))
        || tabs.find(([title]) => title.toLowerCase() === name) || [];
      return {{ __type__: 'update', ...(selected && {{ selected }}) }};
    }}"""
