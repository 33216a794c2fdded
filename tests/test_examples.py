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
from specviz.config.strategy import Strategy

ROOT = Path(__file__).resolve().parent.parent
TORCH = [pytest.mark.adapter]  # the module imports torch, and the example loads the embedded pair
# The modules whose docstrings show how they are used; doctest runs them with the name `specviz` at
# hand.
SHOWN = [
    pytest.param(module, marks=TORCH if module == "models.pair" else ())
    for path in sorted((ROOT / "specviz").rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
    and (module := ".".join(path.relative_to(ROOT / "specviz").with_suffix("").parts)) != "__init__"
]
# What such calls return, and the methods that users write or call: every argument is named.
ARGUMENTS = """
record.step: Step
record.trace: Trace
config.run_config: Compatibility
models.base: Session.commit Session.features Session.forward Pair.decode Pair.drafter Pair.encode
    Pair.open Pair.stream Pair.token_text
record.metrics: Counts.of
builders.base: Draft.expand TreeBuilder.__call__ TreeBuilder.learn TreeBuilder.prepare
builders.static: fill
verifiers.base: Verdict Verifier.__call__
verifiers.decisions: Decisions.follow
drafters.base: Drafter.open DrafterContext DrafterSession.commit DrafterSession.expand TargetOutputs
measure.on_text: measure_acceptance
measure.texts: Text continuations
doctor.report: Report Window
measure.choose: HeldOut candidates held_out
measure.profile: Profile
measure.forecast: Cell Forecast
"""


def named(table):
    lines = re.sub(r"\n ", " ", table).strip().splitlines()
    return [
        (module, name)
        for module, _, names in (line.partition(": ") for line in lines)
        for name in names.split()
    ]


def examples(module):
    """The docstrings of a module that hold examples."""
    found = importlib.import_module(f"specviz.{module}")
    return [
        test
        for test in doctest.DocTestFinder().find(found, extraglobs={"specviz": specviz})
        if test.examples
    ]


def find(module, name):
    return attrgetter(name)(importlib.import_module(f"specviz.{module}"))


def arguments(one):
    if inspect.isclass(one) and issubclass(one, Strategy):
        return []  # its fields say themselves what they are
    if dataclasses.is_dataclass(one):
        return [
            field.name
            for field in dataclasses.fields(one)
            if field.name in inspect.get_annotations(one)
        ]
    return [name for name in inspect.signature(one).parameters if name != "self"]


def unexplained(one):
    """The arguments of which a docstring does not say what they are."""
    text = inspect.getdoc(one) or ""
    described = re.search(r"(?:Args|Attributes):\n(.*?)(?:\n\n|$)", text, re.DOTALL)
    listed = re.findall(r"^ {4}(\w+(?:, \w+)*): ", described[1], re.MULTILINE) if described else []
    quoted = re.findall(r"`(\w+)`", text.partition("\n")[0])
    names = set(arguments(one))
    if len(names) == 1 and inspect.isfunction(one):
        return set()
    return names - set(re.findall(r"\w+", " ".join(listed))) - set(quoted)


@pytest.mark.parametrize("module, name", named(ARGUMENTS))
def test_every_argument_is_documented(module, name):
    assert not unexplained(find(module, name))


@pytest.mark.parametrize("module", SHOWN)
def test_the_examples_run_and_public_names_explain_their_arguments(module):
    for test in examples(module):
        assert not doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed
        name = test.name.removeprefix(f"specviz.{module}").removeprefix(".")
        assert name not in specviz.__all__ or not unexplained(find(module, name)), name


# Their modules all have the same functions, which CONTRIBUTING describes once: `run`, `measure`,
# `draw`.
ALIKE = re.compile(r"specviz\.(plugins\.templates|commands|papers|__main__|plots\.\w+$)")


def is_documented(one):
    return one is not None and inspect.getdoc(one)


@pytest.mark.adapter
@pytest.mark.parametrize(
    "module",
    [
        one.name
        for one in pkgutil.walk_packages(specviz.__path__, "specviz.")
        if not ALIKE.match(one.name)
    ],
)
def test_every_public_function_says_what_it_does(module):
    found = importlib.import_module(module)
    here = {
        name: one for name, one in vars(found).items() if getattr(one, "__module__", "") == module
    }
    told = {name: [one] for name, one in here.items() if inspect.isfunction(one)}
    for cls in filter(inspect.isclass, here.values()):
        kinds = (property, cached_property, classmethod, staticmethod)
        own = {
            name
            for name, one in vars(cls).items()
            if inspect.isfunction(one) or isinstance(one, kinds)
        }
        told |= {
            f"{cls.__name__}.{name}": [vars(base).get(name) for base in cls.__mro__] for name in own
        }
    silent = [
        name
        for name, ones in told.items()
        if not re.search(r"\b_", name) and not any(map(is_documented, ones))
    ]
    assert not silent, f"{module}: give these a sentence, or a leading underscore"


@pytest.mark.adapter
def test_every_public_name_has_an_example():
    names = set(specviz.__all__) - {
        "BUILDERS",
        "VERIFIERS",
        "DRAFTERS",
        "__version__",
    }  # menus, of the class Menu
    without = {
        name for name in names if ">>> " not in (inspect.getdoc(getattr(specviz, name)) or "")
    }
    assert without <= {"Step", "Trace"}  # shown by the methods that return them


def test_type_checkers_see_the_public_names():
    tree = ast.parse((ROOT / "specviz/__init__.py").read_text(encoding="utf-8"))
    (block,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    seen = {alias.asname: one.module for one in block.body for alias in one.names}
    assert seen == specviz._HOMES


def test_the_typed_script_runs(capsys):
    runpy.run_path(str(ROOT / "tests/typed_script.py"), run_name="__main__")
    assert specviz.__version__ in capsys.readouterr().out
