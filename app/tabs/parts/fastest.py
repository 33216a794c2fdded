"""The sentence that says what is fastest, for each place of the target's weights."""

from __future__ import annotations


def fastest_sentence(best: dict[str, tuple[str, float]], decimals: int = 1) -> str:
    """What is fastest in each place.

    Args:
        best: of each place the fastest tree in words, and how many times as fast as plain decoding
            it is.
        decimals: of these factors.
    """
    sentences = []
    than_what = " as plain decoding"  # said once
    for place, (tree, speed) in best.items():
        fact = "none is faster than plain decoding"
        if speed > 1:
            fact = f"{tree}, {speed:.{decimals}f} times as fast{than_what}"
        than_what = ""
        sentences.append(f"{place.capitalize()}: {fact}.")
    return " ".join(sentences)
