"""The recipe, from text files to two folders: tokenizer, target, samples, draft, report."""

import json
import shutil
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import AutoModelForCausalLM, LlamaForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

from ..models.loading import choose_device
from .arithmetic import has_bfloat16
from .corpus import END_OF_TEXT, Corpus, Document, encode, read_documents, train_tokenizer, windows
from .distil import draft_loss, grow, new_model, shape_of, warm_start
from .loop import Progress, average, fit, plateau
from .recipe import Recipe
from .report import model_card
from .samples import random_rows, shards, write_samples

# Shares of the time for the target and for its samples, in all and where the target is given; the draft has the rest.
WHOLE_PAIR, DRAFT_ONLY = (0.7, 0.08), (0.0, 0.3)
HELD_OUT_ROWS = 64  # windows by which two models are compared


def make_pair(
    text_files: Sequence[str | Path],
    out: Path,
    seconds: float,
    *,
    target: str | Path | None,
    start: str | Path | None,
    code_folder: str | Path | None,
    recipe: Recipe,
    device: str,
    clock: Callable[[], float],
) -> str:
    """What `specviz.training.train.train` promises, for arguments that it has checked."""
    work, place = out / "checkpoint", choose_device(device)
    for_target, for_samples = (seconds * share for share in (DRAFT_ONLY if target else WHOLE_PAIR))

    documents = read_documents(text_files, code_folder)
    tokenizer = _tokenizer(documents, recipe.vocabulary, work, target or start)
    corpus = encode(documents, tokenizer)
    same_run(
        work,
        {
            "recipe": asdict(recipe),
            "corpus": corpus.checksum,
            "target": target and str(target),
            "start": start and str(start),
        },
    )

    history: list[str] = []
    if target is None:
        torch.manual_seed(recipe.seed)
        shape = asdict(recipe.stages[0].shape)
        first = load(Path(start), place) if start else new_model(recipe.vocabulary, recipe.window, **shape)
        teacher, history = _train_target(first, corpus, recipe, work, for_target, place, clock)
        if start:
            torch.manual_seed(recipe.seed)
            began = grow(load(Path(start), place), recipe.stages[0].shape).to(place)
            share = average(teacher, began, lambda model: held_out_loss(model, corpus, recipe))
            history.insert(0, f"grown from the model in {Path(start).name}, trained before on other text as well")
            history.append(
                f"target: {share:.0%} of these weights and {1 - share:.0%} of those it started with, the best share on "
                "held-out text"
            )
        save(teacher, tokenizer, out / "target")
    teacher = load(Path(target or out / "target"), place)
    if target and Path(target).resolve() != (out / "target").resolve():
        shutil.copytree(target, out / "target", dirs_exist_ok=True)

    tokens, spent = write_samples(teacher, corpus, work / "samples", recipe, for_samples, clock)
    history.append(
        f"samples: {tokens:,} tokens, two thirds of them prompts continued by the target, the rest its corpus"
    )
    former = former_draft(Path(start), recipe, place) if start else None
    draft, done = _train_draft(teacher, former, recipe, work, seconds - for_target - spent, place, clock)
    begun = "" if former is None else f", from the draft beside {Path(str(start)).name}"
    history.append(
        _line(f"draft: the target's distributions on the samples{begun}", done, recipe.draft_batch, recipe.draft_rate)
    )
    save(draft, tokenizer, out / "draft")

    card = model_card(teacher, load(out / "draft", place), tokenizer, documents, history)
    (out / "README.md").write_text(card, encoding="utf-8")
    return card


def _rate_within(before: float, whole: float, share: float) -> float:
    """The plateau's rate at a share of a stage that takes `whole` of the time after `before` of it."""
    return plateau(before + share * whole)


def _line(what: str, done: Progress, tokens: int, rate: float) -> str:
    return (
        f"{what}; {done.step:,} steps of {tokens:,} tokens in {done.seconds / 60:.1f} minutes, AdamW (0.9, 0.95), "
        f"weight decay 0.1, gradient clip 1, cosine from {rate:g}"
    )


