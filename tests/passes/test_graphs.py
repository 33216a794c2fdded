"""Padded passes against plain ones. No graph can be captured on a CPU: a stand-in is captured in
its place."""

import contextlib
import gc
import logging
import threading
import types
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
import transformers

from specviz.models.early_exit import first_layers
from specviz.models.selftest import check_tree_reading
from specviz.passes import device_logits, direct, graphs
from specviz.passes.cache import TreeCache
from specviz.passes.graphs import BUCKETS, StaticPasses, slots_bucket
from specviz.passes.huggingface import HuggingFaceModel
from specviz.passes.layers import read_layer
from specviz.sampling.distributions import Sampling
from tests.passes.test_huggingface import (
    FAMILIES,
    V,
    along,
    each_alone,
    make,
    random_run,
    random_tree,
)

pytestmark = pytest.mark.adapter


def static(model, capture=None):
    """The model with passes of fixed shape, which on a CPU it would not have."""
    model.static = StaticPasses(model.direct, capture)
    return model


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks that are outgrown soon, and torch's arithmetic on both sides, as on a GPU."""
    monkeypatch.setattr(graphs, "SLOTS", 8)
    monkeypatch.setattr(direct, "compiler_for", lambda model: None)


@pytest.mark.parametrize(
    "width",
    [
        pytest.param(width, marks=[] if width in (1, 16) else pytest.mark.nightly)
        for width in BUCKETS
    ],
)
def test_a_padded_pass_gives_the_logits_of_a_plain_one(width):
    more = {"max_position_embeddings": 1024, "dtype": torch.float64}
    sessions = [model.open([3, 1, 4, 1, 5]) for model in (make(**more), static(make(**more)))]
    rng = np.random.default_rng(width)
    # The full bucket, then, after a commit, one node more than the bucket before it holds.
    for size in (width, min(width, BUCKETS[max(0, BUCKETS.index(width) - 1)] + 1)):
        tree = random_tree(rng, sessions[0].context, size)
        plain, padded = (session.forward(tree, range(size)) for session in sessions)
        np.testing.assert_allclose(padded, plain, rtol=0, atol=1e-6)
        for session in sessions:
            session.commit(tree, tree.topology.path(size - 1), [*along(tree, size - 1), 7])
    assert {shape[0] for shape in sessions[1].model.static.passes} >= {width}


@pytest.mark.parametrize("layers", [(), (0, 2)])
def test_a_padded_pass_gives_the_features_of_a_plain_one(layers):
    """Those that a draft head reads: inputs of some layers, and the last hidden state."""
    rng = np.random.default_rng(11)
    capture = Capture()
    sessions = []
    for model in (make(dtype=torch.float64), static(make(dtype=torch.float64), capture)):
        session = model.with_features(layers).open([3, 1, 4, 1, 5])
        session.watch()
        sessions.append(session)
    for size in (5, 6, 7):
        tree = random_tree(rng, sessions[0].context, size)
        plain, padded = (session.forward(tree, range(size)) for session in sessions)
        np.testing.assert_allclose(padded, plain, atol=1e-6)
        plain, padded = (session.features(range(size)) for session in sessions)
        assert plain.shape == (size, (len(layers) + 1) * 32)
        torch.testing.assert_close(padded, plain)
        for session in sessions:
            session.commit(tree, tree.topology.path(size - 1), [*along(tree, size - 1), 7])
    assert capture.replayed


def test_the_self_test_reads_padded_passes(monkeypatch):
    model = static(make())
    check_tree_reading("target", model)
    assert model.static.passes
    honest = graphs.StaticPass.fill

    def blind(self, work):
        honest(self, work)
        self.masked[:, : work.end] = False

    monkeypatch.setattr(graphs.StaticPass, "fill", blind)
    check_tree_reading("target", model)
    assert model.static is None, "transformers' own passes take their place"


