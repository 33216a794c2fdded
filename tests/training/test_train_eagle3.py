"""An EAGLE-3 head for a tiny chat model: conversations, training that continues, a folder in the
published form that drafts."""

from itertools import count

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

import specviz
from specviz.config.strategy import strategy_of
from specviz.drafters.base import open_drafter
from specviz.models.heads.eagle3_head import Eagle3Head, rotary_table
from specviz.models.heads.format import HeadFormat, read_format
from specviz.models.heads.loading import with_features
from specviz.passes.huggingface import HuggingFaceModel
from specviz.sampling.distributions import Sampling
from specviz.training import conversations as talk
from specviz.training import heads as training
from specviz.training import losses
from specviz.training import new_head as new_heads
from specviz.training.conversations import (
    ChatTemplate,
    Conversation,
    read_again,
    read_conversations,
)
from specviz.training.eagle3 import unroll
from specviz.training.heads import train_drafter
from specviz.training.new_head import layer_of, new_head
from specviz.training.pair import new_model
from specviz.tree import TokenTree

pytestmark = pytest.mark.adapter
LETTERS = "abcdefghijklmnop"
TEMPLATE = (
    "{% for m in messages %}<{{ m['content'] }}>{% endfor %}"
    "{% if add_generation_prompt %}[{% endif %}"
)


@pytest.fixture(scope="module")
def place(tmp_path_factory, one_thread):
    """A folder with a chat model that knows one conversation by heart; > is token 0 and ends
    its turns."""
    folder = tmp_path_factory.mktemp("chat") / "target"
    vocabulary = {letter: number for number, letter in enumerate(">" + LETTERS + "<[")}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, chat_template=TEMPLATE)
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    target = new_model(len(vocabulary), 256, (32, 6, 2, 64))
    text = torch.tensor([fast.encode("<" + LETTERS[:8] + ">[" + LETTERS * 2 + ">")])
    optimizer = torch.optim.AdamW(target.parameters(), lr=3e-3)
    for _ in range(80):
        target(text, labels=text).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    target.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def head(place):
    """The folder of a head that was trained in two runs."""
    out = place.parent / "head"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "SAMPLE_TIME", 0.05)
        patch.setattr(talk, "BATCH", 200)
        options = {"device": "cpu", "clock": count(0.0).__next__, "state": place.parent / "state"}
        line = train_drafter("eagle3", str(place), 120, out=out, **options)
    assert "eagle3" in line
    return out


def test_the_question_is_drawn_and_the_answer_follows_the_template(place, head):
    template = ChatTemplate(PreTrainedTokenizerFast.from_pretrained(place))
    assert (template.before, template.behind) == ([17], [0, 18])
    found = read_conversations(place.parent / "state" / "samples", 500)
    assert found
    for one in found:
        assert one.tokens[0] == 17 and one.tokens[one.answer - 2 : one.answer].tolist() == [0, 18]
        assert len(one.tokens) - one.answer > talk.SHORTEST_ANSWER
        turns = np.flatnonzero(one.tokens[: one.answer] == 0)
        assert len(turns) == 1  # the user's turn ends once


def test_a_model_without_a_template_is_refused(place):
    plain = PreTrainedTokenizerFast.from_pretrained(place)
    plain.chat_template = None
    with pytest.raises(ValueError, match="chat template"):
        ChatTemplate(plain)


def test_the_head_is_in_the_published_form_and_drafts_the_targets_text(place, head):
    form = read_format(head)
    assert form is not None and form.target == str(place)
    pair = specviz.load_pair(draft=head, device="cpu", dtype="float32")  # it names its target
    assert pair.default_drafter == "eagle"
    config = specviz.RunConfig(
        [{"role": "user", "content": LETTERS[:8]}], "chain:depth=4", temperature=0
    )
    trace = specviz.run(pair, config)
    assert trace.tokens == specviz.autoregress(pair, config).tokens
    assert trace.tokens_per_pass > 1.5  # it learnt something


