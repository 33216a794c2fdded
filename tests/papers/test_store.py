"""Measurements are known by the weights they were made with."""

import json

from specviz.base.files import ASSETS
from specviz.papers.store import weights


def test_weights_that_differ_in_their_last_byte_only_are_others(tmp_path):
    """A retrained tail, of a file that begins alike and is as long."""
    file = tmp_path / "target" / "model.safetensors"
    file.parent.mkdir()
    content = bytes(3 << 20)
    file.write_bytes(content)
    mark = weights(tmp_path)
    weights.cache_clear()
    file.write_bytes(content[:-1] + b"\x01")
    assert weights(tmp_path) != mark
    weights.cache_clear()
    file.write_bytes(content)
    assert weights(tmp_path) == mark
    weights.cache_clear()


def test_the_shipped_measurements_are_of_the_shipped_weights():
    for name in ("counted.json", "timed.json"):
        stored = json.loads((ASSETS / "papers" / name).read_text("utf-8"))
        assert {entry["weights"] for entry in stored.values()} == {weights()}