class Capture:
    """In place of a CUDA graph: a function that counts how often it was made and replayed."""

    def __init__(self, fails=0):
        self.captured = self.replayed = 0
        self.fails = fails

    def __call__(self, run):
        self.captured += 1
        if self.captured == self.fails:
            raise torch.OutOfMemoryError("no memory\nfor a graph")

        def replay():
            self.replayed += 1
            return run()

        return replay


def read(session, size, rng):
    tree = random_tree(rng, session.context, size)
    rows = session.forward(tree, range(size))
    texts = [session.context + along(tree, node) for node in range(size)]
    expected = each_alone(session.model, texts)
    np.testing.assert_allclose(rows, expected, atol=1e-3)


def test_a_shape_is_captured_when_it_comes_again(monkeypatch):
    monkeypatch.setattr(graphs, "SLOTS", 64)
    capture, rng = Capture(), np.random.default_rng(2)
    session = static(make(), capture).open([3, 1, 4])
    # The first tree waits for nothing; 5 to 7 nodes are one bucket.
    for size, counts in ((5, (0, 0)), (7, (1, 1)), (6, (1, 2)), (3, (1, 2))):
        read(session, size, rng)
        assert (capture.captured, capture.replayed) == counts


def test_passes_are_bounded_and_the_oldest_goes(monkeypatch):
    monkeypatch.setattr(graphs, "MAX_PASSES", 2)
    model, rng = static(make()), np.random.default_rng(3)
    session = model.open([3, 1])
    for size in (1, 2, 4, 2, 8):
        read(session, size, rng)
        assert len(model.static.passes) <= 2
    assert [shape[0] for shape in model.static.passes] == [2, 8]


def test_a_capture_that_fails_is_told_once_and_nothing_is_lost(caplog):
    capture, rng = Capture(fails=2), np.random.default_rng(4)
    session = static(make(), capture).open([3, 1, 4])
    with caplog.at_level(logging.WARNING):
        for size in (4, 4, 8, 8, 4, 4):
            read(session, size, rng)
    assert len(caplog.records) == 1 and (capture.captured, capture.replayed) == (2, 1)


def test_a_block_that_is_too_small_grows_and_its_graphs_go():
    capture, rng = Capture(), np.random.default_rng(5)
    model = static(make(), capture)
    session = model.open([3, 1, 4])
    sizes = set()
    for _ in range(12):
        tree = random_tree(rng, session.context, 9)
        session.forward(tree, range(9))
        session.commit(tree, tree.topology.path(8), [*along(tree, 8), 7])
        read(session, 6, rng)
        sizes.add(session.cache.blocks[0].shape[3])
        assert all(one.block is session.cache.blocks[0] for one in model.static.passes.values())
        assert all(
            length < session.cache.blocks[0].shape[3] for _, length, _ in model.static.passes
        )
    assert len(sizes) > 1 and capture.replayed


def test_a_second_text_reads_beside_the_first_and_inherits_its_block():
    model, rng = static(make()), np.random.default_rng(6)
    first, second = model.open([3, 1, 4]), model.open([1, 5])
    for _ in range(2):
        read(first, 5, rng)
        read(second, 5, rng)
    block = first.cache.blocks[0]
    assert second.cache.blocks[0] is not block and block is model.static._block
    del first
    gc.collect()
    read(second, 5, rng)
    assert second.cache.blocks[0] is block


def test_passes_that_are_too_wide_or_a_prompt_are_left_alone(monkeypatch):
    monkeypatch.setattr(graphs, "BUCKETS", (1, 2, 4))
    model, rng = static(make()), np.random.default_rng(7)
    session = model.open([3])
    read(session, 9, rng)
    assert not model.static.passes
    read(session, 3, rng)
    assert list(model.static.passes) == [(4, 8, None)]
    random_run(model, rng)


def test_early_exit_drafts_keep_the_plain_pass():
    target, rng = static(make()), np.random.default_rng(8)
    draft = static(first_layers(target, 2))
    for _ in range(4):
        random_run(draft, rng, target=target)
    assert target.static.passes and not draft.static.passes


