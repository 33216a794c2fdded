"""Well-known pairs from a hub of the test's own: what the menu says, bytes as they come, a stop,
and no hub at all."""

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
from app.service import fetching, sizes
from app.service.fetching import WELL_KNOWN, Hub, label, may_fetch
from app.service.loading import Offer
from app.service.pair_ref import PairRef
from app.service.sizes import ModelFiles, too_large
from app.tabs.parts import pairs as menus
from specviz.base.files import PAIR
from tests.loops import in_a_loop, one_pair

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
                "tags": ["license:test-1.0"],
                "private": False,
                "gated": False,
                "disabled": False,
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
def test_a_pair_of_the_menu_is_fetched_stopped_and_fetched_again(server, tmp_path, monkeypatch):
    handler, url = server
    here = {
        "ENDPOINT": url,
        "HUGGINGFACE_CO_URL_TEMPLATE": url + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_CACHE": str(tmp_path / "home"),
        "HF_HUB_OFFLINE": False,
    }
    for name, value in here.items():
        monkeypatch.setattr(constants, name, value)
    names = WELL_KNOWN["SmolLM2 1.7B + 135M"]
    for name in names:
        tiny_model(handler.folder / name)
    pairs, ref = one_pair(specviz.toy_pair), PairRef(*names)
    pairs.add(Hub().offers())
    _, choice = pairs.choices()
    assert choice[1] == "|".join(names), "only what the hub has"
    for words in ("SmolLM2", "MB", "test-1.0", "fits"):
        assert words in choice[0]
    assert notes_of(pairs.load(ref), stop=True)[-1].startswith("Downloading the target: ")
    handler.gate.set()
    loading = pairs.load(ref)
    assert notes_of(loading, stop=False)
    pair = loading.result.result()
    assert specviz.run(pair, specviz.RunConfig("Once", max_new_tokens=3)).text


def test_without_a_hub_no_pair_is_offered(monkeypatch):
    def offline(name):
        raise OSError("no network")

    monkeypatch.setattr(sizes, "model_files", offline)
    assert Hub().offers() == {}


def test_what_is_too_large_says_so(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=4 * 10**9))
    small, large = ModelFiles("a/b", 10**8, None, "mit"), ModelFiles("a/c", 0, 7 * 10**9, "x")
    assert not too_large([small]) and "4.0 GB are free" in too_large([small, large])
    assert "fits" in label("A", [small])
    assert all(words in label("A", [small, large]) for words in ("✕ too large", "mit and x"))


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({}, True),
        ({"SPACE_ID": "me/specviz"}, False),
        ({"GRADIO_SERVER_NAME": "0.0.0.0"}, False),
        ({"SPECVIZ_HUB": "0"}, False),
        ({"SPACE_ID": "me/specviz", "SPECVIZ_HUB": "1"}, True),
        ({"SPECVIZ_PAIR": "toy"}, False),
    ],
)
def test_visitors_of_a_public_page_cannot_make_it_fetch(monkeypatch, settings, allowed):
    for name in ("SPACE_ID", "SYSTEM", "GRADIO_SERVER_NAME", "SPECVIZ_HUB", "SPECVIZ_PAIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert may_fetch() == allowed


def test_the_menu_asks_the_hub_when_a_page_is_opened(monkeypatch):
    import gradio as gr

    from app.service.service import RunService

    there = {"a|b": Offer("A · 1 MB", fetching.load_fetched)}
    monkeypatch.setattr(Hub, "offers", lambda self: there)
    for name in ("SPACE_ID", "SYSTEM", "GRADIO_SERVER_NAME", "SPECVIZ_HUB", "SPECVIZ_PAIR"):
        monkeypatch.delenv(name, raising=False)
    service = RunService(one_pair(specviz.toy_pair))
    with gr.Blocks() as page:
        menu = menus.models_menu(service, service.pairs.first)
        menus.connect(page, service)
    (event,) = page.fns.values()
    (shown,) = in_a_loop(event.fn()).values()
    assert [target[1] for target in event.targets] == ["load"] and not menu.visible
    assert ("A · 1 MB", "a|b") in shown.choices and shown.visible
    assert "downloaded from the hub" in shown.info and "a|b" in service.pairs.offers
    monkeypatch.setattr(Hub, "offers", lambda self: {})
    service.pairs.other = lambda ref: None
    with gr.Blocks() as page:
        menus.models_menu(service, service.pairs.first)
        menus.connect(page, service)
    *_, event = page.fns.values()  # the first is the menu's own
    (update,) = in_a_loop(event.fn()).values()
    assert update.info == "", "what this machine cannot reach is no visitor's concern"
