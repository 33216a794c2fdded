"""Random configurations: none that is declared lossless is refuted by enumeration.

`check` proves the menus with small parameters; here builders, rules and drafters have any
parameters, and temperatures, top-k, top-p and the sampling schemes are mixed.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specviz
from specviz.config.run_config import compatible
from specviz.config.strategy import REGISTRIES, SCHEMES
from specviz.proof import lossless
from specviz.proof.lossless import EXACT, PROMPT, compare_texts, error_in
from tests.growing import BUILDERS, VERIFIERS

MAX_RUNS = 3_000
FREE = {
    "acceptance": ((0.5, 0.3), (0.6,), ((0.6, 0.3), (0.5,)), ((0.7,), (0.4, 0.3))),
    "threshold": ("auto", 0.2, 0.5),
    "size": ("auto", 1, 3),
    "costs": ("auto", (1.0, 1.2, 2.0)),
    "draft_cost": ("auto", (0.0,), (0.3, 0.1)),
}


def value_of(name, schema):
    """Any value of a parameter; whole numbers are at most three above their least."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    low, high = schema.get("minimum"), schema.get("maximum")
    match schema.get("type"):
        case "integer":
            return st.integers(low, min(high, low + 3))
        case "number":
            return st.sampled_from((low, high, schema["default"])) | st.floats(low, high)
        case "boolean":
            return st.booleans()
        case "array" if "enum" in schema["items"]:
            return st.lists(
                st.sampled_from(schema["items"]["enum"]), min_size=1, max_size=3, unique=True
            )
        case "array":
            return st.lists(st.integers(1, 2), min_size=1, max_size=2)
    return st.sampled_from(FREE[name])


@st.composite
def strategies(draw, menu):
    """One of a menu with random parameters, some of them as small as its proofs take them."""
    cls = draw(st.sampled_from(list(menu.values())))
    values = {name: draw(value_of(name, schema)) for name, schema in cls.parameter_schema().items()}
    small = {
        name: value for name, value in getattr(cls, "small", {}).items() if draw(st.booleans())
    }
    try:
        return cls(**values | small)
    except ValueError:  # two parameters that do not go together
        return cls(**getattr(cls, "small", {}))


CONFIGS = st.builds(
    specviz.RunConfig,
    st.just(PROMPT),
    strategies(BUILDERS),
    strategies(VERIFIERS),
    drafter=strategies(REGISTRIES["drafter"]) | st.just("model"),
    max_new_tokens=st.integers(3, 4),
    temperature=st.sampled_from((0.0, 0.7, 1.0, 1.6)),
    draft_temperature=st.sampled_from((None, None, 0.0, 0.001, 0.6, 2.0)),
    top_k=st.sampled_from((None, None, 1, 2)),
    top_p=st.sampled_from((1.0, 1.0, 0.9, 0.6)),
)


class TooManyRuns(Exception):
    """A configuration has more outcomes than a test has time for."""


@pytest.mark.parametrize("examples", [50, pytest.param(1000, marks=pytest.mark.nightly)])
def test_no_random_configuration_is_declared_lossless_and_is_not(examples, monkeypatch):
    runs = tried = 0

    def limited(*arguments, **options):
        nonlocal runs
        runs += 1
        if runs > MAX_RUNS:
            raise TooManyRuns
        return specviz.speculate(*arguments, **options)

    monkeypatch.setattr(lossless, "speculate", limited)
    monkeypatch.setattr(lossless, "TEXTS", 4)

    @settings(max_examples=examples, deadline=None)
    @given(CONFIGS, st.sampled_from((None, None, *SCHEMES)), st.integers(2, 3), st.integers(0, 99))
    def check(config, scheme, vocab, seed):
        nonlocal runs, tried
        runs = 0
        match = compatible(config, scheme)
        if not (match.possible and match.lossless):
            return
        if config.verifier.shared_noise or scheme == "race":
            assert compare_texts(config, scheme)[1] is None
            return
        try:
            error, _ = error_in(config, specviz.toy_pair(vocab, seed=seed, closeness=0.2), scheme)
        except TooManyRuns:
            return
        tried += 1
        assert error <= EXACT

    check()
    assert tried > examples / 20
