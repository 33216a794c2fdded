"""What a drafter keeps from step to step changes no row: after every commit it says what a fresh
one says."""

import numpy as np
import pytest
import torch

import specviz
from specviz.base.files import PAIR
from specviz.config.strategy import strategy_of
from specviz.decode.session import DecodingSession
from specviz.drafters.base import open_drafter
from specviz.sampling.distributions import Sampling
from specviz.sampling.randomness import Seeded
from specviz.verifiers.base import Verdict

pytestmark = pytest.mark.adapter
RULE = specviz.VERIFIERS["target-match"]()
BUILDERS = {"dyspec": {"size": 24}, "eagle2": {"size": 8, "depth": 4, "width": 3}}
EVERY = [
    # A fresh one in low precision reads the text itself, where the other sees the target's keys.
    *(name for name in specviz.DRAFTERS if name not in ("online", "quantized")),
    "online:rate=0.0,every=1",  # one that learns nothing: a fresh one has learnt nothing either
    "cascade:first=eagle,then=medusa,at=1",
]
SHARED = [  # the target's cache is that of both drafters as well
    "several:drafters=model,early-exit",
    "cascade:first=early-exit,then=model",
]


@pytest.fixture(scope="module")
def load():
    threads, pairs = torch.get_num_threads(), {}
    torch.set_num_threads(1)

    def pair(draft):
        if draft not in pairs:
            pairs[draft] = specviz.load_pair(
                PAIR / "target",
                PAIR / draft if draft == "draft" else draft,
                device="cpu",
                dtype="float32",
            )
        return pairs[draft]

    yield pair
    torch.set_num_threads(threads)


def steps(pair, builder, drafter, prompt, count=6):
    """The trees of a run and the text before each; a random path of every tree is accepted."""
    config = specviz.RunConfig(prompt, builder, RULE, 0.7, max_new_tokens=99, drafter=drafter)
    text, coins, kept = DecodingSession(pair, config, drafter), np.random.default_rng(5), 0
    for _ in range(count):
        draft = text.draft("distinct")
        tree = builder(draft, Seeded(1), text.tokens_left, builder.start())
        yield draft.tree, list(text.context)
        path = tree.topology.path(int(coins.integers(len(tree) // 2, len(tree))))
        kept += len(path)
        rows = text.score(tree)
        text.commit(
            draft,
            tree,
            rows,
            Verdict(path, int(rows[path[-1] if path else 0].argmax()), (), (), ()),
        )
    assert kept >= count, "little was drafted, so little was tried"


def named(value):
    """A draft or a drafter in the name of a test."""
    return str(value)


@pytest.mark.parametrize("builder", ["dyspec", pytest.param("eagle2", marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ("draft", "drafter"),
    [*(("draft", one) for one in EVERY), *(("early-exit:2", one) for one in SHARED)],
    ids=named,
)
def test_after_every_commit_a_drafter_says_what_a_fresh_one_says(load, draft, drafter, builder):
    pair, shape = load(draft), specviz.BUILDERS[builder](**BUILDERS[builder])
    for tree, context in steps(
        pair, shape, strategy_of("drafter", drafter), "def __init__(self):\n    self."
    ):
        fresh = open_drafter(strategy_of("drafter", drafter), pair, *pair.open(context), context)
        nodes = list(tree.draft_distributions)
        for node, row in zip(nodes, fresh.expand(tree, nodes, Sampling(0.7)), strict=True):
            np.testing.assert_allclose(tree.draft_distributions[node], row, atol=2e-4)
