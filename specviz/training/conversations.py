"""Conversations that a chat model writes with itself, from which a draft head learns.

The question too is drawn from the model, after what its chat template puts before a user's message
(Magpie, Xu et al. 2024, arXiv:2406.08464); nobody's text is needed.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..passes.cache import CHUNK, TreeCache
from .loop import Shards, generator_of, shards
from .samples import draw
from .starts import layer_sizes

TEMPERATURES = (0.0, 0.0, 0.6, 0.8, 0.8, 1.0)  # of answers; questions are drawn at 1
SUFFIX = ".npz"  # of a shard's name
ROWS = 64  # conversations of a shard, on a CPU
# On a GPU a pass of many conversations takes hardly longer than that of one, so that many are
# written at once, as far as their keys and values fill a part of its memory.
GPU_ROWS = 8192
GPU_SHARE = 0.35  # since rows that go on are copied
QUESTION = 48  # tokens at most
SHORTEST_QUESTION = 6
ANSWER = 160
SHORTEST_ANSWER = 8
LONGEST = 224  # tokens of a conversation that training reads
BATCH = 2600  # tokens of a step of training on a CPU
GPU_BATCH = 16_384
HELD_OUT = 25  # one conversation of so many is never trained on


class Conversation(NamedTuple):
    """One conversation.

    Args:
        tokens: token ids, the template's included.
        answer: how many of them come before the answer.
        temperature: at which the answer was drawn.
    """

    tokens: np.ndarray
    answer: int
    temperature: float

    @property
    def is_held_out(self) -> bool:
        """Whether it is for evaluation only, by its text alone: more samples change nothing."""
        return zlib.crc32(self.tokens.astype(np.int32).tobytes()) % HELD_OUT == 0


class ChatTemplate:
    """The token ids before and behind a user's message in a tokenizer's chat template.

    Raises:
        ValueError: if it has none, or one that is not written around the message.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        mark = "\u2588"
        if tokenizer.chat_template is None:
            raise ValueError(
                "target must have a chat template; it has none. Train another drafter."
            )
        message = {"role": "user", "content": mark}
        text = tokenizer.apply_chat_template([message], tokenize=False, add_generation_prompt=True)
        if (count := text.count(mark)) != 1:
            raise ValueError(
                "target must have a chat template that writes a user's message once; it writes it "
                f"{count} times. Train another drafter."
            )
        self.before, self.behind = (
            list(tokenizer.encode(part, add_special_tokens=False)) for part in text.split(mark)
        )


@torch.inference_mode()
def converse(
    target: PreTrainedModel,
    template: ChatTemplate,
    temperatures: Tensor,
    generator: torch.Generator,
) -> list[Conversation]:
    """One conversation for each of `temperatures`, [rows]; those that come to nothing are left
    out.

    All texts begin with the same tokens and grow by one a pass, so they need neither padding nor a
    mask.
    """
    rows = len(temperatures)
    before, behind = (
        torch.tensor(part, device=target.device) for part in (template.before, template.behind)
    )
    begin = len(before)
    longest = begin + QUESTION + len(behind) + ANSWER
    texts = before.new_zeros(rows, longest)
    texts[:, :begin] = before
    lengths = before.new_zeros(rows)  # of the texts that are over, 0 for the others
    question_ends = before.new_full((rows,), longest)  # the place of the user's end of turn
    alive = torch.arange(rows, device=target.device)
    cache = TreeCache(target.config.get_text_config().num_hidden_layers)
    new = texts[:, :begin]
    for place in range(begin, longest):
        logits = target(new, past_key_values=cache, logits_to_keep=1).logits[:, -1]
        cache.used = place
        behind_question = place - question_ends[alive]
        in_question = behind_question < 0
        in_answer = behind_question >= len(behind)
        # Questions at temperature 1, so that they differ; answers each at its own.
        heat = torch.where(in_answer, temperatures[alive], 1.0)
        drawn = draw(logits, heat, generator)
        # After the question the template's own tokens are put in, whatever the model would say.
        fixed = behind[behind_question.clamp(0, len(behind) - 1)]
        tokens = torch.where(in_question | in_answer, drawn, fixed)
        texts[alive, place] = tokens
        ends_turn = tokens == behind[0]
        question_ends[alive[in_question & ends_turn]] = place
        question = place + 1 - begin
        if question >= QUESTION:
            is_lost = in_question
        elif question <= SHORTEST_QUESTION:
            is_lost = in_question & ends_turn
        else:
            is_lost = torch.zeros_like(in_question)
        is_complete = behind_question + 1 - len(behind) >= ANSWER
        is_over = is_lost | (in_answer & (ends_turn | is_complete))
        ended = alive[is_over]
        lengths[ended] = torch.where(lengths[ended] == 0, place + 1, lengths[ended])
        goes_on = lengths[alive] == 0
        count = int(goes_on.sum())
        if not count:
            break
        new = tokens[:, None]
        # Rows that are over go on for the sake of the batch, until a quarter of it is of them.
        if count < 0.75 * len(alive):
            alive = alive[goes_on]
            new = new[goes_on]
            cache.keep_rows(goes_on)
    conversations = []
    starts = (question_ends + len(behind)).tolist()
    drawn_at = temperatures.tolist()
    ends = lengths.tolist()
    for row, text in enumerate(texts.cpu().numpy()):
        if ends[row] - starts[row] > SHORTEST_ANSWER:
            conversations.append(Conversation(text[: ends[row]], starts[row], drawn_at[row]))
    return conversations


