"""Samples of a target that this project has not trained, from a user's text: what its drafters are trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tokenizers import Tokenizer
from transformers import AutoTokenizer

from ..models.loading import choose_device, longest_text
from ..models.pair import end_of_text
from .build_pair import load, same_run
from .corpus import encode, read_documents
from .recipe import Recipe
from .samples import write_samples

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
