"""The stored costs of the embedded pair, and the tree that follows from them; no time is
asserted."""

from dataclasses import replace

import pytest

from specviz.builders.plans import best_tree
from specviz.measure import machine_profile as here
from specviz.measure.forecast import predict
from specviz.measure.machines import flat_up_to, roofline
from specviz.record.vectors import find_acceptance


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def dear(draft_s, **settings):
    """A machine on which a node costs little up to 8 of them."""
    table = roofline("m", "n", pass_s=1.0, draft_s=draft_s, overhead_s=0.0, flat=8)
    return replace(
        table, settings={"pair": "embedded pair", "drafter": "model", "offload": None} | settings
    )


@pytest.mark.parametrize(
    ("table", "temperature"), [(dear(0.02), 0.0), (dear(0.3), 0.8), (flat_up_to(32), 0.8)]
)
def test_the_best_tree_is_the_fastest_of_all_sizes_and_depths(table, temperature):
    vector = find_acceptance("sequoia", temperature)
    found = here.best_size(table, "sequoia", temperature, max_nodes=20)
    speeds = [
        predict(best_tree(vector, size, depth, 32)[0], vector, table).speedup
        for size in (2, 4, 7, 8, 9, 13, 20)
        for depth in (1, 2, 3, 5, 8)
    ]
    shape = best_tree(vector, found.size, found.depth, 32)[0]
    assert predict(shape, vector, table).speedup == pytest.approx(found.speedup)
    assert found.speedup >= max(speeds) - 1e-12 and found.size <= 20


def test_costs_of_the_embedded_pair_in_memory_are_kept_for_these_weights(monkeypatch):
    for other in ({"pair": "a pair"}, {"drafter": "ngram"}, {"offload": "disk"}):
        here.store_costs(dear(0.1, **other))
        assert here.find_costs() is None
    here.store_costs(dear(0.1))
    here.store_costs(dear(0.2))  # in place of the older one
    assert here.find_costs() == dear(0.2)
    monkeypatch.setattr(here, "fingerprint", lambda: here.machine())  # another pair took its place
    assert here.find_costs() is None


@pytest.mark.parametrize("text", ["[]", '{"about": {}, "costs": {}}'])
def test_a_damaged_file_is_as_good_as_none(folder, text):
    folder.mkdir()
    (folder / here.CACHE).write_text(text)
    assert here.find_costs() is None
    here.store_costs(dear(0.1))
    assert here.find_costs() == dear(0.1)