def rows_at_once(target: PreTrainedModel) -> int:
    """How many conversations a target writes side by side."""
    if target.device.type != "cuda":
        return ROWS
    sizes = layer_sizes(target)
    config = target.config.get_text_config()
    width = getattr(config, "head_dim", None) or sizes["width"] // sizes["heads"]
    slot = 2 * config.num_hidden_layers * sizes["kv_heads"] * width * target.dtype.itemsize
    free = torch.cuda.mem_get_info(target.device)[0]
    return max(ROWS, min(GPU_ROWS, int(GPU_SHARE * free / (slot * CHUNK))))


def write_conversations(
    target: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, samples: Shards
) -> None:
    """Write conversations of a chat model, one .npz file a shard.

    Raises:
        ValueError: if the model has no chat template, or a file cannot be written.
    """
    template = ChatTemplate(tokenizer)
    rows = rows_at_once(target)

    def shard(number: int, rng: np.random.Generator) -> bytes:
        temperatures = torch.from_numpy(rng.choice(TEMPERATURES, rows).astype(np.float32))
        heat = temperatures.to(target.device)
        return packed(converse(target, template, heat, generator_of(rng, target.device)))

    samples.write("conversations", SUFFIX, shard)


def packed(conversations: list[Conversation]) -> bytes:
    """A file of conversations, all tokens one behind the other."""
    tokens = [conversation.tokens for conversation in conversations]
    content = BytesIO()
    np.savez(
        content,
        tokens=np.concatenate([np.zeros(0, np.int32), *tokens]).astype(np.int32),
        start=np.cumsum([0, *map(len, tokens)]),
        answer=np.array([one.answer for one in conversations], np.int64),
        temperature=np.array([one.temperature for one in conversations], np.float32),
    )
    return content.getvalue()


def read_conversations(folder: Path, longest: int) -> list[Conversation]:
    """The conversations in a folder, each text once, cut to `longest` tokens.

    Raises:
        ValueError: if a file is no shard of conversations.
    """
    found: dict[bytes, Conversation] = {}
    for path in shards(folder, SUFFIX):
        try:
            with np.load(path, allow_pickle=False) as shard:
                tokens = shard["tokens"]
                starts = shard["start"]
                answers = shard["answer"]
                temperatures = shard["temperature"]
        except (OSError, KeyError, ValueError) as error:
            raise ValueError(f"samples: {path.name} cannot be read ({error}).") from None
        for row, answer in enumerate(answers.tolist()):
            text = tokens[starts[row] : starts[row + 1]][:longest].astype(np.int64)
            if len(text) - answer > SHORTEST_ANSWER:
                # By its text: the same conversation twice would be learnt twice.
                found[text.tobytes()] = Conversation(text, answer, float(temperatures[row]))
    return list(found.values())


def step_tokens(device: torch.device) -> int:
    """About how many tokens of conversations a step of training reads."""
    return GPU_BATCH if device.type == "cuda" else BATCH


def neighbours(
    conversations: list[Conversation], rng: np.random.Generator, device: torch.device
) -> list[Conversation]:
    """Conversations of like lengths around a random one, for a step of training on a device."""
    place = int(rng.integers(len(conversations)))
    count = max(1, step_tokens(device) // len(conversations[place].tokens))
    pool = conversations[max(0, place - 4 * count) : place + 4 * count]
    chosen = rng.permutation(len(pool))[:count]
    return [pool[i] for i in chosen]


@torch.no_grad()
def read_again(
    teacher: PreTrainedModel, conversations: list[Conversation], layers: Sequence[int]
) -> dict[str, Tensor]:
    """Conversations side by side, padded with 0 behind, and what the target computes of them.

    Args:
        teacher: the target.
        conversations: those that are read.
        layers: of the target, whose inputs come before its last hidden state, for every token.

    Returns:
        "tokens" [rows, m], "states" [rows, m, width of all], and "counts", bool [rows, m]: whether
        the token after a place belongs to the answer.
    """
    length = max(len(one.tokens) for one in conversations)
    tokens = np.zeros((len(conversations), length), np.int64)
    counts = np.zeros(tokens.shape, bool)
    for row, one in enumerate(conversations):
        tokens[row, : len(one.tokens)] = one.tokens
        # Questions are the model's own, but nobody will draft them: only answers are learnt.
        counts[row, one.answer - 1 : len(one.tokens) - 1] = True
    ids = torch.from_numpy(tokens).to(teacher.device)
    # Padding is behind the text, where causal attention does not see it.
    output = teacher.base_model(ids, output_hidden_states=bool(layers), use_cache=False)
    states = [output.hidden_states[layer] for layer in layers]
    return {
        "tokens": ids,
        "states": torch.cat([*states, output.last_hidden_state], dim=-1),
        "counts": torch.from_numpy(counts).to(teacher.device),
    }
