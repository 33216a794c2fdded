"""Four rules, two of them lossy: the visitor says which, and the page computes the answer."""

from __future__ import annotations

from .lesson import Facts, Figure, Lesson, Place
from .lossy_figure import CANDIDATES, TREES, P, Q, judged


def facts():
    data = judged()
    one, two, path, last = TREES
    # One wrong rule shows itself only with two guesses, the other only below an accepted one.
    second = data["trees"][two][1]
    fourth = data["trees"][path][3]
    values = {
        "rules": len(CANDIDATES),
        "p": ", ".join(map(str, P)),
        "q": ", ".join(map(str, Q)),
        "first_right": sum(not rule["wrong_here"] for rule in data["trees"][one]),
        "lossy": sum(bool(rule["wrong_on"]) for rule in data["trees"][last]),
        "two_text": second["text"],
        "two_probability": second["probability"],
        "two_target": second["target"],
        "path_text": fourth["text"],
        "path_probability": fourth["probability"],
        "path_target": fourth["target"],
    }
    figures = (
        Figure("Your turn", "lossy", data | {"tree": one, "answered": False}),
        Figure("The answers", "lossy", data | {"tree": last, "answered": True}),
    )
    return Facts(values, Place(), Place(picture=1), figures)


LESSON = Lesson("lossy", (), facts)
