"""Tree reading against separate passes, on tiny random models of each family."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
import transformers

from specviz.models.early_exit import count_layers, first_layers, without_layers
from specviz.models.loading import load_model, longest_text
from specviz.models.selftest import check_tree_reading
from specviz.models.streamed.target import stream_target
from specviz.passes import cache, graphs, tree_session
from specviz.passes.compiled import passes
from specviz.passes.graphs import StaticPasses
from specviz.passes.huggingface import HuggingFaceModel
from specviz.tree import TokenTree
from tests.loops import WAIT

pytestmark = pytest.mark.adapter

V = 97
COMMON = dict(vocab_size=V, num_hidden_layers=3, max_position_embeddings=128, initializer_range=0.3)
HEADS = dict(hidden_size=32, num_attention_heads=4, intermediate_size=48)
FAMILIES = {
    "llama": transformers.LlamaConfig(**COMMON, **HEADS, num_key_value_heads=2),
    "llama-biases": transformers.LlamaConfig(**COMMON, **HEADS, attention_bias=True, mlp_bias=True),
    "llama-head-dim": transformers.LlamaConfig(
        **COMMON, **HEADS, num_key_value_heads=2, head_dim=16
    ),
    "llama3": transformers.LlamaConfig(
        **COMMON,
        **HEADS,
        rope_parameters={
            "rope_type": "llama3",
            "rope_theta": 10000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        },
    ),
    "qwen2": transformers.Qwen2Config(**COMMON, **HEADS, num_key_value_heads=2),
    "mistral": transformers.MistralConfig(
        **COMMON, **HEADS, num_key_value_heads=2, sliding_window=None
    ),
    "qwen3": transformers.Qwen3Config(**COMMON, **HEADS, num_key_value_heads=2, head_dim=16),
    "smollm3": transformers.SmolLM3Config(
        **COMMON, **HEADS, num_key_value_heads=2, no_rope_layer_interval=2, pad_token_id=None
    ),
    "mistral-window": transformers.MistralConfig(
        **COMMON, **HEADS, num_key_value_heads=2, sliding_window=6
    ),
    "qwen3-window": transformers.Qwen3Config(
        **COMMON,
        **HEADS,
        num_key_value_heads=2,
        head_dim=40,
        use_sliding_window=True,
        sliding_window=6,
        layer_types=["full_attention", "sliding_attention", "full_attention"],
    ),
    "olmo2": transformers.Olmo2Config(
        **COMMON, **HEADS, num_key_value_heads=2, pad_token_id=None, eos_token_id=None
    ),
    "olmo3": transformers.Olmo3Config(
        **COMMON,
        **HEADS,
        num_key_value_heads=1,
        pad_token_id=None,
        eos_token_id=None,
        sliding_window=6,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
    ),
    "gemma3": transformers.Gemma3TextConfig(
        **COMMON,
        **HEADS,
        num_key_value_heads=1,
        head_dim=16,
        query_pre_attn_scalar=24,
        sliding_window=6,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        rope_parameters={
            "full_attention": {"rope_type": "linear", "rope_theta": 500.0, "factor": 8.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10.0},
        },
    ),
    "gpt-oss": transformers.GptOssConfig(
        **COMMON,
        **HEADS,
        num_key_value_heads=2,
        head_dim=16,
        sliding_window=6,
        num_local_experts=4,
        num_experts_per_tok=2,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
    ),
    "gpt2": transformers.GPT2Config(**COMMON, n_embd=32, n_head=4),
    "gpt_neox": transformers.GPTNeoXConfig(**COMMON, **HEADS),
    "opt": transformers.OPTConfig(
        **{k: v for k, v in COMMON.items() if k != "initializer_range"},
        hidden_size=32,
        num_attention_heads=4,
        ffn_dim=48,
        word_embed_proj_dim=32,
        init_std=0.3,
    ),
}


def make(family="llama", attention="sdpa", dtype=torch.float32, **changes):
    torch.manual_seed(0)
    config = type(FAMILIES[family])(**(FAMILIES[family].to_dict() | changes))
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation=attention)
    for parameter in model.parameters():
        if parameter.dim() == 1:  # norms and biases that are not all 1 and 0
            torch.nn.init.normal_(parameter, 1.0, 0.3)
    return HuggingFaceModel(model.to(dtype))


def each_alone(model, texts):
    """Logits after each of `texts` by a plain pass of transformers: no cache, no mask, no positions
    of ours. Shorter texts have other tokens behind them, which a causal model does not see."""
    whole = getattr(model, "whole", model)
    longest = max(map(len, texts))
    padded = [[*text, *[0] * (longest - len(text))] for text in texts]
    ends = torch.tensor([len(text) - 1 for text in texts])
    with torch.inference_mode():
        logits = whole.model(input_ids=torch.tensor(padded)).logits
    return logits[torch.arange(len(texts)), ends].float().numpy()


def alone(model, tokens):
    """The same after one text."""
    return each_alone(model, [tokens])[0]


def random_tree(rng, context, size):
    tree = TokenTree(context[-1], start=len(context) - 1)
    for node in range(1, size):
        tree.add(int(rng.integers(node)), int(rng.integers(V)))
    return tree


def along(tree, node):
    return [tree.tokens[step] for step in tree.topology.path(node)]


def random_steps(model, rng, steps=5, target=None, tolerance=2e-4):
    """Read random trees in random parts, or not at all, give some up, commit random paths, and
    compare every row."""

    def compare(rows, nodes, model=model):
        expected = each_alone(model, [context + along(tree, node) for node in nodes])
        allowed = tolerance * np.abs(expected).max(axis=1)
        assert (np.abs(rows - expected).max(axis=1) <= allowed).all(), (context, nodes)

    context = [int(token) for token in rng.integers(V, size=int(rng.integers(1, 12)))]
    beside = target.open(context) if target else None
    session = model.open(context, beside)
    for _ in range(steps):
        tree = random_tree(rng, context, int(rng.integers(1, 14)))
        tree.pass_order = None if rng.integers(2) else tree.topology.heavy_path
        for _ in range(int(rng.integers(4))):
            part = rng.permutation(len(tree))[: int(rng.integers(1, len(tree) + 1))]
            rows = session.forward(tree, part)
            assert rows.shape == (len(part), model.vocab_size) and rows.dtype == np.float32
            compare(rows, part)
            yield
        if not rng.integers(5):
            continue
        path = tree.topology.path(int(rng.integers(len(tree))))
        emitted = [*(tree.tokens[node] for node in path), int(rng.integers(V))]
        emitted = emitted[: int(rng.integers(1, len(emitted) + 1))]
        if beside:  # the draft must not write over the text
            compare(beside.forward(tree, range(len(tree))), range(len(tree)), target)
            beside.commit(tree, path, emitted)
        session.commit(tree, path, emitted)
        context = context + emitted
        assert session.context == context


def random_run(*arguments, **options):
    for _ in random_steps(*arguments, **options):
        pass


def transformers_pass(family, dtype, tmp_path, attention="sdpa"):
    model = make(family, attention, dtype=dtype)
    model.use_transformers()
    return model


def eager_pass(family, dtype, tmp_path):
    return transformers_pass(family, dtype, tmp_path, "eager")


def direct_pass(family, dtype, tmp_path):
    model = make(family, dtype=dtype)
    model.direct.compiled = None
    return model


def compiled_pass(family, dtype, tmp_path):
    model = make(family, dtype=dtype)
    assert model.compiled is not None
    return model


def padded_pass(family, dtype, tmp_path):
    model = direct_pass(family, dtype, tmp_path)
    model.static = StaticPasses(model.direct)
    return model


def spread_pass(family, dtype, tmp_path):
    model = transformers_pass(family, dtype, tmp_path)
    model.spread = True
    return model


def streamed_pass(family, dtype, tmp_path):
    whole = make(family, dtype=dtype)
    whole.model.save_pretrained(tmp_path / "model")
    model = stream_target(
        str(tmp_path / "model"), dtype, torch.device("cpu"), lambda fraction, message: None
    )
    model.whole = whole
    return model


def hooked_pass(family, dtype, tmp_path):
    """accelerate's hooks bring the layers."""
    whole = make(family, dtype=dtype)
    whole.model.save_pretrained(tmp_path / "model")
    where = dict(offload="disk", folder=str(tmp_path / "offload"))
    model = HuggingFaceModel(
        load_model("target", str(tmp_path / "model"), torch.device("cpu"), dtype, **where)
    )
    assert any(weight.is_meta for weight in model.model.parameters()) and model.direct is None
    model.whole = whole
    return model


