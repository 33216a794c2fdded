"""Training: documents, samples, the loss, a phase that is continued, and a tiny pair from end to
end."""

from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from specviz.commands.cli import main
from specviz.training import corpus as corpora
from specviz.training.corpus import KINDS, encode, random_windows, read_texts, split_text
from specviz.training.loop import Shards, fit, shards
from specviz.training.pair import Recipe, draft_loss, new_model, train_pair, warm_start
from specviz.training.samples import SUFFIX, continue_text, draw, random_rows, write_samples

pytestmark = pytest.mark.adapter

TINY = Recipe(
    vocabulary=300,
    window=64,
    target=(64, 2, 2, 128),
    draft=(64, 1, 2, 128),
    rows=4,
    sample_rows=8,
    sample_length=32,
    draft_batch=128,
    target_rate=3e-3,
)
SIZES = {"window": 64, "length": 32, "code_share": 0.5, "rows": 8}


def ticks():
    """A clock on which every look takes a second: budgets become numbers of steps."""
    return count(1.0).__next__


@pytest.fixture
def library(tmp_path: Path, monkeypatch) -> tuple[Path, Path]:
    """A file of twelve short documents and a folder of twelve source files, each with a word of its
    own."""
    monkeypatch.setattr(corpora, "DOCUMENT", 1000)
    parts = [f"The fox number{i} ran home. " * 60 for i in range(12)]
    (tmp_path / "tales.txt").write_text("\n\n".join(parts), encoding="utf-8")
    code = tmp_path / "code"
    (code / "tests").mkdir(parents=True)
    for i in range(12):
        (code / f"module{i}.py").write_text(
            f"def function{i}(x):\n    return x + {i}\n" * 20, encoding="utf-8"
        )
    (code / "tests" / "test_module.py").write_text("skipped = True\n", encoding="utf-8")
    return tmp_path / "tales.txt", code


def corpus_of(library):
    documents = read_texts([library[0]], library[1])
    tokenizer = corpora.train_tokenizer(documents, 300)
    return documents, tokenizer, encode(documents, tokenizer)


def test_prose_is_cut_at_marks_or_paragraphs_and_loses_no_text():
    assert [*split_text("one\n<|endoftext|>\ntwo\n\nCHAPTER I\n<|endoftext|>\n")] == [
        "one",
        "two\n\nCHAPTER I",
    ]
    text = "\n\n".join(f"{i} " + "word " * 300 for i in range(9))
    parts = [*split_text(text)]
    assert len(parts) == 3 and "\n\n".join(parts).split() == text.split()


def test_streams_hold_every_document_behind_an_end_of_text(library):
    documents, tokenizer, streams = corpus_of(library)
    for kind in KINDS:
        parts = np.split(streams[kind], np.flatnonzero(streams[kind] == 0)[1:])
        texts = [tokenizer.decode(part[1:].tolist()) for part in parts]
        assert texts == documents[kind]
    assert not any("skipped" in text for text in documents["code"])


def test_a_draw_follows_its_own_temperature():
    logits = torch.log(torch.tensor([[0.2, 0.3, 0.5]])).repeat(60_000, 1)
    heat = torch.tensor([0.0, 0.5, 1.0]).repeat_interleave(20_000)
    drawn = draw(logits, heat, torch.Generator().manual_seed(0)).view(3, -1)
    found = torch.stack([(drawn == token).float().mean(1) for token in range(3)], 1)
    squares = torch.tensor([0.04, 0.09, 0.25]) / 0.38
    expected = torch.stack([torch.tensor([0.0, 0.0, 1.0]), squares, torch.tensor([0.2, 0.3, 0.5])])
    assert torch.allclose(found, expected, atol=0.02)


def test_stored_states_give_back_the_distributions_of_a_fresh_pass():
    torch.manual_seed(0)
    model = new_model(50, 32, (32, 2, 2, 64)).eval()
    prompts = torch.randint(0, 50, (3, 5))
    tokens, states = continue_text(model, prompts, 20, torch.zeros(3))
    with torch.no_grad():
        fresh = model(tokens).logits
        again = model.lm_head(states.clone())
    assert tokens.shape == (3, 20) and torch.equal(tokens[:, :5], prompts)
    assert torch.allclose(again, fresh, atol=1e-4)
    assert torch.equal(tokens[:, 5:], fresh[:, 4:-1].argmax(-1))


