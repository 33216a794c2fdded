"""A server of its own for an attack: the page as a visitor meets it, and clients of it."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil

ROOT = Path(__file__).resolve().parents[2]
WAIT = 180


class Server:
    """A running page: its address, its process, and the numbers of its events."""

    def __init__(self, url, process):
        self.url, self.process = url, process

    @property
    def memory(self):
        """Bytes of the process that computes."""
        return psutil.Process(self.process.pid).memory_info().rss

    def client(self, **more):
        # a connection of its own for each request, as other visitors have
        limits = httpx.Limits(max_connections=500, max_keepalive_connections=0)
        return httpx.AsyncClient(
            base_url=self.url, timeout=WAIT, trust_env=False, limits=limits, **more
        )


@contextmanager
def serving(**settings):
    """Start the page with toy tables, and end it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    environment = os.environ | {
        "GRADIO_SERVER_PORT": port,
        "SPECVIZ_PAIR": "toy",
        "SPECVIZ_PREPARE": "0",
        **settings,
    }
    environment = {name: value for name, value in environment.items() if value is not None}
    command = [sys.executable, str(ROOT / "app" / "app.py")]
    with subprocess.Popen(
        command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            for line in process.stdout:
                if line.startswith("specviz: "):
                    break
            yield Server(line.removeprefix("specviz: ").strip(), process)
        finally:
            process.kill()


async def run(client, address, session="", tokens=20, **more):
    """A run of one visitor through `/generate`: what came, and after how many seconds it ended."""
    began = time.monotonic()
    body = {"prompt": "abc", "max_new_tokens": tokens, "plain_rounds": 0} | more
    headers = {"X-Forwarded-For": address}
    joined = await client.post("gradio_api/call/v2/generate", json=body, headers=headers)
    if joined.status_code != 200:
        return {"error": joined.text, "seconds": time.monotonic() - began}
    event, last = joined.json()["event_id"], ""
    async with client.stream(
        "GET", f"gradio_api/call/v2/generate/{event}", headers=headers
    ) as lines:
        async for line in lines.aiter_lines():
            if line.startswith("event:"):
                last = line.removeprefix("event:").strip()
            if line.startswith("data:") and last in ("complete", "error"):
                data = json.loads(line.removeprefix("data:"))
                return {last: data, "seconds": time.monotonic() - began}
    return {"error": "the stream ended", "seconds": time.monotonic() - began}


def together(coroutine):
    return asyncio.run(coroutine)
