"""Lesson 12: a guess that was rejected is drawn again, unless children are drawn without replacement."""

from __future__ import annotations

from dataclasses import asdict, replace

from specviz import VERIFIERS, RunConfig
from specviz.acceptance.on_text import own_texts
from specviz.acceptance.repeated_guesses import tried_on_text
from specviz.compatibility import DRAWN

from .lesson import WOOD, Lesson, Look, Shown, count, percent, quote

TITLE = "Mistakes made twice"
RECORDINGS = ()
RULES = ("specinfer", "sequoia")
TEMPERATURES = (0.2, 0.6, 1.0)
TOKENS, WIDTH = 64, 8


def observe(pair, seed):
    """Both rules at every position of the target's own texts, with children from the same distributions."""
    runs = []
    for temperature in TEMPERATURES:
        config = RunConfig(WOOD, temperature=temperature, max_new_tokens=TOKENS, seed=seed)
        (text,) = own_texts(pair, [config.prompt], config)
        add, rows = pair.stream(text[: text.begin]), []
        for position, tried in tried_on_text(pair, text, replace(config, seed=seed), RULES, WIDTH):
            rules = {
                rule: asdict(one) | {"texts": [pair.piece(token) for token in one.tokens]}
                for rule, one in tried.items()
            }
            rows.append({"text": add(text[position + 1]), "rules": rules})
        runs.append({"temperature": temperature, "rows": rows})
    return {"runs": runs}


def write_lesson(observed):
    low, *_, high = observed["runs"]
    worst = max(range(len(low["rows"])), key=lambda at: repeats(low["rows"][at], "specinfer"))
    row = low["rows"][worst]
    found, (rejected, lost) = repeats(row, "specinfer"), totals(low, "specinfer")[-1][1:]
    shares = [share(run, "specinfer") for run in observed["runs"]]
    again = sum(totals(run, "sequoia")[-1][0] for run in observed["runs"])
    lost_by_sequoia = totals(low, "sequoia")[-1][2]
    if found < 2 or not shares[0] > shares[-1] or again or not lost > lost_by_sequoia:
        return None
    tries = row["rules"]["specinfer"]
    token = next(text for text, outcome in zip(tries["texts"], tries["outcome"], strict=True) if outcome == "repeated")
    return Lesson(
        view="mistakes",
        shown=tuple(shown(run) for run in observed["runs"]),
        opens=Look(next(at for at, one in enumerate(low["rows"]) if repeats(one, "specinfer"))),
        text=(
            f"A tree draws several children after one node, here {WIDTH}. SpecInfer draws each from the whole "
            "distribution of the draft. If that is sure of a token, most children are the same token.",
            "Once such a token is rejected, the residual has nothing left for it, so its copies are rejected too. At "
            f"token {worst + 1} of the text at temperature {low['temperature']:g} the guess {quote(token)} was "
            f"rejected and then drawn {count(found, 'more time')}.",
            "Sequoia draws **without replacement**: a rejected token is not drawn again. Both rules were run on the "
            "same distributions, at every token of a text that the target wrote. At temperature "
            f"{low['temperature']:g}, {percent(shares[0])} of SpecInfer’s rejections repeated a mistake, at "
            f"temperature {high['temperature']:g} it is {percent(shares[-1])}. Sequoia’s repeated none.",
        ),
        task="Press Play and watch the two counters. Then choose a higher temperature: does SpecInfer still repeat "
        "mistakes?",
        shows=Look(worst),
        question="What does a repeated mistake cost?",
        answer=(
            "A node of the tree. The target reads it, but the rule cannot accept it: its acceptance probability is 0.",
            f"At temperature {low['temperature']:g} SpecInfer rejected {rejected} guesses and ended at "
            f"{count(lost, 'token')} of {len(low['rows'])} without an accepted guess, Sequoia at {lost_by_sequoia}.",
        ),
    )  # fmt: skip


def repeats(row, rule):
    """How many guesses a rule tried at one token that had been rejected there before."""
    return row["rules"][rule]["outcome"].count("repeated")


def totals(run, rule):
    """Up to each token: repeated mistakes, rejected guesses (with those), and tokens at which no guess was accepted."""
    sums, found = [0, 0, 0], []
    for row in run["rows"]:
        outcome = row["rules"][rule]["outcome"]
        sums = [
            sums[0] + outcome.count("repeated"),
            sums[1] + len(outcome) - outcome.count("accepted"),
            sums[2] + ("accepted" not in outcome),
        ]
        found.append(sums)
    return found


def share(run, rule):
    """Which share of a rule's rejected guesses repeated a mistake."""
    again, rejected, _ = totals(run, rule)[-1]
    return again / max(1, rejected)


def shown(run):
    """What the view shows of one temperature."""
    rows, sums = run["rows"], {rule: totals(run, rule) for rule in RULES}
    steps = [
        (
            f"token {at} of {len(rows)}",
            f"At {quote(row['text'])}: " + "; ".join(in_words(row, rule) for rule in RULES) + ".",
        )
        for at, row in enumerate(rows, 1)
    ]
    columns = [
        {
            "title": VERIFIERS[rule].title,
            "drawn": DRAWN[VERIFIERS[rule].schemes[0]],
            "counts": sums[rule],
            "tries": [
                list(zip(row["rules"][rule]["texts"], row["rules"][rule]["outcome"], strict=True)) for row in rows
            ],
        }
        for rule in RULES
    ]
    return Shown(
        f"Temperature {run['temperature']:g}", steps, {"texts": [row["text"] for row in rows], "columns": columns}
    )


def in_words(row, rule):
    """What a rule did at one token."""
    outcome = row["rules"][rule]["outcome"]
    again = outcome.count("repeated")
    kept = "accepted one" if "accepted" in outcome else "accepted none"
    return f"{VERIFIERS[rule].title} tried {count(len(outcome), 'guess')} and {kept}; it repeated {again or 'no'} " + (
        "mistake" if again == 1 else "mistakes"
    )
