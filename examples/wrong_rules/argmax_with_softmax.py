"""The drafts are the most probable tokens, but are compared with q as if they had been drawn from it.

https://github.com/jaymody/speculative-sampling/issues/3

What `specviz check` prints of it:

    wrong-argmax-with-softmax is declared lossless for children the draft's most probable tokens, not draws, but it is not.
    the smallest counterexample:
      tokens a, b
      p      1/2, 1/2   (target)
      q      1/2, 1/2   (draft)
      tree   a root with 1 child
      writes a with probability 1; it should be 1/2
"""

import specviz
from specviz.sampling.distributions import residual
from specviz.verifiers.base import Verifier
from specviz.verifiers.decisions import Decisions, ratio


@specviz.register
class ArgmaxWithSoftmax(Verifier):
    """Speculative sampling, declared for drafts that are not draws."""

    name, title, chain_only = "wrong-argmax-with-softmax", "Most probable drafts as draws", True
    schemes = ("top",)

    def __call__(self, tree, p, rng):
        decisions, node = Decisions(tree), 0
        while tree.children[node]:
            (child,), q = tree.children[node], tree.draft_distributions[node]
            token = tree.tokens[child]
            if not decisions.accept(child, ratio(p[node][token], q[token]), rng):
                return decisions.verdict(rng.draw(residual(p[node], q)))
            node = child
        return decisions.verdict(rng.draw(p[node]))
