"""Layers that are read from disk for every pass: the logits of memory bit for bit, and a sentence
for every fault."""

import errno
import gc
import math
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch

import specviz
from specviz.models.loading import load_model
from specviz.models.streamed import layer_file, stream
from specviz.models.streamed import target as streamed
from specviz.passes.compiled import passes as compiled
from specviz.passes.huggingface import HuggingFaceModel
from specviz.tree import TokenTree
from tests.matrix import rest_of
from tests.passes.test_huggingface import V, along, make, random_tree

pytestmark = pytest.mark.adapter
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path):
    return save(tmp_path / "model")


def save(folder, family="llama", dtype=torch.float32, shards="1GB", **changes):
    make(family, dtype=dtype, **changes).model.save_pretrained(folder, max_shard_size=shards)
    return str(folder)


def open_target(folder, dtype=torch.float32):
    model = streamed.stream_target(folder, dtype, CPU, lambda fraction, message: None)
    assert model.disk_speed > 0
    return model


def in_memory(folder, dtype=torch.float32):
    return HuggingFaceModel(load_model("target", folder, CPU, dtype))


def same_logits(one, other, sizes=(12, 1, 2 * compiled.TOKENS_PER_CALL + 3, 5)):
    rng, sessions = (
        np.random.default_rng(1),
        [model.open([3, 1, 4, 1, 5]) for model in (one, other)],
    )
    for size in sizes:
        tree = random_tree(rng, sessions[0].context, size)
        rows = [session.forward(tree, range(size)[::-1]) for session in sessions]
        np.testing.assert_array_equal(*rows)
        for session in sessions:
            session.commit(tree, tree.topology.path(size - 1), [*along(tree, size - 1), 7])


@pytest.mark.parametrize(
    "way, dtype, family",
    rest_of(
        ["compiled", "torch"],
        [torch.float32, torch.bfloat16],
        ["llama", "qwen2"],
        few=["compiled-torch.bfloat16-qwen2", "torch-torch.float32-llama"],
    ),
)
def test_the_logits_are_those_of_memory(tmp_path, monkeypatch, family, dtype, way):
    changes = {"max_position_embeddings": 512, "num_hidden_layers": 5, "layer_types": None}
    changes["tie_word_embeddings"] = family == "qwen2"
    folder = save(tmp_path / "model", family, dtype, shards="20KB", **changes)
    assert len(list(Path(folder).glob("*.safetensors"))) > 1
    if way == "torch":
        monkeypatch.setattr("specviz.passes.direct.compiler_for", lambda model: None)
    ours, theirs = open_target(folder, dtype), in_memory(folder, dtype)
    for model in (ours, theirs):
        assert (model.direct.compiled is None) == (way == "torch")
    assert all(weight.is_meta for weight in ours.model.model.layers.parameters())
    same_logits(ours, theirs)
    states = torch.randn(3, 32, dtype=dtype)
    np.testing.assert_array_equal(ours.logits_of(states), theirs.logits_of(states))


def test_a_pair_on_disk_writes_the_texts_of_memory():
    disk, memory = specviz.load_pair(offload="disk"), specviz.load_pair()
    assert disk.info["offload"] == disk.offload == "disk"
    assert disk.info["disk_speed"] == disk.disk_speed > 0
    assert not {"offload", "disk_speed"} & memory.info.keys() and memory.offload is None
    for drafter in ("model", "early-exit:layers=2", "eagle", "medusa"):
        config = specviz.RunConfig(
            "Once upon a time",
            builder="sequoia:size=12",
            verifier="sequoia",
            max_new_tokens=24,
            drafter=drafter,
        )
        assert specviz.run(disk, config).tokens == specviz.run(memory, config).tokens, drafter


def test_layers_are_read_from_the_disk_for_every_pass(folder):
    if math.isnan(stream._bytes_from_disk()):
        pytest.skip("this system does not count what is read from disks")
    model = open_target(folder)
    session, layers = model.open([3, 1, 4]), model.direct.layers
    session.forward(TokenTree(4, start=2), [0])
    before = stream._bytes_from_disk()
    for _ in range(20):
        session.forward(TokenTree(4, start=2), [0])
    layers._thread.shutdown()
    assert stream._bytes_from_disk() - before >= 20 * layers.bytes - 3 * layers.file.layer.itemsize


def test_the_file_is_written_once_and_again_where_it_was_changed(folder, cache):
    def file():
        (path,) = (cache / "layers").glob("*.bin")
        return path, path.stat().st_ino

    open_target(folder)
    path, number = file()
    open_target(folder)
    assert file() == (path, number)
    with open(path, "r+b") as content:
        content.write(b"\1" * 100)
    model = open_target(folder)
    assert file()[1] != number
    same_logits(model, in_memory(folder), (5,))
    assert not list((cache / "layers").glob("*.part"))


def test_a_file_that_is_no_longer_opened_is_deleted(folder, cache):
    messages = []
    streamed.stream_target(
        folder, torch.float32, CPU, lambda fraction, message: messages.append(message)
    )
    assert messages[-1] == "Writing the layers to disk: 2 of 3"
    (path,) = (cache / "layers").glob("*.bin")
    os.utime(path, (path.stat().st_atime - layer_file.UNUSED - 1, path.stat().st_mtime))
    open_target("random:tiny")
    assert not path.exists() and len([*(cache / "layers").glob("*.bin")]) == 1


@pytest.mark.parametrize("harm", ["change", "cut"])
def test_a_file_that_is_changed_in_use_is_a_sentence(folder, harm):
    model = open_target(folder)
    session = model.open([3, 1, 4])
    session.forward(TokenTree(4, start=2), [0])
    with open(model.direct.layers.file.path, "r+b") as content:
        content.write(b"\1") if harm == "change" else content.truncate(4096)
    for _ in range(2):
        with pytest.raises(ValueError, match="layers"):
            session.forward(TokenTree(4, start=2), [0])