def _train_target(
    model: LlamaForCausalLM,
    corpus: Corpus,
    recipe: Recipe,
    work: Path,
    seconds: float,
    place: torch.device,
    clock: Callable[[], float],
) -> tuple[PreTrainedModel, list[str]]:
    """Train `model` on running text, growing it from stage to stage; the rate falls at the very end only."""
    history, before = [], 0.0

    def batch_loss(number: int, step: int, share: float) -> torch.Tensor:
        rng = np.random.default_rng([recipe.seed, 1, number, step])
        span = min(recipe.spans[step % len(recipe.spans)], recipe.window)
        ids = torch.from_numpy(windows(corpus, rng, recipe.rows * recipe.window // span, span, recipe.code_share))
        return next_token_loss(model, ids.to(place, torch.long))

    for number, stage in enumerate(recipe.stages):
        torch.manual_seed(recipe.seed + number)
        model = grow(model, stage.shape).to(place)
        done = fit(
            f"target {number + 1}/{len(recipe.stages)}",
            model,
            partial(batch_loss, number),
            work / f"target-{number + 1}.safetensors",
            seconds * stage.share,
            recipe.target_rate,
            recipe.rows * recipe.window,
            clock,
            schedule=partial(_rate_within, before, stage.share),
            matrix_rate=recipe.matrix_rate,
        )
        before += stage.share
        history.append(
            f"target, {stage.shape.hidden} x {stage.shape.layers}: next token; {done.step:,} steps of "
            f"{recipe.rows * recipe.window:,} tokens in {done.seconds / 60:.1f} minutes; "
            + (f"Muon {recipe.matrix_rate:g} for matrices, " if recipe.matrix_rate else "")
            + f"AdamW {recipe.target_rate:g}, {recipe.code_share:.0%} code"
        )
    return model, history


@torch.inference_mode()
def held_out_loss(model: PreTrainedModel, corpus: Corpus, recipe: Recipe) -> float:
    """Nats per token on windows of the documents that training never sees, as much of them code as in training."""
    rng = np.random.default_rng([recipe.seed, 3])
    kept = Corpus(corpus.held_out, {})
    rows = windows(kept, rng, HELD_OUT_ROWS, recipe.window, recipe.code_share)
    nats = [next_token_loss(model, torch.from_numpy(row[None]).to(model.device, torch.long)).item() for row in rows]
    return float(np.mean(nats))


def next_token_loss(model: PreTrainedModel, ids: torch.Tensor) -> torch.Tensor:
    """Mean nats per token of rows of text [rows, length]."""
    logits = model(ids, use_cache=False).logits[:, :-1]
    return functional.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())


def former_draft(start: Path, recipe: Recipe, place: torch.device) -> PreTrainedModel | None:
    """The draft beside the model that a run starts from, if it has that model's tokenizer and the recipe's shape."""
    folder = start.parent / "draft"
    texts = [at.read_bytes() if at.is_file() else b"" for at in (folder / "tokenizer.json", start / "tokenizer.json")]
    if texts[0] != texts[1]:
        return None
    draft = load(folder, place).float()
    return draft if shape_of(draft.config) == recipe.draft else None


def _train_draft(
    teacher: PreTrainedModel,
    former: PreTrainedModel | None,
    recipe: Recipe,
    work: Path,
    seconds: float,
    place: torch.device,
    clock: Callable[[], float],
) -> tuple[PreTrainedModel, Progress]:
    torch.manual_seed(recipe.seed)
    model = former
    if model is None:
        model = new_model(teacher.config.vocab_size, teacher.config.max_position_embeddings, **asdict(recipe.draft))
        model = model.to(place)
        warm_start(model, teacher)
    head, paths = teacher.get_output_embeddings().weight.detach(), shards(work / "samples")

    def batch_loss(step: int, share: float) -> torch.Tensor:
        rng = np.random.default_rng([recipe.seed, 2, step])
        return draft_loss(model, head, random_rows(paths, rng, recipe.draft_batch), share)

    checkpoint = work / "draft.safetensors"
    progress = fit("draft", model, batch_loss, checkpoint, seconds, recipe.draft_rate, recipe.draft_batch, clock)
    return model, progress


def save(model: PreTrainedModel, tokenizer: Tokenizer, folder: Path) -> None:
    """Write a folder that transformers loads: weights in bfloat16, configuration, tokenizer."""
    deepcopy(model).to(torch.bfloat16).save_pretrained(folder)
    window = model.config.max_position_embeddings
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=END_OF_TEXT, eos_token=END_OF_TEXT, model_max_length=window
    )
    fast.save_pretrained(folder)


def load(folder: Path, place: torch.device) -> PreTrainedModel:
    """A model to read with: in bfloat16 where the device computes in it, else float32."""
    dtype = torch.bfloat16 if has_bfloat16(place) else torch.float32
    try:
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ValueError(f"target must be a folder with a language model; {str(folder)!r} is not: {error}") from None
    return model.to(place).eval()


def _tokenizer(documents: list[Document], vocabulary: int, work: Path, target: str | Path | None) -> Tokenizer:
    """The given target's tokenizer, or the one this run has learnt, now or before it was interrupted."""
    path = Path(target) / "tokenizer.json" if target else work / "tokenizer.json"
    if not path.exists():
        train_tokenizer(documents, vocabulary).save(str(path))
    tokenizer = Tokenizer.from_file(str(path))
    if tokenizer.id_to_token(0) != END_OF_TEXT:
        raise ValueError(f"target must have {END_OF_TEXT} as token 0; {path} has {tokenizer.id_to_token(0)!r}.")
    return tokenizer


def same_run(work: Path, facts: dict) -> None:
    """Remember what the run was started with; reject any other settings."""
    path, now = work / "run.json", json.dumps(facts, indent=1)
    if path.exists() and path.read_text(encoding="utf-8") != now:
        raise ValueError(
            f"out holds a run with other text, target or recipe ({path}). Choose another folder, or delete {work}."
        )
    path.write_text(now, encoding="utf-8")
