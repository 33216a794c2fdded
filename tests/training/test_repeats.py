"""Text that repeats itself: how it is counted, and that a target unlearns it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from specviz.training.corpus import Corpus, beginnings
from specviz.training.distil import new_model
from specviz.training.recipe import Recipe
from specviz.training.repeats import repeated, repetition, unlearn_repeats, unlikelihood, until_end

pytestmark = pytest.mark.adapter


def test_what_stood_there_before_is_marked():
    assert repeated([1, 2, 1, 2, 1], 2) == [False, False, False, True, True]
    assert repetition([1, 2, 1, 2, 1], 2) == 0.5
    assert repetition([7] * 8) == 0.8  # five 4-grams, all the same
    assert repetition([1, 2, 3]) == repetition([]) == 0
    assert until_end([5, 6, 0, 7]) == [5, 6] and until_end([5, 6]) == [5, 6]


def test_beginnings_stand_behind_the_end_of_another_text():
    stream = np.array([0, 1, 2, 3, 0, 4, 5, 6, 0, 7], np.int32)
    found = {tuple(row) for row in beginnings(stream, np.random.default_rng(0), 40, 3).tolist()}
    assert found == {(1, 2, 3), (4, 5, 6)}


def test_only_marked_tokens_count():
    torch.manual_seed(0)
    model = new_model(40, 32, hidden=16, layers=1, heads=1, mlp=16)
    texts = torch.randint(1, 40, (2, 6))
    marks = torch.zeros(2, 6)
    assert unlikelihood(model, texts, marks) == 0
    marks[1, 4] = 1.0
    p = torch.softmax(model(texts).logits[1, 3], -1)[texts[1, 4]]
    assert torch.isclose(unlikelihood(model, texts, marks), -torch.log(1 - p))


def test_a_target_unlearns_to_repeat_itself():
    torch.manual_seed(0)
    model = new_model(60, 64, hidden=32, layers=1, heads=1, mlp=32)
    rng = np.random.default_rng(0)
    stream = np.concatenate([[0, *rng.integers(1, 60, 40)] for _ in range(50)]).astype(np.int32)
    recipe = replace(Recipe(), window=64, rows=8, unlearning_rate=1e-2, unlearning_steps=30)
    said = unlearn_repeats(model, Corpus({"prose": stream, "code": stream}, {}), recipe)
    before, after = (int(word.strip("%")) for word in said.split() if word.endswith("%"))
    assert before > 50 and after < before / 2