def test_interrupted_sampling_goes_on_with_the_shards_it_would_have_written(library, tmp_path):
    torch.manual_seed(0)
    model, corpus = new_model(300, 64, (32, 1, 2, 32)).eval(), corpus_of(library)[2]
    write_samples(model, corpus, Shards(tmp_path / "straight", 7, ticks(), 0), **SIZES)
    write_samples(model, corpus, Shards(tmp_path / "broken", 3, ticks(), 0), **SIZES)
    assert len(shards(tmp_path / "broken", SUFFIX)) < 3
    write_samples(model, corpus, Shards(tmp_path / "broken", 5, ticks(), 0), **SIZES)
    one, other = shards(tmp_path / "straight", SUFFIX), shards(tmp_path / "broken", SUFFIX)
    shapes = []
    for a, b in zip(one, other, strict=False):
        rows, again = (random_rows([path], np.random.default_rng(0), 10_000) for path in (a, b))
        assert all(torch.equal(rows[name], again[name]) for name in rows)
        shapes.append(tuple(rows["tokens"].shape))
    assert shapes[:3] == [(8, 32), (8, 32), (4, 64)]
    write_samples(
        model,
        corpus,
        Shards(tmp_path / "few", 100, ticks(), 0),
        max_bytes=2 * 8 * 32 * 32 * 3,
        **SIZES,
    )
    assert len(shards(tmp_path / "few", SUFFIX)) == 3


@pytest.mark.parametrize("done", [0.0, 0.4, 1.0])
def test_the_loss_in_chunks_is_that_of_the_whole(done, monkeypatch):
    torch.manual_seed(0)
    monkeypatch.setattr("specviz.training.pair.CHUNK", 10)
    draft = new_model(80, 32, (16, 1, 2, 32))
    head = torch.randn(80, 24)
    rows = {
        "tokens": torch.randint(0, 80, (4, 16)),
        "states": torch.randn(4, 16, 24),
        "temperatures": torch.tensor([0.0, 0.6, 1.0, 1.0]),
    }
    draft_loss(draft, head, rows, done).backward()
    found = [p.grad.clone() for p in draft.parameters()]
    draft.zero_grad()
    heat = rows["temperatures"].clamp(min=0.5)[:, None, None]
    p = torch.softmax(rows["states"] @ head.T / heat, -1)
    logs = torch.log_softmax(draft(rows["tokens"]).logits / heat, -1)
    variation = 0.5 * (p - logs.exp()).abs().sum(-1).mean()
    ((1 - done) * -(p * logs).sum(-1).mean() + 2 * done * variation).backward()
    for ours, parameter in zip(found, draft.parameters(), strict=True):
        assert torch.allclose(ours, parameter.grad, atol=1e-5, rtol=1e-3)


def test_a_warm_start_keeps_most_of_the_embeddings():
    torch.manual_seed(0)
    target = new_model(60, 32, (32, 2, 2, 64))
    equal, narrow = (new_model(60, 32, (hidden, 1, 2, 64)) for hidden in (32, 16))
    warm_start(equal, target)
    warm_start(narrow, target)
    theirs, small = target.lm_head.weight, narrow.lm_head.weight
    assert torch.equal(
        equal.model.layers[0].mlp.up_proj.weight, target.model.layers[0].mlp.up_proj.weight
    )
    assert torch.linalg.norm(small @ small.T - theirs @ theirs.T) < 0.7 * torch.linalg.norm(
        theirs @ theirs.T
    )


