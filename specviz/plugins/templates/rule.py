"""A verification rule: say here what it does, and its source.

python -m specviz check --plugin mine.py --verifier mine --builder chain --builder sequoia   # prove it, or refute it
python -m specviz generate --plugin mine.py --verifier mine --prompt "Once upon a time"
python -m specviz demo --plugin mine.py
"""

import specviz
from specviz.distributions import residual
from specviz.sampling import SequentialProposal
from specviz.verifiers.base import Verifier
from specviz.verifiers.walk import Walk, explain_coin, ratio


@specviz.register
class Mine(Verifier):
    """Try the children of a node in turn: accept one with min(1, r / q), else take q out of r and go on."""

    name, title = "mine", "Mine"
    schemes = ("iid", "distinct")  # how children may be drawn so that the text has the target's distribution

    def __call__(self, tree, p, rng):
        walk, node = Walk(tree), 0
        while children := tree.children[node]:
            r, drawn = p[node], SequentialProposal(tree.draft_distributions[node], tree.scheme)
            for child in children:
                token, q = tree.tokens[child], drawn.row  # the distribution that this child was drawn from
                if walk.flip(child, ratio(r[token], q[token]), rng):
                    break
                r = residual(r, q)
                drawn.took(token)
            else:
                return walk.end(rng.draw(r))
            node = child
        return walk.end(rng.draw(p[node]))

    def explain(self, step, node):
        return explain_coin(step, node, "min(1, r / q)")
