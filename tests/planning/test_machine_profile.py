"""What is kept of a measurement, and the tree that follows from it; no time is asserted."""

import json

import pytest

import specviz
from specviz.acceptance.vectors import find_acceptance
from specviz.builders.sequoia import best_tree
from specviz.planning import machine_profile as here
from specviz.planning.cost_table import flat_up_to, roofline
from specviz.planning.forecast import predict

ABOUT = {"machine": here.machine(), "version": specviz.__version__, "pair": {"name": "a pair"}}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def dear(draft_s):
    """A machine on which a node costs little up to 8 of them."""
    return roofline("m", "n", pass_s=1.0, draft_s=draft_s, overhead_s=0.0, flat=8)


@pytest.mark.parametrize(("table", "temperature"), [(dear(0.02), 0.0), (dear(0.3), 0.8), (flat_up_to(32), 0.8)])
def test_the_best_tree_is_the_fastest_of_all_sizes_and_depths(table, temperature):
    vector = find_acceptance("sequoia", temperature)
    found = here.MachineProfile(ABOUT, table).best("sequoia", temperature, most=20)
    speeds = [
        predict(best_tree(vector, size, depth, 32)[0], vector, table).speedup
        for size in (2, 4, 7, 8, 9, 13, 20)
        for depth in (1, 2, 3, 5, 8)
    ]
    shape = best_tree(vector, found.size, found.depth, 32)[0]
    assert predict(shape, vector, table).speedup == pytest.approx(found.speedup)
    assert found.speedup >= max(speeds) - 1e-12 and found.size <= 20


def test_a_dear_draft_makes_flat_trees_and_a_limit_holds():
    cheap, costly = (here.MachineProfile(ABOUT, dear(draft)).best("sequoia", 0.8, most=24) for draft in (0.01, 0.4))
    assert cheap.depth > costly.depth
    assert here.MachineProfile(ABOUT, flat_up_to(512)).best("sequoia", 0.8, most=7).size <= 7


def test_what_was_measured_is_kept_and_found_again(folder):
    pair = specviz.toy_pair(vocab=12)
    known = here.MachineProfile(here.about(pair.info), dear(0.1))
    here.store_profile(known)
    assert json.loads((folder / "speed.json").read_text())["entries"] and here.find_profile() is None
    here.store_profile(known)
    assert here.stored_profiles() == [known]  # in place of the older one


def test_the_embedded_pair_is_known_before_it_is_loaded(monkeypatch):
    known = here.MachineProfile(here.about({"name": "embedded pair", "dtype": "float32"}), dear(0.1))
    here.store_profile(known)
    assert here.find_profile() == known
    monkeypatch.setattr(here, "embedded_bytes", lambda: 1)  # another pair took its place
    assert here.find_profile() is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"entries": [1]}', '{"entries": [{"about": {}, "table": {}}]}'])
def test_a_damaged_file_is_as_good_as_none(folder, text):
    folder.mkdir()
    (folder / "speed.json").write_text(text)
    assert here.stored_profiles() == []
    here.store_profile(here.MachineProfile(ABOUT, dear(0.1)))
    assert len(here.stored_profiles()) == 1


def test_a_folder_that_cannot_be_written_only_keeps_nothing(folder):
    folder.write_text("a file stands in the way")
    here.store_profile(here.MachineProfile(ABOUT, dear(0.1)))
    assert here.stored_profiles() == []
