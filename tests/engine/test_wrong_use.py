"""Wrong uses from Python: a sentence that names the parameter, what it must be, and what it was."""

import copy
import pickle

import numpy as np
import pytest

import specviz
from specviz.base.errors import ParameterError, UnknownName, cause
from specviz.config.strategy import REGISTRIES, strategy_of
from specviz.record.vector_files import read_vector
from specviz.view.figures import plot

PAIR = specviz.toy_pair()
CONFIG = specviz.RunConfig("abc", max_new_tokens=3)


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (
            lambda: specviz.run(CONFIG, PAIR),
            r"config must be a specviz.RunConfig, .* Write run\(pair, config\)",
        ),
        (lambda: next(specviz.speculate(CONFIG, PAIR)), "config must be a specviz.RunConfig"),
        (lambda: specviz.run("pair", CONFIG), "pair must be made by specviz.load_pair"),
        (
            lambda: specviz.RunConfig("abc", "chain", "naive", -1),
            "temperature must be 0 or a number from 0.001",
        ),
        (lambda: plot("positions", 3), "plot 'positions' cannot draw"),
        (lambda: specviz.BUILDERS["sequoia"](size=10**5000), "got a number of thousands of digits"),
    ],
)
def test_a_wrong_use_gets_a_sentence(use, words):
    with pytest.raises(ValueError, match=words):
        use()


BAD_PARAMETERS = """
builder chain depth=0; chain depth=65; chain depth=four; chain depth=2.5
builder chain depth=true; chain size=3
builder heuristic depth=0
builder svip h=4; svip c=0; svip h=nan; cape counts=0; cape counts=; k-ary width=0
builder k-ary width=30,depth=30
builder branching widths=; branching widths=2,0; branching widths=64,64; branching widths=four
builder batch width=257
builder k-sequences width=64,depth=64; sequoia size=0; sequoia size=1025; sequoia acceptance=2
builder sequoia acceptance=0.9,0.9
builder sequoia acceptance=much; sequoia acceptance=[[0.5],[2]]; optimal depth=0; dyspec batch=0
builder dyspec reorder=yes
builder dyspec-threshold threshold=0; dyspec-threshold threshold=2; dyspec-threshold threshold=often
builder svip-tree width=33
builder eagle2 width=0; ddd mass=1.5
builder prompt-lookup ngram=0; lookahead guesses=0; lookahead ngram=1; sequoia 4
builder oak size=3
verifier typical epsilon=2; typical top_k=-1; target-match keyed=2; sequoia size=3; oak size=3
drafter early-exit layers=0; layer-skip skip=1; medusa heads=17; ngram order=9
drafter retrieval shortest=3,longest=2
drafter several drafters=
drafter several drafters=model,model; several drafters=oracle; cascade then=model
drafter staged guesser=model
drafter online rate=1
"""


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (kind, one.strip().replace(" ", ":", 1))
        for kind, _, rest in (line.partition(" ") for line in BAD_PARAMETERS.strip().splitlines())
        for one in rest.split(";")
    ],
)
def test_a_bad_parameter_is_named_wherever_it_comes_from(kind, text):
    """As text, in a configuration and in JSON: one error, with the parameter's name."""
    name, parameter = text.split("=")[0].split(":")
    for use in (lambda: strategy_of(kind, text), lambda: specviz.RunConfig(**{kind: text})):
        with pytest.raises(ParameterError) as caught:
            use()
        named = caught.value.name
        assert named in (kind, f"{name} parameter", name) or named.startswith(
            (f"{name}.", f"{name}.{parameter}")
        )


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "prompt": ("", [], [1, -1], ["a"], 3, None),
        "builder": (
            3,
            "sequioa",
            "sequoia:4",
            "sequoia:size=4,size=5",
            {"parameters": {}},
            {"name": ["sequoia"]},
        ),
        "temperature": (-1, True, "0.8", float("nan"), float("inf"), 10**400, 0.0001),
        "draft_temperature": (-1, "0.8", True, 0.0001),
        "top_p": (0, 2, True, "1"),
        "top_k": (0, 1.5, True, "4"),
        "max_new_tokens": (0, 2.5, True, 2**60),
        "seed": (-1, 1.5, True, 2**60),
    }.items(),
)
def test_a_bad_configuration_names_the_parameter(name, values):
    for value in values:
        with pytest.raises(ParameterError) as caught:
            specviz.RunConfig(**{name: value})
        assert caught.value.name.startswith(name), value


