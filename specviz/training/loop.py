"""One training phase: a time budget, a cosine, a progress bar, and a checkpoint that is safe against interruption."""

import math
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn
from tqdm import tqdm

from .arithmetic import autocast, has_bfloat16

# Newton-Schulz: odd polynomials that push every singular value towards 1 (Jordan et al. 2024, Muon).
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5


def orthogonal(matrix: torch.Tensor) -> torch.Tensor:
    """The nearest matrix (rows, columns) whose singular values are all about 1 (0.7 to 1.2)."""
    a, b, c = COEFFICIENTS
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    x = wide / (wide.norm() + 1e-7)
    if has_bfloat16(matrix.device):
        x = x.bfloat16()
    for _ in range(ITERATIONS):
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return (x if wide is matrix else x.T).to(matrix)


class Muon(torch.optim.Optimizer):
    """Orthogonalised Nesterov momentum for matrices, with decoupled weight decay; `lr` is the update's spectral norm.

    A matrix with more rows than columns moves by sqrt(rows / columns) more, as its outputs are that many more. Unlike
    `torch.optim.Muon` it iterates in bfloat16 only where its products are the faster ones: on other processors float32
    takes half the time, and it is a third of a training step there.
    """

    def __init__(self, matrices, lr: float, momentum: float = 0.95, weight_decay: float = 0.05):
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self) -> None:
        """Update every weight from its gradient."""
        for group in self.param_groups:
            for p in group["params"]:
                mean = self.state[p].setdefault("momentum_buffer", torch.zeros_like(p))
                mean.lerp_(p.grad, 1 - group["momentum"])
                update = orthogonal(p.grad.lerp(mean, group["momentum"]))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_(update, alpha=-group["lr"] * max(1.0, p.shape[0] / p.shape[1]) ** 0.5)


WARM_UP_STEPS = 50
SAVE_EVERY_SECONDS = 60.0
SHARES = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # of the new weights, in `average`
BAR = "{desc}: {percentage:3.0f}% |{bar}| {postfix}"


@dataclass
class Progress:
    """Where a phase stands: optimiser steps done, seconds spent, running mean of the loss."""

    step: int = 0
    seconds: float = 0.0
    loss: float = math.nan


def fit(
    name: str,
    model: nn.Module,
    batch_loss: Callable[[int, float], torch.Tensor],
    checkpoint: Path,
    seconds: float,
    rate: float,
    tokens_per_step: int,
    clock: Callable[[], float],
    *,
    schedule: Callable[[float], float] | None = None,
    matrix_rate: float | None = None,
) -> Progress:
    """Minimise `batch_loss(step, share of the time spent)` for `seconds`, from `checkpoint` if there is one.

    By AdamW at `rate`; with `matrix_rate` the matrices between embedding and output head by Muon at that rate.
    `schedule`: rate at a share of the time, in units of its peak (default `cosine`).

    What a step sees must follow from its number alone: then the number is the whole state of the random
    generators, and a run that was cut off goes on with the very batch it would have seen. An interrupt or a
    termination signal ends the phase after the step in hand: the state is saved, KeyboardInterrupt raised.
    """
    schedule, weights = schedule or cosine, dict(model.named_parameters())
    optimizers = _optimizers(weights, rate, matrix_rate)
    now = _restore(checkpoint, weights, optimizers) if checkpoint.exists() else Progress()
    start, saved, began = now, now.seconds, clock() - now.seconds
    device = next(iter(weights.values())).device
    model.train()
    with _stop_requests() as stop, tqdm(desc=name, total=seconds, initial=now.seconds, bar_format=BAR) as bar:
        while (spent := clock() - began) < seconds and not stop.is_set():
            height = min(1.0, (now.step + 1) / WARM_UP_STEPS) * schedule(spent / seconds)
            for optimizer in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = group["peak"] * height
            with autocast(device):
                loss = batch_loss(now.step, spent / seconds)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
            value = loss.item()
            now = Progress(now.step + 1, clock() - began, value if now.step == 0 else 0.98 * now.loss + 0.02 * value)
            pace = (now.step - start.step) * tokens_per_step / max(now.seconds - start.seconds, 1e-9)
            left = tqdm.format_interval(max(0.0, seconds - now.seconds))
            bar.set_postfix_str(f"loss {now.loss:.3f}, {pace:,.0f} tokens/s, {left} left", refresh=False)
            bar.update(min(now.seconds, seconds) - bar.n)
            if now.seconds - saved > SAVE_EVERY_SECONDS:
                _save(checkpoint, weights, optimizers, now)
                saved = now.seconds
        _save(checkpoint, weights, optimizers, now)
        if stop.is_set():
            raise KeyboardInterrupt
    model.eval()
    return now


