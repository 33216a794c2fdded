"""`load_pair`: the embedded pair against transformers' own greedy text, folders, tokens as text and
every error."""

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import SimpleNamespace
from unittest.mock import Mock

import httpx
import numpy as np
import psutil
import pytest
import safetensors.torch
import torch
import transformers
from huggingface_hub import HfApi, errors
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

import specviz
from specviz.models import loading
from specviz.models.text import TokenText, end_of_text
from specviz.tree import TokenTree

pytestmark = pytest.mark.adapter
PROMPT = "Once upon a time"
TEXT = [
    "the cat sat on the mat and looked at the hat",
    "naïve façade — “ok” 🙂 日本語",
    "  two  spaces\n\tand a tab",
]


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def reject(*args, **kwargs):
        raise ConnectionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", reject)
    monkeypatch.setattr(socket, "getaddrinfo", reject)


@pytest.fixture(scope="module")
def pair():
    return specviz.load_pair(device="cpu", dtype="float32")


@cache
def greedy(pair, prompt, length):
    ids = torch.tensor([pair.encode(prompt)])
    with torch.inference_mode():
        out = pair.target.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=length,
            pad_token_id=0,
        )
    return tuple(out[0, ids.shape[1] :].tolist())


def config(prompt, builder="sequoia", **changes):
    options = dict(temperature=0, max_new_tokens=64, verifier=specviz.VERIFIERS["exact-match"]())
    return specviz.RunConfig(
        prompt=prompt, builder=specviz.BUILDERS[builder](), **options | changes
    )


def test_greedy_text_is_that_of_transformers(pair):
    early = specviz.load_pair(draft="early-exit:4", device="cpu", dtype="float32")
    assert (
        early.info["draft"]["layers"] == 4
        and early.info["name"] == "embedded target + early-exit:4"
    )
    expected = greedy(pair, PROMPT, 64)
    assert specviz.autoregress(pair, config(PROMPT)).tokens == expected
    for some_pair in (pair, early):
        trace = specviz.run(some_pair, config(PROMPT, "chain"))
        assert trace.tokens == expected and trace.tokens_per_pass > 1
        assert trace.text == pair.decode([*trace.prompt_tokens, *trace.tokens])[len(PROMPT) :]


def test_the_embedded_pair_describes_itself(pair):
    assert json.loads(json.dumps(pair.info)) == pair.info
    assert pair.info["name"] == "embedded pair"
    assert pair.info["target"]["parameters"] > 4 * pair.info["draft"]["parameters"] > 0
    assert pair.vocab_size == 4096 and pair.max_positions >= 512 and pair.eos_ids == {0}
    assert pair.info["dtype"] == "float32" and pair.info["device"] == "cpu"


# Tokens as text


