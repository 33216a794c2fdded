"""What a model is asked when it is loaded: defects of the direct forward, adapters, and numbers
that are none."""

import logging
import warnings

import numpy as np
import peft
import pytest
import torch

from specviz.models import judge as judges
from specviz.models import selftest
from specviz.models.early_exit import first_layers
from specviz.models.judge import Judge, in_float32
from specviz.models.selftest import check_tree_reading
from specviz.passes.cache import Pass
from specviz.passes.huggingface import HuggingFaceModel
from tests.passes.test_huggingface import make, random_run

pytestmark = pytest.mark.adapter


def wrong_scale(direct):
    direct.scale *= 1.5


def wrong_rotary_base(direct):
    angles = torch.arange(len(direct.rotary))[:, None] * 500.0 ** -torch.linspace(
        0, 1, direct.width // 2
    )
    cos, sin = torch.cat([angles.cos()] * 2, -1), torch.cat([-angles.sin(), angles.sin()], -1)
    direct.rotary = torch.stack([cos, sin], 1)[:, :, None].to(direct.rotary.dtype)


def wrong_norms(direct):
    direct.eps = 1.0


def dropped_layer(direct):
    layer = direct.layers[1]
    direct.layers[1] = layer._replace(
        output=torch.zeros_like(layer.output), down=torch.zeros_like(layer.down)
    )


HALF = [pytest.param(dtype, marks=pytest.mark.nightly) for dtype in (torch.bfloat16, torch.float16)]


@pytest.mark.parametrize("dtype", [torch.float32, *HALF])
@pytest.mark.parametrize("defect", [wrong_scale, wrong_rotary_base, wrong_norms, dropped_layer])
def test_a_wrong_direct_forward_is_noticed_and_left(defect, dtype, caplog):
    model = make(dtype=dtype)
    model.direct.compiled = None  # or it would be read instead
    defect(model.direct)
    with caplog.at_level(logging.WARNING):
        check_tree_reading("target", model)
    assert model.direct is None and model.static is None
    (record,) = caplog.records
    assert record.getMessage().startswith(
        "The direct forward of LlamaForCausalLM differs from float32 by "
    )
    if dtype is torch.float32:
        random_run(model, np.random.default_rng(0))


@pytest.mark.parametrize("dtype", [torch.float32, *HALF])
@pytest.mark.parametrize("family", ["llama", "qwen2"])
def test_a_right_direct_forward_is_kept(family, dtype, caplog):
    model = make(family, dtype=dtype)
    check_tree_reading("target", model)
    assert model.direct is not None and not caplog.records


def test_an_adapter_is_never_fused():
    """LoRA wraps the linear layers: their weights alone are not what they compute."""
    torch.manual_seed(0)
    base = make().model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peft asks transformers for what it will lose
        changes = peft.LoraConfig(
            r=4, target_modules=["q_proj", "down_proj"], init_lora_weights=False
        )
        adapted = peft.get_peft_model(base, changes)
    plain = make()
    for one in (adapted, base):  # as a whole, and the model that the adapter changed in its place
        model = HuggingFaceModel(one)
        assert model.direct is None
        check_tree_reading("target", model)
        random_run(model, np.random.default_rng(1))
    context = [3, 1, 4]
    rows = [
        one.read(Pass(context, range(3), None, one.new_cache(), [2]))[0] for one in (model, plain)
    ]
    assert np.abs(rows[0] - rows[1]).max() > 0.1


@pytest.mark.parametrize("change", ["hook", "forward", "linear"])
def test_a_layer_that_does_more_than_its_weight_is_never_fused(change):
    model = make().model
    product = model.model.layers[2].mlp.down_proj
    if change == "hook":
        product.register_forward_hook(lambda module, inputs, output: 2 * output)
    elif change == "forward":
        product.forward = lambda x: 2 * x @ product.weight.T
    else:
        kind = type(
            "Quantised", (torch.nn.Linear,), {"forward": lambda self, x: 2 * x @ self.weight.T}
        )
        product.__class__ = kind
    wrapped = HuggingFaceModel(model)
    assert wrapped.direct is None
    check_tree_reading("target", wrapped)


