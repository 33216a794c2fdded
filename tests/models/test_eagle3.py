"""EAGLE-3 heads in both published spellings: read, checked, and drafting what the published forward
computes."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import specviz
from specviz.models.heads import eagle3
from specviz.models.heads.draft_logits import DraftLogits
from specviz.models.heads.eagle3_head import Eagle3Head
from specviz.models.heads.format import read_format
from specviz.models.heads.loading import (
    ANSWER,
    LEAST_AGREEMENT,
    checked_agreement,
    greedy_answer,
    load_head,
    with_features,
)
from specviz.models.huggingface_pair import HuggingFacePair
from specviz.passes import direct, graphs
from specviz.passes.device_logits import DeviceLogits
from specviz.passes.huggingface import HuggingFaceModel
from specviz.sampling.distributions import Sampling, distributions_of, probabilities
from specviz.training.pair import new_model
from specviz.tree import TokenTree
from tests.training.test_train_drafters import Letters

pytestmark = pytest.mark.adapter
V, DRAFTED, WIDTH, LAYERS = 60, 20, 32, 6
SIZES = {
    "hidden_size": WIDTH,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "rms_norm_eps": 1e-5,
    "vocab_size": V,
    "max_position_embeddings": 128,
    "num_hidden_layers": 1,
}
FLAGS = [(), ("norm_before_residual",), ("norm_before_fc", "norm_output"), ("fc_norm",)]


@pytest.fixture(scope="module")
def weights():
    torch.manual_seed(0)
    return new_model(V, 128, (WIDTH, LAYERS, 4, 48))


@pytest.fixture
def target(weights):
    return HuggingFaceModel(weights)


def raw_config(**more):
    raw = {"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama"}
    return raw | SIZES | {"draft_vocab_size": DRAFTED, "rope_theta": 500.0} | more


def speculators_config(**more):
    verifier = {"name_or_path": "org/target", "architectures": ["LlamaForCausalLM"]}
    layer = SIZES | {"model_type": "llama", "rope_parameters": {"rope_theta": 500.0}}
    proposal = {"proposal_type": "greedy", "speculative_tokens": 3}
    return {
        "architectures": ["Eagle3Speculator"],
        "speculators_model_type": "eagle3",
        "speculators_version": "0.9.0",
        "draft_vocab_size": DRAFTED,
        "transformer_layer_config": layer,
        "speculators_config": {
            "algorithm": "eagle3",
            "default_proposal_method": "greedy",
            "proposal_methods": [proposal],
            "verifier": verifier,
        },
    } | more


def write_head(folder, config, rename=("", ""), seed=1):
    """A head with random weights; `rename` is a part of the tensors' names and what it becomes."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    torch.manual_seed(seed)
    head = Eagle3Head(read_format(folder), 3 * WIDTH)
    tensors = {name.replace(*rename): tensor for name, tensor in head.state_dict().items()}
    for name, tensor in tensors.items():
        scale = 1.0 if tensor.ndim == 1 else tensor.shape[1] ** -0.5
        tensors[name] = float(tensor.ndim == 1) + scale * 0.5 * torch.randn(tensor.shape)
    ids = torch.randperm(V, generator=torch.Generator().manual_seed(5))[:DRAFTED].sort().values
    is_drafted = torch.zeros(V, dtype=torch.bool)
    is_drafted[ids] = True
    tensors |= {"d2t": ids - torch.arange(DRAFTED), "t2d": is_drafted}
    save_file(
        {name: tensor.contiguous() for name, tensor in tensors.items()},
        folder / "model.safetensors",
    )
    return folder


def open_head(folder, target):
    form = read_format(folder)
    target = with_features(target, form)
    return load_head(folder, form, target), target


def change(folder, edit):
    """Edit the tensors of a head."""
    tensors = load_file(folder / "model.safetensors")
    edit(tensors)
    save_file(tensors, folder / "model.safetensors")


def norm(x, weight):
    return weight * x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()


def rotated(x, position):
    frequencies = 500.0 ** -(torch.arange(0, 8, 2) / 8)
    turn = torch.polar(torch.ones(4), position * frequencies)
    whole = torch.complex(x[..., :4], x[..., 4:]) * turn
    return torch.cat([whole.real, whole.imag], -1)


