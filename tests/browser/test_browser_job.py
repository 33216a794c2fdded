"""The Stop of jobs on two pages, and a run that follows a stopped one: what is lit and what is said."""

import re
from threading import Semaphore

import pytest
from pages import line_of_three, open_tab, state
from playwright.sync_api import expect

from app.machine import engine, limits
from app.tabs import speedup
from app.tabs.speedup import costs

pytestmark = pytest.mark.browser
PAGE = ("Explore", "Measure")
LONG = 120_000


def test_of_two_measurements_each_has_a_stop_that_is_lit_while_it_waits_or_runs(serve, visit, monkeypatch):
    permits, begun = Semaphore(0), []

    def measured(pair, config, seconds):
        begun.append(1)
        assert permits.acquire(timeout=LONG / 1000)
        yield from ()
        raise ValueError("there is no step to time")

    monkeypatch.setattr(speedup, "measure_cost", measured)
    page = visit(serve())
    open_tab(page, "Measure", costs.TITLE)
    first, second = page.locator("#sv-measure-stop"), page.locator("#sv-speedup-stop")
    page.locator("#sv-measure").click()
    expect(first).to_be_enabled(timeout=LONG)
    open_tab(page, "Measure", speedup.TITLE)
    expect(second).to_be_disabled()
    page.locator("#sv-time-sizes").click()
    expect(page.locator("#sv-speedup-status")).to_contain_text("queue: 1/1", timeout=LONG)
    expect(second).to_be_enabled()
    permits.release()
    while len(begun) < 2:
        page.wait_for_timeout(50)
    expect(first).to_be_disabled(timeout=LONG)
    expect(second).to_be_enabled()
    permits.release()
    expect(page.locator("#sv-speedup-status .text")).to_contain_text("there is no step to time", timeout=LONG)
    expect(second).to_be_disabled()


def test_a_run_after_a_stop_that_finds_the_line_full_is_told_so(serve, visit, monkeypatch, step_by_step):
    monkeypatch.setattr(limits, "QUEUE", 1)
    monkeypatch.setattr(engine, "PATIENCE", LONG)  # of the second visitor, who waits for the first one's step
    pair, first, second, third = line_of_three(serve, visit)
    first.locator("#sv-stop").click()
    state(first, "stopped")
    expect(second.locator("#sv-notice")).not_to_contain_text("queue:", timeout=LONG)  # it is its turn
    third.locator("#sv-run").click()
    expect(third.locator("#sv-notice")).to_contain_text("queue: 1/1", timeout=LONG)
    first.locator("#sv-run").click()
    expect(first.locator("#sv-notice")).to_contain_text(re.compile("queue is full|still stopping"), timeout=LONG)
    expect(first.locator("#sv-stop")).to_be_disabled(timeout=LONG)
    state(first, "stopped")
    pair.gate.release(10**6)
    state(second, "done")
    state(third, "done")
