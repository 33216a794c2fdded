"""A draft that equals the target's own draw is accepted, else it gets a coin, and after a rejection
the token is drawn again from p instead of the residual.

Reconstructed from what SpeculatoViz, a visual demo, shows; there is no public thread.

What `specviz check` prints of it:

    wrong-equality-first is declared lossless for children drawn independently from the draft, duplicates kept, but it is not.
    the smallest counterexample:
      tokens a, b
      p      1/2, 1/2   (target)
      q      0, 1   (draft)
      tree   a root with 1 child
      writes a with probability 1/8; it should be 1/2
"""

import specviz
from specviz.verifiers.base import Verifier
from specviz.verifiers.decisions import Decisions, ratio


@specviz.register
class EqualityFirst(Verifier):
    """Two chances for a draft, and p as it was after a rejection."""

    name, title, chain_only = "wrong-equality-first", "Equal, or drawn again", True
    schemes = "iid", "distinct"

    def __call__(self, tree, p, rng):
        decisions, node = Decisions(tree), 0
        while tree.children[node]:
            (child,), q = tree.children[node], tree.draft_distributions[node]
            token = tree.tokens[child]
            if rng.draw(p[node]) == token:
                decisions.decide(child, True)
            elif not decisions.accept(child, ratio(p[node][token], q[token]), rng):
                return decisions.verdict(rng.draw(p[node]))
            node = child
        return decisions.verdict(rng.draw(p[node]))
