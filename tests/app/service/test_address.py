"""Where the page is served: whatever is wrong with port, host or a setting is a sentence before
gradio is loaded."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from specviz.commands.cli import main

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def no_page(monkeypatch):
    monkeypatch.setitem(sys.modules, "app.page", None)
    monkeypatch.delenv("GRADIO_SERVER_NAME", raising=False)


WRONG = {  # a part of what is said -> arguments of the command, and settings
    "--port must be a whole number from 1 to 65535": [
        (["--port", port], {}) for port in ("-1", "0", "99999")
    ],
    "GRADIO_SERVER_PORT must be a whole number from 1 to 65535": [
        ([], {"GRADIO_SERVER_PORT": port}) for port in ("abc", "0", "70000")
    ],
    "GRADIO_SERVER_NAME must be a name or address of this machine": [
        ([], {"GRADIO_SERVER_NAME": host}) for host in ("nowhere.invalid", "a" * 300, "192.0.2.1")
    ],
}


@pytest.mark.parametrize(
    ("sentence", "case"), [(words, case) for words, cases in WRONG.items() for case in cases]
)
def test_what_is_wrong_is_one_sentence_that_names_it(capsys, monkeypatch, sentence, case):
    arguments, settings = case
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert main(["demo", *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error and error.count("\n") == 1


def test_a_port_in_use_is_said_by_name(capsys, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        monkeypatch.setenv("GRADIO_SERVER_PORT", port)
        for name, arguments in (("--port", ["--port", port]), ("GRADIO_SERVER_PORT", [])):
            assert main(["demo", *arguments]) == 2
            assert (
                f"{name} must be a free port; got {port}. Address already in use"
                in capsys.readouterr().err
            )


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("GRADIO_SERVER_PORT", "GRADIO_SERVER_PORT must be"),
        ("SPECVIZ_PREPARE", "SPECVIZ_PREPARE must be"),
        ("SPECVIZ_PLUGINS", "plugin 'abc' "),  # read before the page makes its menus
    ],
)
def test_the_script_says_it_as_well(setting, sentence):
    run = [sys.executable, "app/app.py"]
    done = subprocess.run(
        run,
        cwd=ROOT,
        env=os.environ | {"GRADIO_SERVER_PORT": "", setting: "abc"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and sentence in done.stderr and done.stderr.count("\n") == 1