def _optimizers(
    weights: dict[str, nn.Parameter], rate: float, matrix_rate: float | None
) -> list[torch.optim.Optimizer]:
    """AdamW for everything, or for what is no matrix between embedding and head, with Muon for those."""
    matrices = [p for name, p in weights.items() if p.ndim == 2 and ".layers." in name and matrix_rate is not None]
    others = [p for p in weights.values() if all(p is not m for m in matrices)]
    groups = [
        {"params": [p for p in others if p.ndim > 1], "weight_decay": 0.1},
        {"params": [p for p in others if p.ndim <= 1], "weight_decay": 0.0},
    ]
    found: list[torch.optim.Optimizer] = [torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95))]
    if matrix_rate is not None and matrices:
        found.append(Muon(matrices, matrix_rate))
    for optimizer in found:
        for group in optimizer.param_groups:
            group["peak"] = group["lr"]
    return found


def cosine(share: float) -> float:
    """Learning rate at a share of the phase's time, in units of its peak: down to zero."""
    return 0.5 * (1 + math.cos(math.pi * min(1.0, share)))


def plateau(share: float) -> float:
    """Learning rate at a share of the time, in units of its peak: constant, then linear from 60 % on down to 2 %."""
    return 1.0 - 0.98 * max(0.0, min(1.0, (share - 0.6) / 0.4))


def _save(
    path: Path, weights: dict[str, nn.Parameter], optimizers: list[torch.optim.Optimizer], progress: Progress
) -> None:
    tensors = {f"weight/{name}": p.detach() for name, p in weights.items()}
    for name, p in weights.items():
        for optimizer in optimizers:
            if p in optimizer.state:
                tensors |= {f"{key}/{name}": value for key, value in optimizer.state[p].items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    save_file(tensors, part, {key: repr(value) for key, value in asdict(progress).items()})
    os.replace(part, path)


def _restore(path: Path, weights: dict[str, nn.Parameter], optimizers: list[torch.optim.Optimizer]) -> Progress:
    with safe_open(path, "pt") as file, torch.no_grad():
        for key in file.keys():  # noqa: SIM118 (an open safetensors file is no dictionary)
            kind, name = key.split("/", 1)
            if kind == "weight":
                weights[name].copy_(file.get_tensor(key))
            else:  # the count of steps stays on the processor, wherever the weights are
                value, place = file.get_tensor(key), weights[name].device
                owner = next(
                    o for o in optimizers if any(weights[name] is p for g in o.param_groups for p in g["params"])
                )
                owner.state[weights[name]][kind] = value if kind == "step" else value.to(place)
        saved = file.metadata()
    return Progress(int(saved["step"]), float(saved["seconds"]), float(saved["loss"]))


@contextmanager
def _stop_requests() -> Iterator[threading.Event]:
    """An event that ctrl-C and a termination signal set, so that no step is torn in half."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = {s: signal.signal(s, lambda *_: asked.set()) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@torch.no_grad()
def average(model: nn.Module, former: nn.Module, loss: Callable[[nn.Module], float]) -> float:
    """Move `model` to the best point between `former` and itself; returns the share of its own weights there.

    Training on costs some of what a model knew. Along the straight line between the two lies a model that has most of
    the new and of the old (Wortsman et al. 2022, arXiv:2109.01903, section 3).

    Args:
        model, former: the same architecture, the second with the weights that training began with.
        loss: of a model, on text that neither has read.
    """
    new = {name: p.clone() for name, p in model.named_parameters()}
    old = dict(former.named_parameters())
    losses = {}
    for share in SHARES:
        _mix(model, old, new, share)
        losses[share] = loss(model)
    best = min(SHARES, key=losses.__getitem__)
    _mix(model, old, new, best)
    return best


def _mix(model: nn.Module, old: dict[str, torch.Tensor], new: dict[str, torch.Tensor], share: float) -> None:
    for name, p in model.named_parameters():
        torch.lerp(old[name], new[name], share, out=p)
