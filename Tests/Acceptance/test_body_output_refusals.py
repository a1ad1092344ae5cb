"""Descriptors for bodies that are refused, and what excludes them."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.outputs import Pair, refuse
from harness.wire import Wire
from origins.scripted import ScriptedOrigin


@pytest.fixture
def text(origin: ScriptedOrigin) -> str:
    return origin.on("/text", lambda exchange: exchange.reply(200, b"a line\n"))


@pytest.fixture
def files(tmp_path: Path) -> Iterator[dict[str, int]]:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "program").write_bytes(b"")
    (tmp_path / "program").chmod(0o6755 | stat.S_IWUSR)
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    datagrams, peer = socket.socketpair(type=socket.SOCK_DGRAM)
    opened = {
        "for reading": os.open(tmp_path / "file", os.O_RDONLY),
        "by its path": os.open(tmp_path / "file", os.O_PATH),
        "a directory": os.open(tmp_path, os.O_RDONLY),
        "of /proc": os.open("/proc/self/comm", os.O_WRONLY),
        "set-user-ID": os.open(tmp_path / "program", os.O_WRONLY),
        "listening": listening.detach(),
        "datagrams": datagrams.detach(),
    }
    yield opened
    peer.close()
    for descriptor in opened.values():
        os.close(descriptor)


@pytest.mark.parametrize(
    "kind", ["for reading", "by its path", "a directory", "of /proc", "set-user-ID", "listening", "datagrams"]
)
def test_a_descriptor_that_is_not_written(
    wire: Wire, origin: ScriptedOrigin, text: str, files: dict[str, int], kind: str
) -> None:
    error = refuse(wire, [files[kind]], url=text)
    assert "descriptor 0" in error["message"] or "response_body" in error["data"]["path"]
    assert origin.requests == []


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"response_body": {"fd": 3}}, "params.response_body.fd"),
        ({"body": {"fd": 0}}, "params.response_body.fd"),
        ({"kind": "download", "destination": {"path": "/tmp/x"}}, "params.destination"),
        ({"serialize": "json"}, "params.serialize"),
        ({"kind": "stream"}, "params.response_body.fd"),
        ({"kind": "download"}, "params.response_body.fd"),
        ({"validate": [{"callback": {"name": "check"}}]}, "params.validate"),
    ],
)
def test_what_excludes_it(wire: Wire, origin: ScriptedOrigin, text: str, params: dict[str, Any], path: str) -> None:
    pair = Pair("socket")
    error = refuse(wire, [pair.write], url=text, **params)
    assert error["code"] == -32602
    assert error["data"]["path"] == path
    assert origin.requests == []
    pair.close()
