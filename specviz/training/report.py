"""What a finished pair is worth: bits per character, repetition, samples, acceptance on the target's own text, a card.

`python -m specviz.training.report DIR --text FILE` prints the card's figures for the pair in a folder.
"""

import argparse
import json
import math
from dataclasses import dataclass

import numpy as np
import torch
from tokenizers import Tokenizer
from tqdm import tqdm
from transformers import AutoModelForCausalLM, PreTrainedModel

from ..files import HELD_OUT
from .corpus import KINDS, Document, held_out, read_documents
from .samples import continue_text

TEMPERATURES = (0.0, 0.6, 0.8, 1.0)
SAMPLE_TEMPERATURE = 0.7


@dataclass(frozen=True)
class Agreement:
    """Agreement of a draft with its target on one kind of text: means over texts, and their standard errors."""

    kind: str
    temperature: float
    accepted: float
    accepted_error: float
    top1: float
    prompts: int


@torch.inference_mode()
def bits_per_character(
    model: PreTrainedModel, tokenizer: Tokenizer, documents: list[Document], kind: str, most: int = 100
) -> float:
    """Bits the model needs for a character of held-out documents of one kind, the beginning of each up to its window.

    Unlike nats per token the figure does not depend on the tokenizer. NaN where nothing of the kind was kept out.
    """
    kept = held_out(documents)
    nats = characters = 0.0
    for document in [d for d in documents if d.kind == kind and d.name in kept][:most]:
        ids = [0, *tokenizer.encode(document.text).ids][: model.config.max_position_embeddings]
        row = torch.tensor([ids], device=model.device)
        logs = torch.log_softmax(model(row).logits[0, :-1].float(), -1)
        nats -= logs.gather(1, row[0, 1:, None]).sum().item()
        characters += len(tokenizer.decode(ids[1:]))
    return nats / math.log(2) / characters if characters else math.nan