def test_a_block_for_a_chat_model_proposes_its_frequent_tokens(place, head, monkeypatch):
    """It reads the same conversations and the same layers of the target as the head."""
    monkeypatch.setattr(talk, "BATCH", 120)
    monkeypatch.setattr(losses, "ANCHORS", 6)
    monkeypatch.setattr(new_heads, "DRAFT_VOCABULARY", 12)
    samples = place.parent / "state" / "samples"
    clock = count(0.0).__next__
    train_drafter("block", str(place), 240, samples=samples, device="cpu", clock=clock)
    pair = specviz.load_pair(place, head, device="cpu", dtype="float32")
    question = [{"role": "user", "content": LETTERS[:8]}]
    rows = []
    for builder in ("chain:depth=4", "ddtree:size=8"):
        config = specviz.RunConfig(question, builder, temperature=0, drafter="block")
        trace = specviz.run(pair, config)
        assert trace.tokens == specviz.autoregress(pair, config).tokens
        assert trace.tokens_per_pass > 1.3  # it learnt something
    tokens = pair.encode(LETTERS)
    target, draft = pair.open(tokens)
    drafting = open_drafter(strategy_of("drafter", "block"), pair, target, draft, tokens)
    tree = TokenTree(tokens[-1], start=len(tokens) - 1)
    rows += drafting.expand(tree, [0], Sampling())
    rows += drafting.expand(tree, [tree.add(0, 3), tree.add(0, 16)], Sampling())
    chosen = np.load(place.parent / "block" / "checkpoint" / "draft_tokens.npy")
    assert len(chosen) == 12
    for row in rows:
        assert set(np.flatnonzero(row)) <= set(chosen.tolist())

    other = specviz.load_pair(place, device="cpu", dtype="float32")  # gives the last state alone
    with pytest.raises(ValueError, match="inputs of the target's layers 2, 3"):
        specviz.run(other, specviz.RunConfig(question, drafter="block"))


def test_another_run_in_the_same_state_is_refused(place, head):
    with pytest.raises(ValueError, match="another seed"):
        options = {"device": "cpu", "state": place.parent / "state", "seed": 7}
        train_drafter("eagle3", str(place), 1, out=head, **options)


@torch.no_grad()
def test_levels_of_training_are_the_levels_of_drafting(place):
    """What level j guesses at a place is what a session drafts j levels below that text."""
    from transformers import AutoModelForCausalLM

    teacher = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32)
    ids = torch.arange(0, 19, 2)
    form = HeadFormat(layer_of(teacher), len(ids), None, frozenset(), None)
    torch.manual_seed(3)
    head = new_head(form, teacher, ids)
    for parameter in head.parameters():
        parameter.add_(0.1 * torch.randn(parameter.shape))
    text = np.array([16, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])
    batch = read_again(teacher, [Conversation(text, 3, 0.0)], form.feature_layers(6))
    rotary = rotary_table(form.layer, 64, torch.float32)
    levels = [head.logits(states)[0].numpy() for states in unroll(head, teacher, batch, rotary, 4)]
    target = with_features(HuggingFaceModel(teacher), form)
    from specviz.models.heads.eagle3 import Eagle3Model

    model = Eagle3Model(head, form, target, ids, teacher.get_input_embeddings().weight)
    place_, root = 5, 6  # the text up to the root; place 5 reads its embedding
    session = model.open(text[: root + 1].tolist())
    session.take(target.open(text[: root + 1].tolist()).watch())
    tree = TokenTree(int(text[root]), start=root)
    for node in range(3):
        tree.add(node, int(text[root + 1 + node]))
    for level in range(4):
        drafted = session.forward(tree, [level])[0][ids.numpy()]
        np.testing.assert_allclose(drafted, levels[level][place_], atol=1e-4)


def test_a_head_begins_as_the_targets_last_layer(place):
    from transformers import AutoModelForCausalLM

    teacher = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32)
    ids = torch.arange(19)
    form = HeadFormat(layer_of(teacher), 19, None, frozenset(), None)
    head = new_head(form, teacher, ids)
    assert isinstance(head, Eagle3Head)
    last = teacher.model.layers[-1]
    assert torch.equal(head.midlayer.mlp.up_proj.weight, last.mlp.up_proj.weight)
    assert torch.equal(head.midlayer.self_attn.q_proj.weight[:, 32:], last.self_attn.q_proj.weight)
    assert torch.equal(head.lm_head.weight, teacher.lm_head.weight)