F32, BF16, F16 = torch.float32, torch.bfloat16, torch.float16
TOLERANCES = {F32: 2e-4, BF16: 0.25, F16: 0.03}
LLAMA = (
    "llama",
    "llama-biases",
    "llama-head-dim",
    "llama3",
    "qwen2",
    "mistral",
    "qwen3",
    "smollm3",
    "mistral-window",
    "qwen3-window",
    "olmo2",
    "olmo3",
    "gemma3",
)  # with a direct forward
SDPA = [family for family in FAMILIES if family != "gpt-oss"]
SAMPLE = {
    (transformers_pass, "gpt2", F32),
    (eager_pass, "opt", F32),
    (direct_pass, "llama", F16),
    (direct_pass, "llama3", F32),
    (compiled_pass, "qwen2", BF16),
    (compiled_pass, "llama", F32),
    (compiled_pass, "qwen3-window", F32),
    (compiled_pass, "smollm3", BF16),
    (compiled_pass, "mistral-window", BF16),
    (direct_pass, "qwen3-window", F32),
    (direct_pass, "smollm3", F32),
    (transformers_pass, "mistral-window", F32),
    (transformers_pass, "gemma3", F32),
    (eager_pass, "gpt-oss", F32),
    (padded_pass, "llama", F32),
    (spread_pass, "gpt2", F32),
    (streamed_pass, "llama", F32),
    (streamed_pass, "gemma3", BF16),
    (compiled_pass, "gemma3", BF16),
    (compiled_pass, "gemma3", F32),
    (compiled_pass, "olmo2", BF16),
    (compiled_pass, "olmo3", F32),
    (direct_pass, "gemma3", F16),
    (direct_pass, "olmo2", F32),
    (hooked_pass, "opt", F32),
}
MATRIX = [
    *itertools.product((eager_pass,), FAMILIES, (F32,)),
    *itertools.product((transformers_pass,), SDPA, (F32,)),
    *itertools.product(
        (transformers_pass, hooked_pass, spread_pass), ("llama", "gpt2", "opt"), (F32, BF16, F16)
    ),
    *itertools.product((direct_pass,), LLAMA, (F32, BF16, F16)),
    *itertools.product((padded_pass, streamed_pass), ("llama", "qwen2"), (F32, BF16, F16)),
    *itertools.product(
        (streamed_pass,), ("smollm3", "qwen3-window", "olmo2", "gemma3"), (F32, BF16)
    ),
    *itertools.product((compiled_pass,), LLAMA, (F32, BF16)),
]