def byte_level():
    """A tokenizer of GPT-2's kind, with an end of text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    options = dict(
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False
    )
    tokenizer.train_from_iterator(
        TEXT[:1], trainers.BpeTrainer(vocab_size=400, special_tokens=["<|end|>"], **options)
    )
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>")


def sentence_piece():
    """A tokenizer of Llama 2's kind: ▁ for spaces, bytes as a last resort, a start token by
    default."""
    merges = [("a", "t"), ("h", "e"), ("▁", "t"), ("▁", "c"), ("▁t", "he"), ("▁c", "at")]
    words = ["▁ok", "é", "s", *"▁theca", *map("".join, merges)]
    names = ["<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *dict.fromkeys(words)]
    vocabulary = {name: i for i, name in enumerate(names)}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", vocabulary["<s>"])]
    )
    tokenizer.add_special_tokens([AddedToken("<s>"), AddedToken("</s>")])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>"
    )


@pytest.mark.parametrize("make", [byte_level, sentence_piece])
@pytest.mark.parametrize("text", [*TEXT, "the cat sat", " the", "日🙂"])
def test_a_stream_adds_up_to_the_decoded_whole(make, text):
    tokens = TokenText(make())
    ids = tokens.encode(text)
    for cut in range(len(ids)):
        if tokens.decode(ids[:cut]).endswith("\ufffd"):
            continue  # a text does not end within a character
        add = tokens.stream(ids[:cut])
        pieces = [add(token) for token in ids[cut:]]
        assert tokens.decode(ids[:cut]) + "".join(pieces) == tokens.decode(ids)
        assert "\ufffd" not in "".join(pieces)


def test_a_stream_passes_over_special_tokens_and_odd_bytes():
    tokens = TokenText(byte_level())
    cat, end = tokens.encode(" cat"), tokens.tokenizer.eos_token_id
    euro = tokens.encode("€")
    assert len(euro) == 3
    ids = [*cat, end, euro[0], *cat, euro[0], euro[1], *euro, end]
    add = tokens.stream([])
    assert "".join(map(add, ids)) == tokens.decode(ids) == " cat\ufffd cat\ufffd€"


@pytest.mark.parametrize(
    "make, pieces",
    [
        (byte_level, {"Ġthe": " the", "â": "\\xe2", "<|end|>": "<|end|>"}),
        (sentence_piece, {"▁cat": " cat", "at": "at", "<0xE2>": "\\xe2", "<0x41>": "A", "▁": " "}),
    ],
)
def test_pieces_are_what_a_person_reads(make, pieces):
    tokens = TokenText(make())
    assert {
        name: tokens.token_text(tokens.tokenizer.convert_tokens_to_ids(name)) for name in pieces
    } == pieces
    assert tokens.token_text(99_999) == "<99999>"


# Folders


def save(folder, vocab=400, tokenizer=None, eos=0, kind=transformers.LlamaConfig, **changes):
    torch.manual_seed(0)
    sizes = dict(hidden_size=32, num_attention_heads=4, intermediate_size=48, num_hidden_layers=2)
    options = dict(
        vocab_size=vocab, max_position_embeddings=64, initializer_range=0.3, eos_token_id=eos
    )
    model = transformers.AutoModelForCausalLM.from_config(kind(**sizes | options | changes))
    model.generation_config.eos_token_id = eos
    model.save_pretrained(folder)
    (tokenizer or byte_level()).save_pretrained(folder)
    return str(folder)


def test_two_folders_with_padded_vocabularies(tmp_path):
    """Target 416 and draft 408 wide over 400 tokens, as in Qwen 2.5: p keeps its width, q is padded
    with nothing."""
    target = save(tmp_path / "big", vocab=416, eos=[0, 5])
    small = save(tmp_path / "small", vocab=408, hidden_size=16, max_position_embeddings=48)
    wide = save(tmp_path / "wide", vocab=432, hidden_size=16)
    for draft in (small, wide):
        pair = specviz.load_pair(target, draft, device="cpu", dtype="float32")
        assert (
            pair.vocab_size == 416
            and pair.eos_ids == {0, 5}
            and pair.info["name"].startswith("big + ")
        )
        assert pair.max_positions == (48 if draft == small else 64)
        ours, theirs = pair.open([1, 2, 3])
        tree = TokenTree(3, start=2)
        assert ours.forward(tree, [0]).shape == theirs.forward(tree, [0]).shape == (1, 416)
        assert np.isneginf(theirs.forward(tree, [0])[0, 408:]).all() == (draft == small)
        trace = specviz.run(pair, config("the cat", max_new_tokens=20))
        assert (
            trace.tokens == specviz.autoregress(pair, config("the cat", max_new_tokens=20)).tokens
        )
        sampled = config(
            "the cat", temperature=1.0, verifier=specviz.VERIFIERS["sequoia"](), max_new_tokens=8
        )
        assert len(specviz.run(pair, sampled).tokens) <= 8


def test_a_target_alone(tmp_path):
    pair = specviz.load_pair(save(tmp_path / "one"), device="cpu", dtype="float32")
    assert pair.info["draft"] is None and pair.open([1])[1] is None
    assert len(specviz.autoregress(pair, config("the cat", max_new_tokens=5)).tokens) == 5
    with pytest.raises(ValueError, match="this pair has none"):
        specviz.run(pair, config("the cat"))


def test_models_that_are_asked_for_at_once_are_made_one_after_the_other(tmp_path, monkeypatch):
    """While transformers makes one, it ties no weights in the whole process: two at a time would
    leave it so."""
    folder = save(tmp_path / "one", tie_word_embeddings=True)
    made = transformers.AutoModelForCausalLM.from_pretrained
    inside, together = [], []

    def slow(*args, **options):
        inside.append(folder)
        together.append(len(inside))
        time.sleep(0.05)
        model = made(*args, **options)
        inside.pop()
        return model

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", slow)
    arguments = ("target", folder, torch.device("cpu"), torch.float32)
    with ThreadPoolExecutor(3) as pool:
        models = list(pool.map(lambda _: loading.load_model(*arguments), range(3)))
    assert together == [1, 1, 1]
    for model in models:
        assert model.lm_head.weight is model.model.embed_tokens.weight


def test_tokens_with_other_numbers_are_translated(tmp_path):
    """Two tokens of the draft have changed places: it proposes what the same draft with the
    target's numbers does."""
    size, run, folder = len(byte_level()), config("the cat", max_new_tokens=24), tmp_path / "y"
    target, draft = save(tmp_path / "x", vocab=size), save(folder, vocab=size, hidden_size=16)
    before = specviz.run(specviz.load_pair(target, draft, device="cpu", dtype="float32"), run)
    content = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = content["model"]["vocab"]
    a, b = sorted(vocabulary, key=vocabulary.get)[10:12]
    vocabulary[a], vocabulary[b] = vocabulary[b], vocabulary[a]
    (folder / "tokenizer.json").write_text(json.dumps(content))
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    for name in {"model.embed_tokens.weight", "lm_head.weight"} & weights.keys():
        weights[name][[10, 11]] = weights[name][[11, 10]]
    safetensors.torch.save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    pair = specviz.load_pair(target, draft, device="cpu", dtype="float32")
    assert pair.info["common"] == {"tokens": size, "mass": 1.0}
    after = specviz.run(pair, run)
    assert [step.tokens for step in after.steps] == [step.tokens for step in before.steps]


