"""Heads and a layer for a tiny target: trained, stored, loaded, and drafting in runs that write the
target's text."""

from itertools import count
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import specviz
from specviz.config.strategy import strategy_of
from specviz.drafters.base import open_drafter
from specviz.drafters.models import ModelSession
from specviz.models.heads.medusa import MedusaHeads
from specviz.models.huggingface_pair import HuggingFacePair
from specviz.passes.huggingface import HuggingFaceModel
from specviz.training import heads as training
from specviz.training.heads import train_drafter
from specviz.training.losses import block_loss, heads_loss, layer_loss
from specviz.training.pair import new_model
from specviz.training.starts import new_block, new_layer
from specviz.tree import TokenTree

pytestmark = pytest.mark.adapter
V = 60
KINDS = ("medusa", "eagle", "block")


class Letters:
    """A tokenizer: every character is a token."""

    is_chat = False

    def encode(self, text):
        return [ord(letter) % V for letter in text]

    def decode(self, tokens):
        return "".join(map(self.token_text, tokens))

    def token_text(self, token):
        return chr(33 + token)

    def stream(self, context):
        return self.token_text


@pytest.fixture(scope="module")
def place(tmp_path_factory, one_thread):
    """A folder with a target that knows a little text by heart, and samples of it."""
    folder = tmp_path_factory.mktemp("pair")
    torch.manual_seed(0)
    target = new_model(V, 128, (32, 2, 2, 64))
    text = torch.randint(1, V, (24,)).repeat(8)[None]
    optimizer = torch.optim.AdamW(target.parameters(), lr=5e-3)
    for _ in range(60):
        loss = target(text[:, :96], labels=text[:, :96]).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    target.save_pretrained(folder / "target")
    samples = folder / "checkpoint" / "samples"
    samples.mkdir(parents=True)
    rows = torch.stack([text[0, start : start + 48] for start in range(0, 96, 3)])
    with torch.no_grad():
        states = target.base_model(rows).last_hidden_state
    for number in range(2):
        shard = {
            "tokens": rows.int(),
            "states": states.bfloat16(),
            "temperatures": torch.ones(len(rows)),
        }
        save_file(shard, samples / f"{number:05d}.safetensors", {"seconds": "1"})
    return folder


@pytest.fixture(scope="module")
def pair(place):
    from transformers import AutoModelForCausalLM

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "BATCH", 144)
        for kind in KINDS:
            line = train_drafter(
                kind, place / "target", 160, device="cpu", clock=count(0.0).__next__
            )
            assert kind in line and (place / kind / "model.safetensors").is_file()
    model = AutoModelForCausalLM.from_pretrained(place / "target", dtype=torch.float32)
    target = HuggingFaceModel(model)
    return HuggingFacePair(target, None, Letters(), 128, frozenset(), {"name": "tiny"}, place)


def prompt(place):
    return load_file(place / "checkpoint" / "samples" / "00000.safetensors")["tokens"][
        0, :20
    ].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_heads_and_layer_learn_to_look_ahead(place, kind):
    from transformers import AutoModelForCausalLM

    from specviz.training.loop import shards
    from specviz.training.samples import random_rows

    teacher = AutoModelForCausalLM.from_pretrained(place / "target", dtype=torch.float32)
    rows = random_rows(
        shards(place / "checkpoint" / "samples", ".safetensors")[:1], np.random.default_rng(0), 200
    )
    states, losses = rows["states"].float(), []
    model, loss_of, rate = MedusaHeads(3, 32), heads_loss, 3e-2
    torch.testing.assert_close(model(states[0])[2], states[0])  # heads begin as the target
    if kind == "eagle":
        model, loss_of, rate = new_layer(teacher), layer_loss, 3e-3
    elif kind == "block":
        model, loss_of, rate = new_block(teacher), block_loss, 1e-2
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    for step in range(40):
        loss = loss_of(model, teacher, rows, torch.Generator().manual_seed(0), step / 40)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]


def test_a_run_that_is_continued_is_the_same_run(place, tmp_path):
    options = {"out": tmp_path, "device": "cpu", "samples": place / "checkpoint" / "samples"}
    train_drafter("medusa", place / "target", 1e-9, heads=2, **options)
    train_drafter("medusa", place / "target", 1e-9, heads=2, **options)
    with pytest.raises(ValueError, match="another heads"):
        train_drafter("medusa", place / "target", 1e-9, heads=4, **options)
    torch.manual_seed(1)
    new_model(V, 128, (32, 2, 2, 64)).save_pretrained(tmp_path / "newer")
    with pytest.raises(ValueError, match="another target"):
        train_drafter("medusa", tmp_path / "newer", 1e-9, heads=2, **options)


