"""An EAGLE layer with more positions than can be read is rejected in a sentence."""

import pytest

from specviz.models.eagle import EagleLayer, EagleModel, layer_config
from specviz.passes.direct import MOST_POSITIONS
from specviz.passes.huggingface import HuggingFaceModel
from specviz.training.distil import new_model

pytestmark = pytest.mark.adapter


def test_a_layer_with_too_many_positions_is_rejected():
    target = new_model(20, 16, hidden=8, layers=1, heads=2, mlp=8)
    config = layer_config(target)
    config.max_position_embeddings = MOST_POSITIONS
    assert EagleModel(HuggingFaceModel(target), EagleLayer(config)).direct is not None
    config.max_position_embeddings = MOST_POSITIONS + 1
    with pytest.raises(ValueError, match="at most 262,144; got 262,145"):
        EagleModel(HuggingFaceModel(target), EagleLayer(config))
