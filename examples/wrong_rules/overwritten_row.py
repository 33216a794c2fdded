"""The residual is computed in the memory of the target's row, which is read again afterwards.

Reconstructed from a report whose text could not be read again,
https://github.com/vllm-project/vllm-ascend/issues/2881

What `specviz check` prints of it:

    wrong-overwritten-row is declared lossless for children drawn independently from the draft, duplicates kept, but it is not.
    the smallest counterexample:
      tokens a, b
      p      1, 0   (target)
      q      0, 1   (draft)
      tree   a root with 1 child
      fails  it writes into the target's or the draft's distribution, which is read again; change a copy, such as p[node].copy()
"""

import specviz
from specviz.verifiers.base import Verifier
from specviz.verifiers.decisions import Decisions, ratio


@specviz.register
class OverwrittenRow(Verifier):
    """Speculative sampling that subtracts q from p where p stands."""

    name, title, chain_only = "wrong-overwritten-row", "Row overwritten in place", True
    schemes = "iid", "distinct"

    def __call__(self, tree, p, rng):
        decisions, node = Decisions(tree), 0
        while tree.children[node]:
            (child,), q = tree.children[node], tree.draft_distributions[node]
            token, row = tree.tokens[child], p[node]
            accepted = decisions.accept(child, ratio(row[token], q[token]), rng)
            row -= q
            if not accepted:
                return decisions.verdict(rng.draw(row.clip(0)))
            node = child
        return decisions.verdict(rng.draw(p[node]))
