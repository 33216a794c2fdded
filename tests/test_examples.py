"""The docstrings of what users call: they name every argument, and their examples run."""

import ast
import dataclasses
import doctest
import importlib
import inspect
import pkgutil
import re
import runpy
from functools import cached_property
from operator import attrgetter
from pathlib import Path

import pytest

import specviz
from specviz.strategy import Strategy

ROOT = Path(__file__).resolve().parent.parent
TORCH = [pytest.mark.adapter]  # the module imports torch, and the example loads the embedded pair
# With an example. The module of each is run by doctest, with the name `specviz` at hand.
EXAMPLES = """
config: RunConfig
decode: autoregress run speculate
compatibility: compatible
trace: Trace.from_json
strategy: Strategy register
tree: Topology TokenTree
metrics: Counts estimate share_interval
models.pair: load_pair
models.table: TableModel toy_pair
builders.base: TreeBuilder
verifiers.base: Verifier
drafters.base: Drafter
doctor: diagnose
plots: plot
acceptance.in_traces: depth_acceptance
acceptance.on_text: acceptance_vector
acceptance.vectors: check_acceptance expected_tokens find_acceptance
planning.cost_table: CostTable roofline
planning.forecast: forecast predict
benchmarks.measure_cost: measure_cost
benchmarks.timing: time_runs
"""
# What such calls return, and the methods that users write or call: every argument is named.
ARGUMENTS = """
record: Step
trace: Trace
compatibility: Compatibility
models.base: Session.commit Session.features Session.forward Pair.decode Pair.drafter Pair.encode Pair.open Pair.piece
    Pair.stream
metrics: Counts.of
builders.base: TreeBuilder.__call__ TreeBuilder.learn TreeBuilder.prepare
builders.static: fill
verifiers.base: Verdict Verifier.__call__
verifiers.walk: follow recursive_rejection
drafters.base: Draft.expand Drafter.open DrafterContext DrafterSession.commit DrafterSession.expand Seen
acceptance.on_text: Acceptance measure_acceptance
acceptance.texts: Text continuations
doctor.report: Report
doctor.window: Window
planning.choose: HeldOut candidates held_out
planning.profile: Profile
planning.forecast: Cell Forecast
"""


def named(table):
    lines = re.sub(r"\n ", " ", table).strip().splitlines()
    return [
        pytest.param(module, name, marks=TORCH if module == "models.pair" else ())
        for module, _, names in (line.partition(": ") for line in lines)
        for name in names.split()
    ]


def find(module, name):
    return attrgetter(name)(importlib.import_module(f"specviz.{module}"))


def arguments(one):
    if inspect.isclass(one) and issubclass(one, Strategy):
        return []  # its fields say themselves what they are
    if dataclasses.is_dataclass(one):
        return [field.name for field in dataclasses.fields(one)]
    return [name for name in inspect.signature(one).parameters if name != "self"]


@pytest.mark.parametrize("module, name", [*named(EXAMPLES), *named(ARGUMENTS)])
def test_every_argument_is_documented(module, name):
    one = find(module, name)
    text = inspect.getdoc(one) or ""
    described = re.search(r"(?:Args|Attributes):\n(.*?)(?:\n\n|$)", text, re.DOTALL)
    listed = re.findall(r"^ {4}(\w+(?:, \w+)*): ", described[1], re.MULTILINE) if described else []
    said = re.findall(r"`(\w+)`", text.partition("\n")[0])  # a single argument may stand in the sentence itself
    missing = set(arguments(one)) - set(re.findall(r"\w+", " ".join(listed))) - set(said)
    assert not missing, f"{module}.{name} does not say what {missing} are"


@pytest.mark.parametrize("module, name", named(EXAMPLES))
def test_every_name_that_users_call_has_an_example(module, name):
    assert ">>>" in inspect.getdoc(find(module, name))


@pytest.mark.parametrize(
    "module",
    {one.values[0]: pytest.param(one.values[0], marks=one.marks) for one in named(EXAMPLES)}.values(),
)
def test_the_examples_run(module):
    found = importlib.import_module(f"specviz.{module}")
    failed, tried = doctest.testmod(found, extraglobs={"specviz": specviz}, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried and not failed


# Their modules all have the same functions, which CONTRIBUTING describes once: `run`, `measure`, `draw`.
ALIKE = re.compile(r"specviz\.(plugins\.templates|commands|papers|__main__|plots\.\w+$)")


def said(one):
    return one is not None and inspect.getdoc(one)


@pytest.mark.adapter
@pytest.mark.parametrize(
    "module", [one.name for one in pkgutil.walk_packages(specviz.__path__, "specviz.") if not ALIKE.match(one.name)]
)
def test_every_public_function_says_what_it_does(module):
    found = importlib.import_module(module)
    here = {name: one for name, one in vars(found).items() if getattr(one, "__module__", "") == module}
    told = {name: [one] for name, one in here.items() if inspect.isfunction(one)}
    for cls in filter(inspect.isclass, here.values()):
        kinds = (property, cached_property, classmethod, staticmethod)
        own = {name for name, one in vars(cls).items() if inspect.isfunction(one) or isinstance(one, kinds)}
        told |= {f"{cls.__name__}.{name}": [vars(base).get(name) for base in cls.__mro__] for name in own}
    silent = [name for name, ones in told.items() if not re.search(r"\b_", name) and not any(map(said, ones))]
    assert not silent, f"{module}: give these a sentence, or a leading underscore"


def test_every_public_name_has_an_example():
    shown = {one.values[1] for one in named(EXAMPLES)} | {"Step", "Trace", "__version__"}  # these two: by their methods
    menus = {"BUILDERS", "VERIFIERS", "DRAFTERS"}  # of the class Menu
    assert set(specviz.__all__) <= shown | menus


def test_type_checkers_see_the_public_names():
    tree = ast.parse((ROOT / "specviz/__init__.py").read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    seen = {alias.asname: one.module for one in block.body for alias in one.names}
    assert seen == specviz._HOMES


def test_the_typed_script_runs(capsys):
    runpy.run_path(str(ROOT / "tests/typed_script.py"), run_name="__main__")
    assert specviz.__version__ in capsys.readouterr().out
