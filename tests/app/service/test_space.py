"""What a public Space needs: the ZeroGPU wrapper, limits, curated pairs, the queue, and the
container's description."""

import fnmatch
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import specviz
from app.service import limits, zero_gpu
from app.service.fetching import others
from app.service.offers import offered
from app.service.pair_ref import PairRef
from app.service.pairs import Pairs
from app.service.process import Process, Requests
from app.service.queue import Visitor
from app.service.service import RunService
from app.service.sizes import describe, try_tokenizers
from app.tabs import explore
from specviz.config.prompt import Message
from tests.loops import SameProcess, in_a_loop, is_busy, until

ROOT = Path(__file__).resolve().parents[3]
CONFIG = specviz.RunConfig(
    "abc", specviz.BUILDERS["sequoia"](), specviz.VERIFIERS["sequoia"](), max_new_tokens=12
)

# ---- ZeroGPU ----

SPACES = """
import pickle, sys
assert "torch" not in sys.modules, "spaces must come before torch"
wrapped, loans, reject = [], [], []

def GPU(duration):
    def decorate(work):
        wrapped.append(f"{work.__module__}.{work.__qualname__}")
        def borrowed(*args):
            if reject:
                import gradio as gr
                raise gr.Error("Sign in for <a href=x>more</a>.", title="ZeroGPU quota exceeded")
            loans.append(duration(*args))
            for item in work(*pickle.loads(pickle.dumps(args))):
                yield pickle.loads(pickle.dumps(item))
        return borrowed
    return decorate
"""

VISIT = """
import asyncio
from contextlib import aclosing
import json
import spaces
from app import api
from app.service import limits
from app.service.pair_ref import PairRef
from app.service.queue import Visitor
from app.service.service import RunService
from app.tabs import explore
from tests.loops import in_a_loop
import specviz
from tests.loops import one_pair

assert spaces.wrapped == ["app.service.zero_gpu._computed"], spaces.wrapped
service = RunService(one_pair(lambda: specviz.toy_pair(vocab=12)))
ref = PairRef("This pair")


def items_of(work, *args):
    async def visit():
        asked = service.stream(Visitor("a"), ref, work, *args, prompts=())
        async with aclosing(asked) as items:
            return [item async for item in items]
    return asyncio.run(visit())


config = specviz.RunConfig("abc", max_new_tokens=12, verifier=specviz.VERIFIERS["race"]())
sent = [json.loads(text) for text in items_of(explore.decode_run, config, ref, service.runs)]
assert sent[-1]["same"]["kind"] == "equal", sent[-1]
assert len(spaces.loans) == 3, "decoding, plain decoding, and the comparison of both"
assert spaces.loans[0] == limits.gpu_seconds(12) == round(12 + 0.08 * 12), spaces.loans
text, _, trace = items_of(api.answers, config)[-1]
assert specviz.Trace.from_json(trace).text == text
try:
    items_of(api.answers, specviz.RunConfig("a" * 5000))
except ValueError as error:
    assert "context of 4096" in str(error), "a sentence travels back from the other process"
else:
    raise AssertionError("a prompt that is too long")
spaces.reject.append(1)
try:
    items_of(api.answers, config)
except ValueError as error:
    assert str(error) == "ZeroGPU quota exceeded: Sign in for more.", error
else:
    raise AssertionError("no GPU was lent")
print("visited")
"""


def on_a_space(folder, code, **settings):
    """What a process prints in which the package of Spaces lends GPUs."""
    (folder / "spaces.py").write_text(SPACES, encoding="utf-8")
    settings |= {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), "SPACES_ZERO_GPU": "true"}
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | settings, capture_output=True, text=True
    )


def test_what_decodes_is_wrapped_for_zero_gpu_and_everything_travels(tmp_path):
    done = on_a_space(tmp_path, VISIT)
    assert done.stdout.strip() == "visited", done.stderr[-2000:]


