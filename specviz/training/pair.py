"""Train a pair from text files: tokenizer, target, samples of it, and a draft distilled from
them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

from ..models.formats.checkpoint import hash_of
from ..models.loading import choose_device, choose_dtype, load_model
from .corpus import END_OF_TEXT, checksum, encode, random_windows, read_texts, train_tokenizer
from .loop import Clock, Shards, check_same_run, fit, shards
from .losses import distance
from .samples import SUFFIX, random_rows, write_samples
from .starts import copy_weights

MIN_TEMPERATURE = 0.5  # of the draft's loss: below it gradients vanish
CHUNK = 1024  # rows over the vocabulary that the loss holds at a time
Shape = tuple[int, int, int, int]  # of a Llama: width, layers, attention heads, width of the MLP


@dataclass(frozen=True)
class Recipe:
    """What a run is started with, and can only be continued with.

    Args:
        vocabulary, window: tokens of the tokenizer and of the longest text.
        target, draft: their shapes.
        rows: windows of text in a step of the target.
        code_share: how much of the target's text is code, from 0 to 1.
        matrix_rate, target_rate, draft_rate: peaks of Muon's rate for the target's matrices, and of
            AdamW's.
        draft_batch: tokens in a step of the draft.
        sample_rows, sample_length: samples of a shard, and tokens of each.
        target_time, sample_time: fractions of the time for the target and for its samples; the
            draft has the rest.
        seed: of weights, batches and samples.
    """

    vocabulary: int = 4096
    window: int = 512
    target: Shape = (512, 8, 8, 1408)
    draft: Shape = (256, 1, 4, 768)
    rows: int = 8
    code_share: float = 0.2
    matrix_rate: float = 0.02
    target_rate: float = 2e-3
    draft_rate: float = 1.5e-3
    draft_batch: int = 2048
    sample_rows: int = 128
    sample_length: int = 128
    target_time: float = 0.7
    sample_time: float = 0.08
    seed: int = 0


def train_pair(
    text_files: Sequence[str | Path],
    out: Path,
    seconds: float,
    *,
    recipe: Recipe,
    target: str | Path | None = None,
    code_folder: str | Path | None = None,
    device: str = "auto",
    clock: Clock = time.monotonic,
) -> str:
    """Train a pair on text files and Python sources; the same call again continues an interrupted
    run.

    Args:
        text_files: prose, UTF-8.
        out: gets the folders `target` and `draft`, a README.md, and `checkpoint`, needed only to
            continue.
        seconds: how long in all, as `clock` counts them.
        target: a folder with a model and its tokenizer, for which only a draft is made; None to
            train one.
        code_folder: where Python files are looked for; None for the standard library.
        recipe: sizes and rates.
        device: "auto", "cpu", "cuda" or "mps".
        clock: a function that returns seconds.

    Returns:
        The text of README.md: what was done.

    Raises:
        ValueError: if something cannot be read or written, or `out` holds another run.
    """
    work = out / "checkpoint"
    place = choose_device(device)
    texts = read_texts(text_files, code_folder)
    work.mkdir(parents=True, exist_ok=True)
    path = Path(target) / "tokenizer.json" if target else work / "tokenizer.json"
    if not path.exists():
        train_tokenizer(texts, recipe.vocabulary).save(str(path))
    tokenizer = Tokenizer.from_file(str(path))
    # Streams put token 0 before each document, so it has to be the end of a text.
    if tokenizer.id_to_token(0) != END_OF_TEXT:
        raise ValueError(
            f"target must have {END_OF_TEXT} as token 0; {path} has {tokenizer.id_to_token(0)!r}."
        )
    text = encode(texts, tokenizer)
    digest = None
    if target:
        digest = hash_of(Path(target))
    check_same_run(work, {"recipe": asdict(recipe), "text": checksum(text), "target": digest})
    lines = [f"# A pair trained on {sum(map(len, text.values())):,} tokens\n"]

    if target is None:
        torch.manual_seed(recipe.seed)
        model = new_model(recipe.vocabulary, recipe.window, recipe.target).to(place)

        def target_loss(step: int, done: float) -> Tensor:
            rng = np.random.default_rng([recipe.seed, 1, step])
            ids = random_windows(text, rng, recipe.rows, recipe.window, recipe.code_share)
            return next_token_loss(model, torch.from_numpy(ids).to(place, torch.long))

        rates = {"rate": recipe.target_rate, "matrix_rate": recipe.matrix_rate}
        budget = seconds * recipe.target_time
        lines.append(
            fit("target", model, target_loss, work / "target.pt", budget, clock=clock, **rates)
        )
        save(model, tokenizer, out / "target")
    # A target that is already where the pair goes is not copied onto itself.
    elif Path(target).resolve() != (out / "target").resolve():
        shutil.copytree(target, out / "target", dirs_exist_ok=True)
    teacher = load_model("target", str(out / "target"), place, choose_dtype("auto", place))
    # A draft that is already training keeps its samples, so a continued run sees the same batches.
    time_for_samples = 0.0
    if not (work / "draft.pt").exists():
        time_for_samples = seconds * recipe.sample_time
    write_samples(
        teacher,
        text,
        Shards(work / "samples", time_for_samples, clock, recipe.seed),
        window=recipe.window,
        code_share=0.5,
        length=recipe.sample_length,
        rows=recipe.sample_rows,
    )
    torch.manual_seed(recipe.seed)
    draft = new_model(
        teacher.config.vocab_size, teacher.config.max_position_embeddings, recipe.draft
    ).to(place)
    # Tokens that are near each other in the target are so in the draft from the first step on.
    warm_start(draft, teacher)
    head = teacher.get_output_embeddings().weight.detach()
    paths = shards(work / "samples", SUFFIX)

    def loss(step: int, done: float) -> Tensor:
        rng = np.random.default_rng([recipe.seed, 2, step])
        return draft_loss(draft, head, random_rows(paths, rng, recipe.draft_batch), done)

    draft_seconds = seconds * (1 - recipe.target_time - recipe.sample_time)
    lines.append(
        fit("draft", draft, loss, work / "draft.pt", draft_seconds, recipe.draft_rate, clock)
    )
    save(draft, tokenizer, out / "draft")
    card = "\n".join([*lines, ""])
    (out / "README.md").write_text(card, encoding="utf-8")
    return card


def new_model(vocabulary: int, window: int, shape: Shape) -> LlamaForCausalLM:
    """A Llama with tied embeddings and random weights, in float32; end-of-text is token 0."""
    width, layers, heads, mlp = shape
    config = LlamaConfig(
        vocab_size=vocabulary,
        max_position_embeddings=window,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=mlp,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=0,
    )
    return LlamaForCausalLM(config)


def next_token_loss(model: PreTrainedModel, ids: Tensor) -> Tensor:
    """Mean nats per token of rows of text [rows, length]."""
    logits = model(ids, use_cache=False).logits[:, :-1]
    return functional.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())


@torch.no_grad()
def warm_start(draft: PreTrainedModel, target: PreTrainedModel) -> None:
    """Give the draft the target's embeddings along their main directions; at equal sizes, its first
    layers too."""
    theirs = dict(target.base_model.named_parameters())
    embeddings = target.get_input_embeddings().weight.float()
    width = draft.config.hidden_size
    # The main directions of the target's embeddings, so that near tokens stay near in fewer
    # numbers.
    if width != embeddings.shape[1]:
        directions = torch.linalg.svd(embeddings, full_matrices=False).Vh[:width]
        theirs = {"embed_tokens.weight": embeddings @ directions.T}
    copy_weights(draft.model, theirs)


def draft_loss(
    draft: PreTrainedModel, head: Tensor, rows: dict[str, Tensor], done: float
) -> Tensor:
    """The mean `distance` to the target's distributions."""
    tokens = rows["tokens"].to(head.device, torch.long)
    temperatures = (
        rows["temperatures"]
        .to(head.device)
        .clamp(min=MIN_TEMPERATURE)[:, None]
        .expand(tokens.shape)
    )
    # Rows over the vocabulary are computed in chunks, so states are split before.
    parts = (
        draft.model(tokens).last_hidden_state.flatten(0, 1).split(CHUNK),
        rows["states"].to(head).flatten(0, 1).split(CHUNK),
        temperatures.reshape(-1, 1).split(CHUNK),
    )

    def chunk_loss(ours: Tensor, theirs: Tensor, temperature: Tensor) -> Tensor:
        p = torch.softmax((theirs @ head.T).float() / temperature, -1)
        log_q = torch.log_softmax(draft.lm_head(ours).float() / temperature, -1)
        return distance(p, log_q, done).sum()

    # A distribution is ten times larger than the states it is made from: it is computed again for
    # the gradient.
    losses = []
    for chunk in zip(*parts, strict=True):
        losses.append(checkpoint(chunk_loss, *chunk, use_reentrant=False))
    return torch.stack(losses).sum() / tokens.numel()


def save(model: PreTrainedModel, tokenizer: Tokenizer, folder: Path) -> None:
    """Write a folder that transformers loads: weights in bfloat16, configuration, tokenizer."""
    deepcopy(model).to(torch.bfloat16).save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=END_OF_TEXT,
        eos_token=END_OF_TEXT,
        model_max_length=model.config.max_position_embeddings,
    ).save_pretrained(folder)
