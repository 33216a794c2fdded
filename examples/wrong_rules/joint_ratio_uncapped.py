"""The published rule caps the joint ratio p/q of the whole draft at its running maximum; the released
code accepts all of it if the coin is below the joint ratio as it is.

https://arxiv.org/abs/2601.05724

What `specviz check` prints of it:

    wrong-joint-ratio-uncapped is declared lossless for children drawn independently from the draft, duplicates kept, but it is not.
    the smallest counterexample:
      tokens a, b
      p      1/2, 1/2   (target)
      q      1/3, 2/3   (draft)
      tree   a chain of 2, the same distributions at every level
      writes aa with probability 7/36; it should be 1/4
"""

import specviz
from specviz.sampling.distributions import excess, residual
from specviz.verifiers.base import Verifier
from specviz.verifiers.decisions import Decisions, carry, ratio


@specviz.register
class JointRatioUncapped(Verifier):
    """Block verification, but for the test of the last token."""

    name, title, chain_only = "wrong-joint-ratio-uncapped", "Joint ratio without its cap", True
    schemes = ("iid",)

    def __call__(self, tree, p, rng):
        decisions, joint, weights, accepted = Decisions(tree), 1.0, [1.0], 0
        rows, last = tree.draft_distributions, len(tree) - 1
        for node in range(1, len(tree)):
            token, row, q = tree.tokens[node], p[node - 1], rows[node - 1]
            joint *= row[token] / q[token]
            weights.append(ratio(weights[-1] * row[token], q[token]))
            test = min(1.0, joint)
            if node < last:
                test = carry(excess(weights[node] * p[node], rows[node])[1], weights[node])
            if decisions.compare(node, test, rng):
                accepted = node
        decisions.accept_path(accepted)
        if accepted == last:
            return decisions.verdict(rng.draw(p[last]))
        return decisions.verdict(
            rng.draw(residual(weights[accepted] * p[accepted], rows[accepted]))
        )