PLACED = """
import logging
import spaces
logging.basicConfig(format="%(message)s")
from app.page import build_demo
build_demo()
from transformers import AutoModelForCausalLM, PreTrainedModel
assert not spaces.loans, "nothing is computed at the start"
def never(*args, **options):
    raise AssertionError("weights are read again")
AutoModelForCausalLM.from_pretrained = never
import specviz
for draft in (None, "early-exit:3"):
    pair = specviz.load_pair(draft=draft)
    assert specviz.run(pair, specviz.RunConfig("Once upon a time", max_new_tokens=4)).text
print("placed")
"""


@pytest.mark.nightly
def test_on_zero_gpu_the_weights_are_placed_before_anybody_decodes_and_never_read_again(tmp_path):
    done = on_a_space(tmp_path, PLACED, SPECVIZ_PAIRS=f"{tmp_path}/none")
    assert done.stdout.strip().endswith("placed"), done.stderr[-2000:]
    assert "none cannot be loaded at the start" in done.stderr  # its first run says why


def test_without_the_package_nothing_is_wrapped():
    def work():
        yield 1

    assert zero_gpu.spaces is None and not zero_gpu.ON
    assert zero_gpu.gpu(lambda: 1)(work) is work


# ---- limits ----


def test_limits_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("SPECVIZ_MAX_TOKENS", " 64 ")
    assert limits.limit("SPECVIZ_MAX_TOKENS", 512) == 64
    monkeypatch.delenv("SPECVIZ_MAX_TOKENS")
    assert limits.limit("SPECVIZ_MAX_TOKENS", 512) == 512
    for wrong in ("0", "-3", "many", "1.5", "²"):
        monkeypatch.setenv("SPECVIZ_MAX_TOKENS", wrong)
        with pytest.raises(
            ValueError, match="SPECVIZ_MAX_TOKENS must be a whole number from 1 to 1000000000; got"
        ):
            limits.limit("SPECVIZ_MAX_TOKENS", 512)


@pytest.mark.parametrize(
    ("limit", "asked", "sentence"),
    [
        ("PROMPT", {"prompt": "x" * 11}, "prompt must have at most 10 characters here; got 11"),
        ("TOKENS", {"max_new_tokens": 11}, "max_new_tokens must be at most 10 here; got 11"),
        (
            "NODES",
            {"builder": specviz.BUILDERS["dyspec"](size=11)},
            "tree must have at most 10 nodes here; got 11",
        ),
    ],
)
def test_a_limit_is_named_with_the_setting_that_moves_it(monkeypatch, limit, asked, sentence):
    monkeypatch.setattr(limits, limit, 10)
    small = {"max_new_tokens": 10, "builder": specviz.BUILDERS["chain"](depth=9)}
    limits.check(replace(CONFIG, **small))
    with pytest.raises(ValueError, match=re.escape(sentence)):
        limits.check(replace(CONFIG, **(small | asked)))


@pytest.mark.parametrize("name", specviz.BUILDERS)
def test_no_tree_has_more_nodes_than_the_limit_reckons_with(name):
    builder = specviz.BUILDERS[name]()
    configs = (
        specviz.RunConfig("abcabc", builder, rule, 0.9, max_new_tokens=60)
        for rule in specviz.VERIFIERS
    )
    config = next(config for config in configs if specviz.compatible(config).possible)
    steps = specviz.speculate(specviz.toy_pair(vocab=12), config)
    assert (name != "plain") < max(len(step.parents) for step in steps) <= limits.max_nodes(builder)


def test_the_settings_of_the_readme_are_those_that_are_read():
    written = set(re.findall(r"\| `(SPECVIZ_\w+)`", (ROOT / "docs/hosting.md").read_text("utf-8")))
    code = "".join(path.read_text("utf-8") for path in (ROOT / "app").rglob("*.py"))
    library = {"SPECVIZ_CACHE", "SPECVIZ_PLUGINS"}
    assert written == set(re.findall(r"SPECVIZ_[A-Z_]+", code)) | library


# ---- pairs that a visitor names ----


