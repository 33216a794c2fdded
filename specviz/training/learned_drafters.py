"""Medusa's heads and EAGLE's layer, trained on the samples that the draft was distilled from; the target is frozen.

The samples hold the target's last hidden states, so no pass of the target is made. Both learn the target's own
distribution at the place they guess. Almost all of the cost is the output head; a batch is judged on the tokens that
occur in it and some others at random, a quarter of a vocabulary or less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import AutoTokenizer

from ..models.eagle import EagleLayer, begin_with_last_layer, layer_config, save_layer
from ..models.heads import MedusaHeads, read_weights, save_heads
from ..models.loading import choose_device, longest_text
from ..models.pair import end_of_text
from .build_pair import load, same_run
from .corpus import encode, read_documents
from .loop import Progress, fit
from .recipe import Recipe
from .samples import random_rows, shards, write_samples

SHARE = 0.3  # of the time, as for a draft of a given target
MOST_BYTES = 6_000_000_000  # of all samples on disk


def make_samples(
    target: Path,
    text_files: Sequence[str | Path],
    code_folder: str | Path | None,
    work: Path,
    seconds: float,
    clock: Callable[[], float],
    *,
    device: str = "auto",
    seed: int = 0,
) -> tuple[Path, float]:
    """Fill `work/samples`; the same call again goes on where it was broken off.

    Args:
        target: the folder with the target and its tokenizer.json.
        text_files, code_folder: prose, and Python files if a folder is given: then they are half of the samples.
        work: a folder of this run.
        seconds: at most, as `clock` counts them; one shard is made in any case.

    Returns:
        The folder with the samples, and the seconds they took.

    Raises:
        ValueError: if something cannot be read or written, or the folder holds samples of other text or another target.
    """
    if not (target / "tokenizer.json").is_file():
        raise ValueError(f"target must have a tokenizer.json to read text with; {str(target)!r} has none.")
    model = load(target, choose_device(device))
    end = sorted(end_of_text(model, AutoTokenizer.from_pretrained(target, local_files_only=True)))[:1]
    documents = read_documents(text_files, code_folder, code=code_folder is not None)
    corpus = encode(documents, Tokenizer.from_file(str(target / "tokenizer.json")), kept=set(), end=end)
    work.mkdir(parents=True, exist_ok=True)
    same_run(work, {"corpus": corpus.checksum, "target": str(target.resolve()), "seed": seed})
    recipe, longest = Recipe(seed=seed), longest_text("target", model.config)
    width = model.get_output_embeddings().weight.shape[1]
    recipe = replace(
        recipe, window=min(recipe.window, longest), sample_length=min(recipe.sample_length, longest),
        most_samples=min(recipe.most_samples, MOST_BYTES // (2 * width)),
    )  # fmt: skip
    share = 0.5 if code_folder is not None else 0.0
    _, spent = write_samples(model, corpus, work / "samples", recipe, seconds, clock, share)
    return work / "samples", spent


KINDS = ("medusa", "eagle")
BATCH = {"medusa": 1024, "eagle": 1024}  # tokens of a step
RATE = {"medusa": 3e-2, "eagle": 1e-3}  # heads begin at 0 and are one matrix deep: they bear large steps
OTHERS = 256  # tokens at random that a batch is judged on besides its own
FALLING = 0.8  # a head counts this much less than the one before
NOISE = 0.1  # of a feature's spread: what a layer reads below the root is never exactly the target's
CROSS_ENTROPY = 0.5  # beside smooth-L1 on features


def train_drafter(
    kind: str,
    target: Path,
    samples: Path,
    out: Path,
    seconds: float,
    clock: Callable[[], float],
    *,
    start: Path | None = None,
    heads: int = 4,
    device: str = "auto",
    seed: int = 0,
) -> str:
    """Train what `kind` names for a target and write it to `out`; the same call again goes on where it was broken off.

    Args:
        kind: "medusa" or "eagle".
        target: the folder with the target.
        samples: the folder with its samples, `checkpoint/samples` of the run that made the pair.
        seconds: how long, as `clock` counts them.
        start: a folder with heads or a layer of a target as wide, to go on from (default: from nothing).
        heads: how many heads Medusa has, where it does not go on from others.

    Returns:
        A sentence on what was done, with how often each guess is the target's own on samples that were kept apart.

    Raises:
        ValueError: if there are no samples, or nothing that fits in `start`.
    """
    paths = shards(samples)
    if not paths:
        raise ValueError(f"samples must be a folder with shards of the target's samples; {str(samples)!r} has none.")
    kept, paths = paths[0], paths[1:] or paths
    teacher = load(target, choose_device(device)).float()
    torch.manual_seed(seed)
    model, loss = _task(kind, teacher, heads, start)

    def batch_loss(step: int, share: float) -> torch.Tensor:
        rng = np.random.default_rng([seed, 3, step])
        rows = random_rows(paths, rng, BATCH[kind])
        return loss(model, teacher, rows, torch.Generator().manual_seed(int(rng.integers(2**62))), share)

    checkpoint = out / "checkpoint" / "state.safetensors"
    done = fit(kind, model, batch_loss, checkpoint, seconds, RATE[kind], BATCH[kind], clock)
    (save_heads if kind == "medusa" else save_layer)(model, out)
    return _report(kind, done, right(kind, model, teacher, kept))


def _task(
    kind: str, teacher: Any, heads: int, start: Path | None
) -> tuple[torch.nn.Module, Callable[..., torch.Tensor]]:
    """What is to be trained, as it begins, and its loss."""
    head = teacher.get_output_embeddings().weight
    weights = read_weights(start, kind, head.shape[1]) if start else {}
    model: torch.nn.Module
    if kind == "medusa":
        model, loss = MedusaHeads(len(weights["weight"]) if weights else heads, head.shape[1]), heads_loss
    else:
        model, loss = EagleLayer(layer_config(teacher)), layer_loss
        begin_with_last_layer(model, teacher)
    model.load_state_dict(weights, strict=False)
    return model.to(head.device), loss


def heads_loss(
    model: MedusaHeads, teacher: Any, rows: dict[str, torch.Tensor], chance: torch.Generator, share: float = 0.0
) -> torch.Tensor:
    """Cross-entropy of head i at t with the target's distribution at t + i, summed with falling weights.

    Args:
        rows: neighbouring rows of a shard: tokens [r, T], states [r, T, width], temperatures [r].
    """
    states, head, wanted = _judged(teacher, rows, chance)
    total, weight = states.new_zeros(()), 1.0
    for level, matrix in enumerate(model.weight, 1):
        if states.shape[1] <= level:
            break
        f = states[:, :-level]
        guesses = f + functional.silu(f @ matrix.T)
        total = total + weight * _cross_entropy(guesses @ head.T, wanted[:, level:])
        weight *= FALLING
    return total


def layer_loss(
    model: EagleLayer, teacher: Any, rows: dict[str, torch.Tensor], chance: torch.Generator, share: float = 0.0
) -> torch.Tensor:
    """Smooth-L1 on the next feature and cross-entropy with the target's distribution there; arguments as above.

    In the second half of the time every other feature it reads, at random, is a guess of its own, as below the root
    (the training-time test of EAGLE-3, Li et al. 2025).
    """
    states, head, wanted = _judged(teacher, rows, chance)
    tokens = rows["tokens"].to(states.device, torch.long)
    with torch.no_grad():
        embeddings = teacher.get_input_embeddings()(tokens[:, 1:])
    true = states[:, :-1]
    noise = (torch.rand(true.shape, generator=chance).to(true) - 0.5) * 2 * NOISE * true.std()
    given = true + noise
    if share > 0.5:
        with torch.no_grad():
            guesses = model(true, embeddings)
        own = torch.rand(given.shape[:2], generator=chance).to(given) < 0.5
        own[:, 0] = False
        given[:, 1:][own[:, 1:]] = guesses[:, :-1][own[:, 1:]].to(given)
    guesses = model(given, embeddings)
    near = functional.smooth_l1_loss(guesses.float(), states[:, 1:])
    return near + CROSS_ENTROPY * _cross_entropy(guesses @ head.T.to(guesses), wanted[:, 1:])


def _judged(teacher: Any, rows: dict[str, torch.Tensor], chance: torch.Generator) -> tuple:
    """The states, the part of the output head that judges the batch, and the target's distributions over it."""
    head = teacher.get_output_embeddings().weight.detach()
    states = rows["states"].to(head)
    some = torch.randint(len(head), (min(OTHERS, len(head)),), generator=chance)
    judged = torch.cat([rows["tokens"].flatten().long(), some]).unique().to(head.device)
    head = head[judged]
    with torch.no_grad():
        wanted = torch.softmax((states @ head.T).float(), -1)
    return states, head, wanted


