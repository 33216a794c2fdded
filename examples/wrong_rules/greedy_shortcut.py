"""At temperature 0 the models' own probabilities are compared instead of those after temperature, so
a token that the target likes more than the draft does is accepted although another is its best.

https://github.com/jaymody/speculative-sampling/issues/9

What `specviz check` prints of it:

    wrong-greedy-shortcut: at temperature 0 it must write the target's most probable tokens, but does not.
    the smallest counterexample:
      tokens a, b
      p      0, 1   (target, after the root)
      p      1, 0   (target, after a)
      q      1/2, 1/2   (draft)
      tree   drafted: a
      writes a with probability 0.537883; it should be 0
"""

import specviz
from specviz.sampling.distributions import Sampling, probabilities, residual
from specviz.verifiers.base import Verifier
from specviz.verifiers.decisions import Decisions, ratio


@specviz.register
class GreedyShortcut(Verifier):
    """Exact above temperature 0 and wrong at it."""

    name, title, chain_only = "wrong-greedy-shortcut", "Shortcut at temperature 0", True
    schemes = "iid", "distinct"

    def __call__(self, tree, p, rng):
        decisions, node = Decisions(tree), 0
        while tree.children[node]:
            (child,), q = tree.children[node], tree.draft_distributions[node]
            token, row = tree.tokens[child], p[node]
            compared = row if p.sampling.temperature else probabilities(p.logits[node], Sampling())
            if not decisions.accept(child, ratio(compared[token], q[token]), rng):
                return decisions.verdict(rng.draw(residual(row, q)))
            node = child
        return decisions.verdict(rng.draw(p[node]))
