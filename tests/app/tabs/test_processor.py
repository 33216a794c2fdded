"""The pipeline of lesson 0: it computes what the program says, whatever it predicts."""

import pytest

from app.tabs.lessons import pipeline as lesson
from app.tabs.lessons.processor import EXECUTE, STAGES, cycles, execute, pipeline


@pytest.mark.parametrize("predicts", [True, False])
@pytest.mark.parametrize("x", [0, 1, 4, 9, 12])
def test_a_wrong_prediction_changes_the_time_and_not_the_values(x, predicts):
    rows, values = pipeline(lesson.PROGRAM, lesson.values(x), predicts)
    assert values == execute(lesson.PROGRAM, lesson.values(x))
    assert [row.fetched for row in rows] == sorted({row.fetched for row in rows}), "one fetch a cycle"
    assert predicts or not any(row.discarded for row in rows)


def test_what_is_behind_a_wrong_prediction_leaves_before_it_is_executed():
    wrong, _ = pipeline(lesson.PROGRAM, lesson.values(lesson.WRONG))
    gone = [row for row in wrong if row.discarded]
    assert len(gone) == EXECUTE
    assert all(row.left - row.fetched <= EXECUTE for row in gone)
    branch = max(row.fetched for row in wrong if row.fetched < gone[0].fetched)
    right_path = min(row.fetched for row in wrong if row.fetched > gone[-1].fetched)
    assert right_path - branch == EXECUTE + 1


def test_the_times_of_predicting_and_waiting():
    rows, _ = pipeline(lesson.PROGRAM, lesson.values(lesson.RIGHT))
    waiting, _ = pipeline(lesson.PROGRAM, lesson.values(lesson.RIGHT), predicts=False)
    branches = sum(bool(lesson.PROGRAM[row.place].taken) for row in rows)
    assert cycles(rows) == len(rows) + len(STAGES) - 1
    assert cycles(waiting) == cycles(rows) + branches * EXECUTE
