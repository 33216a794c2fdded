"""The best tree of this machine as the page's and the endpoint's default."""

from dataclasses import replace
from time import time

import gradio as gr
import pytest

import specviz
from app import api
from app.machine import best, limits
from app.machine.engine import Engine
from app.parts import best_tree
from specviz.planning import machine_profile as here
from specviz.planning.machines import roofline
from tests.loops import in_a_loop


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """An engine with a toy pair whose costs are known."""
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))
    monkeypatch.setattr(limits, "NODES", 20)
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

    def measuring(pair):
        began.append(later.best.tree("toy", "sequoia", 0.8))
        yield None
        yield replace(former, table=roofline("m", "n", pass_s=1.0, draft_s=0.6, overhead_s=0.0, flat=4))

    monkeypatch.setattr(best, "measuring", measuring)
    later = Engine({"toy": engine.take}, measures=True)
    later.best.start("toy")
    in_a_loop(later.best.wait("toy", 60))
    assert began == [engine.best.tree("toy", "sequoia", 0.8)]
    assert later.best.tree("toy", "sequoia", 0.8).depth < began[0].depth, "drafting is dearer now"
    again = Engine({"toy": engine.take}, measures=True)
    here.keep(former)
    again.best.start("toy")
    in_a_loop(again.best.wait("toy", 60))
    assert len(began) == 1


def updated(updates, name):
    return [update.get(name) if isinstance(update, dict) else update for update in updates]


def test_a_tree_that_nobody_chose_becomes_the_best(engine):
    drawn, greedy = engine.best.tree("toy", "sequoia", 0.8), engine.best.tree("toy", "exact-match", 0.0)
    assert drawn != greedy
    size, depth, chosen = best_tree.choose(engine, "toy", "sequoia", 0.8, [16, 6], [16, 6])
    assert (size["value"], depth["value"]) == (drawn.size, drawn.depth) == tuple(chosen)
    assert size["info"] == f"{drawn.size} nodes, chosen for this machine."
    size, depth, chosen = best_tree.choose(engine, "toy", "exact-match", 0, chosen, chosen)
    assert (size["value"], depth["value"]) == (greedy.size, greedy.depth)


@pytest.mark.parametrize("chosen", [[16, 6], None])
def test_a_tree_that_a_visitor_or_a_link_chose_stays(engine, chosen):
    now = [30, 5] if chosen else [16, 6]
    size, depth, still = best_tree.choose(engine, "toy", "sequoia", 0.8, now, chosen)
    best = engine.best.tree("toy", "sequoia", 0.8)
    assert "value" not in size and size["info"] == f"{best.size} nodes are the best size on this machine."
    assert depth == still == gr.skip()


@pytest.mark.parametrize("values", [("other", "sequoia", 0.8), ("toy", "sequoia", "hot"), ([], "sequoia", 0.8)])
def test_where_nothing_is_known_nothing_changes(engine, values):
    size, depth, chosen = best_tree.choose(engine, *values, [16, 6], [16, 6])
    assert "value" not in size and "including the root" in size["info"] and depth == chosen == gr.skip()


def test_of_another_drafter_the_best_tree_is_not_known(engine):
    size, depth, chosen = best_tree.choose(engine, "toy", "sequoia", 0.8, [16, 6], [16, 6], "ngram")
    assert "value" not in size and "including the root" in size["info"] and depth == chosen == gr.skip()
    size, depth, chosen = best_tree.choose(engine, "toy", "sequoia", 0.8, [2, 1], [2, 1], "ngram")
    assert "including the root" in size["info"] and [size["value"], depth["value"]] == chosen == [16, 6]
    size, depth, chosen = best_tree.choose(engine, "toy", "sequoia", 0.8, [9, 3], [2, 1], "ngram")
    assert "value" not in size and depth == chosen == gr.skip()  # a visitor chose it
    config = api.asked("abc", "sequoia", "sequoia", "ngram", temperature=0.8)
    assert api.fastest(engine, config, "sequoia") == config


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
    with engine.exclusive():
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
