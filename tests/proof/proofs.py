"""Short ways to a proof, shared by tests."""

from dataclasses import replace

import pytest

import specviz
from specviz.proof import lossless
from specviz.proof.lossless import LENGTH, PROMPT, STEPS, cases, error_in


def error_of(
    builder, verifier, pair, temperature=1.0, scheme=None, tokens=LENGTH, steps=STEPS, **options
):
    """`error_in` of a builder and a rule; `options` are further fields of the `RunConfig`."""
    config = specviz.RunConfig(
        PROMPT, builder, verifier, temperature, max_new_tokens=tokens, **options
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lossless, "STEPS", steps)
        return error_in(config, pair, scheme)


def rows_of(builder, verifier, drafter="model", tokens=LENGTH, seeds=(1,), steps=STEPS):
    """The rows of a builder with its small parameters, proven without filters."""
    rows = []
    for case in cases([builder], [verifier], [drafter]):
        config = replace(case.config, max_new_tokens=tokens)
        if case.builder == builder and (config.draft_temperature, config.top_k, config.top_p) == (
            None,
            None,
            1.0,
        ):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(lossless, "SEEDS", seeds)
                patch.setattr(lossless, "STEPS", steps)
                rows.append(replace(case, config=config).prove())
    return rows