def visit(service, ref, work, *args):
    """All that a visitor gets."""

    async def items():
        prompts = [arg.prompt for arg in args if isinstance(arg, specviz.RunConfig)]
        asked = service.stream(Visitor("a"), ref, work, *args, prompts=prompts)
        async with aclosing(asked) as stream:
            return [item async for item in stream]

    return in_a_loop(items())


@pytest.fixture
def looks_at_models():
    """What looks at models that a visitor names."""
    return SameProcess()


@pytest.fixture
def service(monkeypatch, looks_at_models):
    monkeypatch.delenv("SPECVIZ_PAIR", raising=False)
    monkeypatch.setenv("SPECVIZ_CUSTOM", "1")
    trials = Requests(looks_at_models, 9)
    service = RunService(Pairs(offered(), others(trials)), trials)
    yield service
    service.shut_down(0)


@pytest.mark.adapter
def test_a_typed_pair_decodes_where_that_is_allowed(service, tmp_path):
    from tests.models.test_pair import save

    target, draft = save(tmp_path / "big"), save(tmp_path / "small", hidden_size=16)
    ref = service.pairs.find(f"{target} | {draft}")
    assert ref == PairRef(target, draft)
    items = visit(service, ref, explore.decode_run, CONFIG, ref, service.runs)
    sent = [json.loads(explore.page_message(item)) for item in items]
    assert sent[-1]["state"] == "done"
    about = next(update["head"]["pair"] for update in sent if "head" in update)
    assert about.startswith("big + small")
    for typed, sentence in (
        ("a|b|c", 'be like "target|draft"'),
        (" | b", "be like"),
        ("x" * 401, "at most 400"),
        (["a"], "models must be"),
    ):
        with pytest.raises(ValueError, match=re.escape(sentence)):
            service.pairs.find(typed)
    missing = PairRef(str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="nothing"):
        visit(service, missing, explore.decode_run, CONFIG, missing, service.runs)
    until(lambda: not is_busy(service))


def broken_tokenizer(folder, **changes):
    """A small pair's target whose tokenizer has other parts."""
    path = Path(folder) / "tokenizer.json"
    data = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(data | changes), encoding="utf-8")


@pytest.mark.adapter
@pytest.mark.parametrize("looks_at_models", [Process(30)], ids=["a process"])
def test_a_tokenizer_that_multiplies_text_ends_only_another_process(service, tmp_path):
    from tests.models.test_pair import save

    target = save(tmp_path / "grows")
    once = {"type": "Replace", "pattern": {"String": "q"}, "content": "q" * 100}
    broken_tokenizer(target, normalizer={"type": "Sequence", "normalizers": [once] * 6})
    ref, config = PairRef(target), replace(CONFIG, prompt="quick")
    with pytest.raises(ValueError, match=r"process ended|CPU time|makes [\d,]+ tokens"):
        visit(service, ref, explore.decode_run, config, ref, service.runs)
    assert visit(service, PairRef("tales"), lambda turn: iter([1]))[-1] == 1


@pytest.mark.adapter
def test_the_template_of_a_chat_model_is_tried_before_a_run_is_asked_by_it(tmp_path):
    from tests.models.test_chat import tokenizer
    from tests.models.test_pair import save

    bad = tokenizer("{% for m in messages %}{{ raise_exception('never') }}{% endfor %}")
    chat = (Message("user", "b"),)
    for prompt in ("a", chat):
        with pytest.raises(ValueError, match="chat template"):
            try_tokenizers(save(tmp_path / "bad", tokenizer=bad), "", [prompt])
    try_tokenizers(save(tmp_path / "good", tokenizer=tokenizer()), "", ["a", chat])


@pytest.mark.adapter
def test_a_configuration_of_200_000_layers_is_refused_before_anything_is_built(
    service, tmp_path, monkeypatch
):
    from specviz.models import pair
    from tests.models.test_pair import save

    target = Path(save(tmp_path / "deep"))
    config = json.loads((target / "config.json").read_text("utf-8"))
    (target / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 200_000}))
    ref = PairRef(str(target))
    with pytest.raises(ValueError, match="as many layers as the files"):
        visit(service, ref, explore.decode_run, CONFIG, ref, service.runs)
    assert not service.pairs.get(ref)
    monkeypatch.setattr(pair, "read_tokenizers", None)  # which would read the configuration
    for look in (describe, partial(try_tokenizers, prompts=["a"])):
        with pytest.raises(ValueError, match="as many layers as the files"):
            look(ref.target, "")