def test_an_interrupted_phase_continues_at_the_next_batch_with_the_same_weights(tmp_path):
    def model():
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))

    def phase(net, steps, name, stop_at=None):
        def batch_loss(step, done):
            steps.append((step, done))
            if step == stop_at:
                raise KeyboardInterrupt
            x = torch.from_numpy(np.random.default_rng([0, step]).normal(size=(16, 4))).float()
            return (net(x) - x.sum(1, keepdim=True)).square().mean()

        return fit(name, net, batch_loss, tmp_path / f"{name}.pt", 200, 1e-2, ticks())

    whole, broken, rest = [], [], []
    straight = model()
    line = phase(straight, whole, "run")
    (tmp_path / "run.pt").unlink()
    with pytest.raises(KeyboardInterrupt):
        phase(model(), broken, "run", stop_at=90)
    continued = model()
    assert phase(continued, rest, "run") == line
    first = rest[0][0]
    assert 60 <= first <= 90 and broken[:first] + rest == whole, (
        "the checkpoint is at most a minute old"
    )
    for ours, theirs in zip(continued.parameters(), straight.parameters(), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.nightly
def test_a_tiny_pair_end_to_end(library, tmp_path):
    out, seconds = tmp_path / "pair", 180.0  # of a clock that ticks with the batches
    options = {"code_folder": library[1], "recipe": TINY, "device": "cpu"}
    card = train_pair([library[0]], out, seconds, clock=ticks(), **options)
    assert card == (out / "README.md").read_text(encoding="utf-8")

    tokenizer = AutoTokenizer.from_pretrained(out / "draft")
    assert (
        tokenizer.eos_token_id == 0 and tokenizer.decode(tokenizer.encode("fox\n  Ü")) == "fox\n  Ü"
    )
    text = random_windows(corpus_of(library)[2], np.random.default_rng(0), 8, 64, 0.5)
    for name in ("target", "draft"):
        model = AutoModelForCausalLM.from_pretrained(out / name)
        assert model.dtype == torch.bfloat16 and model.config.max_position_embeddings == 64
        ids = torch.from_numpy(text).long()
        assert model(ids, labels=ids).loss.item() < 0.7 * np.log(300)

    weights = (out / "target" / "model.safetensors").read_bytes()
    train_pair([library[0]], out, seconds, clock=ticks(), **options)
    assert (out / "target" / "model.safetensors").read_bytes() == weights, (
        "a finished phase is not trained again"
    )

    options["recipe"] = replace(TINY, target_time=0.0, sample_time=0.3)
    other = tmp_path / "other"
    card = train_pair([library[0]], other, 30.0, target=out / "target", clock=ticks(), **options)
    assert "draft:" in card and "target:" not in card
    assert (other / "target" / "model.safetensors").read_bytes() == weights
    for change in ({"text_files": [library[0]] * 2}, {"recipe": TINY}, {"target": other / "draft"}):
        with pytest.raises(ValueError, match="out holds a run with another"):
            train_pair(
                **{"text_files": [library[0]], "out": other, "seconds": 1, "target": out / "target"}
                | options
                | change
            )


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        (["--minutes", "0"], "minutes"),
        (["--minutes", "nan"], "minutes"),
        (["--code-share", "2"], "code-share"),
        (["--text", "missing.txt"], "--text"),
        (["--target", "nowhere"], "--target"),
        (["--out", "tales.txt/pair"], "--out"),
        (["--device", "abacus"], "device"),
        (["--text", "empty.txt"], "text"),
        (["--text", "bytes.txt"], "text"),
        (["--drafter", "oracle"], "drafter"),
        (["--drafter", "eagle"], "--target"),
    ],
)
def test_bad_values_get_a_sentence(arguments, parameter, library, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, content in {"empty.txt": b"", "bytes.txt": b"\xff\xfe\xff"}.items():
        (tmp_path / name).write_bytes(content)
    defaults = {"--text": "tales.txt", "--out": "pair", "--code": "code"}
    if arguments[0] == "--drafter":
        defaults = {"--out": "pair"}
    options = defaults | dict(zip(arguments[::2], arguments[1::2], strict=True))
    assert main(["train", *(word for pair in options.items() for word in pair)]) == 2
    output = capsys.readouterr().err
    assert parameter in output and output.count("\n") == 1