@pytest.mark.parametrize(
    "name, content, message",
    [
        (
            "model.safetensors",
            None,
            r"target folder '.*' must hold config.json and \*\.safetensors",
        ),
        ("config.json", None, "target folder '.*' must hold config.json"),
        ("config.json", "{not json", "target '.*' cannot be loaded: "),
        ("config.json", '{"model_type": "no-such-model"}', "target '.*' cannot be loaded: "),
        (
            "config.json",
            {"num_hidden_layers": 3},
            "lacks weights of its configuration, for example model.layers.2",
        ),
        ("model.safetensors", "no tensors here", "target '.*' cannot be loaded: "),
        ("tokenizer.json", "[]", "target '.*' cannot be loaded: "),
    ],
)
def test_a_damaged_folder_gets_a_sentence(tmp_path, name, content, message):
    folder = save(tmp_path / "model")
    file = tmp_path / "model" / name
    if content is None:
        file.unlink()
    else:
        file.write_text(
            content
            if isinstance(content, str)
            else json.dumps(json.loads(file.read_text()) | content)
        )
    with pytest.raises(ValueError, match=message) as caught:
        specviz.load_pair(folder, device="cpu")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options, message",
    [
        (
            dict(target="org/unknown"),
            "target 'org/unknown' is not complete on this machine and cannot be had",
        ),
        (
            dict(target="no/such/folder"),
            "target 'no/such/folder' is neither a folder nor a .gguf file here, nor a name",
        ),
        (dict(target=""), "target '' is neither"),
        (dict(target=__file__), "target '.*' is a file. Give the folder that it is in"),
        (dict(draft="../nowhere"), "target must be given with the draft '../nowhere'"),
        (dict(draft=f"early-exit:{'9' * 300}"), "early-exit:3"),
        (dict(target="random:llama-9"), "target must be random: and one of tiny, llama-68m"),
        (
            dict(target="random:tiny", draft="random:llama-68m"),
            "draft must have the vocabulary of 'random:tiny', 97",
        ),
        (
            dict(draft="early-exit:99"),
            "early-exit must be from 1 to 7, as the target has 8 layers; got 99",
        ),
        (dict(draft="early-exit:0"), "early-exit:3"),
        (dict(dtype="int3"), "dtype must be auto, float32, bfloat16, float16; got 'int3'"),
        (dict(device="tpu"), "that torch finds on this machine; got 'tpu'"),
        (dict(device="meta"), "that torch finds on this machine; got 'meta'"),
    ],
)
def test_bad_values_get_a_sentence(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        specviz.load_pair(**options)
    assert "\n" not in str(caught.value)


def test_random_weights_of_a_known_shape_are_a_pair_for_every_command(monkeypatch):
    pair, again = (
        specviz.load_pair("random:tiny", "random:tiny", dtype="float32") for _ in range(2)
    )
    assert pair.info["name"] == "random:tiny + random:tiny" and pair.eos_ids == frozenset()
    run = specviz.RunConfig("ab", "sequoia:size=5", "exact-match", 0, max_new_tokens=12)
    assert (
        specviz.run(pair, run).tokens
        == specviz.run(again, run).tokens
        == specviz.autoregress(pair, run).tokens
    )
    first, second = (dict(model.model.named_parameters()) for model in (pair.target, pair.draft))
    assert not torch.equal(*(weights["lm_head.weight"] for weights in (first, second)))
    assert loading.load_config("target", "random:llama-2-7b").num_hidden_layers == 32
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=1000))
    with pytest.raises(ValueError, match="target 'random:tiny' needs"):
        specviz.load_pair("random:tiny")


