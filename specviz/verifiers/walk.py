"""The notebook of a top-down walk: every rule that goes from the root downwards writes its decisions here."""

from __future__ import annotations

from typing import Any

from ..randomness import Randomness
from ..record import Step, Verdict
from ..tree import TokenTree


class Walk:
    """Outcomes, acceptance probabilities and coins of one tree, filled in while a rule walks down it."""

    def __init__(self, tree: TokenTree) -> None:
        n = len(tree)
        self.outcome = ["root"] + ["unreached"] * (n - 1)
        self.accept_prob: list[float | None] = [None] * n
        self.coin: list[float | None] = [None] * n
        self.path: list[int] = []
        self.detail: dict[str, Any] = {}

    def flip(self, child: int, prob: float, rng: Randomness) -> bool:
        """Try a child: accept it with probability `prob`."""
        answer, coin = rng.flip(prob)
        self.accept_prob[child], self.coin[child] = float(prob), coin
        self.mark(child, answer)
        return answer

    def mark(self, child: int, accepted: bool) -> None:
        """Write down that a child was compared, without a coin."""
        self.outcome[child] = "accepted" if accepted else "rejected"
        if accepted:
            self.path.append(child)

    def end(self, bonus: int) -> Verdict:
        """Close the book: the target adds `bonus` after the last accepted node."""
        return Verdict(
            tuple(self.path), int(bonus), tuple(self.outcome), tuple(self.accept_prob), tuple(self.coin), self.detail
        )


def ratio(p: float, q: float) -> float:
    """min(1, p / q); a child the draft gave no mass is accepted exactly where the target has some."""
    if q > 0:
        return min(1.0, float(p / q))
    return 1.0 if p > 0 else 0.0


def explain_unreached(step: Step, node: int) -> str:
    """Why a node was never compared: its parent was not accepted, or a sibling before it was."""
    parent = step.parents[node]
    if step.outcome[parent] not in ("root", "accepted"):
        return "Never reached: the token before it was not accepted."
    return "Never reached: a sibling tried before it was accepted."


def explain_coin(step: Step, node: int, formula: str) -> str:
    """The sentence of a rule that flips one coin a node with probability `formula`."""
    outcome, prob, coin = step.outcome[node], step.accept_prob[node], step.coin[node]
    if outcome == "root":
        return "The last committed token: the tree grows from here."
    if outcome == "unreached":
        return explain_unreached(step, node)
    if prob is None or coin is None:
        return f"{outcome.capitalize()} by {formula}."
    if outcome == "accepted":
        return f"Accepted: the coin {coin:.3f} fell below {formula} = {prob:.3f}."
    return f"Rejected: the coin {coin:.3f} was not below {formula} = {prob:.3f}."