# ---- the Space's card and the container ----


def test_the_card_of_the_space():
    first, *lines, last = (ROOT / "tests/space.yml").read_text("utf-8").splitlines()
    assert first == last == "---"  # it stands in front of README.md in a Space (tests/space.sh)
    assert (ROOT / "README.md").read_text("utf-8").startswith("# specviz\n")
    data = dict(line.split(": ", 1) for line in lines)
    assert (
        data["sdk"] == "gradio"
        and (ROOT / data["app_file"]).is_file()
        and len(data["short_description"]) <= 60
    )
    assert data["python_version"] == '"3.12"', "ZeroGPU has no other one that the libraries accept"
    pinned = dict(
        re.findall(r"^(\S+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    )
    assert data["sdk_version"] == pinned["gradio"]
    lowest = re.search(r"^torch>=2\.(\d+),", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert int(lowest[1]) <= 11, "ZeroGPU has torch 2.8 to 2.11"
    assert not (ROOT / "spaces.py").exists() and not (ROOT / "spaces").exists(), (
        "would hide the package"
    )


def instructions():
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text("utf-8"))
    return [
        tuple(line.split(None, 1))
        for line in text.splitlines()
        if line.strip() and not line.startswith("#")
    ]


def sent_to_docker(path):
    """Whether .dockerignore lets a file through; the last line that fits decides."""
    kept = True
    for line in (ROOT / ".dockerignore").read_text().split():
        pattern = line.removeprefix("!").removeprefix("**/")
        parts = [path, *(parent.as_posix() for parent in Path(path).parents)]
        if any(
            fnmatch.fnmatch(part, pattern) or fnmatch.fnmatch(Path(part).name, pattern)
            for part in parts
        ):
            kept = line.startswith("!")
    return kept


def copied():
    """The files that the container holds, by their names in the repository."""
    for kind, line in instructions():
        for source in line.split()[:-1] if kind == "COPY" else []:
            assert (ROOT / source).exists(), source
            files = [ROOT / source] if (ROOT / source).is_file() else (ROOT / source).rglob("*")
            names = [file.relative_to(ROOT).as_posix() for file in files if file.is_file()]
            yield from filter(sent_to_docker, names)


def test_the_container_holds_the_rooms_and_what_names_their_libraries():
    names = list(copied())
    first = {name.split("/")[0] for name in names}
    assert first == {
        "LICENSE",
        "app",
        "assets",
        "constraints.txt",
        "requirements.txt",
        "specviz",
    }
    assert not [name for name in names if "__pycache__" in name or "assets/screenshots" in name]


@pytest.mark.nightly  # a server starts, from a copy of all that is shipped
def test_what_the_container_holds_is_enough_to_serve_the_page(tmp_path):
    for name in copied():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    command = json.loads(next(line for kind, line in instructions() if kind == "CMD"))
    check = json.loads(
        next(line for kind, line in instructions() if kind == "HEALTHCHECK").split("CMD", 1)[1]
    )
    assert command[0] == check[0] == "python"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    settings = {
        "GRADIO_SERVER_NAME": "127.0.0.1",
        "GRADIO_SERVER_PORT": port,
        "SPECVIZ_PAIR": "toy",
        "PYTHONPATH": "",
    }
    with subprocess.Popen(
        [sys.executable, *command[1:]],
        cwd=tmp_path,
        env=os.environ | settings,
        stdout=subprocess.DEVNULL,
    ) as server:
        try:
            asks = [sys.executable, *check[1:-1], check[-1].replace(":7860", f":{port}")]

            def healthy():
                return subprocess.run(asks, capture_output=True).returncode == 0

            until(lambda: healthy() or server.poll() is not None)
            assert server.poll() is None
        finally:
            server.terminate()
