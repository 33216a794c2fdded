"""What a finished pair is worth: held-out loss, acceptance on the target's own text, and a model card.

`python -m specviz.training.report DIR` prints the acceptance of the pair in a folder.
"""

import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from tqdm import tqdm
from transformers import AutoModelForCausalLM, PreTrainedModel

from .corpus import KINDS, Corpus
from .samples import continue_text

PROMPTS = Path(__file__).with_name("prompts.json")
TEMPERATURES = (0.0, 0.6, 1.0)


@dataclass(frozen=True)
class Agreement:
    """How well a draft knows its target on text of one kind: means over the target's own continuations."""

    kind: str
    temperature: float
    accepted: float
    top1: float
    prompts: int


@torch.inference_mode()
def held_out_loss(model: PreTrainedModel, stream: np.ndarray, most: int = 64) -> float:
    """Mean cross-entropy, in nats per token, over at most `most` full windows of a held-out stream."""
    total, count, window = 0.0, 0, model.config.max_position_embeddings
    for start in range(0, min(len(stream) - 1, most * window), window):
        ids = torch.from_numpy(stream[start : start + window]).to(model.device, torch.long)[None]
        if ids.shape[1] > 1:
            logs = torch.log_softmax(model(ids).logits[0, :-1].float(), -1)
            total -= logs.gather(1, ids[0, 1:, None]).sum().item()
            count += ids.shape[1] - 1
    return total / count if count else math.nan


@torch.inference_mode()
def agreement(
    target: PreTrainedModel, draft: PreTrainedModel, tokenizer: Tokenizer, *, length: int = 96, copies: int = 4
) -> list[Agreement]:
    """Acceptance 1 - total variation and top-1 agreement where it counts: on what the target itself writes.

    The prompts of prompts.json were written for this and are in no corpus; each kind is cut to its shortest. Every
    prompt is continued by `length` tokens, `copies` times (once at temperature 0), and both models read the whole
    text. At temperature 0 a draft token is accepted where it is the target's best, so the figures are the same there.
    """
    found, generator = [], torch.Generator().manual_seed(0)
    window = target.config.max_position_embeddings
    for kind, prompts in json.loads(PROMPTS.read_text(encoding="utf-8")).items():
        ids = [tokenizer.encode(prompt).ids for prompt in prompts]
        start = min(window // 2, *map(len, ids))
        prefixes = torch.tensor([row[:start] for row in ids], device=target.device)
        for heat in tqdm(TEMPERATURES, desc=f"agreement on {kind}", leave=False):
            rows = prefixes.repeat(copies if heat else 1, 1)
            heats = torch.full((len(rows),), heat, device=rows.device)
            text, states = continue_text(target, rows, min(window, start + length), heats, generator)
            theirs = target.get_output_embeddings()(states[:, start - 1 : -1]).float()
            ours = draft(text[:, :-1]).logits[:, start - 1 :].float()
            top1 = (theirs.argmax(-1) == ours.argmax(-1)).float().mean().item()
            accepted = _overlap(theirs / heat, ours / heat) if heat else top1
            found.append(Agreement(kind, heat, accepted, top1, len(prompts)))
    return found


def _overlap(logits: torch.Tensor, others: torch.Tensor) -> float:
    return torch.minimum(torch.softmax(logits, -1), torch.softmax(others, -1)).sum(-1).mean().item()


def agreement_table(rows: list[Agreement]) -> str:
    """The agreement as a Markdown table."""
    head = "| text | temperature | acceptance 1 - TV | top-1 | prompts |\n| --- | ---: | ---: | ---: | ---: |\n"
    return head + "".join(
        f"| {r.kind} | {r.temperature:g} | {r.accepted:.3f} | {r.top1:.3f} | {r.prompts} |\n" for r in rows
    )


def model_card(
    target: PreTrainedModel, draft: PreTrainedModel, tokenizer: Tokenizer, corpus: Corpus, history: list[str]
) -> str:
    """Measure a pair and describe it: sizes, `history` (a line per phase), held-out loss, agreement, limits."""
    sizes = "\n".join(_size(name, model) for name, model in (("target", target), ("draft", draft)))
    losses = "".join(
        f"| {name} | " + " | ".join(f"{held_out_loss(model, corpus.held_out[kind]):.3f}" for kind in KINDS) + " |\n"
        for name, model in (("target", target), ("draft", draft))
    )
    return CARD.format(
        sizes=sizes,
        vocabulary=tokenizer.get_vocab_size(),
        window=target.config.max_position_embeddings,
        prose=len(corpus.train["prose"]),
        code=len(corpus.train["code"]),
        history="\n".join(f"- {line}" for line in history),
        losses=losses.rstrip(),
        agreement=agreement_table(agreement(target, draft, tokenizer)).rstrip(),
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

Trained on {prose:,} tokens of prose and {code:,} tokens of Python source, every document (tale, chapter,
file) behind an end-of-text token, one document in 50 held out by a hash of its name. By
`python -m specviz train`:

{history}

## What it is worth

Held-out loss, nats per token:

| | prose | code |
| --- | ---: | ---: |
{losses}

Draft against target, on the target's own continuations of prompts that are in no corpus (at temperature 0 a
token is accepted where both models have the same best token):

{agreement}

## Limits

Far too small to know or to reason: it writes grammatical clauses and idiomatic lines that mean nothing. It is meant for
showing how speculative decoding works, and for nothing that anybody relies on.
"""


if __name__ == "__main__":
    pair = [AutoModelForCausalLM.from_pretrained(f"{sys.argv[1]}/{name}", dtype="auto") for name in ("target", "draft")]
    print(agreement_table(agreement(*pair, Tokenizer.from_file(f"{sys.argv[1]}/target/tokenizer.json"))))
