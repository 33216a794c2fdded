"""Block verification that tests each prefix with its running product of p/q, and corrects with the
token-wise residual; both must use the weight of the path.

https://github.com/vllm-project/vllm-ascend/issues/7807

What `specviz check` prints of it:

    wrong-block-criterion is declared lossless for children drawn independently from the draft, duplicates kept, but it is not.
    the smallest counterexample:
      tokens a, b
      p      1/2, 1/2   (target)
      q      0, 1   (draft)
      tree   a chain of 2, the same distributions at every level
      writes ba with probability 3/8; it should be 1/4
"""

import specviz
from specviz.sampling.distributions import residual
from specviz.verifiers.base import Verifier
from specviz.verifiers.decisions import Decisions, ratio


@specviz.register
class BlockCriterion(Verifier):
    """The last token whose product of ratios passes its coin ends the block."""

    name, title, chain_only = "wrong-block-criterion", "Block with a token-wise test", True
    schemes = ("iid",)

    def __call__(self, tree, p, rng):
        decisions, ratios, accepted = Decisions(tree), [1.0], 0
        rows = tree.draft_distributions
        for node in range(1, len(tree)):
            token = tree.tokens[node]
            ratios.append(ratio(ratios[-1] * p[node - 1][token], rows[node - 1][token]))
            if decisions.compare(node, ratios[node], rng):
                accepted = node
        decisions.accept_path(accepted)
        if accepted == len(tree) - 1:
            return decisions.verdict(rng.draw(p[accepted]))
        return decisions.verdict(rng.draw(residual(p[accepted], rows[accepted])))
