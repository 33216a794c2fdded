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
    here.keep(here.MachineProfile(here.about(pair.info), table, ((0.8, (0.6, 0.2)), (0.0, (0.9, 0.05))), time()))
    engine = Engine({"toy": lambda: pair}, measures=True)
    assert engine.best.tree("toy", "sequoia", 0.8) is None
    engine.best.start("toy")
    in_a_loop(engine.best.wait("toy", 60))
    return engine


def test_what_was_measured_long_ago_serves_until_it_is_measured_again(engine, monkeypatch):
    (former,) = here.kept()
    here.keep(replace(former, when=time() - 2 * here.DAY))
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


def test_a_preset_finds_the_fastest_tree_of_this_machine_and_says_so(engine):
    drawn, greedy = engine.best.tree("toy", "sequoia", 0.8), engine.best.tree("toy", "exact-match", 0.0)
    assert drawn != greedy and drawn.size < presets.LEAST
    tree, text = presets.tree_of(engine, presets.FASTEST, "toy", config())
    assert (tree.size, tree.depth) == (drawn.size, drawn.depth)
    assert text.startswith(f"The fastest tree on this machine: {drawn.size} nodes, {drawn.depth} levels; predicted ")
    tree, _ = presets.tree_of(engine, presets.FASTEST, "toy", config(verifier="exact-match", temperature=0))
    assert (tree.size, tree.depth) == (greedy.size, greedy.depth)
    tree, text = presets.tree_of(engine, presets.TREE, "toy", config())
    large = engine.best.tree("toy", "sequoia", 0.8, presets.LEAST)
    assert (tree.size, tree.depth) == (large.size, large.depth) and large.size >= presets.LEAST
    assert "with at least 12 nodes" in text


def test_a_preset_that_is_not_known_says_why(engine):
    assert presets.tree_of(engine, presets.TREE, "other", config()) == (specviz.BUILDERS["sequoia"](), "")
    for title, more, reason in (
        ("other", {}, "measured"),
        ([], {}, "measured"),
        ("toy", {"drafter": "ngram"}, "draft model"),
    ):
        with pytest.raises(ValueError, match=reason):
            presets.tree_of(engine, presets.FASTEST, title, config(**more))
    with pytest.raises(ValueError, match="Preset must be one of"):
        presets.tree_of(engine, "none", "toy", config())
    other = api.asked("abc", "sequoia", "sequoia", "ngram", temperature=0.8)
    assert api.fastest(engine, other, "sequoia") == other


def test_the_preset_of_a_configuration_is_named_whoever_made_it(engine):
    def name(now=None, **more):
        return presets.preset_of(engine, "toy", config(**more), now)

    assert [name(builder=text) for text in filter(None, presets.PRESETS.values())] == ["Chain", "Tree", "Large tree"]
    best = engine.best.tree("toy", "sequoia", 0.8)
    assert name(builder=f"sequoia:size={best.size},depth={best.depth}") == presets.FASTEST
    assert name(builder="sequoia:size=9,depth=2,width=3") is None


def test_the_endpoint_takes_it_where_no_tree_is_asked_for(engine):
    def asked(builder="sequoia"):
        return api.fastest(engine, api.asked("abc", builder, "sequoia", temperature=0.8), builder).builder

    best = engine.best.tree("toy", "sequoia", 0.8)
    assert (asked().size, asked().depth) == (best.size, best.depth)
    assert asked("sequoia:width=3").width == 3 and asked("sequoia:width=3").size == best.size
    assert asked("sequoia:size=9").size == 9 and asked("sequoia:depth=2").size == 16
    other = api.asked("abc", "chain", "sequoia", temperature=0.8)
    assert api.fastest(engine, other, "chain") == other


def test_nothing_is_measured_unless_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))
    engine = Engine(lambda: specviz.toy_pair(vocab=6))
    engine.best.start("This pair")
    in_a_loop(engine.best.wait("This pair", 1))
    assert engine.best.tree("This pair", "sequoia", 0.8) is None and not list(tmp_path.iterdir())


def test_a_run_goes_before_a_measurement(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))
    engine = Engine({"toy": lambda: specviz.toy_pair(vocab=6)}, measures=True)
    with engine_busy(engine):
        engine.best.start("toy")
        in_a_loop(engine.best.wait("toy", 0.3))
        assert engine.best.tree("toy", "sequoia", 0.8) is None  # it waits for the machine
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
