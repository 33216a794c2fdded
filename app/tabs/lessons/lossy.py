"""Four rules, two of them lossy: the visitor says which, and the page computes the answer."""

from __future__ import annotations

from .lesson import Facts, Figure, Lesson, Place
from .lossy_figure import TREES, P, Q, judged


def facts():
    rules = judged()
    values = {
        "rules": len(rules),
        "trees": len(TREES),
        "p": ", ".join(map(str, P)),
        "q": ", ".join(map(str, Q)),
        "lossy": sum(not rule["exact"] for rule in rules),
    }
    figure = Figure("Your turn", "lossy", rules, steps=len(rules))
    return Facts(values, Place(), Place(step=len(rules)), (figure,))


LESSON = Lesson("lossy", (), facts)