def _cross_entropy(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    return -(wanted * torch.log_softmax(logits.float(), -1)).sum(-1).mean()


@torch.no_grad()
def right(kind: str, model: torch.nn.Module, teacher: Any, shard: Path, tokens: int = 4096) -> list[float]:
    """How often the best guess is the target's best: of each head, or of the layer after true features and its own."""
    rows = random_rows([shard], np.random.default_rng(0), tokens)
    head = teacher.get_output_embeddings().weight.detach()
    states = rows["states"].to(head)
    best = (states @ head.T).argmax(-1)
    if kind == "medusa":
        guesses = model(states.flatten(0, 1)).unflatten(1, states.shape[:2])
        pairs = [((g @ head.T).argmax(-1)[:, :-i], best[:, i:]) for i, g in enumerate(guesses, 1)]
    else:
        embeddings = teacher.get_input_embeddings()(rows["tokens"].to(head.device, torch.long)[:, 1:])
        once = model(states[:, :-1], embeddings)
        twice = model(torch.cat([states[:, :1], once[:, :-1]], 1), embeddings)
        pairs = [((g @ head.T).argmax(-1), best[:, 1:]) for g in (once, twice)]
    return [float((guess == wanted).float().mean()) for guess, wanted in pairs]


def _report(kind: str, done: Progress, shares: list[float]) -> str:
    said = ", ".join(f"{share:.0%}" for share in shares)
    what = {"medusa": "heads 1, 2, ...", "eagle": "after true features, after its own"}[kind]
    return f"{kind}: {done.step:,} steps in {done.seconds / 60:.1f} minutes; guessed the target's best ({what}): {said}"