def test_a_configuration_holds_objects_and_can_be_hashed():
    config = specviz.RunConfig(
        [1, 2], builder="sequoia:acceptance=1", top_k=np.int64(3), temperature=np.float64(0.5)
    )
    assert (
        config.builder == specviz.BUILDERS["sequoia"](acceptance=(1.0,))
        and type(config.top_k) is int
    )
    assert config.drafter == specviz.DRAFTERS["model"]() and config.prompt == (1, 2)
    assert len({config, specviz.RunConfig(**config.to_dict()), specviz.RunConfig()}) == 2
    assert specviz.RunConfig(temperature=0).temperature == 0.0


@pytest.mark.parametrize(
    ("kind", "text", "parameters"),
    [
        ("builder", "branching:widths=4,2,1", {"widths": (4, 2, 1)}),
        ("builder", "sequoia:acceptance=0.6,0.2,size=4", {"acceptance": (0.6, 0.2), "size": 4}),
        (
            "builder",
            "sequoia:acceptance=[0.6,0.2],[0.5],size=4",
            {"acceptance": ((0.6, 0.2), (0.5,)), "size": 4},
        ),
        ("builder", "sequoia:acceptance=0.6", {"acceptance": (0.6,)}),
        (
            "builder",
            "dyspec-threshold: threshold=0.1, reorder=false",
            {"threshold": 0.1, "reorder": False},
        ),
        ("verifier", "typical:epsilon=0.2", {"epsilon": 0.2}),
        ("drafter", "several:drafters=model,ngram", {"drafters": ("model", "ngram")}),
    ],
)
def test_parse_strategy(kind, text, parameters):
    made = strategy_of(kind, text)
    assert {name: getattr(made, name) for name in parameters} == parameters
    assert strategy_of(kind, text) == made


def test_errors_keep_their_parts():
    error = ParameterError("top_k", "be a whole number", "x" * 99, "Use None.")
    for one in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (one.name, one.must, one.hint) == ("top_k", "be a whole number", "Use None.")
    assert (
        str(error.named("Top-k")).startswith("Top-k must be a whole number; got 'xxx")
        and len(str(error)) < 130
    )
    unknown = pickle.loads(pickle.dumps(UnknownName("builder", "oka", ["oak", "ash"])))
    assert isinstance(unknown, KeyError) and str(unknown).endswith("got 'oka'. Did you mean 'oak'?")


@pytest.mark.parametrize("message", ["One mask\nis used. Or two.", "One mask is used:", "", ":"])
def test_the_cause_of_a_failure_fits_into_a_sentence(message):
    assert cause(RuntimeError(message)) == (
        "One mask is used" if "mask" in message else "RuntimeError"
    )


@pytest.mark.parametrize("kind", REGISTRIES)
def test_a_spelled_strategy_is_read_back(kind):
    for name, cls in REGISTRIES[kind].items():
        small = cls.small if kind == "drafter" else getattr(cls, "small", {})
        for made in (cls(), cls(**small)):
            for text in (str(made), made.to_text(defaults=True)):
                assert strategy_of(kind, text) == made and text.split(":")[0] == name
    assert str(specviz.BUILDERS["sequoia"](size=24)) == "sequoia:size=24"


@pytest.mark.parametrize("vector", [(0.6,), (0.6, 1e-05), ((0.6, 0.2), (0.5,)), ((0.6,),)])
def test_a_spelled_vector_is_read_back(vector):
    made = specviz.BUILDERS["sequoia"](acceptance=vector, size=9)
    assert strategy_of("builder", str(made)) == made


def test_only_the_command_line_reads_a_vector_from_a_file(tmp_path):
    path = tmp_path / "a,b.json"
    path.write_text('{"acceptance": [0.6, 0.2]}')
    text = f"sequoia:acceptance={path},size=9"
    with pytest.raises(
        ValueError, match="acceptance must be one of auto, measured or list numbers"
    ):
        strategy_of("builder", text)

    def read(path):
        return read_vector(path).plan

    made = strategy_of("builder", text, read)
    assert (made.acceptance, made.size) == ((0.6, 0.2), 9)
    assert strategy_of("builder", "sequoia:acceptance=auto", read).acceptance == "auto"
    with pytest.raises(ValueError, match="threshold must be"):
        strategy_of("builder", f"dyspec-threshold:threshold={path}", read)
