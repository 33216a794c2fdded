"""Whoever drafts, the greedy text in float32 is that of transformers' own `generate`: the embedded
pair, 20 prompts.

The drafters share the prompts; with the slow tests each has about a quarter of them, neighbours in
the menu others.
"""

import json

import pytest
import torch

import specviz
from specviz.base.files import HELD_OUT
from specviz.proof.same_text import NEARLY_TIED, margin_at

pytestmark = pytest.mark.adapter
LENGTH = 48
OWN = [
    "The king said to his daughter: “",  # ends at once
    "One two three one two three one two",
    "A",
    "naïve façade — 🙂",
    "Tom and Sue went to the sea. Tom and Sue went to the",
    "from collections import",
    (
        "class Node:\n    def __init__(self, value):\n        self.value = value\n\n    def "
        "__repr__(self):\n"
    ),
    "for i in range(",
]


def prompts():
    """Openings of the kind that the pair's acceptance was measured on, tales and code, and some of
    an odd kind."""
    known = json.loads(HELD_OUT.read_text("utf-8"))
    return [
        *known["prose"][::4],
        "Once upon a time",
        *known["code"][::4],
        "def read(self, path):\n",
        *OWN,
    ]


@pytest.fixture(scope="module")
def pair():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield specviz.load_pair(device="cpu", dtype="float32")
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def theirs(pair):
    """transformers' texts, prompt -> token ids."""
    texts = [pair.encode(prompt) for prompt in prompts()]
    longest = max(map(len, texts))
    ids = torch.tensor([[0] * (longest - len(text)) + text for text in texts])
    seen = torch.tensor([[0] * (longest - len(text)) + [1] * len(text) for text in texts])
    with torch.inference_mode():
        out = pair.target.model.generate(
            ids, attention_mask=seen, do_sample=False, max_new_tokens=LENGTH, pad_token_id=0
        )
    written = out[:, longest:].tolist()
    return {
        prompt: ended(tokens, pair.eos_ids)
        for prompt, tokens in zip(prompts(), written, strict=True)
    }


def ended(tokens, eos_ids):
    """Without what pads a text that ended before the others of its batch."""
    last = next((i for i, token in enumerate(tokens) if token in eos_ids), LENGTH)
    return tuple(tokens[: last + 1])


def assert_same(pair, drafter, wanted):
    """Runs write the texts of `wanted`, except at near ties; how many tokens a pass wrote."""
    written = passes = 0
    builder, rule = "sequoia:size=12,depth=5", specviz.VERIFIERS["exact-match"]()
    for prompt, tokens in wanted.items():
        config = specviz.RunConfig(
            prompt, builder, rule, 0.0, max_new_tokens=LENGTH, drafter=drafter
        )
        trace = specviz.run(pair, config)
        written, passes = written + len(trace.tokens), passes + len(trace.steps)
        if trace.tokens != tokens:
            both = zip(trace.tokens, tokens, strict=False)
            parted = next(i for i, (ours, own) in enumerate(both) if ours != own)
            margin = margin_at(pair, config, tokens[:parted])
            assert margin < NEARLY_TIED["float32"], (drafter, prompt, parted)
    return written / passes


def test_there_are_twenty_prompts_and_the_texts_differ(theirs):
    assert len(theirs) == 20 and len(set(theirs.values())) > 17
    assert sum(len(tokens) == LENGTH for tokens in theirs.values()) > 12


def share(theirs, drafter, of):
    """Every `of`th prompt, beginning with another one for each drafter."""
    return list(theirs)[list(specviz.DRAFTERS).index(drafter) % of :: of]


@pytest.mark.parametrize("drafter", specviz.DRAFTERS)
def test_the_greedy_text_of_some_prompts_is_transformers(pair, theirs, drafter):
    some = share(theirs, drafter, len(specviz.DRAFTERS))
    assert assert_same(pair, drafter, {prompt: theirs[prompt] for prompt in some}) > 1


@pytest.mark.nightly
@pytest.mark.parametrize("drafter", specviz.DRAFTERS)
def test_the_greedy_text_of_more_prompts_is_transformers(pair, theirs, drafter):
    more = set(share(theirs, drafter, 4)) - set(share(theirs, drafter, len(specviz.DRAFTERS)))
    assert assert_same(pair, drafter, {prompt: theirs[prompt] for prompt in sorted(more)}) > 1


@pytest.mark.parametrize("rule, temperature", [("exact-match", 0.0), ("race", 0.8)])
def test_in_bfloat16_the_text_is_that_of_plain_decoding(rule, temperature):
    """Compiled passes round a token's numbers in the same way alone and in a tree, so no token
    differs."""
    pair = specviz.load_pair(device="cpu", dtype="bfloat16")
    for prompt in ("Once upon a time", "def read(self, path):\n", "A fox met a hen. " * 30):
        config = specviz.RunConfig(
            prompt, "sequoia:size=24,depth=6", rule, temperature, max_new_tokens=64, seed=3
        )
        assert specviz.run(pair, config).tokens == specviz.autoregress(pair, config).tokens
