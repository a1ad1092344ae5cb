"""A program that may open no more files gets the errors of the client, and of the libraries of the adapters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import ScriptedOrigin

# The kinds of calls, each with what it raises. `call` returns what a program reads.
KINDS = {
    "get": ("client = carpool.Client()", "client.get(url).content", "carpool.CarpoolError"),
    "large_body": (
        "client = carpool.Client()",
        "client.post(url, files={'a': ('a', bytes(1 << 20)), 'b': ('b', bytes(1 << 20))}).content",
        "carpool.CarpoolError",
    ),
    "stream": ("client = carpool.Client()", "client.get(url, stream=True).read()", "carpool.CarpoolError"),
    "asyncio": (
        "client, loop = carpool.AsyncClient(), asyncio.new_event_loop()",
        "loop.run_until_complete(client.get(url)).content",
        "carpool.CarpoolError",
    ),
    "httpx": (
        "client = httpx.Client(transport=carpool.httpx.CarpoolTransport())",
        "client.get(url).content",
        "httpx.ConnectError",
    ),
    "httpx_upload": (
        "client = httpx.Client(transport=carpool.httpx.CarpoolTransport())",
        "client.post(url, content=iter([b'a', b'b'])).content",
        "httpx.ConnectError",
    ),
    "async_httpx": (
        "client = httpx.AsyncClient(transport=carpool.httpx.AsyncCarpoolTransport())\nloop = asyncio.new_event_loop()",
        "loop.run_until_complete(client.get(url)).content",
        "httpx.ConnectError",
    ),
    "requests": (
        "client = requests.Session(); client.mount('http://', carpool.requests.CarpoolAdapter())",
        "client.get(url).content",
        "requests.ConnectionError",
    ),
}
PROGRAM = """
import asyncio, os, resource, sys
import carpool, carpool.httpx, carpool.requests, httpx, requests

url = sys.argv[1]

def made():
    {make}
    return locals()

def call(values):
    globals().update(values)
    return {call}

# What the first call imports is imported, and no descriptor of a client is closed meanwhile.
clients = [made() for _ in range(10)]
assert call(clients[-1]) == b"body"
failures = 0
for values in clients:
    free = failures
    taken = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    try:
        while True:
            taken.append(os.open("/", os.O_RDONLY))
    except OSError:
        for _ in range(free):
            os.close(taken.pop())
    try:
        result = call(values)
    except {error} as error:
        failures += 1
        result = None
    finally:
        for descriptor in taken:
            os.close(descriptor)
    if result is not None:
        assert result == b"body"
        break
    assert call(values) == b"body"
print(0 < failures < 9)
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_without_descriptors_gets_the_errors_of_its_library(
    daemon: Daemon, origin: ScriptedOrigin, tmp_path: Path, kind: str
) -> None:
    origin.on("/", lambda exchange: exchange.reply(body=b"body"))
    make, call, error = KINDS[kind]
    program, temporary = tmp_path / "program.py", tmp_path / "temporary"
    temporary.mkdir()
    program.write_text(PROGRAM.format(make=make.replace("\n", "\n    "), call=call, error=error))
    done = subprocess.run(
        [sys.executable, program, f"{origin.url}/"],
        env={**os.environ, "CARPOOL_SOCKET": str(daemon.socket), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (done.stderr, done.stdout) == ("", "True\n")
    assert list(temporary.iterdir()) == []
