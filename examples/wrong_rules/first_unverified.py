"""The first drafted token is written without a look at the target; the loop checks from the second
on. The rule is for temperature 0 only.

https://github.com/ohdearquant/lattice/issues/243

What `specviz check` prints of it:

    wrong-first-unverified: at temperature 0 it must write the target's most probable tokens, but does not.
    the smallest counterexample:
      tokens a, b
      p      0, 1   (target, after the root)
      p      1, 0   (target, after a)
      q      1/2, 1/2   (draft)
      tree   drafted: a
      writes a with probability 1; it should be 0
"""

import specviz
from specviz.verifiers.base import Verifier
from specviz.verifiers.decisions import Decisions


@specviz.register
class FirstUnverified(Verifier):
    """Follow the target's best tokens from the second level on."""

    name, title, chain_only = "wrong-first-unverified", "First token unverified", True
    schemes = "top", "distinct", "iid"
    greedy_only = True

    def __call__(self, tree, p, rng):
        decisions, node = Decisions(tree), 0
        while tree.children[node]:
            (child,) = tree.children[node]
            if node > 0 and tree.tokens[child] != int(p[node].argmax()):
                break
            decisions.decide(child, True)
            node = child
        return decisions.verdict(int(p[node].argmax()))