@pytest.mark.parametrize(
    "error, message",
    [
        (errors.RepositoryNotFoundError, "is not on the Hugging Face hub"),
        (errors.GatedRepoError, "Log in"),
    ],
)
def test_what_the_hub_says_becomes_a_sentence(monkeypatch, error, message):
    answer = httpx.Response(404, request=httpx.Request("GET", "https://huggingface.co"))
    monkeypatch.setattr(HfApi, "model_info", Mock(side_effect=error("no", response=answer)))
    with pytest.raises(ValueError, match=message):
        specviz.load_pair("org/model")


def test_devices_that_are_not_here_are_rejected():
    assert (
        loading.choose_device("auto").type in ("cpu", "cuda", "mps")
        and loading.choose_device("cpu").type == "cpu"
    )
    for device in ("cuda:99", "cuda:-1", "meta", "none", 3):
        with pytest.raises(
            ValueError,
            match="device must be auto, cpu, or a device such as cuda:0 or mps that torch",
        ):
            loading.choose_device(device)


def test_the_number_format_follows_the_device(monkeypatch):
    for features, dtype in (
        ({"avx512_bf16": True}, torch.bfloat16),
        ({"avx2": True}, torch.float32),
    ):
        monkeypatch.setattr(
            torch.cpu, "get_capabilities", lambda features=features: features, raising=False
        )
        assert loading.choose_dtype("auto", torch.device("cpu")) == dtype
    for supported, dtype in ((True, torch.bfloat16), (False, torch.float16)):
        monkeypatch.setattr(
            torch.cuda, "is_bf16_supported", lambda including_emulation, answer=supported: answer
        )
        assert loading.choose_dtype("auto", torch.device("cuda")) == dtype
    assert loading.choose_dtype("auto", torch.device("mps")) == torch.float16
    assert loading.choose_dtype("float16", torch.device("cpu")) == torch.float16


def test_the_end_of_text_comes_from_all_who_know_it():
    first, second, third, none = (SimpleNamespace(eos_token_id=ids) for ids in ([1, 2], 2, 3, None))
    model = SimpleNamespace(generation_config=first, config=second)
    assert end_of_text(model, none) == {1, 2} and end_of_text(model, third) == {1, 2, 3}
