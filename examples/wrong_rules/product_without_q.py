"""The acceptance of a prefix is the product of p alone, as if q were 1 for every draft; a token that
fails does not end the prefix, and the correction is drawn from p without the drafted token.

https://github.com/vllm-project/vllm-ascend/pull/7839

What `specviz check` prints of it:

    wrong-product-without-q is declared lossless for children drawn independently from the draft, duplicates kept, but it is not.
    the smallest counterexample:
      tokens a, b
      p      1/2, 1/2   (target)
      q      0, 1   (draft)
      tree   a chain of 2, the same distributions at every level
      writes ba with probability 3/8; it should be 1/4
"""

import specviz
from specviz.verifiers.base import Verifier
from specviz.verifiers.decisions import Decisions


@specviz.register
class ProductWithoutQ(Verifier):
    """A prefix passes with the product of its target probabilities."""

    name, title, chain_only = "wrong-product-without-q", "Product without q", True
    schemes = ("iid",)

    def __call__(self, tree, p, rng):
        decisions, product, accepted = Decisions(tree), 1.0, 0
        for node in range(1, len(tree)):
            product *= float(p[node - 1][tree.tokens[node]])
            if decisions.compare(node, product, rng):
                accepted = node
        decisions.accept_path(accepted)
        row = p[accepted].copy()
        if accepted < len(tree) - 1 and row[tree.tokens[accepted + 1]] < 1:
            row[tree.tokens[accepted + 1]] = 0.0
        return decisions.verdict(rng.draw(row))
