"""Several texts in one pass, each against a session of its own."""

import numpy as np
import pytest

from specviz.passes import several_texts
from specviz.passes.several_texts import Ask, new_block, read_together
from specviz.tree import TokenTree
from tests.passes.test_huggingface import V, make, random_tree

pytestmark = pytest.mark.adapter


class Joined:
    """A model that keeps what a session asks it, so that a test answers several of them together."""

    def __init__(self, model):
        self.model, self.asked = model, None

    def __getattr__(self, name):
        return getattr(self.model, name)

    def read(self, *arguments):
        self.asked = Ask(*arguments)
        raise InterruptedError


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_texts_read_together_get_the_rows_that_each_gets_alone(family):
    """Texts and trees of different sizes, over several steps; in the third one text takes no part."""
    model, rng = make(family), np.random.default_rng(3)
    contexts = [rng.integers(V, size=size).tolist() for size in (2, 9, 5)]
    block = new_block(model, len(contexts))
    alone = [model.open(context) for context in contexts]
    texts = [model.open(context) for context in contexts]
    for session, cache in zip(texts, block.caches, strict=True):
        session.cache, session.model = cache, Joined(model)
    for turn in range(4):
        part = [0, 2] if turn == 2 else [2, 0, 1]
        trees = {text: random_tree(rng, alone[text].context, int(rng.integers(1, 9))) for text in part}
        for text, tree in trees.items():
            with pytest.raises(InterruptedError):
                texts[text].forward(tree, range(len(tree)))
        found = read_together(model, [texts[text].model.asked for text in part])
        for (text, tree), rows in zip(trees.items(), found, strict=True):
            texts[text]._read = texts[text]._base  # what a forward does once it has been answered
            expected = alone[text].forward(tree, range(len(tree)))
            assert rows.shape == expected.shape
            assert np.abs(rows - expected).max() <= 2e-4 * np.abs(expected).max()
            path = tree.topology.path(int(rng.integers(len(tree))))
            emitted = [*(tree.tokens[node] for node in path), int(rng.integers(V))]
            for session in (alone[text], texts[text]):
                session.commit(tree, path, emitted)


def test_a_block_grows_for_all_texts_and_keeps_what_they_read(monkeypatch):
    monkeypatch.setattr(several_texts, "CHUNK", 4)
    model = make()
    block = new_block(model, 2)
    first, second = model.open([1, 2, 3]), model.open(list(range(1, 30)))
    first.cache, second.cache = block.caches
    before = first.forward(TokenTree(3, start=2), [0])
    second.forward(TokenTree(29, start=28), [0])
    assert block.slots == 32 and block.caches[0]._block.shape[3] == 32
    assert np.allclose(first.forward(TokenTree(3, start=2), [0]), before, atol=1e-5)
