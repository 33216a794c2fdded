"""SmolLM2 itself: its fast passes, and the text that every builder writes."""

import pytest
import torch
from transformers import AutoModelForCausalLM

import specviz
from specviz.models.catalogue import CATALOGUE
from specviz.models.formats.gguf import converted_folder

pytestmark = [pytest.mark.adapter, pytest.mark.nightly]

QUESTIONS = "Why is the sky blue?", "Write a short poem about rain.", "Name three uses of copper."
TOKENS = 48
TIE = 0.15  # of float32's logits, whose spread is about 10: bfloat16 may choose either token


@pytest.fixture(scope="module")
def pair():
    pair = specviz.load_pair("smollm2", device="cpu", dtype="bfloat16")
    assert pair.target.direct is not None and pair.target.compiled is not None
    return pair


@pytest.fixture(scope="module")
def float32_model():
    """transformers' own model in float32: none of this project's passes."""
    return AutoModelForCausalLM.from_pretrained(
        converted_folder(CATALOGUE["smollm2"].file_hash), dtype=torch.float32
    ).eval()


def message(question):
    return [{"role": "user", "content": question}]


def written(pair, question, builder, drafter=None):
    options = dict(temperature=0, max_new_tokens=TOKENS)
    config = specviz.RunConfig(message(question), builder, drafter=drafter, **options)
    return specviz.run(pair, config).tokens


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_builder_and_drafter_writes_one_text_in_bfloat16(pair, question):
    plain = written(pair, question, "plain")
    for builder in specviz.BUILDERS:
        if builder != "plain":
            assert written(pair, question, builder) == plain, builder
    for drafter in ("eagle", "block", "quantized", "ngram", "retrieval", "early-exit"):
        assert written(pair, question, "chain:depth=3", drafter) == plain, drafter


@pytest.mark.parametrize("question", QUESTIONS)
def test_that_text_is_the_one_of_transformers_in_float32_up_to_a_tie(
    pair, float32_model, question, capsys
):
    tokens = written(pair, question, "sequoia")
    prompt = specviz.run(
        pair, specviz.RunConfig(message(question), "plain", temperature=0, max_new_tokens=1)
    ).prompt_tokens
    with torch.no_grad():
        logits = float32_model(torch.tensor([[*prompt, *tokens]])).logits[0, len(prompt) - 1 : -1]
    best = logits.argmax(-1).tolist()
    for place, (token, other) in enumerate(zip(tokens, best, strict=True)):
        if token == other:
            continue
        gap = float(logits[place, other] - logits[place, token])
        with capsys.disabled():
            print(
                f"\n{question!r}: token {place + 1} is {pair.token_text(token)!r}; float32 prefers "
                f"{pair.token_text(other)!r} by {gap:.3f} of its logits"
            )
        # What follows is compared with what float32 makes of the text as it is written.
        assert gap < TIE
