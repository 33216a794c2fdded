"""Caches: whatever is wrong with one, what it held is made anew, with one line in the log."""

import logging

import numpy as np
import pytest

from specviz import files
from specviz.drafters import library as module


class Pair:
    """A tokenizer and nothing else, without a library of its own."""

    vocab_size = 128

    def encode(self, text):
        return [ord(letter) % 128 for letter in text[:200]]

    def decode(self, tokens):
        return "".join(map(chr, tokens))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))
    files._log_cache.cache_clear()
    return tmp_path


def made():
    module._libraries.clear()
    return module.library(Pair(), code=False)


def same(one, other):
    columns = ((one.tokens, other.tokens), (one.starts, other.starts), (one.newlines, other.newlines))
    return one.names == other.names and all(np.array_equal(a, b) for a, b in columns)


def test_a_library_is_kept_and_read_again(folder, monkeypatch, caplog):
    first = made()
    (path,) = folder.iterdir()
    monkeypatch.setattr(module, "_made", None)
    assert same(made(), first) and list(folder.iterdir()) == [path] and not caplog.records


def test_every_damage_of_a_library_is_made_good(folder, caplog):
    """Cut off at many places, and a bit turned over at many: what is read is the truth, or made anew."""
    first = made()
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    cuts = [whole[:end] for end in range(0, len(whole), 97)]
    flips = [whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :] for at in range(0, len(whole), 31)]
    for damaged in [*cuts, *flips, b"no archive", np.arange(3).tobytes()]:
        path.write_bytes(damaged)
        assert same(made(), first)
    files._log_cache.cache_clear()
    caplog.clear()
    path.write_bytes(whole[:100])
    with caplog.at_level(logging.WARNING):
        made()
        made()
    assert len(caplog.records) == 1 and "is rebuilt" in caplog.text and path.read_bytes()[:100] == whole[:100]


def full(path, **data):
    path.write_text("cut off")
    raise OSError("No space left on device")


@pytest.mark.parametrize("obstacle", ["no home", "a file", "a full disk"])
def test_no_place_for_a_cache_is_a_line_in_the_log(tmp_path, monkeypatch, caplog, obstacle):
    monkeypatch.delenv("SPECVIZ_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    files._log_cache.cache_clear()
    if obstacle == "no home":
        monkeypatch.setattr(files.Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home folder")))
    else:
        monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))
        if obstacle == "a file":
            (tmp_path / "cache").write_text("in the way")
        else:
            monkeypatch.setattr(np, "savez", full)
    assert len(made().tokens) > 1 and not [*tmp_path.glob("cache/*")]
    assert "the cache cannot be written" in caplog.text


def test_a_number_of_400_digits_does_not_keep_the_demo_from_starting(folder, caplog):
    from specviz.planning import machine_profile as here

    row = '{"about": {}, "table": {}, "vectors": [], "when": 1' + "0" * 400 + "}"
    (folder / "speed.json").write_text('{"entries": [' + row + "]}")
    assert here.stored_profiles() == [] and here.find_profile({"name": "x"}) is None
    assert len(caplog.records) == 1 and "speed.json" in caplog.text


def test_numbers_and_depths_without_end_are_read_as_json():
    assert files.parse_json("[" + "9" * 5000 + "]") == [float("inf")]
    assert files.parse_json("9" * 300) == int("9" * 300)
    with pytest.raises(ValueError, match="nested too deeply"):
        files.parse_json("[" * 100_000)