def test_graphs_that_are_dropped_leave_their_pool_alive(monkeypatch):
    """As torch has it: a pool lives as long as one of its graphs, and cannot be used afterwards."""
    alive = weakref.WeakSet()

    class Graph:
        def pool(self):
            return self._pool

        def replay(self):
            pass

    @contextlib.contextmanager
    def capture(graph, pool, capture_error_mode):
        assert pool is None or any(one.pool() is pool for one in alive), "the pool is gone"
        graph._pool = pool or object()
        alive.add(graph)
        yield

    stream = types.SimpleNamespace(wait_stream=lambda other: None)
    fakes = {
        "device": contextlib.nullcontext,
        "stream": contextlib.nullcontext,
        "current_stream": lambda: stream,
        "Stream": lambda: stream,
        "CUDAGraph": Graph,
        "graph": capture,
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(torch.cuda, name, fake)
    capture_graph = graphs.cuda_graphs(torch.device("cuda"))
    logits = torch.ones(2, 3)
    for _ in range(3):
        replay = capture_graph(lambda: (logits, logits))
        assert replay()[0] is logits
        del replay
        gc.collect()
    assert len({id(one.pool()) for one in alive}) == 1


def test_slots_are_rounded_up_by_a_quarter_at_most(monkeypatch):
    monkeypatch.setattr(graphs, "SLOTS", 256)
    for slots in range(1, 9000, 7):
        assert slots <= slots_bucket(slots) <= max(256, 1.25 * slots + 256)
    assert len({slots_bucket(n) for n in range(1, 4097)}) <= 14


@pytest.mark.parametrize("padded", [True, False])
def test_a_pass_and_its_rows_mix_no_devices(padded, monkeypatch):
    """On the device that only knows shapes, where anything left on the CPU would be rejected."""
    pulled = []

    def pull(tensor):
        pulled.append(tensor.device.type)
        return np.zeros(tensor.shape, dtype=np.float64 if tensor.is_floating_point() else np.int64)

    def fuse(module):  # weights without numbers cannot be views of others
        return read_layer(module, module.get_parameter)

    monkeypatch.setattr(direct, "fuse", fuse)
    monkeypatch.setattr(device_logits, "pull", pull)
    with torch.device("meta"):
        model = HuggingFaceModel(transformers.AutoModelForCausalLM.from_config(FAMILIES["llama"]))
    model.lazy = True
    if padded:
        static(model)
    session = model.open([3, 1, 4, 1, 5])
    for _ in range(3):
        tree = random_tree(np.random.default_rng(0), session.context, 7)
        logits = session.forward(tree, range(7))
        for sampling in (Sampling(0.0), Sampling(0.7), Sampling(0.7, top_p=0.9, top_k=20)):
            found = logits.rows(sampling, ahead=2)
            assert found[0].shape == found[5].shape == (V,)
            assert [len(probs) for probs in found.gather([0, 1, 0], [3, 4, 5])] == [3, 3]
        session.commit(tree, tree.topology.path(6), [*along(tree, 6), 7])
    assert set(pulled) == {"meta"} and session.cache.blocks[0].device.type == "meta"
    assert bool(model.static and model.static.passes) is padded


def test_two_threads_never_borrow_the_block_at_once():
    """Both ask before either has it: the first one's block is being made when the second asks."""
    model = static(make("llama"))
    both_inside = threading.Barrier(2)

    class Weights:
        def new_zeros(self, *shape, dtype):
            with contextlib.suppress(threading.BrokenBarrierError):
                both_inside.wait(timeout=0.5)
            return torch.zeros(shape, dtype=dtype)

    passes = model.static
    passes.direct = types.SimpleNamespace(
        depth=model.layers, kv_heads=2, width=8, embed=Weights(), kv_dtype=torch.float32
    )
    caches = [TreeCache(model.layers) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        lent = list(pool.map(lambda cache: passes._lend(cache, 16), caches))
    assert sorted(lent) == [False, True]
    assert [cache.blocks[0] is passes._block for cache in caches] == lent