@pytest.mark.parametrize(
    "make_pass, family, dtype",
    [
        pytest.param(
            *cell,
            marks=[] if cell in SAMPLE else pytest.mark.nightly,
            id=f"{cell[0].__name__[:-5]}-{cell[1]}-{str(cell[2])[6:]}",
        )
        for cell in dict.fromkeys(MATRIX)
    ],
)
def test_trees_score_as_separate_passes(make_pass, family, dtype, tmp_path, monkeypatch):
    """Whichever pass reads them, with memory that is outgrown soon."""
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "CHUNK", 4)
    monkeypatch.setattr(graphs, "SLOTS", 8)
    monkeypatch.setattr(passes, "ONE_THREAD", 0)
    model, rng = make_pass(family, dtype, tmp_path), np.random.default_rng(1)
    for _ in range(4):
        random_run(model, rng, tolerance=TOLERANCES[dtype])
    assert model.static is None or model.static.passes


def test_a_window_hides_by_positions_and_not_by_slots():
    """Branches of a tree fill slots between a token and those that it sees."""
    kept = cache.TreeCache(1)
    kept.place(range(5))
    kept.used = 5
    kept.place([5, 5, 6])  # two branches, the second of two tokens
    masked = np.array([[0, 1, 1], [1, 0, 1], [1, 0, 0]], dtype=bool)
    hidden = kept.window_mask([5, 5, 6], masked, 3)
    seen = [{int(slot) for slot in np.flatnonzero(~row)} for row in hidden]
    assert seen == [{3, 4, 5}, {3, 4, 6}, {4, 6, 7}]


