"""A script as a user writes one: `make lint` checks it with `mypy --strict` against the package's
types."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

import specviz
from specviz.builders.base import Draft, TreeBuilder
from specviz.config.run_config import Compatibility
from specviz.models.base import Pair
from specviz.record.metrics import Counts
from specviz.sampling.distributions import Distributions
from specviz.sampling.randomness import Randomness
from specviz.tree import TokenTree
from specviz.verifiers.base import Verdict, Verifier
from specviz.verifiers.decisions import Decisions
from specviz.view.figures import plot


class Likeliest(Verifier):
    """Follow the target's most probable tokens."""

    name: ClassVar[str] = "likeliest"
    title: ClassVar[str] = "Likeliest"
    lossless: ClassVar[bool] = False
    bias: ClassVar[str] = "Every token is the most probable one."

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        return Decisions(tree).follow(lambda node: int(np.argmax(p[node])))

    def explain(self, step: specviz.Step, node: int) -> str:
        return f"Token {step.tokens[node]} was {step.outcome[node]}."


class Single(TreeBuilder):
    """One child below the root."""

    name: ClassVar[str] = "single"
    title: ClassVar[str] = "Single"

    def __call__(self, draft: Draft, rng: Randomness, tokens_left: int, state: object) -> TokenTree:
        if tokens_left > 1:
            (row,) = draft.expand([0])
            draft.tree.add(0, rng.draw(row))
        return draft.tree


def main() -> None:
    pair: Pair = specviz.toy_pair(vocab=5, seed=1)
    config = specviz.RunConfig(
        "abc", "sequoia:size=8", "sequoia", temperature=0.8, max_new_tokens=12, drafter="model"
    )
    match: Compatibility = specviz.compatible(config)
    print(match.lossless, match.reason)
    trace: specviz.Trace = specviz.run(pair, config)
    for step in trace.steps:
        probability: float | None = step.target_prob[0]
        seconds: float = step.seconds.total
        nodes: int = step.drafted + len(step.path) + len(step.emitted)
        print(probability, seconds >= 0, nodes, "".join(step.emitted_texts))
    counts: Counts = trace.counts + Counts.of(specviz.autoregress(pair, config).steps)
    rate: float = counts.tokens_per_pass
    figures = [plot("positions", [len(step.path) for step in trace.steps])]
    print(rate, len(figures), specviz.Trace.from_json(trace.to_json()).text)
    own = specviz.RunConfig("abc", Single(), Likeliest(), max_new_tokens=12)
    print([Likeliest().explain(step, 0) for step in specviz.speculate(pair, own)])
    print(
        specviz.BUILDERS["sequoia"](size=8).title,
        specviz.DRAFTERS["ngram"]().parameters,
        specviz.__version__,
    )


if __name__ == "__main__":
    main()
