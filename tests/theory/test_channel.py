"""The channel: the receiver's text, the distribution of what is sent, and the code, by enumeration and over texts."""

import math
from itertools import product

import numpy as np
import pytest

from specviz import toy_pair
from specviz.distributions import entropy, softmax
from specviz.randomness import Seeded
from specviz.theory.accepted_index_entropy import race_index_chances, race_index_entropy
from specviz.theory.bounds import kl_divergence, tunstall_bound
from specviz.theory.channel import TunstallCode, accepted_index, drafts, receive, send

CODES = [TunstallCode((0.55, 0.2, 0.1, 0.15), drafted) for drafted in (0, 1, 4, 20)] + [TunstallCode((0.7, 0.3), 3)]


@pytest.fixture(scope="module")
def models():
    """Target and draft of a toy pair, as rows."""
    pair = toy_pair(vocab=8, closeness=0.6)
    return [lambda text, model=model: softmax(model.logits(text)) for model in (pair.target, pair.draft)]


@pytest.fixture(scope="module")
def sent(models):
    """A text of 800 tokens, and its indices."""
    return send(*models, (0,), 800, Seeded(4))


def chances(models, text):
    """The chances of the first 200 indices at every position, [n, 200]."""
    target, draft = models
    contexts = ([0, *text[:at]] for at in range(len(text)))
    return np.array([race_index_chances(target(context), draft(context), 200) for context in contexts])


def test_the_receiver_writes_the_sent_text_from_seed_draft_and_bits_alone(models, sent):
    text, indices = sent
    for code in CODES:
        bits = "".join(word.bits for word in code.encode(indices))
        assert receive(models[1], (0,), code.decode(bits, len(text)), Seeded(4)) == text


def test_another_seed_another_draft_or_a_wrong_bit_gives_another_text(models, sent):
    text, indices = sent
    assert receive(models[1], (0,), indices, Seeded(5)) != text
    assert receive(models[0], (0,), indices, Seeded(4)) != text
    bits = "".join(word.bits for word in CODES[2].encode(indices))
    wrong = ("1" if bits[0] == "0" else "0") + bits[1:]
    assert CODES[2].decode(wrong, 400) != indices[:400]


def test_the_accepted_draft_has_the_target_s_distribution_and_its_index_the_closed_form_s():
    p, q = np.array([0.6, 0.25, 0.1, 0.05]), np.array([0.1, 0.3, 0.4, 0.2])
    rng, runs = Seeded(1), 2500
    indices = [accepted_index(p, q, rng, position) for position in range(runs)]
    tokens = [drafts(q, rng, position, index).tokens[-1] for position, index in enumerate(indices)]
    assert np.bincount(tokens, minlength=4) / runs == pytest.approx(p, abs=0.04)
    counted = np.bincount(indices, minlength=9)[1:9] / runs
    assert counted == pytest.approx(race_index_chances(p, q, 8), abs=0.04)


def test_the_chances_of_indices_have_the_entropy_of_the_index():
    p, q = np.array([0.6, 0.25, 0.1, 0.05]), np.array([0.1, 0.3, 0.4, 0.2])
    shares = race_index_chances(p, q, 2000)
    assert shares.sum() == pytest.approx(1) and (np.diff(shares) <= 0).all()
    assert entropy(shares) == pytest.approx(race_index_entropy(p, q), abs=1e-4)
    with pytest.raises(ValueError, match="q must be above 0"):
        race_index_chances(p, np.array([0.5, 0.5, 0.0, 0.0]), 3)


def test_no_draft_that_comes_later_would_have_been_accepted():
    chance = np.random.default_rng(3)
    for position in range(200):
        p, q = (chance.dirichlet(np.full(20, 0.3)) + 1e-4 for _ in range(2))
        p, q = p / p.sum(), q / q.sum()
        times, tokens = drafts(q, Seeded(2), position, 1 << 14)
        scores = times * q[tokens] / p[tokens]
        assert accepted_index(p, q, Seeded(2), position) == int(scores.argmin()) + 1


def test_more_drafts_begin_with_the_same_ones_and_no_token_of_no_chance_is_drawn():
    q = np.array([0.0, 0.5, 0.0, 0.5, 0.0])
    few, many = drafts(q, Seeded(1), 7, 10), drafts(q, Seeded(1), 7, 500)
    assert (many.tokens[:10] == few.tokens).all() and (many.times[:10] == few.times).all()
    assert set(many.tokens.tolist()) == {1, 3}


def test_a_draft_that_misses_a_token_of_the_target_is_rejected():
    with pytest.raises(ValueError, match="chance"):
        accepted_index(np.array([0.5, 0.5]), np.array([1.0, 0.0]), Seeded(1), 0)


@pytest.mark.parametrize("code", CODES, ids=lambda code: f"{code.drafted} drafts, {len(code.shares)} symbols")
def test_a_code_is_uniquely_decodable_and_its_leaves_share_all_chance(code):
    reach = [math.prod(code.shares[i - 1] for i in sequence) for sequence in code.leaves]
    assert sum(reach) == pytest.approx(1) and sorted(code.leaves.values()) == list(range(len(code.leaves)))
    assert sum(r * len(s) for r, s in zip(reach, code.leaves, strict=True)) == pytest.approx(code.tokens)
    assert len(code.leaves) == (code.drafted + 1) * (len(code.shares) - 1) + 1 <= 2**code.width
    seen = set()
    for indices in product((1, 2, 3, 4, 9), repeat=4):
        words = list(code.encode(indices))
        bits = "".join(word.bits for word in words)
        assert code.decode(bits, 4) == list(indices) and bits not in seen
        assert [i for word in words for i in word.indices] == list(indices)
        seen.add(bits)


def test_bits_that_are_no_row_of_codewords_are_rejected():
    for bits, count in (("", 1), ("0", 1), ("00", 9)):
        with pytest.raises(ValueError, match="bits"):
            CODES[2].decode(bits, count)
    with pytest.raises(ValueError, match="shares"):
        TunstallCode((0.5, 0.4), 2)


def test_bits_a_token_lie_between_the_entropy_of_the_index_and_its_upper_bound(models, sent):
    """And the entropy above the divergence, and below that of the mean shares, for which a code is made."""
    (text, indices), (target, draft) = sent, models
    at = [[0, *text[:i]] for i in range(len(text))]
    kl = np.mean([kl_divergence(target(c), draft(c)) for c in at]) / math.log(2)
    index_entropy = np.mean([race_index_entropy(target(c), draft(c)) for c in at]) / math.log(2)
    shares = chances(models, text).mean(axis=0)
    assert kl <= index_entropy <= entropy(shares) / math.log(2) + 1e-3
    code = TunstallCode((*shares[:5], 1 - sum(shares[:5])), 40)
    bits = sum(len(word.bits) for word in code.encode(indices)) / len(text)
    assert entropy(np.array(code.shares)) / math.log(2) <= code.width / code.tokens
    assert code.tokens <= tunstall_bound(code.shares, 40)
    assert kl <= index_entropy <= bits <= kl + math.log2(kl + 1) + 4  # equations 6 and 8


def test_independent_indices_take_the_bits_that_the_code_s_mean_length_predicts():
    code, chance = CODES[3], np.random.default_rng(6)
    indices = (chance.choice(4, p=code.shares, size=6000) + 1).tolist()
    bits = sum(len(word.bits) for word in code.encode(indices)) / len(indices)
    assert bits == pytest.approx(code.width / code.tokens + code.shares[-1], rel=0.03)  # one more bit for "4", no later
