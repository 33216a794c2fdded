"""What can be known of a pair before its weights are loaded."""

from __future__ import annotations

from .early_exit import count_layers
from .hub import ModelFiles, model_files
from .loading import load_config, longest_text
from .pair import read_tokenizers
from .shapes import RANDOM, NumberText
from .vocabulary import translation


def preview(target: str, draft: str | None) -> tuple[list[ModelFiles], list[str]]:
    """The files of a pair's models, and sentences on them; only configurations, tokenizers and headers are read."""
    names = {"target": target} | ({} if draft is None or count_layers(draft) else {"draft": draft})
    tokenizer, other = read_tokenizers(target, draft)
    size = tokenizer.vocab_size if isinstance(tokenizer, NumberText) else len(tokenizer)
    vocabulary = f"The vocabulary has {size:,} tokens."
    if other is not None:
        common = len(translation(tokenizer, other, len(tokenizer), len(other)).target_ids)
        vocabulary = f"The vocabularies differ: the draft proposes only the {common:,} common tokens of {size:,}."
    longest = min(longest_text(role, load_config(role, name)) for role, name in names.items())
    models = [_files(name) for name in names.values()]
    counts = [model.parameters or 0 for model in models]
    sentences = [vocabulary, f"Texts may have up to {longest:,} tokens."]
    if all(counts):
        sentences.append(f"Parameters: {' and '.join(f'{count:,}' for count in counts)}.")
        if len(counts) > 1 and counts[0] <= counts[1]:
            sentences.append("The draft is no smaller than the target, so it cannot save time.")
    return models, sentences


def _files(name: str) -> ModelFiles:
    """The files of a model; without sizes for random weights, and where the hub does not answer."""
    try:
        return ModelFiles(name, 0, None) if name.startswith(RANDOM) else model_files(name)
    except OSError:  # its tokenizer lies in the cache
        return ModelFiles(name, 0, None)