@pytest.mark.parametrize(
    "fault", [OSError(errno.EIO, "unread"), ValueError("unread"), "cut"], ids=str
)
def test_a_read_that_fails_is_a_sentence_and_the_next_pass_is_right(folder, monkeypatch, fault):
    model, other = open_target(folder), in_memory(folder)
    honest, calls = os.preadv, []

    def preadv(*given):
        calls.append(given)
        if len(calls) != 5:
            return honest(*given)
        if fault == "cut":
            return 0
        raise fault

    monkeypatch.setattr(os, "preadv", preadv)
    with pytest.raises(ValueError, match=r"cut|unread"):
        for _ in range(3):
            model.open([3, 1, 4]).forward(TokenTree(4, start=2), [0])
    same_logits(model, other, (5, 3))


def test_a_pass_that_is_given_up_between_layers_leaves_the_next_one_right(folder):
    model = open_target(folder)
    with closing(iter(model.direct.layers)) as layers:
        next(layers), next(layers)
    same_logits(model, in_memory(folder), (5,))


def test_two_threads_take_turns(folder):
    model, other = open_target(folder), in_memory(folder)
    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(same_logits, model, other, (9, 4, 7) * 3) for _ in range(4)]:
            done.result(60)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_fork_reads_with_a_thread_of_its_own(folder):
    model = open_target(folder)
    session = model.open([3, 1, 4])
    expected = session.forward(TokenTree(4, start=2), [0])
    if not (child := os.fork()):
        os._exit(
            not all(
                (model.open([3, 1, 4]).forward(TokenTree(4, start=2), [0]) == expected).all()
                for _ in "ab"
            )
        )
    assert os.waitpid(child, 0)[1] == 0


def test_a_full_disk_is_a_sentence(folder, cache, monkeypatch):
    monkeypatch.setattr(
        layer_file.shutil, "disk_usage", lambda place: type("Usage", (), {"free": 1000})
    )
    with pytest.raises(ValueError, match="free"):
        open_target(folder)
    monkeypatch.undo()
    monkeypatch.setenv("SPECVIZ_CACHE", str(cache))
    monkeypatch.setattr(
        os, "fsync", lambda number: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left"))
    )
    with pytest.raises(ValueError, match="No space left"):
        open_target(folder)
    assert not [*(cache / "layers").glob("*.part"), *(cache / "layers").glob("*.bin")]


def test_a_file_that_stays_in_memory_is_refused(folder, monkeypatch):
    monkeypatch.setattr(stream, "_bytes_from_disk", lambda: 7)
    with pytest.raises(ValueError, match="in memory"):
        open_target(folder)


@pytest.mark.parametrize(
    ("first", "second", "is_counted", "is_disk"),
    [
        (10.0, 0.1, True, True),
        (10.0, 0.1, False, False),
        (0.3, 0.1, False, True),
        (1e-5, 1e-7, False, True),  # too short to say anything
    ],
)
def test_slow_first_reads_are_of_memory_only_where_nothing_is_counted(
    folder, monkeypatch, first, second, is_counted, is_disk
):
    honest, clock, counted = os.preadv, [0.0], [0]

    def preadv(fd, buffers, start):
        count = honest(fd, buffers, start)
        clock[0] += second if start in seen else first
        seen.add(start)
        counted[0] += count if is_counted else math.nan
        return count

    seen = set()
    monkeypatch.setattr(os, "preadv", preadv)
    monkeypatch.setattr(stream, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(stream, "_bytes_from_disk", lambda: counted[0])
    with nullcontext() if is_disk else pytest.raises(ValueError, match="in memory"):
        open_target(folder)


def test_without_direct_reads_the_system_is_told_to_forget(folder, monkeypatch):
    advice, honest = [], os.posix_fadvise
    monkeypatch.delattr(os, "O_DIRECT")
    monkeypatch.setattr(os, "posix_fadvise", lambda *given: advice.append(given) or honest(*given))
    same_logits(open_target(folder), in_memory(folder), (5,))
    assert len(advice) >= 3


def test_memory_and_descriptors_stay_flat(folder, cache):
    def descriptors():  # of the model's files: others belong to other tests of this process
        links = (Path("/proc/self/fd", name) for name in os.listdir("/proc/self/fd"))
        return sum(link.exists() and os.readlink(link).startswith(str(cache)) for link in links)

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    if not Path("/proc/self/fd").exists():
        pytest.skip("this system does not list descriptors")
    gc.collect()  # what tests before this one left
    model = open_target(folder)
    for step in range(300):
        session = model.open([3, 1, step % V])
        tree = random_tree(np.random.default_rng(step), session.context, 9)
        session.forward(tree, range(9))
        if step == 100:
            first = resident()
    assert resident() - first < 4_000_000
    threads, opened = threading.active_count(), descriptors()
    del model, session
    # A thread that still reads a layer holds the file until it is done.
    end = time.monotonic() + 30
    gc.collect()
    while descriptors() and time.monotonic() < end:
        time.sleep(0.05)
        gc.collect()
    assert opened == 1 and descriptors() == 0 and threading.active_count() <= threads


def test_random_weights_are_streamed_and_the_same_every_time():
    one, other = (open_target("random:tiny") for _ in range(2))
    same_logits(one, other, (5,))


def test_other_families_are_left_to_transformers(tmp_path):
    assert (
        streamed.stream_target(save(tmp_path / "gpt2", "gpt2"), torch.float32, CPU, print) is None
    )
