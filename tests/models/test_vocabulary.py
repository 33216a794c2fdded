"""A draft with another vocabulary: common tokens by their bytes, exact by enumeration, and live
with two tokenizers."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers

import specviz
from specviz.models.table import TableModel, TablePair, TableSession, toy_pair
from specviz.models.vocabulary import (
    TranslatedSession,
    Translation,
    first_token,
    translation,
    vocabulary_of,
)
from specviz.passes.device_logits import DeviceLogits
from specviz.proof.lossless import EXACT, PROMPT, error_in
from specviz.tree import TokenTree
from tests.models.test_pair import byte_level, greedy, save, sentence_piece

pytestmark = pytest.mark.adapter

# The target's tokens a, bb, c and the draft's c, b, a, d: a and c are common, bb is two of the
# draft's.
TARGET, DRAFT = [b"a", b"bb", b"c"], [b"c", b"b", b"a", b"d"]
LONGEST, WORDS = 64, Translation(TARGET, DRAFT, len(TARGET))


class TwoVocabularies(TablePair):
    """Toy tables whose draft has a vocabulary of its own."""

    def open(self, tokens):
        table = toy_pair(vocab=len(DRAFT), seed=7).target
        draft = SimpleNamespace(open=lambda ids: TableSession(table, ids))
        return TableSession(self.target, tokens), TranslatedSession(draft, WORDS, LONGEST, tokens)


def two(seed=1):
    return TwoVocabularies(
        toy_pair(seed=seed).target, TableModel(lambda context: None), 3, (), "two vocabularies"
    )


def test_the_draft_is_restricted_to_common_tokens_and_renormalised():
    pair = two()
    _, session = pair.open([0, 1])
    row = session.forward(TokenTree(1, start=1), [0])[0]
    own = toy_pair(vocab=4, seed=7).target.logits([2, 1, 1])
    np.testing.assert_array_equal(row, [own[2], -np.inf, own[0]])
    trace = specviz.run(
        pair, specviz.RunConfig([0, 1], "chain", "specinfer", 1.0, max_new_tokens=4)
    )
    first, odds = trace.steps[0], {0: np.exp(own[2]), 2: np.exp(own[0])}
    assert first.draft_prob[1] == pytest.approx(odds[first.tokens[1]] / sum(odds.values()))


@pytest.mark.parametrize(
    "builder, verifier",
    [
        ("chain", "specinfer"),
        ("chain", "block"),
        ("sequoia", "sequoia"),
        ("batch", "spectr"),
        ("dyspec", "traversal"),
        ("k-ary", "target-match"),
        ("eagle2", "naive"),
    ],
)
def test_every_rule_is_exact_with_two_vocabularies(builder, verifier):
    tree = specviz.BUILDERS[builder].proof_instance()
    config = specviz.RunConfig(PROMPT, tree, specviz.VERIFIERS[verifier](), 1.0, max_new_tokens=3)
    assert specviz.compatible(config).lossless
    error, runs = error_in(config, two())
    assert error < EXACT and runs > 20


@pytest.mark.parametrize("drafter", ["staged", "several:drafters=model,ngram", "cascade:at=1"])
def test_drafters_that_hold_the_draft_are_exact_too(drafter):
    config = specviz.RunConfig(
        PROMPT,
        specviz.BUILDERS["batch"].proof_instance(),
        "specinfer",
        1.0,
        max_new_tokens=3,
        drafter=drafter,
    )
    assert error_in(config, two())[0] < EXACT


def test_the_draft_context_is_the_translation_of_each_token():
    known = WORDS
    assert known.context([0, 1, 2, 1]) == [2, 1, 1, 0, 1, 1]
    pair = two()
    _, session = pair.open([0])
    tree = TokenTree(0, start=0)
    above = tree.add(0, 1)
    below = tree.add(above, 2)
    whole = session.forward(tree, [below, 0])  # by way of a token that is two of the draft's
    _, other = pair.open([0, 1, 2])
    np.testing.assert_array_equal(whole[0], other.forward(TokenTree(2, start=2), [0])[0])
    session.commit(tree, [above, below], [1, 2, 0])
    _, other = pair.open([0, 1, 2, 0])
    assert session._session.context == other._session.context and session.context == other.context
    new = TokenTree(0, start=3)
    np.testing.assert_array_equal(session.forward(new, [0]), other.forward(new, [0]))


def test_a_text_longer_than_the_draft_can_hold_loses_its_first_half():
    starts = [first_token(length, 100) for length in range(400)]
    assert starts == sorted(starts) and set(starts) == {0, *range(37, 400, 37)} & set(starts)
    assert all(0 < length - start <= 75 for length, start in enumerate(starts) if length)
    pair = two()
    config = specviz.RunConfig(PROMPT, "chain", "specinfer", 1.0, max_new_tokens=3 * LONGEST)
    assert len(specviz.run(pair, config).tokens) == 3 * LONGEST
    _, session = pair.open([0, 1] * 100)
    assert 0 < len(session._session.context) <= LONGEST
    _, grown = pair.open([0, 1])
    for _ in range(99):
        grown.commit(TokenTree(1), [], [0, 1])
    assert grown._session.context == session._session.context


def test_what_the_draft_does_not_know_is_left_out_and_nothing_in_common_is_rejected():
    few = Translation([b"xy", b"\xe2\x82", b"a"], [b"\xe2", b"\x82", b"a"], 3, prefix=[9])
    assert [few.tokens(token) for token in range(3)] == [(), (0, 1), (2,)]
    assert few.context([0, 1]) == [9, 0, 1]
    assert Translation([b"xy", b"a"], [b"a"], 2).context([0, 1]) == [0, 0]
    with pytest.raises(
        ValueError, match="target and draft must have tokens in common; these have none"
    ):
        Translation([b"x", None], [b"y", None], 2)


def test_a_keyed_rule_writes_the_same_text():
    config = specviz.RunConfig(PROMPT, "chain", "race", 1.0, max_new_tokens=12)
    one = specviz.run(two(), config)
    assert one.tokens == specviz.autoregress(two(), config).tokens


# With transformers


def test_tokens_are_matched_by_their_bytes():
    gpt, llama = byte_level(), sentence_piece()
    ours, theirs = vocabulary_of("target", gpt), vocabulary_of("draft", llama)
    name, other = gpt.convert_tokens_to_ids, llama.convert_tokens_to_ids
    assert ours[name("Ġthe")] == b" the" and theirs[other("▁cat")] == b" cat"
    assert ours[name("Ċ")] == theirs[other("<0x0A>")] == b"\n"
    assert ours[gpt.eos_token_id] == "<|end|>" and theirs[llama.bos_token_id] == "<s>"
    known = translation(gpt, llama, 400, 400)
    pairs = dict(zip(known.target_ids.tolist(), known.draft_ids.tolist(), strict=True))
    assert all(ours[one] == theirs[two] for one, two in pairs.items() if one != gpt.eos_token_id)
    assert pairs[gpt.eos_token_id] == llama.eos_token_id
    assert pairs[name("Ċ")] == other("<0x0A>")
    assert pairs[name("a")] == other("a") != other("<0x61>"), "a piece rather than its byte"
    assert known.context(gpt.encode("the cat"))[0] == llama.bos_token_id
    for text in ("the cat sat", "日🙂", " the  cat\n"):
        read = known.context(gpt.encode(text))[1:]
        assert b"".join(theirs[token] for token in read) == text.encode()


@pytest.mark.parametrize("makers", [(byte_level, sentence_piece), (sentence_piece, byte_level)])
def test_greedy_text_is_that_of_transformers_with_a_draft_of_another_family(tmp_path, makers):
    gpt, llama = (make() for make in makers)
    heads = dict(n_embd=32, n_head=4, n_layer=2, n_positions=64, bos_token_id=gpt.eos_token_id)
    target = save(
        tmp_path / "target",
        tokenizer=gpt,
        kind=transformers.GPT2Config,
        eos=gpt.eos_token_id,
        **heads,
    )
    draft = save(tmp_path / "draft", tokenizer=llama, eos=llama.eos_token_id)
    pair = specviz.load_pair(target, draft, device="cpu", dtype="float32")
    common = pair.info["common"]
    assert 100 < common["tokens"] < 400 and 0 < common["mass"] < 1
    for builder in ("chain", "sequoia:size=8", "dyspec:size=8"):
        config = specviz.RunConfig("the cat", builder, "exact-match", 0, max_new_tokens=40)
        trace = specviz.run(pair, config)
        assert trace.tokens == greedy(pair, "the cat", 40)
        assert trace.pair["common"] == common and sum(step.drafted for step in trace.steps) > 8
    sampled = specviz.RunConfig("the cat", "sequoia:size=8", "sequoia", 1.0, max_new_tokens=12)
    assert len(specviz.run(pair, sampled).tokens) > 0
    with pytest.raises(ValueError, match="the target's vocabulary"):
        specviz.run(pair, specviz.RunConfig("the cat", drafter="online"))


def test_logits_that_stay_on_a_device_are_translated_there():
    logits = np.arange(12, dtype=np.float32).reshape(3, 4)
    rows = WORDS.logits(DeviceLogits(torch.from_numpy(logits)), [2, 0, 2])
    assert isinstance(rows.values, DeviceLogits)
    np.testing.assert_array_equal(np.asarray(rows), WORDS.logits(logits, [2, 0, 2]))