def test_weights_that_are_no_numbers_are_said_at_once():
    model = make()
    with torch.no_grad():
        model.model.lm_head.weight[5] = float("nan")
    with pytest.raises(ValueError, match="logits that are no numbers"):
        check_tree_reading("target", model)


class QuantisedActivations(torch.nn.Linear):
    """A product whose inputs are rounded to a few steps of the largest in the pass."""

    def forward(self, x):
        step = x.abs().max() / 8
        return torch.nn.functional.linear((x / step).round() * step, self.weight)


def test_activations_that_are_quantised_together_are_the_reason_that_is_given():
    model = make().model
    for layer in model.model.layers:
        layer.mlp.down_proj.__class__ = QuantisedActivations
    with pytest.raises(ValueError, match="with what else is in the pass"):
        check_tree_reading("target", HuggingFaceModel(model))


def test_a_format_whose_rounding_hides_a_wrong_tree_is_the_reason_that_is_given(monkeypatch):
    for module in (judges, selftest):
        monkeypatch.setattr(module, "BOUND", 1e-6)
    with pytest.raises(ValueError, match=r"in bfloat16.*Load it with dtype float32"):
        check_tree_reading("target", make(dtype=torch.bfloat16))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_the_judge_is_the_same_weights_in_float32_and_leaves_them_as_they_were(dtype):
    model = make(dtype=dtype)
    before = dict(model.model.named_parameters())
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    exact = make(dtype=dtype).model.float()(input_ids=ids).logits
    with in_float32(model.model):
        assert torch.allclose(model.model(input_ids=ids).logits, exact, atol=1e-5)
    after = dict(model.model.named_parameters())
    assert all(after[name] is weight for name, weight in before.items())
    judge = Judge(model)
    row = exact[:, -1].detach().numpy()
    found, rounding = judge.compare(row, [[3, 1, 4, 1, 5]])
    assert found < 1e-5 < rounding == judge.own_difference


def test_rows_of_weights_with_a_known_hash_are_computed_once(monkeypatch, tmp_path):
    """The model's own passes are compared with them at every load; a wrong one is still found."""
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path))

    def loaded():
        model = make(dtype=torch.bfloat16)
        model.direct.compiled = None
        model.weights_hash = "weights of the test"
        return model

    check_tree_reading("target", loaded())
    files = set(tmp_path.iterdir())
    assert files

    def refuse(*arguments):
        raise AssertionError("transformers' pass was run again")

    with monkeypatch.context() as once:
        once.setattr(Judge, "_logits", refuse)
        right, wrong = loaded(), loaded()
        dropped_layer(wrong.direct)
        check_tree_reading("target", right)
        check_tree_reading("target", wrong)
    assert right.direct is not None and wrong.direct is None
    assert set(tmp_path.iterdir()) == files

    (damaged := next(iter(files))).write_bytes(b"PK")
    check_tree_reading("target", loaded())
    assert damaged.stat().st_size > 2

    other = loaded()
    other.weights_hash = "other weights"
    check_tree_reading("target", other)
    assert len(set(tmp_path.iterdir())) == 2 * len(files)


def test_early_exit_decodes_in_half_precision_with_the_target_s_kind_of_cache(monkeypatch):
    target = make(dtype=torch.bfloat16)
    check_tree_reading("target", target)
    draft = first_layers(target, 1)
    check_tree_reading("draft", draft, target)
    random_run(draft, np.random.default_rng(0), target=target, tolerance=0.25)
    assert draft.direct.kv_dtype == target.direct.kv_dtype
    monkeypatch.setattr(Judge, "compare", lambda *arguments: (0.2, 0.1))
    with pytest.raises(ValueError, match="does not follow"):
        check_tree_reading("draft", draft, target)
    assert draft.direct is not None  # keys of another type would be read