def test_long_prompts_are_read_in_runs(monkeypatch):
    monkeypatch.setattr(tree_session, "MAX_RUN", 4)
    random_run(make(), np.random.default_rng(3), steps=3)


def test_sessions_share_a_model():
    model, rng = make(), np.random.default_rng(5)
    for _ in zip(random_steps(model, rng), random_steps(model, rng), strict=False):
        pass


def test_the_prefix_is_not_copied_and_a_straight_path_does_not_move():
    model = make()
    session = model.open([3, 1, 4])
    tree = TokenTree(4, start=2)
    for token in (7, 8, 9):
        tree.add(len(tree) - 1, token)
    session.forward(tree, range(4))
    block = session.cache.blocks[0]
    with torch.inference_mode():
        keys, _ = session.cache.update(block[0, :, :, :1], block[1, :, :, :1], 0)
    assert keys.data_ptr() == block.data_ptr() and keys.shape[2] == 7

    session.cache.blocks, session.cache._numbers = (
        [object()],
        None,
    )  # slots that are in place must not be moved
    session.commit(tree, (1, 2), [7, 8, 5])
    assert session.cache.used == 5
    with pytest.raises(TypeError, match="subscriptable"):
        session.cache.keep([0, 2], 0)


def test_nothing_is_read_twice():
    """A pass reads the nodes asked for, what leads to them, and committed tokens that were no node
    or an unread one.

    Logits are computed of the nodes asked for alone.
    """
    target = make()
    draft, lengths, rows = first_layers(target, 1), [], []
    target.direct = draft.direct = None  # hooks see transformers' own forward only
    for module, found in (
        (target.model.get_input_embeddings(), lengths),
        (target.model.lm_head, rows),
    ):
        module.register_forward_hook(
            lambda module, inputs, output, found=found: found.append(output.shape[1])
        )
    context = [3, 1, 4, 1, 5]
    ours = target.open(context)
    for session, beside in ((target.open(context), None), (draft.open(context, ours), ours)):
        tree = TokenTree(5, start=4)
        for parent in (0, 1, 2, 0):
            tree.add(parent, 7 + parent)
        lengths.clear()
        session.forward(tree, [0, 4])
        session.forward(tree, [2])
        if beside:
            beside.forward(tree, range(5))
            beside.commit(tree, (1, 2, 3), [7, 8, 9, 6])
        session.commit(tree, (1, 2, 3), [7, 8, 9, 6])
        session.forward(TokenTree(6, start=8), [0])
        # The prompt and two nodes; a node with its parent; then the root, after the leaf where it
        # was not read.
        assert lengths == ([6, 2, 2] if beside is None else [6, 2, 9, 1])
    assert rows[:3] == [2, 1, 1]


@pytest.mark.parametrize("own, wanted", [(90, V), (V, 90)])
def test_rows_have_the_wanted_width(own, wanted):
    torch.manual_seed(0)
    config = transformers.LlamaConfig(**(COMMON | {"vocab_size": own}), **HEADS)
    model = HuggingFaceModel(transformers.AutoModelForCausalLM.from_config(config), wanted)
    row = model.open([1, 2, wanted - 1]).forward(TokenTree(wanted - 1, start=2), [0])[
        0
    ]  # maybe a token it has not
    known = min(own, wanted)
    assert (
        row.shape == (wanted,) and np.isfinite(row[:known]).all() and (row[known:] == -np.inf).all()
    )
    assert np.allclose(row[:known], alone(model, [1, 2, min(wanted, own) - 1])[:known], atol=1e-4)
    check_tree_reading("draft", model)


@pytest.mark.parametrize("skip", [2, 3])
@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_a_draft_of_some_layers_is_the_target_with_fewer(family, skip):
    """Early exit leaves out the last layer of three, skipped layers the second."""
    target, rng = make(family), np.random.default_rng(7)
    draft = first_layers(target, 2) if skip == 3 else without_layers(target, (2,))
    fewer = make(
        family, num_hidden_layers=2, **({"layer_types": None} if family == "qwen2" else {})
    )
    weights = {
        name: weight
        for name, weight in target.model.state_dict().items()
        if f".{skip - 1}." not in name
    }
    fewer.model.load_state_dict(
        {name.replace(".2.", ".1."): weight for name, weight in weights.items()}
    )
    tokens = [3, 1, 4, 1, 5]
    assert np.allclose(alone(draft, tokens), alone(fewer, tokens), atol=1e-5)
    assert not np.allclose(alone(draft, tokens), alone(target, tokens), atol=1e-2)
    shared = {id(weight) for weight in target.model.parameters()}
    assert all(id(weight) in shared for weight in draft.model.parameters())
    random_run(draft, rng, target=target)
    random_run(target, rng)


