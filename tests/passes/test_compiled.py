"""Compiled passes against torch's own: the same logits of trees, and torch's where a kernel is wrong."""

import logging

import numpy as np
import pytest
import torch

from specviz.models.selftest import check_tree_reading
from specviz.passes import compiled
from tests.passes.test_huggingface import alone, along, make, random_tree

pytestmark = pytest.mark.adapter
CLOSE = {torch.float32: 1e-5, torch.bfloat16: 2e-2}  # root mean square, of the logits' spread
assert compiled.AVAILABLE, "numba must be installed for these tests"


@pytest.mark.parametrize("work", [0, compiled.WORK])
@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("family", ["llama", "qwen2"])  # qwen2 has biases
def test_a_compiled_pass_gives_the_logits_of_torch(monkeypatch, family, dtype, work):
    monkeypatch.setattr(compiled, "WORK", work)
    passes = []
    states = compiled.states
    monkeypatch.setattr(
        compiled, "states", lambda direct, ids, *rest: passes.append(len(ids)) or states(direct, ids, *rest)
    )
    ours, torchs = (make(family, dtype=dtype) for _ in range(2))
    torchs.direct.compiled = False
    rng, sessions = np.random.default_rng(1), [model.open([3, 1, 4, 1, 5]) for model in (ours, torchs)]
    for size in (12, compiled.MOST, 1, 5):
        tree = random_tree(rng, sessions[0].context, size)
        found, wanted = (session.forward(tree, range(size)) for session in sessions)
        assert np.sqrt(np.mean((found - wanted) ** 2)) < CLOSE[dtype] * wanted.std()
        for session in sessions:
            session.commit(tree, tree.topology.path(size - 1), [*along(tree, size - 1), 7])
    assert passes[0] == 4 + 12 and passes[1:] == [compiled.MOST, 1, 5]


def test_a_wrong_kernel_leaves_the_passes_to_torch(monkeypatch, caplog):
    model = make("llama", dtype=torch.float32)
    monkeypatch.setattr(compiled.kernels, "gated", lambda both, out: out.fill(0.1))
    with caplog.at_level(logging.WARNING):
        check_tree_reading("target", model)
    assert model.direct is not None and not model.direct.compiled and not caplog.messages
    session = model.open([3, 1, 4])
    tree = random_tree(np.random.default_rng(0), session.context, 6)
    np.testing.assert_allclose(session.forward(tree, [5])[0], alone(model, [3, 1, 4, *along(tree, 5)]), atol=1e-4)


def test_without_numba_nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(compiled, "AVAILABLE", False)
    assert not make("llama", dtype=torch.float32).direct.compiled
