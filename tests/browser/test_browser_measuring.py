"""A page that finds out the best tree of its machine: runs never wait for that."""

from threading import Event

import pytest
from pages import state
from playwright.sync_api import expect

import specviz
from app import page as pages
from app.machine import best_tree
from app.parts import presets

pytestmark = pytest.mark.browser


@pytest.fixture
def measuring(monkeypatch, tmp_path):
    """The page as the demo builds it, with a toy pair whose measurement ends when the event is set."""
    monkeypatch.setenv("SPECVIZ_MEASURE", "1")
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))
    pair, over = specviz.toy_pair(vocab=12), Event()
    monkeypatch.setattr(pages, "offered", lambda: {"Toy": lambda: pair})
    begun = []

    def parts(pair):
        begun.append(pair)
        while not over.is_set():
            yield None  # the machine is free between two parts
        raise ValueError("nothing could be measured")

    monkeypatch.setattr(best_tree, "measuring", parts)
    demo = pages.build_demo()
    _, url, _ = pages.launch(demo, prevent_thread_lock=True, quiet=True, server_name="127.0.0.1")
    yield url, over, begun
    over.set()
    demo.close(verbose=False)


def test_a_run_begins_while_the_machine_is_still_being_measured(measuring, visit):
    url, over, begun = measuring
    page = visit(url)
    page.locator("#sv-run").click()
    state(page, "done")
    while not begun:  # parts of it let every run go first
        page.wait_for_timeout(50)
    assert not over.is_set()
    page.locator("#sv-run").click()  # the first run's own wait for the measurement is still going on
    expect(page.locator("#sv-stop")).to_be_enabled()
    state(page, "done")


def test_a_run_begins_where_the_best_tree_is_known_and_nothing_is_loaded(measuring, visit, monkeypatch):
    url, over, _ = measuring
    monkeypatch.setattr(presets, "opened", lambda engine: None)
    page = visit(url)
    page.locator("#sv-run").click()
    state(page, "done")
    assert not over.is_set()
