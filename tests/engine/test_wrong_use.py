"""Wrong uses from Python: a sentence that names the parameter, what it must be, and what it was."""

import copy
import pickle

import pytest

import specviz
from specviz.acceptance.vectors import read_acceptance
from specviz.errors import ParameterError, UnknownName, cause
from specviz.plots import plot
from specviz.strategy import REGISTRIES, format_strategy, parse_strategy, strategy_of

PAIR = specviz.toy_pair()
CONFIG = specviz.RunConfig("abc", max_new_tokens=3)


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda: specviz.BUILDERS["sequioa"], "Did you mean 'sequoia'"),
        (lambda: specviz.DRAFTERS["egale"], "drafter must be one of .* Did you mean 'eagle'"),
        (lambda: specviz.BUILDERS["sequoia"](nodes=16), "sequoia parameter must be one of size, .* got 'nodes'"),
        (lambda: specviz.BUILDERS["sequoia"](size="16"), "sequoia.size must be .* got '16', text"),
        (lambda: specviz.BUILDERS["sequoia"](size=10**5000), "got a number of thousands of digits"),
        (lambda: specviz.run(CONFIG, PAIR), r"config must be a specviz.RunConfig, .* Write run\(pair, config\)"),
        (lambda: next(specviz.speculate(CONFIG, PAIR)), "config must be a specviz.RunConfig"),
        (lambda: specviz.autoregress(CONFIG, PAIR), "config must be a specviz.RunConfig"),
        (lambda: specviz.run("pair", CONFIG), "pair must be made by specviz.load_pair"),
        (lambda: plot("tree", 3), r"step must be what plot 'tree' takes \(step: Step\); got 3"),
        (lambda: plot("tree"), "plot 'tree' takes step: Step: missing"),
        (lambda: plot("tre", 3), "Did you mean 'tree'"),
        (lambda: specviz.RunConfig(temperature="0.8"), "^temperature must be .* got '0.8', text"),
        (lambda: specviz.RunConfig(draft_temperature="0.8"), "^draft_temperature must be .* got '0.8', text"),
        (lambda: specviz.RunConfig(temperature=10**400), "^temperature must be"),
        (lambda: specviz.RunConfig(builder="sequioa"), "Did you mean 'sequoia'"),
        (lambda: specviz.RunConfig(builder="sequoia:nodes=4"), "sequoia parameter must be one of size"),
        (lambda: specviz.RunConfig(builder="sequoia:size=four"), "sequoia.size must be a whole number .* got 'four'"),
        (lambda: specviz.RunConfig(builder="sequoia:4"), "builder must be written like"),
        (lambda: specviz.RunConfig(builder="sequoia:size=4,size=5"), "each parameter once"),
        (lambda: specviz.run(PAIR, specviz.RunConfig(builder=3)), "builder must be a name"),
    ],
)  # fmt: skip
def test_a_wrong_use_gets_a_sentence(use, words):
    with pytest.raises(ValueError, match=words):
        use()


def test_a_strategy_may_be_named_with_its_parameters():
    config = specviz.RunConfig("abc", "sequoia:size=6,depth=3", "sequoia", drafter="medusa", max_new_tokens=4)
    made = specviz.RunConfig(
        "abc", specviz.BUILDERS["sequoia"](size=6, depth=3), specviz.VERIFIERS["sequoia"](),
        drafter=specviz.DRAFTERS["medusa"](), max_new_tokens=4,
    )  # fmt: skip
    assert config == made and config.to_dict() == made.to_dict()
    trace = specviz.run(PAIR, config)  # heads of tables, too
    assert specviz.Trace.from_json(trace.to_json()).text == trace.text == specviz.run(PAIR, made).text


@pytest.mark.parametrize(
    ("kind", "text", "parameters"),
    [
        ("builder", "branching:widths=4,2,1", {"widths": (4, 2, 1)}),
        ("builder", "sequoia:acceptance=0.6,0.2,size=4", {"acceptance": (0.6, 0.2), "size": 4}),
        ("builder", "sequoia:acceptance=[0.6,0.2],[0.5],size=4", {"acceptance": ((0.6, 0.2), (0.5,)), "size": 4}),
        ("builder", "sequoia:acceptance=0.6", {"acceptance": (0.6,)}),
        ("builder", "dyspec-threshold: threshold=0.1, reorder=false", {"threshold": 0.1, "reorder": False}),
        ("verifier", "typical:epsilon=0.2", {"epsilon": 0.2}),
        ("drafter", "several:drafters=model,ngram", {"drafters": ("model", "ngram")}),
    ],
)
def test_parse_strategy(kind, text, parameters):
    made = parse_strategy(kind, text)
    assert {name: getattr(made, name) for name in parameters} == parameters
    assert strategy_of(kind, text) == made


def test_errors_keep_their_parts():
    error = ParameterError("top_k", "be a whole number", "x" * 99, "Use None.")
    for one in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (one.name, one.must, one.hint) == ("top_k", "be a whole number", "Use None.")
    assert str(error.named("Top-k")).startswith("Top-k must be a whole number; got 'xxx") and len(str(error)) < 130
    unknown = pickle.loads(pickle.dumps(UnknownName("builder", "oka", ["oak", "ash"])))
    assert isinstance(unknown, KeyError) and str(unknown).endswith("got 'oka'. Did you mean 'oak'?")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("One mask\nis used. Or two.", "One mask is used"),
        ("The mask is:", "The mask is"),
        ("", "RuntimeError"),
        (":", "RuntimeError"),
    ],
)
def test_the_cause_of_a_failure_fits_into_a_sentence(said, shown):
    assert cause(RuntimeError(said)) == shown


@pytest.mark.parametrize("kind", REGISTRIES)
def test_a_spelled_strategy_is_read_back(kind):
    for name, cls in REGISTRIES[kind].items():
        small = cls.small if kind == "drafter" else getattr(cls, "small", {})
        for made in (cls(), cls(**small)):
            for text in (format_strategy(made), format_strategy(made, defaults=True)):
                assert parse_strategy(kind, text) == made and text.split(":")[0] == name
    assert format_strategy(specviz.BUILDERS["sequoia"](size=24)) == "sequoia:size=24"


@pytest.mark.parametrize("vector", [(0.6,), (0.6, 1e-05), ((0.6, 0.2), (0.5,)), ((0.6,),)])
def test_a_spelled_vector_is_read_back(vector):
    made = specviz.BUILDERS["sequoia"](acceptance=vector, size=9)
    assert parse_strategy("builder", format_strategy(made)) == made


def test_only_the_command_line_reads_a_vector_from_a_file(tmp_path):
    path = tmp_path / "a,b.json"
    path.write_text('{"acceptance": [0.6, 0.2]}')
    text = f"sequoia:acceptance={path},size=9"
    with pytest.raises(ValueError, match="acceptance must be one of auto, measured or list numbers"):
        parse_strategy("builder", text)
    made = parse_strategy("builder", text, read_acceptance)
    assert (made.acceptance, made.size) == ((0.6, 0.2), 9)
    assert parse_strategy("builder", "sequoia:acceptance=auto", read_acceptance).acceptance == "auto"
    with pytest.raises(ValueError, match="threshold must be"):
        parse_strategy("builder", f"dyspec-threshold:threshold={path}", read_acceptance)