@pytest.mark.parametrize(
    "wrong",
    [
        *(lambda count=count: first_layers(make(), count) for count in (0, 3)),
        *(lambda skip=skip: without_layers(make(), skip) for skip in ((4,), (1, 2))),
        *(lambda name=f"early-exit{end}": count_layers(name) for end in ("", ":", ":x", ":0")),
    ],
)
def test_a_draft_of_some_layers_leaves_out_one_that_is_there_and_never_the_first(wrong):
    with pytest.raises(ValueError, match="layers"):
        wrong()


@pytest.mark.parametrize(
    "dtype", [torch.float32, pytest.param(torch.bfloat16, marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize("fault", ["attention_mask", "position_ids", "no 4-D mask"])
def test_a_model_that_ignores_the_tree_is_rejected(fault, dtype):
    model = make(dtype=dtype)
    model.direct, honest = None, model.model.forward

    def forward(**arguments):
        if fault == "no 4-D mask" and "attention_mask" in arguments:
            raise RuntimeError("two dimensions\nonly")
        return honest(**(arguments | {fault: None} if fault in arguments else arguments))

    check_tree_reading("target", model)
    model.model.forward = forward
    with pytest.raises(ValueError, match=r"target \(LlamaForCausalLM\)"):
        check_tree_reading("target", model)


def test_the_longest_text_goes_on_beyond_a_window_of_attention():
    for family in ("llama", "gpt2", "mistral-window", "qwen3-window"):
        assert longest_text("target", FAMILIES[family]) == 128
    with pytest.raises(ValueError, match="linear_attention"):
        longest_text("draft", transformers.Qwen3NextConfig())


def test_two_threads_read_features_of_one_model_without_hearing_each_other():
    """Both passes are under way before either reaches the output head."""
    model, texts = make("gpt2"), [[3, 1, 4, 1, 5], [9, 2]]
    trees = [random_tree(np.random.default_rng(i), text, 7 + i) for i, text in enumerate(texts)]

    def features(i):
        session, tree = model.open(texts[i]), trees[i]
        before = session.watch()
        session.forward(tree, range(len(tree)))
        return torch.cat([before, session.features(range(len(tree)))])

    alone, meeting = [features(i) for i in (0, 1)], threading.Barrier(2, timeout=WAIT)
    assert [len(found) for found in alone] == [4 + 7, 1 + 8]
    model.model.transformer.register_forward_hook(lambda *_: (meeting.wait(), None)[1])
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(features, (0, 1)))
    for found, expected in zip(together, alone, strict=True):
        torch.testing.assert_close(found, expected)


@torch.inference_mode()
@pytest.mark.parametrize("way", ["compiled", "direct", "transformers"])
def test_features_are_the_inputs_of_layers_and_the_last_state(way):
    model = make("llama", num_hidden_layers=4)
    model.feature_layers = (1, 3)
    if way == "direct":
        model.direct.compiled = None
    elif way == "transformers":
        model.use_transformers()
    text = [3, 1, 4, 1, 5, 9]
    session, tree = model.open(text), random_tree(np.random.default_rng(0), text, 7)
    before = session.watch()
    session.forward(tree, range(len(tree)))
    for node in range(len(tree)):
        path = torch.tensor([[*text, *along(tree, node)]])
        states = model.model(path, output_hidden_states=True).hidden_states
        expected = torch.cat([states[1][0], states[3][0], states[-1][0]], dim=-1)
        torch.testing.assert_close(before, expected[: len(text) - 1], atol=1e-5, rtol=1e-4)
        found = session.features([node])[0]
        torch.testing.assert_close(found, expected[-1], atol=1e-5, rtol=1e-4)
    assert model.open([3]).watch().shape == (0, before.shape[1])
