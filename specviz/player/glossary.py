"""What the page explains on hover and focus: a term, and one sentence about it."""

_PER_PASS = "Tokens written per pass of the target, its own token included. Plain decoding writes 1."
GLOSSARY = {
    "p": "The target's probability of a token after the tokens before it.",
    "q": "The draft's probability of a token after the tokens before it; children are drawn from it.",
    "residual": "p − q for every token, 0 where that is negative, normalised to sum 1. After a rejection the next "
    "child is compared with it, or the target draws from it.",
    "bonus token": "The token that the target adds where a whole branch was accepted. It costs no further pass.",
    "acceptance vector": "The probability that the first child of a node is accepted, that the second is, and so on. "
    "Its sum is the probability that any child is accepted.",
    "tokens per target pass": _PER_PASS,
    "tokens per pass": _PER_PASS,
    "lossless": "The text follows exactly the distribution of the target alone, whatever the draft proposes.",
}
