"""The table of rules of docs/strategies.md: what each rule accepts of the same trees of a real
pair.

Not a test: `python -m tests.rule_table` measures 200 places of SmolLM2's own answers and replaces
the table; `--places N` measures fewer, `--trees N` draws more trees at each place: what a rule
accepts of one tree says little of it, since a lossless rule is one on average over the draws.
"""

import argparse
import re
from itertools import product
from pathlib import Path
from statistics import mean, stdev

import specviz
from specviz.config.strategy import strategy_of
from specviz.decode.session import DecodingSession
from specviz.measure.this_machine import prompts
from specviz.record.metrics import t_quantile
from specviz.sampling.randomness import Seeded

DOCUMENT = Path(__file__).resolve().parent.parent / "docs/strategies.md"
TABLE = re.compile(r"(<!-- rules on the same trees -->\n)(\|.*\n)+")
TREES = {
    "2 children, 3 levels": "k-ary:width=2,depth=3",
    "2 sequences of 3": "k-sequences:width=2,depth=3",
    "chain of 3": "chain:depth=3",
}
TEXTS = 20
DRAWS = 30  # of every rule on every tree


def tree_of(rule):
    """The shape that a rule is measured on: the same for all that take it."""
    if rule.chain_only:
        return "chain of 3"
    return "2 sequences of 3" if rule.paths_only else "2 children, 3 levels"


def places(pair, prompt, seed, count, trees):
    """At up to `count` places of an answer the accepted tokens of each rule, over so many trees."""
    rules = [rule() for name, rule in specviz.VERIFIERS.items() if name != "plain"]
    rules = [rule for rule in rules if not rule.greedy_only]
    groups = dict.fromkeys((tree_of(rule), rule.schemes[0]) for rule in rules)
    config = specviz.RunConfig(
        prompt, TREES["chain of 3"], "naive", 0.8, max_new_tokens=200, drafter=pair.default_drafter
    ).for_pair(pair)
    session = DecodingSession(pair, config, config.drafter)
    for place in range(count):
        if not session.tokens_left:
            return
        accepted = {}
        for number, ((shape, scheme), drawn) in enumerate(product(groups, range(trees))):
            builder = strategy_of("builder", TREES[shape])
            draft = session.draft(scheme)
            first = (1000 * seed + place) * trees + drawn
            tree = builder(draft, Seeded(first), 64, builder.start())
            p = session.score(tree)
            for rule in rules:
                if (tree_of(rule), rule.schemes[0]) != (shape, scheme):
                    continue
                # A shared race has one outcome: its noise drew the tree as well. No two trees share
                # draws, or the mean over places would be one over as few draws as a tree has.
                draws = range(DRAWS * first, DRAWS * (first + 1))
                seeds = [first] if rule.shared_noise else draws
                lengths = [len(rule(tree, p, Seeded(one)).path) for one in seeds]
                accepted.setdefault(rule.name, []).append(mean(lengths))
            if number == len(groups) * trees - 1:
                # The text goes on as the target writes it.
                verdict = specviz.VERIFIERS["naive"]()(tree, p, Seeded(first))
                session.commit(draft, tree, p, verdict)
        yield {name: mean(lengths) for name, lengths in accepted.items()}


def measure(pair, count, trees):
    """The accepted tokens of each rule by text."""
    by_text = []
    for seed, prompt in enumerate(prompts(TEXTS, chat=True)):
        found = list(places(pair, prompt, seed, count // TEXTS, trees))
        by_text.append({name: mean(one[name] for one in found) for name in found[0]})
        print(f"{seed + 1} of {TEXTS} texts", flush=True)
    return by_text


def table(by_text):
    """A line for each rule, by its tree and the drafts it needs, best first."""
    lines = [
        "| rule | tree | children | accepted tokens a pass | |\n",
        "| --- | --- | --- | ---: | --- |\n",
    ]
    margin = t_quantile(len(by_text) - 1) / len(by_text) ** 0.5
    rules = [specviz.VERIFIERS[name]() for name in by_text[0]]
    means = {rule.name: mean(one[rule.name] for one in by_text) for rule in rules}
    for rule in sorted(rules, key=lambda rule: (tree_of(rule), -means[rule.name])):
        spread = margin * stdev(one[rule.name] for one in by_text)
        figure = f"{means[rule.name]:.2f} ± {spread:.2f}"
        lossy = "" if rule.lossless else "lossy"
        lines.append(
            f"| {rule.name} | {tree_of(rule)} | {rule.schemes[0]} | {figure} | {lossy} |\n"
        )
    return "".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--places", type=int, default=200)
    parser.add_argument("--trees", type=int, default=4)
    args = parser.parse_args()
    measured = table(measure(specviz.load_pair("smollm2"), args.places, args.trees))
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(TABLE.sub(rf"\g<1>{measured}", text, count=1), encoding="utf-8")
    print(measured, end="")
