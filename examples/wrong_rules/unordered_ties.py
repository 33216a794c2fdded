"""Of several drafts the one with the largest p/q is chosen and compared with the chance to be chosen,
but tokens of equal p/q are left unordered: the first one drawn is chosen.

Reconstructed from accounts of the paper, which needs a strict order:
https://arxiv.org/abs/2602.16961

What `specviz check` prints of it:

    wrong-unordered-ties is declared lossless for children drawn independently from the draft, duplicates kept, but it is not.
    the smallest counterexample:
      tokens a, b
      p      1/2, 1/2   (target)
      q      1/2, 1/2   (draft)
      tree   a root with 2 children
      writes a with probability 2/3; it should be 1/2
"""

import numpy as np

import specviz
from specviz.sampling.distributions import residual
from specviz.verifiers.base import Verifier
from specviz.verifiers.decisions import Decisions, ratio


@specviz.register
class UnorderedTies(Verifier):
    """Greedy multi-path verification of one level, without an order among equals."""

    name, title = "wrong-unordered-ties", "Ties left unordered"
    schemes = ("iid",)
    paths_only, depends_on_siblings, one_row = True, True, True

    def __call__(self, tree, p, rng):
        decisions, children = Decisions(tree), tree.children[0]
        if not children:
            return decisions.verdict(rng.draw(p[0]))
        q = tree.draft_distributions[0]
        suits = np.divide(p[0], q, out=np.zeros_like(q), where=q > 0)
        order = np.argsort(suits, kind="stable")
        ends = np.cumsum(q[order]) ** len(children)
        chosen_law = np.empty_like(q)
        chosen_law[order] = np.diff(ends, prepend=0.0)
        child = max(children, key=lambda node: suits[tree.tokens[node]])
        token = tree.tokens[child]
        if decisions.accept(child, ratio(p[0][token], chosen_law[token]), rng):
            return decisions.verdict(rng.draw(p[child]))
        return decisions.verdict(rng.draw(residual(p[0], chosen_law)))
