"""The sentences on why a node has its outcome that several rules share, from the record of its
step."""

from __future__ import annotations

from ..record.step import Detail, Step

ROOT = "The last committed token: the tree grows from here."


def untried(step: Step, node: int) -> str:
    """Why a node was not compared, "" where it was."""
    if step.outcome[node] == "root":
        return ROOT
    if step.outcome[node] == "probe":
        return "Probe: it asks the target for its next token and is not compared."
    if step.outcome[node] != "unreached":
        return ""
    parent = step.parents[node]
    if step.outcome[parent] not in ("root", "accepted"):
        return "Not visited: the token before it was not accepted."
    if ("accepted", parent) in zip(step.outcome, step.parents, strict=True):
        return "Not visited: a sibling before it was accepted."
    return (
        "Not visited: every token with draft probability above 0 had been tried, so the rule "
        "stopped."
    )


def explain_coin(step: Step, node: int, formula: str, first: str = "min(1, p/q)") -> str:
    """The sentence of a rule that accepts a node with probability `formula`, a first child with
    `first`."""
    if why := untried(step, node):
        return why
    if step.parents.index(step.parents[node]) == node:  # no sibling before it: nothing is left over
        formula = first
    outcome = step.outcome[node].capitalize()
    prob = step.accept_prob[node]
    coin = step.coin[node]
    if prob is None or coin is None:
        return f"{outcome} by {formula}."
    compared = f"{outcome}: u = {coin:.3f} {'<' if outcome == 'Accepted' else '≥'}"
    if fraction := _fraction(step, node, prob):
        return f"{compared} {fraction} ({formula})."
    return f"{compared} {formula} = {prob:.3f}."


def _fraction(step: Step, node: int, prob: float) -> str | None:
    """The residual over the remaining draft in numbers, where that is what the node was accepted
    with."""
    tried = step.detail.get(node, Detail()).tried
    token = step.tokens[node]
    if tried is None or not {"residual", "draft"} <= tried.rows.keys() or token not in tried.tokens:
        return None
    place = tried.tokens.index(token)
    residual = tried.rows["residual"][place]
    draft = tried.rows["draft"][place]
    # Numbers that do not give the recorded chance, of a rule with a weight say, would confuse.
    if draft <= 0 or abs(min(1.0, residual / draft) - prob) > 0.001:
        return None
    above, below, result = map(_digits, (residual, draft, residual / draft))
    # Two rounded numbers need not give the rounded quotient.
    sign = "=" if _digits(float(above) / float(below)) == result else "≈"
    quotient = f"{above} / {below} {sign} {result}"
    # Followed by min(1, p/q), which is no more than 1.
    return f"{quotient}, so 1" if residual > draft else quotient


def _digits(number: float) -> str:
    """A probability with two digits that count at least."""
    if number == 0 or number >= 0.1:
        return f"{number:.3f}"
    return f"{number:#.2g}"
