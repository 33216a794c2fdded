"""The best tree of this machine as a preset of the page and the endpoint's default."""

from dataclasses import replace
from time import time

import pytest

import specviz
from app import api
from app.machine import best_tree, limits
from app.machine.engine import Engine
from app.parts import presets
from specviz.planning import machine_profile as here
from specviz.planning.cost_table import roofline
from tests.loops import in_a_loop


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """An engine with a toy pair whose costs are known."""
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))
    monkeypatch.setattr(limits, "NODES", 20)
    monkeypatch.setattr(here, "FACTOR", 1e9)  # a toy decodes faster than the made-up costs say
    pair = specviz.toy_pair(vocab=12)
    table = roofline("m", "n", pass_s=1.0, draft_s=0.1, overhead_s=0.0, flat=4)
    here.store_profile(
        here.MachineProfile(here.about(pair.info), table, ((0.8, (0.6, 0.2)), (0.0, (0.9, 0.05))), time())
    )
    engine = Engine({"toy": lambda: pair}, measures=True)
    assert engine.best.tree("toy", "sequoia", 0.8) is None
    engine.best.start("toy")
    in_a_loop(engine.best.wait("toy", 60))
    return engine


def test_what_was_measured_long_ago_serves_until_it_is_measured_again(engine, monkeypatch):
    (former,) = here.stored_profiles()
    here.store_profile(replace(former, when=time() - 2 * here.DAY))
    began = []

    def measure_profile(pair, known):
        began.append(later.best.tree("toy", "sequoia", 0.8))
        yield None
        yield replace(former, table=roofline("m", "n", pass_s=1.0, draft_s=0.6, overhead_s=0.0, flat=4))

    monkeypatch.setattr(best_tree, "measure_profile", measure_profile)
    later = Engine({"toy": engine.take}, measures=True)
    later.best.start("toy")
    in_a_loop(later.best.wait("toy", 60))
    assert began == [engine.best.tree("toy", "sequoia", 0.8)]
    assert later.best.tree("toy", "sequoia", 0.8).depth < began[0].depth, "drafting is dearer now"


def config(**more):
    return specviz.RunConfig("abc", **{"builder": "sequoia", "verifier": "sequoia", "temperature": 0.8} | more)


def test_the_fastest_tree_of_this_machine_is_found_or_its_absence_explained(engine):
    drawn, greedy = engine.best.tree("toy", "sequoia", 0.8), engine.best.tree("toy", "exact-match", 0.0)
    assert drawn != greedy
    tree, text = presets.fastest_tree(engine, "toy", config())
    assert (tree.size, tree.depth) == (drawn.size, drawn.depth) and text
    tree, _ = presets.fastest_tree(engine, "toy", config(verifier="exact-match", temperature=0))
    assert (tree.size, tree.depth) == (greedy.size, greedy.depth)
    for title, more in (("other", {}), ([], {}), ("toy", {"drafter": "ngram"})):
        with pytest.raises(ValueError):
            presets.fastest_tree(engine, title, config(**more))


def test_the_endpoint_takes_it_where_no_tree_is_asked_for(engine):
    best = engine.best.tree("toy", "sequoia", 0.8)
    for builder, expected in (
        ("sequoia", (best.size, best.depth)), ("sequoia:width=3", (best.size, best.depth)),
        ("sequoia:size=9", (9, 6)), ("sequoia:depth=2", (16, 2)),
    ):  # fmt: skip
        found = api.fastest(engine, config(builder=builder), builder, "toy").builder
        assert (found.size, found.depth) == expected
    assert api.fastest(engine, config(builder="chain"), "chain", "toy").builder.name == "chain"


def test_nothing_is_measured_unless_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))
    engine = Engine(lambda: specviz.toy_pair(vocab=6))
    engine.best.start("This pair")
    in_a_loop(engine.best.wait("This pair", 1))
    assert engine.best.tree("This pair", "sequoia", 0.8) is None and not list(tmp_path.iterdir())


def one_step(pair):
    yield 0


def test_a_run_goes_before_a_measurement(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))
    engine = Engine({"toy": lambda: specviz.toy_pair(vocab=6)}, measures=True)
    run = engine.compute(one_step)
    next(run)
    engine.best.start("toy")
    in_a_loop(engine.best.wait("toy", 0.3))
    assert engine.best.tree("toy", "sequoia", 0.8) is None  # it waits for the end of the run
    run.close()
    in_a_loop(engine.best.wait("toy", 120))
    assert engine.best.tree("toy", "sequoia", 0.8).size >= 2


def test_a_pair_without_a_draft_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))
    alone = specviz.toy_pair(vocab=6)
    alone.draft = None
    engine = Engine({"toy": lambda: alone}, measures=True)
    engine.best.start("toy")
    in_a_loop(engine.best.wait("toy", 60))
    assert engine.best.tree("toy", "sequoia", 0.8) is None
