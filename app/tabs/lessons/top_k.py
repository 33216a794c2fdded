"""Lesson 11: every token of a text, coloured by its rank under the draft."""

from __future__ import annotations

from dataclasses import asdict

from specviz import RunConfig
from specviz.acceptance.draft_ranks import among_best, draft_ranks
from specviz.acceptance.on_text import own_texts

from .lesson import FUNCTION, SHIP, Lesson, Look, Shown, count, percent, quote, readable

TITLE = "Was it in the top k?"
RECORDINGS = ()
TOKENS, BEST = 96, 5
TEXTS = {
    "Story": RunConfig(SHIP, temperature=1.0, max_new_tokens=TOKENS),
    "Story, top-p 0.9": RunConfig(SHIP, temperature=1.0, top_p=0.9, max_new_tokens=TOKENS),
    "Story, temperature 0": RunConfig(SHIP, temperature=0.0, max_new_tokens=TOKENS),
    "Code": RunConfig(FUNCTION, temperature=1.0, max_new_tokens=TOKENS),
}


def observe(pair, seed):
    """The target's own texts, and the draft's rank of each of their tokens."""
    found = []
    for label, config in TEXTS.items():
        config = RunConfig(**vars(config) | {"seed": seed})
        (text,) = own_texts(pair, [config.prompt], config)
        prompt = text[: text.begin]
        add = pair.stream(prompt)
        tokens = []
        for one in draft_ranks(pair, text, config, BEST):
            guesses = [pair.piece(token) for token in one.best]
            tokens.append(asdict(one) | {"text": add(one.token), "guesses": guesses})
        found.append({"label": label, "prompt": config.prompt, "tokens": tokens})
    return {"runs": found}


def write_lesson(observed):
    runs = {run["label"]: run["tokens"] for run in observed["runs"]}
    shares = {label: share_by_k(tokens) for label, tokens in runs.items()}
    story, nucleus = shares["Story"], shares["Story, top-p 0.9"]
    far = [at for at, token in enumerate(runs["Story"]) if token["rank"] > BEST and readable(token["text"])]
    if not far or not story[0] < story[-1] or not nucleus[2]:
        return None
    worst = max(far, key=lambda at: runs["Story"][at]["rank"])
    n, token = len(runs["Story"]), runs["Story"][worst]
    return Lesson(
        view="ranks",
        shown=tuple(shown(run) for run in observed["runs"]),
        opens=Look(0),
        text=(
            "Sort the draft’s vocabulary by its probabilities at one position. The **rank** of a token is its place "
            "in that order. A guess can only be right if its token is among those that were drafted, so the rank of "
            "the target’s token says how many guesses were needed.",
            f"The target wrote this text of {count(n, 'token')} itself. At {percent(story[0])} of them the draft’s "
            f"first guess was the token; at {percent(story[-1])} it was among the {BEST} best.",
            "A survey of speculative decoding (section 7.1.1) reports about 60 % for the first guess, a much higher "
            "share for the best five, and more than 90 % for the best three with nucleus sampling. With top-p 0.9, "
            f"{percent(nucleus[2])} are among the best three here.",
        ),
        task="Move k from 1 to 5 and see which tokens are added. Select a token to see what the draft guessed in its "
        "place. Then switch to the text at temperature 0.",
        shows=Look(BEST - 1, worst),
        question="Why does no tree accept every token?",
        answer=(
            f"Some tokens are far down: {quote(token['text'])} had rank {token['rank']}. A tree that held it would "
            f"need at least {count(token['rank'], 'child')} at this node, and every node costs time in the target’s "
            "pass.",
            f"From k = 1 to 2 the share grows by {points(story[1] - story[0])}, from 4 to 5 by "
            f"{points(story[4] - story[3])}. So the first children of a node are worth more than the later ones.",
        ),
    )  # fmt: skip


def share_by_k(tokens):
    """Which share of the tokens is among the k best, for k = 1 to `BEST`."""
    ranks = [token["rank"] for token in tokens]
    return [among_best(ranks, k) / len(ranks) for k in range(1, BEST + 1)]


def points(difference):
    """A difference of two shares in words."""
    return f"{100 * difference:.0f} percentage points"


def row(label, share, of):
    return {"label": label, "share": share, "said": f"{round(share * of)} ({percent(share)})"}


def shown(run):
    """What the view shows of one text."""
    tokens, shares = run["tokens"], share_by_k(run["tokens"])
    n = len(tokens)
    steps = [
        (f"k = {k}", f"{round(share * n)} of {n} tokens ({percent(share)}) are among the draft’s {k} best.")
        for k, share in enumerate(shares, 1)
    ]
    return Shown(
        run["label"], steps,
        {
            "prompt": run["prompt"],
            "rows": [row(f"k = {k}", share, n) for k, share in enumerate(shares, 1)],
            "beyond": row(f"rank above {BEST}", 1 - shares[-1], n),
            "tokens": [
                {
                    "text": token["text"], "rank": token["rank"],
                    "q": token["draft_prob"], "p": token["target_prob"],
                    "guesses": list(zip(token["guesses"], token["best_probs"], strict=True)),
                }
                for token in tokens
            ],
        },
    )  # fmt: skip
