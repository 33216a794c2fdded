"""Pairs that a visitor names, from a hub of the test's own: bytes as they come, a stop, and what is
too large."""

import json
import shutil
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from huggingface_hub import constants

import specviz
from app.service.fetching import any_pair
from app.service.pair_ref import PairRef
from specviz.base.files import PAIR
from tests.loops import one_pair

COMMIT = "0" * 40


class Server(BaseHTTPRequestHandler):
    """As much of a hub as is asked here: what a model is made of, and its files in pieces."""

    folder: Path
    gate: threading.Event

    def do_HEAD(self):
        self.do_GET(body=False)

    def do_GET(self, body=True):
        path = self.path.split("?")[0].strip("/")
        if "/tree/" in path:
            name = path.removeprefix("api/models/").split("/tree/")[0]
            files = sorted((self.folder / name).iterdir())
            tree = [
                {"type": "file", "path": one.name, "size": one.stat().st_size, "oid": "0" * 40}
                for one in files
            ]
            return self.answer(json.dumps(tree).encode(), body)
        if path.startswith("api/models/"):
            name = path.removeprefix("api/models/").split("/revision/")[0]
            return (
                self.answer(self.listing(name), body)
                if (self.folder / name).is_dir()
                else self.missing()
            )
        name, _, file = path.partition("/resolve/")
        place = self.folder / name / file.partition("/")[2]
        if not place.is_file():
            return self.missing()
        return self.answer(
            place.read_bytes(),
            body,
            ETag=f'"{place.stat().st_size:040d}"',
            **{"X-Repo-Commit": COMMIT},
        )

    def listing(self, name):
        paths = sorted((self.folder / name).iterdir())
        files = [
            {"rfilename": one.name, "size": one.stat().st_size, "blobId": "0" * 40} for one in paths
        ]
        return json.dumps(
            {
                "id": name,
                "sha": COMMIT,
                "siblings": files,
                "private": False,
                "gated": False,
                "disabled": False,
                "safetensors": {"parameters": {"F32": 10**8}, "total": 10**8},
                "downloads": 0,
                "likes": 0,
            }
        ).encode()

    def missing(self):
        self.send_response(404)
        self.send_header(
            "X-Error-Code", "EntryNotFound" if "/resolve/" in self.path else "RepoNotFound"
        )
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self, data, body, **headers):
        self.send_response(200)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            if "safetensors" in self.path:
                assert self.gate.wait(300)
            self.wfile.write(data)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path):
    handler = type("Handler", (Server,), {"folder": tmp_path / "hub", "gate": threading.Event()})
    (tmp_path / "hub").mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield handler, f"http://127.0.0.1:{server.server_port}"
        handler.gate.set()
        server.shutdown()


def tiny_model(folder):
    """A small model of the embedded pair's vocabulary."""
    from transformers import LlamaConfig, LlamaForCausalLM

    shape = dict(hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
    config = LlamaConfig(
        vocab_size=4096, num_key_value_heads=2, max_position_embeddings=128, **shape
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(PAIR / "target" / file, folder / file)


def notes_of(loading, stop):
    """What is said while a pair is loaded; the visitor may press Stop at the first bytes."""
    notes = []
    while not loading.result.done():
        if not notes or notes[-1] != loading.note:
            notes.append(loading.note)
        if stop and notes[-1].startswith("Downloading"):
            loading.leave()
            break
        time.sleep(0.01)
    return notes


@pytest.mark.adapter
def test_a_pair_that_is_named_is_fetched_stopped_and_fetched_again(server, tmp_path, monkeypatch):
    handler, url = server
    here = {
        "ENDPOINT": url,
        "HUGGINGFACE_CO_URL_TEMPLATE": url + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_CACHE": str(tmp_path / "home"),
        "HF_HUB_OFFLINE": False,
    }
    for name, value in here.items():
        monkeypatch.setattr(constants, name, value)
    names = ("org/target", "org/draft")
    for name in names:
        tiny_model(handler.folder / name)
    pairs, ref = one_pair(specviz.toy_pair), PairRef(*names)
    pairs.other = any_pair()
    with monkeypatch.context() as small:
        memory = SimpleNamespace(available=4 * 10**8)
        small.setattr(psutil, "virtual_memory", lambda: memory)
        with pytest.raises(ValueError, match=r"of memory, but only 400.0 MB are free"):
            pairs.load(ref).result.result()
    assert notes_of(pairs.load(ref), stop=True)[-1].startswith("Downloading the target: ")
    handler.gate.set()
    loading = pairs.load(ref)
    assert notes_of(loading, stop=False)
    pair = loading.result.result()
    assert specviz.run(pair, specviz.RunConfig("Once", max_new_tokens=3)).text
