"""n-grams and retrieval against counting by hand and a brute-force search."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import specviz
from specviz.drafters.base import DrafterContext
from specviz.drafters.ngram import DISCOUNT, NGram, NGramCounts, NGramSession
from specviz.drafters.retrieval import Retrieval, RetrievalSession, library, longest_match
from specviz.models.table import TablePair
from specviz.sampling.distributions import Sampling
from specviz.sampling.randomness import Seeded
from specviz.tree import TokenTree


def random_tokens(seed, count, vocab):
    rng = Seeded(seed)
    return [rng.draw(np.ones(vocab)) for _ in range(count)]


def occurrences(text, sequence):
    n = len(sequence)
    return [i for i in range(len(text) - n + 1) if list(text[i : i + n]) == list(sequence)]


@pytest.mark.parametrize(("vocab", "length"), [(2, 60), (3, 200), (20, 300), (1, 40)])
def test_the_longest_match_is_what_a_search_finds(vocab, length):
    text = random_tokens(vocab, length, vocab)
    text[length // 3] = text[length // 2] = -1  # breaks
    tokens = np.array(text)
    for seed in range(30):
        rng = Seeded(seed)
        begin, size = rng.draw(np.ones(length - 1)), 1 + rng.draw(np.ones(16))
        sequence = text[begin : begin + size] if seed % 3 else random_tokens(seed, size, vocab)
        tail = np.maximum([*random_tokens(seed + 99, 5, vocab), *sequence], 0)
        ends = np.flatnonzero(tokens == tail[-1]) + 1
        match, places = longest_match(tokens, tail, ends, 16)
        assert match == max(
            [m for m in range(1, min(16, len(tail)) + 1) if occurrences(text, tail[-m:])], default=0
        )
        assert places.tolist() == (
            [i + match for i in occurrences(text, tail[-match:])] if match else []
        )


def test_retrieval_counts_what_followed_and_says_where():
    pair = specviz.toy_pair(vocab=6)
    stored = library(pair)
    everything = stored.tokens.tolist()
    for seed in range(20):
        context = random_tokens(seed, 12, 6)
        drafting = RetrievalSession(Retrieval(shortest=1), stored, context, 6)
        found = drafting.look_up(())
        own, most = Counter(), 0
        for m in range(1, len(context)):
            spots = occurrences(everything, context[-m:])
            mine = [i for i in occurrences(context, context[-m:]) if i + m < len(context)]
            if spots or mine:
                most = m
                own = Counter(
                    everything[i + m]
                    for i in spots
                    if i + m < len(everything) and everything[i + m] >= 0
                )
                own += Counter(context[i + m] for i in mine)
        assert found.length == most and Counter(found.tokens.tolist()) == own
        for token, count in own.items():
            tree = TokenTree(context[-1])
            tally = drafting.describe_guess(tree, tree.add(0, token), "retrieval")
            assert tally["seen"] == count and tally["match"] == most
            assert tally["where"] in ("alphabet.txt", "echo.txt", "this text")


def test_the_shipped_text_is_tokenised_once_for_a_tokenizer():
    """Runs with one pair, and with another pair that cuts text alike, count it once."""

    class Watched(TablePair):
        def encode(self, text):
            lengths.append(len(text))
            return super().encode(text)

    lengths: list[int] = []
    tables = specviz.toy_pair(vocab=5)
    for _ in range(3):
        pair = Watched(tables.target, tables.draft, 5, (), "watched")
        pair.library = [("long.txt", "abcde" * 2000)]
        drafting = NGram().open(DrafterContext(pair, None, None, [0, 1]))
        assert drafting.row([0, 1]).argmax() == 2
    assert lengths.count(10_000) == 1


def test_a_row_of_n_grams_is_discounted_counting_and_sums_to_one():
    text, vocab = random_tokens(1, 60, 5), 7
    drafting = NGramSession("ngram", NGramCounts(2), 2, text, vocab)
    for history in ([], [3], [0, 1], [6, 6]):
        row = drafting.row(history)
        assert row.sum() == pytest.approx(1, abs=1e-12) and row.min() > 0
    counts = Counter(text)
    lowest = np.array(
        [max(counts[t] - DISCOUNT, 0) + DISCOUNT * len(counts) / vocab for t in range(vocab)]
    ) / len(text)
    np.testing.assert_allclose(drafting.row([]), lowest)
    after = Counter(text[i + 1] for i in range(len(text) - 1) if text[i] == 3)
    total = sum(after.values())
    expected = [
        (max(after[t] - DISCOUNT, 0) + DISCOUNT * len(after) * lowest[t]) / total
        for t in range(vocab)
    ]
    np.testing.assert_allclose(drafting.row([3]), expected)


def test_a_staged_draft_has_the_drafts_rows_and_fewer_passes():
    pair = specviz.toy_pair(vocab=3, seed=4)
    config = specviz.RunConfig("abab", "chain:depth=6", "sequoia", 1.0, max_new_tokens=60, seed=3)
    model, staged = (
        specviz.run(pair, replace(config, drafter=name)) for name in ("model", "staged")
    )
    assert model.tokens == staged.tokens
    for one, other in zip(model.steps, staged.steps, strict=True):
        assert one.tokens == other.tokens and one.draft_prob == pytest.approx(other.draft_prob)
    assert sum(s.draft_passes for s in staged.steps) < sum(s.draft_passes for s in model.steps)


def test_blockwise_decoding_counts_its_passes():
    """A greedy chain of k perfect heads writes m tokens in m / (k + 1) passes."""
    pair = specviz.toy_pair(vocab=5, seed=2)

    def oracle(heads):
        def guess(feature):
            text, rows = [int(t) for t in feature if t >= 0], []
            text.append(
                int(np.argmax(pair.target.logits(text)))
            )  # the root, which the target's own row gave
            for _ in range(heads):
                rows.append(pair.target.logits(text))
                text.append(int(np.argmax(rows[-1])))
            return np.array(rows)

        return guess

    pair.toys["medusa"] = oracle
    k, m = 3, 40
    config = specviz.RunConfig([2], f"chain:depth={k}", "exact-match", 0.0, max_new_tokens=1)
    first = specviz.run(pair, config).tokens  # so that the first root is the target's own token too
    config = replace(config, prompt=[2, *first], max_new_tokens=m, drafter=f"medusa:heads={k}")
    trace = specviz.run(pair, config)
    assert trace.tokens == specviz.autoregress(pair, config).tokens
    assert len(trace.steps) == m // (k + 1)
    assert all(step.draft_passes == 0 for step in trace.steps)


class Letters:
    """A pair that has a tokenizer only: a token for each letter."""

    vocab_size = 4

    def open_drafter(self, text, **parameters):
        context = ["abcd".index(letter) for letter in text]
        tree = TokenTree(context[-1], start=len(context) - 1)
        drafter = specviz.DRAFTERS["retrieval"](library=False, shortest=1, **parameters)
        return drafter.open(DrafterContext(self, None, None, context)), tree


def chain_of(text, **parameters):
    """The most counted token after each, until nothing is to be drafted."""
    session, tree = Letters().open_drafter(text, **parameters)
    node = 0
    for _ in range(12):
        (row,) = session.expand(tree, [node], Sampling())
        if not row.any():
            break
        node = tree.add(node, int(row.argmax()))
    return "".join("abcd"[token] for token in tree.tokens[1:])


def test_suffix_decoding_searches_the_text_alone_and_drafts_by_the_length_of_the_match():
    text = "abcdabcdabc"  # its last seven tokens occurred before
    assert chain_of(text, factor=1.0).startswith("dabc") and len(chain_of(text, factor=1.0)) == 7
    assert len(chain_of(text, factor=0.5)) == 3 and len(chain_of(text)) == 12
    assert chain_of("abcd", factor=1.0) == ""  # nothing occurred before


def test_suffix_decoding_stops_where_a_path_was_counted_too_rarely():
    text = "abadabacabab"  # after "ab" came a, always; after "aba" d, c and the end
    session, tree = Letters().open_drafter(text, least=0.4)
    (row,) = session.expand(tree, [0], Sampling())
    assert row.tolist() == [1.0, 0.0, 0.0, 0.0]
    node = tree.add(0, 0)
    (row,) = session.expand(tree, [node], Sampling())
    every = Letters().open_drafter(text)[0].counts_after((0,))
    shares = every / every.sum()
    assert (row > 0).tolist() == (shares >= 0.4).tolist() and (shares > 0).sum() > 0
    assert not Letters().open_drafter(text, least=0.9)[0].counts_after((0, 1)).any()