@pytest.mark.parametrize("drafter", KINDS)
@pytest.mark.parametrize("builder", ["chain", "k-ary", "dyspec", "eagle2", "ddtree", "sequoia"])
def test_the_greedy_text_is_the_targets(pair, place, drafter, builder):
    rule = specviz.VERIFIERS["exact-match"]()
    config = specviz.RunConfig(
        prompt(place), builder, rule, 0.0, max_new_tokens=40, drafter=drafter
    )
    trace = specviz.run(pair, config)
    plain = specviz.autoregress(pair, config)
    assert trace.tokens == plain.tokens
    assert trace.tokens_per_pass > 1.3  # they learnt something
    passes = {step.draft_passes for step in trace.steps}
    assert drafter != "medusa" or passes == {0}
    assert drafter != "block" or max(passes) == 1


@pytest.mark.parametrize("drafter", ["eagle", "block", "block:markov=false"])
def test_rows_are_those_of_a_fresh_pass(pair, place, drafter):
    """Along a run its cache and the features it was handed are those of a session that begins
    there."""
    text = prompt(place)
    target, draft = pair.open(text)
    drafting = open_drafter(strategy_of("drafter", drafter), pair, target, draft, text)
    from specviz.drafters.base import TargetOutputs
    from specviz.sampling.distributions import Distributions, Sampling

    context = list(text)
    for turn in range(3):
        tree = TokenTree(context[-1], start=len(context) - 1)
        first, second, third = (tree.add(parent, 5 + turn + parent) for parent in (0, 1, 0))
        drafting.expand(tree, [0], Sampling())
        rows = drafting.expand(tree, [first, third], Sampling())
        (deep,) = drafting.expand(tree, [second], Sampling())
        fresh_target, fresh_draft = pair.open(context)
        fresh = open_drafter(
            strategy_of("drafter", drafter), pair, fresh_target, fresh_draft, context
        )
        other = fresh.expand(tree, [first, third, second], Sampling())
        np.testing.assert_allclose([*rows, deep], other, atol=2e-5)
        assert isinstance(drafting, ModelSession)
        logits = target.forward(tree, range(len(tree)))
        path, emitted = (first, second), [tree.tokens[first], tree.tokens[second], 7]
        seen = TargetOutputs(
            (0, *path), Distributions(logits, Sampling()), target.features((0, *path))
        )
        whole = pair.target.open([*context, *emitted]).watch()
        torch.testing.assert_close(seen.features, whole[-3:], atol=2e-5, rtol=1e-4)
        target.commit(tree, path, emitted)
        drafting.commit(tree, path, emitted, seen)
        context += emitted


def test_what_was_not_trained_is_rejected_in_a_sentence(pair, place, tmp_path):
    other = HuggingFacePair(
        pair.target, None, Letters(), 128, frozenset(), {"name": "tiny"}, tmp_path
    )
    for kind in KINDS:
        with pytest.raises(ValueError, match=f"train --drafter {kind}"):
            specviz.run(other, specviz.RunConfig([1, 2, 3], drafter=kind))
    with pytest.raises(ValueError, match="samples must be"):
        train_drafter(
            "medusa", place / "target", 1, samples=tmp_path / "none", out=tmp_path / "new"
        )


def test_a_text_of_one_token_is_drafted_for(pair, place: Path):
    for kind in KINDS:
        rule = specviz.VERIFIERS["exact-match"]()
        config = specviz.RunConfig([7], "chain", rule, 0.0, max_new_tokens=6, drafter=kind)
        assert specviz.run(pair, config).tokens == specviz.autoregress(pair, config).tokens


def test_heads_for_an_own_target_are_made_from_text_alone(tmp_path):
    """A target with its own tokenizer, whose end of text is not token 0; nothing else is there."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = {letter: number for number, letter in enumerate("abcdefgh .")} | {
        "<end>": 10,
        "<pad>": 11,
    }
    tokenizer = Tokenizer(models.WordLevel(letters, unk_token="."))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    target = new_model(12, 64, (32, 2, 2, 64))
    target.config.eos_token_id = target.generation_config.eos_token_id = 10
    target.save_pretrained(tmp_path / "own")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>").save_pretrained(
        tmp_path / "own"
    )
    text = tmp_path / "mine.txt"
    text.write_text("abc def. " * 60)
    ask = dict(text_files=[text], device="cpu", clock=count(0.0).__next__)
    assert "medusa" in train_drafter("medusa", tmp_path / "own", 12, **ask)
    assert (tmp_path / "medusa" / "model.safetensors").is_file()
    folder = tmp_path / "medusa" / "checkpoint" / "samples"
    shards = sorted(folder.glob("*.safetensors"))
    rows = load_file(shards[0])
    assert rows["tokens"].shape[1] == 64 and rows["states"].shape[2] == 32, (
        "as long as the target can read"
    )
    text.write_text("hgf. " * 60)
    with pytest.raises(ValueError, match="another text"):
        train_drafter("medusa", tmp_path / "own", 12, **ask)
