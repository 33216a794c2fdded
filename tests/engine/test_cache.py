"""The cache folder: whatever is wrong with a file there, its content is made anew, with one line in
the log."""

import pytest

from specviz.base import files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))
    files._log_cache.cache_clear()
    return tmp_path / "cache"


def test_what_is_written_is_read_again(folder, caplog):
    assert files.from_cache("a.txt", files.Path.read_text) is None
    files.to_cache("a.txt", "kept")
    assert files.from_cache("a.txt", files.Path.read_text) == "kept" and not caplog.records


@pytest.mark.parametrize("obstacle", ["no home", "a file", "a full disk"])
def test_no_place_for_a_cache_is_a_line_in_the_log(folder, monkeypatch, caplog, obstacle):
    def no_space(*args):
        raise OSError(28, "No space left on device")

    if obstacle == "a full disk":
        monkeypatch.setattr(files.os, "fsync", no_space)
    elif obstacle == "a file":
        folder.write_text("in the way")
    elif obstacle == "no home":
        monkeypatch.delenv("SPECVIZ_CACHE")
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setattr(
            files.Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home folder"))
        )
    files.to_cache("a.txt", "kept")
    assert not [*folder.glob("*")] and "the cache cannot be written" in caplog.text


def test_a_damaged_file_is_a_line_in_the_log(folder, caplog):
    files.to_cache("a.json", "{")
    for _ in range(2):
        assert files.from_cache("a.json", lambda path: files.parse_json(path.read_text())) is None
    assert len(caplog.records) == 1 and "a.json" in caplog.text


@pytest.mark.parametrize("text", ["9" * 5000, "[" * 100_000, "NaN", "{", '"\\ud800"'])
def test_what_is_no_json_is_a_value_error(text):
    with pytest.raises(ValueError, match="line 1 column"):
        files.parse_json(text)
