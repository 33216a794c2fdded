"""The loops of training, each with a time budget and a progress bar: a phase with its checkpoint,
and the samples that are written before it."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from ..base.codec import JsonObject
from ..base.files import write_bytes, write_text
from ..models.loading import choose_dtype

Clock = Callable[[], float]  # returns seconds
WARM_UP_STEPS = 50
SAVE_EVERY_SECONDS = 60.0
BAR = "{desc}: {percentage:3.0f}% |{bar}| {elapsed}<{remaining} {postfix}"


def fit(
    name: str,
    model: nn.Module,
    batch_loss: Callable[[int, float], torch.Tensor],
    checkpoint: Path,
    seconds: float,
    rate: float,
    clock: Clock,
    matrix_rate: float | None = None,
) -> str:
    """Minimise `batch_loss(step, fraction of the time that is over)` for some time; return a line
    on what was done.

    What a step sees must follow from its number alone: then a run that was interrupted goes on with
    the very batches it would have seen. `rate` is AdamW's at its peak, `matrix_rate` Muon's for the
    matrices of the layers, if any.
    """
    optimizers = _optimizers(model, rate, matrix_rate)
    peaks: list[float] = []  # as they are before a checkpoint brings those of its last step
    for optimizer in optimizers:
        peaks += [group["lr"] for group in optimizer.param_groups]
    device = next(model.parameters()).device
    step = 0
    spent = 0.0
    mean = math.nan
    # A run goes on where it was interrupted: weights, optimisers, and how much of the time is over.
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=device, weights_only=True)
        step = state["step"]
        spent = state["seconds"]
        mean = state["loss"]
        model.load_state_dict(state["model"])
        for optimizer, saved in zip(optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)

    groups = list(chain.from_iterable(optimizer.param_groups for optimizer in optimizers))

    def save() -> None:
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        part = checkpoint.with_suffix(".part")
        states = [optimizer.state_dict() for optimizer in optimizers]
        numbers = {"step": step, "seconds": spent, "loss": mean}
        torch.save(numbers | {"model": model.state_dict(), "optimizers": states}, part)
        # Complete or not at all: an interrupted save leaves the one before.
        os.replace(part, checkpoint)

    began = clock() - spent
    saved_at = spent
    model.train()
    with tqdm(desc=name, total=round(seconds), initial=round(spent), bar_format=BAR) as bar:
        while (spent := clock() - began) < seconds:
            # Warm-up, then a half cosine to 0 at the end of the time: no number of steps is known.
            scale = (
                min(1.0, (step + 1) / WARM_UP_STEPS)
                * 0.5
                * (1 + math.cos(math.pi * spent / seconds))
            )
            for group, peak in zip(groups, peaks, strict=True):
                group["lr"] = peak * scale
            # Products in half precision where the processor has it; weights and sums stay in
            # float32.
            bfloat16 = choose_dtype("auto", device) is torch.bfloat16
            with torch.autocast(device.type, torch.bfloat16, enabled=bfloat16):
                loss = batch_loss(step, spent / seconds)
            loss.backward()
            # One strange batch must not undo an hour.
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
            step += 1
            # A moving mean over some fifty steps: single losses say little.
            mean = loss.item() if math.isnan(mean) else 0.98 * mean + 0.02 * loss.item()
            bar.set_postfix_str(f"step {step:,}, loss {mean:.3f}", refresh=False)
            bar.update(min(round(spent), bar.total) - bar.n)
            if spent - saved_at > SAVE_EVERY_SECONDS:
                save()
                saved_at = spent
    save()
    model.eval()
    return f"{name}: {step:,} steps in {spent / 60:.1f} minutes, loss {mean:.3f}"


@dataclass(frozen=True)
class Shards:
    """Numbered files of samples that are written before training.

    Args:
        folder: where they go.
        seconds: how long they are written, as `clock` counts them.
        clock: a function that returns seconds.
        seed: of all randomness.
    """

    folder: Path
    seconds: float
    clock: Clock
    seed: int

    def write(
        self,
        name: str,
        suffix: str,
        make: Callable[[int, np.random.Generator], bytes],
        most: float = math.inf,
    ) -> None:
        """Write files after those already there; there is one in the end even without time.

        Args:
            name: what the progress bar says.
            suffix: how the names of files end.
            make: a file's content from its number and its randomness; it must follow from these
                alone, so that a run that was interrupted makes the files it would have made.
            most: how many files at most.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        number = len(shards(self.folder, suffix))
        began = self.clock()
        with tqdm(desc=name, total=round(self.seconds), bar_format=BAR) as bar:
            while (not number or self.clock() - began < self.seconds) and number < most:
                content = make(number, np.random.default_rng([self.seed, number]))
                write_bytes(self.folder / f"{number:05d}{suffix}", content)
                number += 1
                bar.set_postfix_str(f"{number:,} files", refresh=False)
                bar.update(min(round(self.clock() - began), bar.total) - bar.n)


def shards(folder: Path, suffix: str) -> list[Path]:
    """The finished files of `Shards` in a folder, in order."""
    return sorted(folder.glob(f"*{suffix}"))


def generator_of(rng: np.random.Generator, device: str | torch.device = "cpu") -> torch.Generator:
    """Randomness for torch that follows from numpy's; on a CPU the same on every machine."""
    return torch.Generator(device).manual_seed(int(rng.integers(2**62)))


def _optimizers(
    model: nn.Module, rate: float, matrix_rate: float | None
) -> list[torch.optim.Optimizer]:
    matrices: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    vectors: list[nn.Parameter] = []
    for name, weight in model.named_parameters():
        if weight.ndim == 2 and "layers." in name and matrix_rate is not None:
            matrices.append(weight)
        else:
            (others if weight.ndim > 1 else vectors).append(weight)
    # Vectors are not pulled towards 0: norms would shrink with every step.
    groups = [
        {"params": others, "weight_decay": 0.1},
        {"params": vectors, "weight_decay": 0.0},
    ]
    optimizers: list[torch.optim.Optimizer] = [
        torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95))
    ]
    if matrices:
        optimizers.append(torch.optim.Muon(matrices, lr=matrix_rate, weight_decay=0.05))
    return optimizers


def check_same_run(folder: Path, facts: JsonObject) -> None:
    """Write down what a run is started with; reject a folder that holds another run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "run.json"
    facts = json.loads(json.dumps(facts))  # as they are read back
    # A folder without such a file is a new run.
    former = facts
    if path.exists():
        former = json.loads(path.read_text(encoding="utf-8"))
    names = sorted(facts.keys() | former.keys())
    different = [name for name in names if facts.get(name) != former.get(name)]
    if different:
        raise ValueError(
            f"out holds a run with another {', '.join(different)} ({path}). Choose another "
            f"folder, or delete {folder}."
        )
    write_text(path, json.dumps(facts, indent=1))