def repetition(ids: list[int], size: int = 4) -> float:
    """The share of a text's n-grams that stood in it before: [1, 2, 1, 2, 1] has pairs 12, 21, 12, 21, a half."""
    grams = [tuple(ids[i : i + size]) for i in range(len(ids) - size + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


@torch.inference_mode()
def openings(tokenizer: Tokenizer, device: torch.device, window: int) -> dict[str, torch.Tensor]:
    """The held-out openings by kind, written for this and in no corpus, each kind cut to its shortest."""
    prompts = json.loads(HELD_OUT.read_text(encoding="utf-8"))
    ids = {kind: [tokenizer.encode(text).ids for text in texts] for kind, texts in prompts.items()}
    starts = {kind: min(window // 2, *map(len, rows)) for kind, rows in ids.items()}
    return {kind: torch.tensor([row[: starts[kind]] for row in rows], device=device) for kind, rows in ids.items()}


@torch.inference_mode()
def greedy_repetition(target: PreTrainedModel, tokenizer: Tokenizer, length: int = 128) -> float:
    """Mean share of repeated 4-grams in greedy continuations of the prose openings, to the end of each text."""
    window = target.config.max_position_embeddings
    rows = openings(tokenizer, target.device, window)[KINDS[0]]
    temperatures = torch.zeros(len(rows), device=rows.device)
    text, _ = continue_text(target, rows, min(window, rows.shape[1] + length), temperatures)
    return float(np.mean([repetition(_until_end(row[rows.shape[1] :].tolist())) for row in text]))


@torch.inference_mode()
def unchosen_samples(target: PreTrainedModel, tokenizer: Tokenizer, count: int = 10, length: int = 100) -> list[str]:
    """The first `count` prose openings, continued at temperature 0.7 with one fixed seed."""
    window = target.config.max_position_embeddings
    rows = openings(tokenizer, target.device, window)[KINDS[0]][:count]
    temperatures = torch.full((len(rows),), SAMPLE_TEMPERATURE, device=rows.device)
    generator = torch.Generator().manual_seed(0)
    text, _ = continue_text(target, rows, min(window, rows.shape[1] + length), temperatures, generator)
    return [tokenizer.decode(_until_end(row.tolist())) for row in text]


def _until_end(ids: list[int]) -> list[int]:
    return ids[: ids.index(0)] if 0 in ids else ids


@torch.inference_mode()
def agreement(
    target: PreTrainedModel, draft: PreTrainedModel, tokenizer: Tokenizer, *, length: int = 96, copies: int = 4
) -> list[Agreement]:
    """Acceptance 1 - total variation and top-1 agreement where it counts: on what the target itself writes.

    Every opening is continued by `length` tokens, `copies` times (once at temperature 0), and both models read the
    whole text. At temperature 0 a draft token is accepted where it is the target's best, so the figures are the same
    there. The unit is the opening: its tokens and copies are not independent.
    """
    found, generator = [], torch.Generator().manual_seed(0)
    window = target.config.max_position_embeddings
    for kind, prefixes in openings(tokenizer, target.device, window).items():
        start = prefixes.shape[1]
        for heat in tqdm(TEMPERATURES, desc=f"agreement on {kind}", leave=False):
            rows = prefixes.repeat(copies if heat else 1, 1)
            temperatures = torch.full((len(rows),), heat, device=rows.device)
            text, states = continue_text(target, rows, min(window, start + length), temperatures, generator)
            theirs = target.get_output_embeddings()(states[:, start - 1 : -1]).float()
            ours = draft(text[:, :-1]).logits[:, start - 1 :].float()
            top1 = (theirs.argmax(-1) == ours.argmax(-1)).float()
            accepted = _overlap(theirs / heat, ours / heat) if heat else top1
            texts = accepted.mean(1).view(-1, len(prefixes)).mean(0)
            error = texts.std().item() / len(texts) ** 0.5 if len(texts) > 1 else math.nan
            found.append(Agreement(kind, heat, texts.mean().item(), error, top1.mean().item(), len(prefixes)))
    return found


def _overlap(logits: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    return torch.minimum(torch.softmax(logits, -1), torch.softmax(others, -1)).sum(-1)


def _quoted(text: str) -> str:
    shown = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
    return "\n".join(f"> {line}".rstrip() for line in shown.split("\n"))


def agreement_table(rows: list[Agreement]) -> str:
    """The agreement as a Markdown table."""
    head = "| text | temperature | acceptance 1 - TV | top-1 | prompts |\n| --- | ---: | ---: | ---: | ---: |\n"
    return head + "".join(
        f"| {r.kind} | {r.temperature:g} | {r.accepted:.3f} ± {r.accepted_error:.3f} | {r.top1:.3f} | {r.prompts} |\n"
        for r in rows
    )


def model_card(
    target: PreTrainedModel, draft: PreTrainedModel, tokenizer: Tokenizer, documents: list[Document], history: list[str]
) -> str:
    """Measure a pair and describe it: sizes, `history` (a line per phase), and what `figures` says."""
    kept = held_out(documents)
    return CARD.format(
        sizes="\n".join(_size(name, model) for name, model in (("target", target), ("draft", draft))),
        vocabulary=tokenizer.get_vocab_size(),
        window=target.config.max_position_embeddings,
        characters=" and ".join(
            f"{sum(len(d.text) for d in documents if d.kind == kind and d.name not in kept):,} of {kind}"
            for kind in KINDS
        ),
        history="\n".join(f"- {line}" for line in history),
        figures=figures(target, draft, tokenizer, documents),
    )


def figures(target: PreTrainedModel, draft: PreTrainedModel, tokenizer: Tokenizer, documents: list[Document]) -> str:
    """Held-out bits per character, repetition, acceptance by temperature and samples, as Markdown."""
    bits = "".join(
        f"| {name} | "
        + " | ".join(f"{bits_per_character(model, tokenizer, documents, kind):.3f}" for kind in KINDS)
        + " |\n"
        for name, model in (("target", target), ("draft", draft))
    )
    samples = "\n\n".join(_quoted(text) for text in unchosen_samples(target, tokenizer))
    return FIGURES.format(
        bits=bits.rstrip(),
        repeated=f"{greedy_repetition(target, tokenizer):.0%}",
        agreement=agreement_table(agreement(target, draft, tokenizer)).rstrip(),
        samples=samples,
    )


def _size(name: str, model: PreTrainedModel) -> str:
    c = model.config
    return (
        f"- `{name}/`: {model.num_parameters() / 1e6:.2f} M parameters, Llama, hidden {c.hidden_size}, layers "
        f"{c.num_hidden_layers}, heads {c.num_attention_heads}, MLP {c.intermediate_size}, tied embeddings"
    )


CARD = """# A draft and target pair

{sizes}

bfloat16 safetensors; byte-level BPE of {vocabulary} tokens, end-of-text is token 0; window {window} tokens.

## How it was made

Trained on {characters} (characters), every document (tale, chapter, file) behind an end-of-text token,
one document in 50 held out by a hash of its name. By `python -m specviz train`:

{history}

{figures}

## Limits

Far too small to know or to reason: it tells simple stories and writes idiomatic lines that mean little. It is meant for
showing how speculative decoding works, and for nothing that anybody relies on.
"""

FIGURES = """## What it is worth

Held-out bits per character (documents that were not trained on, the beginning of each):

| | prose | code |
| --- | ---: | ---: |
{bits}

Greedy text of 128 tokens repeats {repeated} of its 4-grams (mean of 20 openings that are in no corpus).

Draft against target, on the target's own continuations of such openings, mean and standard error over openings (at
temperature 0 a token is accepted where both models have the same best token):

{agreement}

## Samples

The first ten openings at temperature 0.7, one seed, not chosen:

{samples}
"""


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description="Print what a pair is worth.")
    parser.add_argument("folder", help="folder with target and draft")
    parser.add_argument("--text", nargs="+", required=True, metavar="FILE", help="the prose it was trained on")
    args = parser.parse_args()
    target, draft = (
        AutoModelForCausalLM.from_pretrained(f"{args.folder}/{name}", dtype=torch.float32).eval()
        for name in ("target", "draft")
    )
    tokenizer = Tokenizer.from_file(f"{args.folder}/target/tokenizer.json")
    print(figures(target, draft, tokenizer, read_documents(args.text)))


if __name__ == "__main__":
    main()
