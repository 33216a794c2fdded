"""Typical acceptance (Medusa: Cai et al. 2024, section 2.3.1): a biased rule without draws or
residuals.

A token is accepted if p > min(epsilon, delta exp(-H(p))), H the entropy in nats; with `top_k` it
must also be one of the target's k most probable. The longest path of such tokens is accepted, among
equals the likeliest.
"""

from __future__ import annotations

import math

from ..config.strategy import number
from ..record.step import Detail, Step
from ..sampling.children import most_probable
from ..sampling.distributions import Distributions, entropy
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from .base import Verdict, Verifier
from .decisions import Decisions
from .explanations import untried


class Typical(Verifier):
    """The longest path of tokens with high enough target probability."""

    name = "typical"
    title = "Typical acceptance"
    schemes = ("top", "top-draw", "distinct", "iid")
    reads_draft = False
    lossless = False
    bias = (
        "Typical acceptance accepts every token with a high enough target "
        "probability, so the output distribution moves toward the draft's."
    )
    epsilon: float = number(
        0.09,
        0.0,
        1.0,
        "Epsilon",
        "A token with more than this probability passes whatever the entropy is.",
    )
    delta: float = number(
        0.3, 0.0, 1.0, "Delta", "Factor of the entropy threshold: delta exp(-entropy)."
    )
    top_k: int = number(
        0, 0, 100, "Top-k", "Accept only the target's k most probable tokens; 0 has no limit."
    )

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        decisions = Decisions(tree)
        log_prob = {0: 0.0}  # of the path, for every node that could be accepted
        for node in range(len(tree)):
            if node not in log_prob or not tree.children[node]:
                continue
            # The threshold is of the row after the parent: high where the target is sure, low where
            # it is not.
            row = p[node]
            threshold = min(self.epsilon, self.delta * math.exp(-entropy(row)))
            decisions.note(node, facts={"threshold": threshold})
            allowed = most_probable(row, self.top_k) if self.top_k else range(len(row))
            for child in tree.children[node]:
                prob = float(row[tree.tokens[child]])
                typical = prob > threshold and tree.tokens[child] in allowed
                # Not decided yet: only one of the paths that pass is accepted in the end.
                decisions.order.append(child)
                decisions.outcome[child] = "passed" if typical else "rejected"
                if typical:
                    log_prob[child] = log_prob[node] + math.log(prob)
        # Several paths may be acceptable: the longest writes the most tokens.
        best = max(log_prob, key=lambda node: (tree.depths[node], log_prob[node]))
        decisions.accept_path(best)
        return decisions.verdict(rng.draw(p[best]))

    def explain(self, step: Step, node: int) -> str:
        outcome = step.outcome[node]
        if why := untried(step, node):
            return why
        prob = step.target_prob[node]
        facts = step.detail.get(step.parents[node], Detail()).facts
        threshold = facts.get("threshold", self.epsilon)
        assert prob is not None  # only the root has none
        if outcome == "rejected" and prob > threshold:
            return f"Rejected: it is not one of the target's {self.top_k} most probable tokens."
        if outcome == "rejected":
            return (
                f"Rejected: its probability {prob:.3f} is not above the threshold {threshold:.3f}."
            )
        likely = f"its probability {prob:.3f} is above the threshold {threshold:.3f}"
        if outcome == "passed":
            return f"Passed over: {likely}, but another path was longer or more probable."
        if "passed" in step.outcome:
            return f"Accepted: {likely}, and no other such path is longer or more probable."
        return f"Accepted: {likely}."
