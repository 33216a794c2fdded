"""The draft's row after top-p is used without being divided by what the filter left, so what it is
compared with does not sum to 1: here to 9/10.

Reconstructed: the thread asks which of the draft's rows must be compared with,
https://github.com/SafeAILab/EAGLE/issues/74

What `specviz check` prints of it:

    wrong-filter-without-norm is declared lossless for children drawn independently from the draft, duplicates kept, but it is not.
    the smallest counterexample:
      tokens a, b
      p      1/2, 1/2   (target)
      q      0, 1   (draft)
      tree   a root with 1 child
      writes a with probability 4/9; it should be 1/2
"""

import specviz
from specviz.sampling.distributions import residual
from specviz.verifiers.base import Verifier
from specviz.verifiers.decisions import Decisions, ratio


@specviz.register
class FilterWithoutNorm(Verifier):
    """Speculative sampling with a q that does not sum to 1."""

    name, title, chain_only = "wrong-filter-without-norm", "Top-p without renormalising", True
    schemes = "iid", "distinct"

    def __call__(self, tree, p, rng):
        decisions, node = Decisions(tree), 0
        while tree.children[node]:
            (child,), q = tree.children[node], 0.9 * tree.draft_distributions[node]
            token = tree.tokens[child]
            if not decisions.accept(child, ratio(p[node][token], q[token]), rng):
                return decisions.verdict(rng.draw(residual(p[node], q)))
            node = child
        return decisions.verdict(rng.draw(p[node]))
