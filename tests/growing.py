"""A tree grown by a builder alone, without target and rule; shared by the tests of the builders."""

import math

import specviz
from specviz.builders.base import Draft
from specviz.drafters.models import ModelSession
from specviz.sampling.distributions import Sampling
from specviz.sampling.randomness import Seeded
from specviz.tree import TokenTree

# All but plain decoding, of which there is nothing to see.
BUILDERS = {name: cls for name, cls in specviz.BUILDERS.items() if not cls.autoregressive}
VERIFIERS = {name: cls for name, cls in specviz.VERIFIERS.items() if not cls.autoregressive}


def small(name):
    """A builder whose trees are small enough to enumerate."""
    return BUILDERS[name].proof_instance()


def grow(
    builder,
    scheme=None,
    seed=0,
    vocab=6,
    tokens_left=50,
    state=None,
    temperature=1.0,
    context=(0, 1),
):
    """One tree, and the draft session it was grown with."""
    _, session = specviz.toy_pair(vocab=vocab, seed=seed).open(list(context))
    tree = TokenTree(context[-1], start=len(context) - 1, scheme=scheme or builder.schemes[0])
    draft = Draft(ModelSession("model", session), tree, list(context), Sampling(temperature))
    state = builder.start() if state is None else state
    return builder(draft, Seeded(seed), tokens_left, state), draft


def path_prob(tree, node):
    """The product of q along the path of a node."""
    above = tree.topology.path(node)
    return math.prod(
        float(tree.draft_distributions[tree.parents[n]][tree.tokens[n]]) for n in above
    )
