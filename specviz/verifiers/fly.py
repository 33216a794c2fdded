"""FLy (arXiv 2511.22972), as vLLM has it: a biased rule that keeps a rejected token where the
target is unsure and agrees with what follows.

vLLM's window counts the tokens after the rejected one; the authors' code counts it as well.
"""

from __future__ import annotations

from pydantic import Field

from ..config.strategy import number
from ..record.step import Step
from ..sampling.children import most_probable
from ..sampling.distributions import Distributions, Sampling, entropy, probabilities, residual
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from .base import Verdict, Verifier
from .decisions import Decisions, first_row, ratio
from .explanations import explain_coin

TOP = 3  # tokens whose entropy says how unsure the target is


class Fly(Verifier):
    """Speculative sampling that forgives a token if the next `window` tokens are accepted."""

    name = "fly"
    title = "FLy"
    schemes = ("iid", "top", "distinct")
    chain_only = True
    lossless = False
    exact_at_zero = False
    bias = (
        "A rejected token is kept where the target is unsure and agrees with the next tokens, so "
        "the output distribution moves toward the draft's, at temperature 0 too."
    )
    theta: float = Field(
        0.3,
        ge=0.0,
        title="Theta",
        description="Entropy in nats of the target's three most probable tokens, from which it is "
        "unsure.",
    )
    window: int = number(6, 1, 64, "Window", "Number of tokens that must follow.")

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        decisions = Decisions(tree)
        last = len(tree) - 1
        # Near the end of a short draft fewer tokens follow; at least one must.
        window = max(1, min(self.window, last - 1))
        rows = [first_row(tree, node) for node in range(last)]
        passed = [True]  # whether each node passes speculative sampling; only this looks ahead
        for node in range(1, last + 1):
            token = tree.tokens[node]
            prob = ratio(p[node - 1][token], rows[node - 1][token])
            passed.append(decisions.compare(node, prob, rng))
        # A second pass: a token is forgiven by what follows it, which the first pass had to
        # compare first.
        accepted = 0
        for node in range(1, last + 1):
            agrees = node + window <= last and all(passed[node + 1 : node + window + 1])
            if not passed[node] and not (agrees and self._forgives(p, node - 1, tree.tokens[node])):
                break
            accepted = node
        for node in range(1, last + 1):
            decisions.decide(node, node <= accepted)
        if accepted == last:
            return decisions.verdict(rng.draw(p[last]))
        return decisions.verdict(rng.draw(residual(p[accepted], rows[accepted])))

    def _forgives(self, p: Distributions, node: int, token: int) -> bool:
        """Whether the target is unsure after a node and could write the token."""
        # At temperature 0 the row is certain, so the model's own at temperature 1 is looked at.
        row = p[node] if p.sampling.temperature else probabilities(p.logits[node], Sampling())
        return row[token] > 0 and entropy(row[most_probable(row, TOP)]) >= self.theta

    def explain(self, step: Step, node: int) -> str:
        outcome = step.outcome[node]
        prob = step.accept_prob[node]
        coin = step.coin[node]
        if prob is None or coin is None:
            return explain_coin(step, node, "min(1, p/q)")
        if outcome == "accepted" and coin >= prob:
            return (
                f"Accepted although u = {coin:.3f} ≥ {prob:.3f}: the target is unsure here and "
                "accepts the next tokens."
            )
        if outcome == "rejected" and coin < prob:
            return f"Rejected although u = {coin:.3f} < {prob:.3f}: a token before it was rejected."
        return explain_coin(step, node, "min(1, p/q)")