def published_logits(tensors, flags, embeddings, states, text, path):
    """The draft logits after each token of a path below a text, by the published forward, one token
    after the other.

    Level 0 stands at the place of its feature; level j of place i stands at i + j.
    """
    t = tensors
    if "norm_before_fc" in flags:
        states = norm(states, t["input_norm.weight"])
    if "fc_norm" in flags:
        parts = states.chunk(3, -1)
        states = torch.cat([norm(x, t[f"fc_norm.{i}.weight"]) for i, x in enumerate(parts)], -1)
    states = list(states @ t["fc.weight"].T)
    keys, values, found = [], [], []
    attention = "midlayer.self_attn."
    for place, token in enumerate([*text[1:], *path]):
        s = states[place]
        x = torch.cat(
            [
                norm(embeddings[token], t["midlayer.input_layernorm.weight"]),
                norm(s, t["midlayer.hidden_norm.weight"]),
            ]
        )
        q, k, v = ((t[f"{attention}{n}_proj.weight"] @ x).view(-1, 8) for n in "qkv")
        keys.append(rotated(k, place))
        values.append(v)
        mixed = []
        for head in range(4):
            scores = torch.stack([rotated(q, place)[head] @ k[head // 2] for k in keys]) / 8**0.5
            shares = torch.softmax(scores, 0)
            mixed.append(sum(w * v[head // 2] for w, v in zip(shares, values, strict=True)))
        residual = (
            norm(s, t["midlayer.hidden_norm.weight"]) if "norm_before_residual" in flags else s
        )
        h = residual + t[f"{attention}o_proj.weight"] @ torch.cat(mixed)
        z = norm(h, t["midlayer.post_attention_layernorm.weight"])
        gate, up = t["midlayer.mlp.gate_proj.weight"] @ z, t["midlayer.mlp.up_proj.weight"] @ z
        h = h + t["midlayer.mlp.down_proj.weight"] @ (torch.nn.functional.silu(gate) * up)
        normed = norm(h, t["norm.weight"])
        if place >= len(text) - 2:
            found.append(t["lm_head.weight"] @ normed)
            states.append(normed if "norm_output" in flags else h)
    return torch.stack(found)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("compiled", [True, False])
@torch.no_grad()
def test_its_logits_are_those_of_the_published_forward(target, weights, tmp_path, flags, compiled):
    config = raw_config(**dict.fromkeys(flags, True))
    model, target = open_head(write_head(tmp_path, config), target)
    assert model.compiled is not None
    if not compiled:
        model.compiled = None
    text = [3, 1, 4, 1, 5, 9, 2, 6]
    features = target.open(text).watch()
    session = model.open(text)
    session.take(features)
    tree = TokenTree(text[-1], start=len(text) - 1)
    for parent, token in ((0, 7), (0, 8), (2, 2), (3, 5)):
        tree.add(parent, token)
    hidden = weights(torch.tensor([text]), output_hidden_states=True).hidden_states
    states = torch.cat([hidden[layer][0, :-1] for layer in (2, LAYERS // 2, LAYERS - 3)], -1)
    tensors, table = (
        load_file(tmp_path / "model.safetensors"),
        weights.get_input_embeddings().weight,
    )
    expected = published_logits(tensors, flags, table, states, text, [8, 2, 5])
    ids = np.arange(DRAFTED) + tensors["d2t"].numpy()
    in_turn = [session.forward(tree, nodes)[-1] for nodes in ([0], [1, 2], [3], [4])]
    fresh = model.open(text)
    fresh.take(features)
    at_once = fresh.forward(tree, [0, 2, 3, 4])
    for found in (np.array(in_turn), np.asarray(at_once)):
        np.testing.assert_allclose(found[:, ids], expected.numpy(), atol=2e-4)
        assert np.isneginf(np.delete(found, ids, axis=1)).all()


def test_both_spellings_are_one_head(target, tmp_path):
    raw = write_head(tmp_path / "raw", raw_config())
    spelt = write_head(tmp_path / "other", speculators_config(), ("midlayer.", "layers.0."))
    old = raw_config(
        architectures=["LlamaForCausalLM"], eagle_config={"use_aux_hidden_state": True}
    )
    older = write_head(tmp_path / "old", old, ("midlayer.", "model.layers.0."))
    models = [open_head(folder, target)[0] for folder in (raw, spelt, older)]
    for model in models[1:]:
        for name, tensor in models[0].head.state_dict().items():
            assert torch.equal(model.head.state_dict()[name], tensor)
        assert torch.equal(model.rotary, models[0].rotary)
    assert read_format(spelt).target == "org/target"
    assert read_format(raw).feature_layers(30) == (2, 15, 27)


@pytest.mark.parametrize(
    ("ids", "layers"), [([2, 18, 33], (2, 18, 33)), ([1, 17, 32], (2, 18, 33)), (None, (2, 18, 33))]
)
def test_ids_of_layers_are_read_by_either_convention(tmp_path, ids, layers):
    """A first id of 1 counts outputs of layers; other ids count hidden states, 0 the embedding."""
    for number, more in enumerate(
        (
            {"eagle_aux_hidden_state_layer_ids": ids},
            {"eagle_config": {"eagle_aux_hidden_state_layer_ids": ids}},
        )
    ):
        folder = write_head(tmp_path / str(number), raw_config(**more))
        assert read_format(folder).feature_layers(36) == layers
    with pytest.raises(ValueError, match="hidden states 0 to 11"):
        read_format(
            write_head(tmp_path / "two", raw_config(eagle_aux_hidden_state_layer_ids=[9, 10, 12]))
        ).feature_layers(12)


def along(text):
    """A text but its first token as a chain."""
    tree = TokenTree(text[0], start=0)
    for node, token in enumerate(text[1:]):
        tree.add(node, token)
    return tree


def drop(name):
    return lambda tensors: tensors.pop(name)


def add(name):
    return lambda tensors: tensors.update({name: torch.zeros(3)})


def double_id(tensors):
    tensors["d2t"][1] = tensors["d2t"][0] - 1


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (drop("midlayer.mlp.up_proj.weight"), "midlayer.mlp.up_proj.weight"),
        (drop("fc.weight"), "fc.weight"),
        (drop("d2t"), "d2t"),
        (add("midlayer.self_attn.q_norm.weight"), "midlayer.self_attn.q_norm.weight"),
        (add("mask_hidden"), "mask_hidden"),
        (double_id, "d2t and t2d"),
        (lambda tensors: tensors["d2t"].zero_(), "d2t and t2d"),
        (lambda tensors: tensors.update({"fc.weight": torch.zeros(WIDTH, WIDTH)}), "fc.weight"),
    ],
)
def test_a_tensor_that_is_missing_or_left_over_is_named(target, tmp_path, edit, says):
    folder = write_head(tmp_path, raw_config())
    open_head(folder, target)
    change(folder, edit)
    with pytest.raises(ValueError, match=says):
        open_head(folder, target)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (raw_config(scale_residual=0.5), "scale_residual"),
        (raw_config(num_hidden_layers=2), "num_hidden_layers must be 1; got 2"),
        (raw_config(attention_bias=True), "attention_bias"),
        (raw_config(eagle_config={"use_mtp_layernorm": True}), "use_mtp_layernorm"),
        (raw_config(rope_parameters={"rope_theta": 9.0, "rope_type": "default"}), "rope_theta"),
        (raw_config(rope_scaling={"rope_type": "dynamic", "factor": 4.0}), "dynamic"),
        (raw_config(eagle_config={"draft_vocab_size": 10}), "draft_vocab_size"),
        (speculators_config(transformer_layer_config={"model_type": "gpt2"}), "gpt2"),
        (speculators_config(speculators_model_type="dflash"), "DFlash"),
        (speculators_config(speculators_model_type="peagle"), "P-EAGLE"),
        (speculators_config(speculators_model_type="dspark"), "DSpark"),
        (speculators_config(speculators_model_type="mtp"), "MTP"),
        (speculators_config(speculators_model_type="mlp"), "mlp"),
        (raw_config(parallel_drafting=True), "P-EAGLE"),
        ({"architectures": ["DFlashDraftModel"], "dflash_config": {"mask_token_id": 1}}, "DFlash"),
        ({"architectures": ["Qwen3DSparkModel"], "markov_rank": 256}, "DSpark"),
        ({"architectures": ["EagleLlamaForCausalLM"]}, "EagleLlamaForCausalLM"),
    ],
)
def test_what_this_reader_does_not_compute_is_refused_by_name(tmp_path, config, says):
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match=says):
        read_format(tmp_path)


def test_a_model_is_no_head(tmp_path):
    for config in ({"architectures": ["LlamaForCausalLM"]}, {"kind": "eagle"}, []):
        (tmp_path / "config.json").write_text(json.dumps(config))
        assert read_format(tmp_path) is None


def test_a_head_that_never_agrees_with_the_target_is_noticed(target, tmp_path, caplog):
    """Whatever it computes here stands for one token: agreement is how often the target itself
    writes that one."""
    model, target = open_head(write_head(tmp_path, raw_config()), target)
    prompts = [[5, 9, 12], [7, 3]]
    answers = []
    for prompt in prompts:
        text = list(prompt)
        for _ in range(ANSWER):
            with torch.inference_mode():
                logits = target.model(input_ids=torch.tensor([text])).logits
            text.append(int(logits[0, -1].argmax()))
        answers += text[len(prompt) :]
    often = np.bincount(answers, minlength=V)
    for token in (int(often.argmax()), int(often.argmin())):
        caplog.clear()
        model.ids = torch.full((DRAFTED,), token)
        agreement = checked_agreement(model, target, prompts, 128)
        assert agreement == round(often[token] / len(answers), 3)
        assert ("d2t was lost" in caplog.text) == (agreement < LEAST_AGREEMENT)
    assert often.max() / len(answers) > LEAST_AGREEMENT and agreement == 0
    assert 0 <= checked_agreement(model, target, prompts, 6) <= 1  # three and three tokens


def test_the_answer_of_a_target_is_written_once(target, tmp_path, monkeypatch):
    """A pass of weights on disk takes long."""
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))
    known = target.with_features(())
    known.weights_hash = "weights of the test"
    answer = greedy_answer(known, [5, 9], 6)
    assert len(answer) == 6 and answer == greedy_answer(target, [5, 9], 6)

    def refuse(tokens, target=None):
        raise AssertionError("it was written again")

    known.open = refuse
    assert greedy_answer(known, [5, 9], 6) == answer
    with pytest.raises(AssertionError, match="written again"):
        greedy_answer(known, [5, 9], 7)


@pytest.mark.parametrize("builder", ["chain", "k-ary", "dyspec", "eagle2"])
def test_the_greedy_text_is_that_without_a_head(target, tmp_path, builder):
    model, target = open_head(write_head(tmp_path, raw_config()), target)
    pair = HuggingFacePair(target, None, Letters(), 128, frozenset(), {"name": "tiny"}, head=model)
    rule = specviz.VERIFIERS["exact-match"]()
    for prompt in ([7], [3, 1, 4, 1, 5]):
        config = specviz.RunConfig(prompt, builder, rule, 0.0, max_new_tokens=30, drafter="eagle")
        trace = specviz.run(pair, config)
        assert trace.tokens == specviz.autoregress(pair, config).tokens
        assert sum(step.drafted for step in trace.steps) > 10


@pytest.mark.parametrize("builder", ["chain:depth=4", "dyspec:size=7", "eagle2:size=9"])
@pytest.mark.parametrize("flags", FLAGS[:2])
def test_passes_of_fixed_shape_draft_the_same(tmp_path, monkeypatch, builder, flags):
    """As on a GPU, where they are replayed: of the target with its features, and of the head."""
    monkeypatch.setattr(graphs, "SLOTS", 8)
    monkeypatch.setattr(direct, "compiler_for", lambda model: None)
    monkeypatch.setattr(eagle3, "compiler_for", lambda model: None)
    folder = write_head(tmp_path, raw_config(**dict.fromkeys(flags, True)))
    torch.manual_seed(0)
    weights = new_model(V, 128, (WIDTH, LAYERS, 4, 48))
    traces = []
    for is_static in (False, True):
        model = HuggingFaceModel(weights)
        if is_static:
            model.static = graphs.StaticPasses(model.direct)
        head, target = open_head(folder, model)
        if is_static:
            head.static = graphs.StaticPasses(head)
        pair = HuggingFacePair(
            target, None, Letters(), 128, frozenset(), {"name": "tiny"}, head=head
        )
        config = specviz.RunConfig([3, 1, 4, 1, 5], builder, drafter="eagle", max_new_tokens=30)
        traces.append(specviz.run(pair, config))
    assert {layers for _, _, layers in target.static.passes} == {target.feature_layers}
    assert {layers for _, _, layers in head.static.passes} == {()}
    plain, static = traces
    assert static.tokens == plain.tokens
    for one, other in zip(static.steps, plain.steps, strict=True):
        assert one.tokens == other.tokens
        np.testing.assert_allclose(one.draft_prob[1:], other.draft_prob[1:], atol=1e-5)


@pytest.mark.parametrize(
    "sampling", [Sampling(), Sampling(0.7, 0.8), Sampling(0), Sampling(1, 1, 3)]
)
def test_rows_over_the_draft_vocabulary_are_those_over_the_whole(sampling):
    rng = np.random.default_rng(0)
    values, ids = rng.normal(size=(3, 9)).astype(np.float32), np.sort(rng.permutation(30)[:9])
    logits = DraftLogits(values, ids, 30)
    rows = distributions_of(logits, sampling)
    lazy = DraftLogits(DeviceLogits(torch.from_numpy(values)), ids, 30)
    on_device = distributions_of(lazy, sampling, ahead=2)
    for node in range(3):
        expected = probabilities(np.asarray(logits)[node], sampling)
        np.testing.assert_allclose(rows[node], expected, atol=1e-12)
        np.testing.assert_allclose(on_device[node], expected, atol=1e-12)
        if sampling.temperature:
            ranks = sorted(ids.tolist(), key=lambda token: (-expected[token], token))
            assert on_device[node].ranked == [token for token in ranks if expected[token]]
        np.testing.assert_array_equal(logits[node], np.asarray(logits)[node])
