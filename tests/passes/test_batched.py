"""Several rows in one pass, against a session for each of them."""

import numpy as np
import pytest

import specviz
from specviz.tree import TokenTree
from tests.passes.test_huggingface import V, alone, along, make, random_tree

pytestmark = pytest.mark.adapter


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_rows_of_a_batch_are_those_of_sessions(family):
    model, rng = make(family), np.random.default_rng(11)
    texts = rng.integers(V, size=(3, 7))
    shape = random_tree(rng, [0], 9).topology
    ids = rng.integers(V, size=(3, 9))
    run = model.batch(texts, ids, shape)
    first, again = run(), run()
    assert first.shape == (3, 9, V) and np.array_equal(first, again)
    for text, row, logits in zip(texts.tolist(), ids.tolist(), first, strict=True):
        tree = TokenTree(row[0], start=len(text))
        for node in range(1, 9):
            tree.add(shape.parents[node], row[node])
        expected = model.open([*text, row[0]]).forward(tree, range(9))
        assert np.allclose(logits, expected, atol=2e-4 * np.abs(expected).max())


def test_paths_as_a_batch_give_the_rows_of_their_tree():
    model, rng = make(), np.random.default_rng(12)
    context = [3, 1, 4, 1, 5]
    tree = random_tree(rng, context, 10)
    paths = [(0, *tree.topology.path(node)) for node in range(10) if not tree.children[node]]
    longest = max(map(len, paths))
    ids = [[tree.tokens[node] for node in path] + [0] * (longest - len(path)) for path in paths]
    logits = model.batch(np.array([context[:-1]] * len(paths)), np.array(ids))()
    for path, rows in zip(paths, logits, strict=True):
        for at, node in enumerate(path):
            expected = alone(model, context + along(tree, node))
            assert np.abs(rows[at] - expected).max() <= 2e-4 * np.abs(expected).max()


def test_a_table_reads_a_batch_row_by_row():
    target = specviz.toy_pair(vocab=5).target
    shape = TokenTree(0).topology
    assert np.array_equal(target.batch(np.array([[1, 2]]), np.array([[3]]), shape)()[0, 0], target.logits([1, 2, 3]))
    chain = target.batch(np.array([[1, 2], [0, 4]]), np.array([[3, 1], [2, 2]]))()
    assert np.array_equal(chain[1, 1], target.logits([0, 4, 2, 2]))
