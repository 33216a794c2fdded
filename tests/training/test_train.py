"""A tiny pair trained end to end, broken off and continued."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from specviz.commands.cli import main
from specviz.training import build_pair
from specviz.training.corpus import KINDS, Document, encode, held_out, read_documents, split_chapters, train_tokenizer
from specviz.training.corpus import windows as random_windows
from specviz.training.distil import draft_loss, grow, new_model, warm_start
from specviz.training.loop import average, fit, orthogonal, plateau
from specviz.training.recipe import Recipe, Shape, Stage
from specviz.training.report import bits_per_character, repetition
from specviz.training.samples import continue_text, draw, random_rows, shards, write_samples
from specviz.training.train import train

pytestmark = pytest.mark.adapter

TINY = Recipe(
    vocabulary=300, window=64, stages=(Stage(Shape(32, 1, 1, 64), 0.5), Stage(Shape(64, 2, 2, 128), 0.5)),
    draft=Shape(64, 1, 2, 128), rows=4, sample_rows=8, sample_length=32, draft_batch=128, target_rate=3e-3,
)  # fmt: skip
LARGER = replace(TINY, stages=(Stage(Shape(64, 3, 2, 128), 1.0),))


class Ticks:
    """A clock on which every look takes a second: budgets become numbers of steps."""

    def __init__(self):
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def library(tmp_path: Path) -> tuple[Path, Path]:
    """A file of twelve short chapters and a folder of twelve source files, each with a word of its own."""
    chapters = [f"CHAPTER {'ABCDEFGHIJKL'[i]}\n\n" + f"The fox number{i} ran home. " * 60 for i in range(12)]
    (tmp_path / "tales.txt").write_text("\n\n".join(chapters), encoding="utf-8")
    code = tmp_path / "code"
    (code / "tests").mkdir(parents=True)
    for i in range(12):
        (code / f"module{i}.py").write_text(f"def function{i}(x):\n    return x + {i}\n" * 20, encoding="utf-8")
    (code / "tests" / "test_module.py").write_text("skipped = True\n", encoding="utf-8")
    return tmp_path / "tales.txt", code


def corpus_of(library: tuple[Path, Path]):
    documents = read_documents([library[0]], library[1])
    tokenizer = train_tokenizer(documents, 300)
    return documents, tokenizer, encode(documents, tokenizer)


def test_chapters_are_cut_at_headings_and_lose_no_text():
    long = "word " * 300
    text = f"VOLUME I\n\nCHAPTER I\n\n{long}\n\nCHAPTER II\n\n{long}\n\nHELP!\n\n{long}\n\nXIV.\n\nend"
    chapters = split_chapters(text)
    assert [c.split("\n\n")[0] for c in chapters] == ["VOLUME I", "CHAPTER II", "XIV."]
    assert "\n\n".join(chapters).split() == text.split()


def test_end_of_text_marks_cut_documents():
    assert split_chapters("one\n<|endoftext|>\ntwo\n\nCHAPTER I\n<|endoftext|>\n") == ["one", "two\n\nCHAPTER I"]


def test_held_out_documents_never_reach_the_training_stream(library):
    documents, tokenizer, corpus = corpus_of(library)
    kept = held_out(documents)
    assert {d.kind for d in documents if d.name in kept} == set(KINDS)
    for document in documents:
        own = tokenizer.encode(document.text).ids[:60]
        sides = [corpus.train[document.kind], corpus.held_out[document.kind]]
        present = [bytes(np.array(own, np.int32)) in side.tobytes() for side in sides]
        assert present == [document.name not in kept, document.name in kept]
    assert not any("tests/" in d.name for d in documents)


def test_the_split_depends_on_names_alone(library):
    documents = read_documents([library[0]], library[1])
    changed = [Document(d.name, d.kind, d.text + " more") for d in reversed(documents)]
    assert held_out(documents) == held_out(changed)


def test_end_of_text_stands_before_every_document(library):
    documents, tokenizer, corpus = corpus_of(library)
    for streams, inside in ((corpus.train, False), (corpus.held_out, True)):
        for kind in KINDS:
            texts = [d.text for d in documents if d.kind == kind and (d.name in held_out(documents)) == inside]
            starts = np.flatnonzero(streams[kind] == 0)
            pieces = [tokenizer.decode(piece[1:].tolist()) for piece in np.split(streams[kind], starts[1:])]
            assert starts[0] == 0 and pieces == texts


def test_a_draw_follows_its_own_temperature():
    logits = torch.log(torch.tensor([[0.2, 0.3, 0.5]])).repeat(60_000, 1)
    heat = torch.tensor([0.0, 0.5, 1.0]).repeat_interleave(20_000)
    drawn = draw(logits, heat, torch.Generator().manual_seed(0)).view(3, -1)
    shares = torch.stack([(drawn == token).float().mean(1) for token in range(3)], 1)
    squares = torch.tensor([0.04, 0.09, 0.25]) / 0.38
    expected = torch.stack([torch.tensor([0.0, 0.0, 1.0]), squares, torch.tensor([0.2, 0.3, 0.5])])
    assert torch.allclose(shares, expected, atol=0.02)


def test_stored_states_give_back_the_distributions_of_a_fresh_pass():
    torch.manual_seed(0)
    model = new_model(50, 32, hidden=32, layers=2, heads=2, mlp=64).eval()
    prompts = torch.randint(0, 50, (3, 5))
    tokens, states = continue_text(model, prompts, 20, torch.zeros(3))
    with torch.no_grad():
        fresh = model(tokens).logits
        again = model.lm_head(states)
    assert tokens.shape == (3, 20) and torch.equal(tokens[:, :5], prompts)
    assert torch.allclose(again, fresh, atol=1e-4)
    assert torch.equal(tokens[:, 5:], fresh[:, 4:-1].argmax(-1))


def test_broken_sampling_goes_on_with_the_shards_it_would_have_written(library, tmp_path):
    torch.manual_seed(0)
    model, corpus = new_model(300, 64, hidden=32, layers=1, heads=2, mlp=32).eval(), corpus_of(library)[2]
    straight = write_samples(model, corpus, tmp_path / "straight", TINY, 8, Ticks())
    write_samples(model, corpus, tmp_path / "broken", TINY, 3, Ticks())
    assert write_samples(model, corpus, tmp_path / "broken", TINY, 8, Ticks())[0] == straight[0]
    one, other = shards(tmp_path / "straight"), shards(tmp_path / "broken")
    assert len(one) == len(other) > 3
    for a, b in zip(one, other, strict=True):
        rows, again = (random_rows([path], np.random.default_rng(0), 10_000) for path in (a, b))
        assert all(torch.equal(rows[name], again[name]) for name in rows)
    shapes = [tuple(random_rows([path], np.random.default_rng(0), 10_000)["tokens"].shape) for path in one[:3]]
    assert shapes == [(8, 32), (8, 32), (4, 64)]
    assert write_samples(model, corpus, tmp_path / "few", replace(TINY, most_samples=500), 100, Ticks())[0] == 512


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_the_gradient_by_hand_is_that_of_automatic_differentiation(share):
    torch.manual_seed(0)
    draft = new_model(80, 32, hidden=16, layers=1, heads=2, mlp=32)
    head = torch.randn(80, 24)
    rows = {
        "tokens": torch.randint(0, 80, (4, 16)), "states": torch.randn(4, 16, 24),
        "temperatures": torch.tensor([0.0, 0.6, 1.0, 1.0]),
    }  # fmt: skip
    draft_loss(draft, head, rows, share).backward()
    by_hand = [p.grad.clone() for p in draft.parameters()]
    draft.zero_grad()
    heat = rows["temperatures"].clamp(min=0.5)[:, None, None]
    p = torch.softmax(rows["states"] @ head.T / heat, -1)
    logs = torch.log_softmax(draft(rows["tokens"]).logits / heat, -1)
    variation = 0.5 * (p - logs.exp()).abs().sum(-1).mean()
    ((1 - share) * -(p * logs).sum(-1).mean() + 2 * share * variation).backward()
    for ours, parameter in zip(by_hand, draft.parameters(), strict=True):
        assert torch.allclose(ours, parameter.grad, atol=1e-5, rtol=1e-3)


def test_a_warm_start_keeps_most_of_the_embeddings():
    torch.manual_seed(0)
    target = new_model(60, 32, hidden=32, layers=2, heads=2, mlp=64)
    equal, narrow = (new_model(60, 32, hidden=h, layers=1, heads=2, mlp=64) for h in (32, 16))
    warm_start(equal, target)
    warm_start(narrow, target)
    theirs, small = target.lm_head.weight, narrow.lm_head.weight
    assert torch.equal(equal.model.layers[0].mlp.up_proj.weight, target.model.layers[0].mlp.up_proj.weight)
    assert torch.linalg.norm(small @ small.T - theirs @ theirs.T) < 0.7 * torch.linalg.norm(theirs @ theirs.T)


def test_a_grown_model_computes_what_the_small_one_did():
    torch.manual_seed(0)
    small = new_model(60, 32, hidden=32, layers=2, heads=2, mlp=64)
    with torch.no_grad():
        for p in small.parameters():
            p.mul_(3.0)
    grown = grow(small, Shape(64, 3, 4, 96))
    tokens = torch.randint(0, 60, (4, 20))
    p, q = (torch.softmax(m(tokens).logits, -1) for m in (small, grown))
    assert 0.5 * (p - q).abs().sum(-1).mean() < 0.02 < 0.5 * (p - p.mean(1, keepdim=True)).abs().sum(-1).mean()
    grown(tokens, labels=tokens).loss.backward()
    idle = [n for n, w in grown.named_parameters() if not w.grad.any()]
    assert not [n for n in idle if "layers.0" in n or "layers.1" in n], "added parts must be able to learn"
    with pytest.raises(ValueError, match="larger everywhere"):
        grow(small, Shape(16, 2, 1, 64))


def test_muon_pushes_every_singular_value_towards_one():
    torch.manual_seed(0)
    for shape in ((24, 8), (8, 24), (16, 16)):
        values = torch.linalg.svdvals(orthogonal(torch.randn(shape)))
        assert values.min() > 0.3 and values.max() < 1.3


def test_the_rate_is_flat_and_falls_to_the_end():
    assert plateau(0.0) == plateau(0.6) == 1.0 > plateau(0.8) > plateau(1.0) > 0


def test_a_broken_phase_continues_at_the_next_batch_with_the_same_weights(tmp_path):
    def model():
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))

    def loss_of(net, seen, stop_at=None):
        def batch_loss(step, share):
            seen.append((step, share))
            if step == stop_at:
                os.kill(os.getpid(), signal.SIGINT)
            x = torch.from_numpy(np.random.default_rng([0, step]).normal(size=(16, 4))).float()
            return (net(x) - x.sum(1, keepdim=True)).square().mean()

        return batch_loss

    def phase(net, seen, name, stop_at=None):
        return fit(name, net, loss_of(net, seen, stop_at), tmp_path / f"{name}.safetensors", 40, 1e-2, 16, Ticks())

    whole, broken, rest = [], [], []
    straight = model()
    done = phase(straight, whole, "straight")
    with pytest.raises(KeyboardInterrupt):
        phase(model(), broken, "broken", stop_at=7)
    continued = model()
    assert phase(continued, rest, "broken") == done
    assert broken + rest == whole and rest[0][0] == 8
    for ours, theirs in zip(continued.parameters(), straight.parameters(), strict=True):
        assert torch.equal(ours, theirs)


MINUTES = 3.0  # of a clock that ticks with the batches


def test_a_tiny_pair_end_to_end(library, tmp_path, capsys):
    out = tmp_path / "pair"
    ask = {"code_folder": library[1], "recipe": TINY, "device": "cpu"}
    card = train([library[0]], out, MINUTES, clock=Ticks(), **ask)
    assert card == (out / "README.md").read_text(encoding="utf-8")

    tokenizer = AutoTokenizer.from_pretrained(out / "draft")
    assert tokenizer.eos_token_id == 0 and tokenizer.decode(tokenizer.encode("fox\n  Ü")) == "fox\n  Ü"
    corpus = corpus_of(library)[2]
    target, draft = (AutoModelForCausalLM.from_pretrained(out / name) for name in ("target", "draft"))
    for model in (target, draft):
        assert model.dtype == torch.bfloat16 and model.config.max_position_embeddings == 64
        assert held_out_nats(model, corpus) < 0.7 * np.log(300)

    state = json.loads((out / "checkpoint" / "run.json").read_text(encoding="utf-8"))
    assert state["recipe"]["vocabulary"] == 300
    weights = (out / "target" / "model.safetensors").read_bytes()
    assert train([library[0]], out, MINUTES, clock=Ticks(), **ask).count("tokens in") == 3
    assert (out / "target" / "model.safetensors").read_bytes() == weights

    later = tmp_path / "later"
    card = train([library[0]], later, 0.5, start=out / "target", clock=Ticks(), **(ask | {"recipe": LARGER.going_on()}))
    assert "grown from" in card and "of those it started with" in card
    assert AutoModelForCausalLM.from_pretrained(later / "target").config.num_hidden_layers == 3
    place = torch.device("cpu")
    former = build_pair.former_draft(out / "target", TINY, place)  # the draft of a pair goes on as its target does
    for ours, theirs in zip(former.parameters(), draft.float().parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert build_pair.former_draft(out / "target", replace(TINY, draft=Shape(32, 1, 1, 64)), place) is None, (
        "another shape"
    )
    both = {"target": out / "target", "start": out / "target"}
    card = train([library[0]], tmp_path / "on", 0.5, clock=Ticks(), **both, **ask)
    assert "samples, from the draft beside target" in card and "next token" not in card
    (out / "draft" / "tokenizer.json").write_text("{}", encoding="utf-8")
    assert build_pair.former_draft(out / "target", TINY, place) is None, "of other tokens"

    other = tmp_path / "other"
    card = train([library[0]], other, 0.5, target=out / "target", clock=Ticks(), **ask)
    assert "draft:" in card and "next token" not in card
    assert (other / "target" / "model.safetensors").read_bytes() == weights

    with pytest.raises(ValueError, match="other text, target or recipe"):
        train([library[0], library[0]], out, MINUTES, clock=Ticks(), **ask)


def test_the_best_weights_between_two_models_are_taken():
    old, new = torch.nn.Linear(1, 1, bias=False), torch.nn.Linear(1, 1, bias=False)
    for wanted, share in ((0.0, 0.0), (0.7, 0.7), (0.69, 0.7), (5.0, 1.0)):
        torch.nn.init.zeros_(old.weight)
        torch.nn.init.ones_(new.weight)
        assert average(new, old, lambda model, wanted=wanted: abs(model.weight.item() - wanted)) == share
        assert new.weight.item() == pytest.approx(share) and old.weight.item() == 0


def held_out_nats(model, corpus) -> float:
    ids = torch.from_numpy(random_windows(corpus, np.random.default_rng(0), 8, 64, 0.5)).long()
    return model(ids, labels=ids).loss.item()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"minutes": 0}, "minutes must be a number above 0; got 0"),
        ({"minutes": float("nan")}, "minutes must be"),
        ({"text_files": []}, "at least one file"),
        ({"text_files": ["missing.txt"]}, "no file 'missing.txt'"),
        ({"target": "nowhere"}, "'nowhere' is not"),
        ({"out": "tales.txt/pair"}, "cannot: Not a directory"),
        ({"device": "abacus"}, "device must be auto, cpu, cuda or mps; got 'abacus'"),
    ],
)
def test_bad_values_get_a_sentence(change, sentence, library, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ask = {"text_files": [library[0]], "out": "pair", "minutes": 1, "code_folder": library[1]}
    with pytest.raises(ValueError, match=sentence):
        train(**(ask | change))


@pytest.mark.parametrize(
    ("content", "sentence"), [(b"", "is empty"), (b"\xff\xfe\xff", "readable UTF-8"), (b"one", "two")]
)
def test_bad_text_gets_a_sentence(content, sentence, library, tmp_path):
    (tmp_path / "bad.txt").write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        train([tmp_path / "bad.txt"], tmp_path / "pair", 1, code_folder=library[1])


def test_repetition_counts_what_stood_before():
    assert repetition([1, 2, 1, 2, 1], 2) == 0.5
    assert repetition([1, 2, 3, 4, 5]) == 0.0 == repetition([1, 2])


def test_bits_per_character_are_those_of_the_likelihood(library):
    documents, tokenizer, _ = corpus_of(library)
    torch.manual_seed(0)
    model = new_model(300, 64, hidden=32, layers=1, heads=2, mlp=32).eval()
    document = next(d for d in documents if d.kind == "code" and d.name in held_out(documents))
    ids = [0, *tokenizer.encode(document.text).ids][:64]
    loss = model(torch.tensor([ids]), labels=torch.tensor([ids])).loss.item() * (len(ids) - 1)
    expected = loss / np.log(2) / len(tokenizer.decode(ids[1:]))
    assert bits_per_character(model, tokenizer, documents, "code", most=1) == pytest.approx(expected, rel=1e-4)


def test_going_on_takes_small_steps_unless_muon_is_asked_for(tmp_path, library, capsys):
    whole = Recipe(code_share=0.4)
    small, long = whole.going_on(), whole.going_on(0.01)
    assert len(small.stages) == len(long.stages) == 1 and small.stages[0].shape == whole.stages[-1].shape
    assert small.matrix_rate is None and small.target_rate < whole.target_rate and small.rows < whole.rows
    assert long == replace(whole, stages=long.stages, matrix_rate=0.01)
    common = ["train", "--text", str(library[0]), "--out", str(tmp_path / "out")]
    for more, sentence in (
        (["--muon", "0.02"], "--muon belongs to --start"),
        (["--muon", "2", "--start", str(tmp_path)], "--muon must be a number from 0 to 1; got 2.0"),
        (["--code-share", "nan"], "--code-share must be a number from 0 to 1"),
    ):
        assert main([*common, *more]) == 2
        assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
