"""Four rules, two of them lossy: the visitor says which, and the page computes the answer."""

from __future__ import annotations

from .lesson import Facts, Figure, Lesson, Place
from .lossy_figure import CANDIDATES, TREES, Setting, judged


def facts():
    first = judged(Setting())
    trees = {name: judged(Setting(tree=name)) for name in TREES}
    lossy = set()
    for data in trees.values():
        lossy |= {rule["words"] for rule in data["rules"] if rule["wrong_on"]}
    # One wrong rule shows itself only with two guesses, the other only below an accepted one.
    two = trees["two guesses"]["rules"][1]
    path = trees["a guess after a guess"]["rules"][3]
    values = {
        "rules": len(CANDIDATES),
        "first_right": sum(not rule["wrong_here"] for rule in first["rules"]),
        "lossy": len(lossy),
        "two_text": two["text"],
        "two_probability": two["probability"],
        "two_target": two["target"],
        "path_text": path["text"],
        "path_probability": path["probability"],
        "path_target": path["target"],
    }
    last = judged(Setting(tree=list(TREES)[-1]))
    return Facts(
        values,
        Place(),
        Place(picture=1),
        (
            Figure("Your turn", "lossy", first | {"answered": False}),
            Figure("The answers", "lossy", last | {"answered": True}),
        ),
    )


LESSON = Lesson("lossy", (), facts)
