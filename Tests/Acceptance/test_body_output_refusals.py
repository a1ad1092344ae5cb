"""Descriptors for bodies that are refused, and what excludes them."""

from __future__ import annotations

import contextlib
import errno
import os
import pty
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


NOT_WRITABLE = "it is not open for writing"
OF_THE_KERNEL = "a file of the kernel, such as one of /proc or /sys"
WITH_A_BIT = "a file with a set-user-ID or set-group-ID bit"
NOT_CONNECTED = "not a connected stream socket of AF_UNIX, AF_INET or AF_INET6"
OF_ANOTHER_KIND = "not a pipe, a socket, a terminal, a regular file, or one of /dev/null, /dev/zero and /dev/full"
MISSING = "no descriptor {} came with the line, or it is used already"
EMULATOR = "the side of a terminal's emulator"


@contextlib.contextmanager
def opened(kind: str, folder: Path) -> Iterator[int]:
    """Open a file of a kind."""
    (folder / "file").write_bytes(b"")
    with contextlib.ExitStack() as stack:
        match kind:
            case "listening":
                descriptor = stack.enter_context(socket.create_server(("127.0.0.1", 0))).fileno()
            case "not connected":
                descriptor = stack.enter_context(socket.socket(socket.AF_UNIX)).fileno()
            case "datagrams" | "packets":
                form = socket.SOCK_DGRAM if kind == "datagrams" else socket.SOCK_SEQPACKET
                near, far = socket.socketpair(type=form)
                stack.enter_context(far)
                descriptor = stack.enter_context(near).fileno()
            case "netlink":
                descriptor = stack.enter_context(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)).fileno()
            case "an emulator":
                descriptor, terminal = pty.openpty()
                stack.callback(os.close, descriptor)
                stack.callback(os.close, terminal)
            case "set-user-ID":
                (folder / "file").chmod(0o6755 | stat.S_IWUSR)
                descriptor = os.open(folder / "file", os.O_WRONLY)
                stack.callback(os.close, descriptor)
            case _:
                descriptor = {
                    "for reading": lambda: os.open(folder / "file", os.O_RDONLY),
                    "by its path": lambda: os.open(folder / "file", os.O_PATH),
                    "a directory": lambda: os.open(folder, os.O_RDONLY),
                    "of /proc": lambda: os.open("/proc/self/comm", os.O_WRONLY),
                    "events": lambda: os.eventfd(0),
                }[kind]()
                stack.callback(os.close, descriptor)
        yield descriptor


@pytest.mark.parametrize(
    ("kind", "reason", "number"),
    [
        ("for reading", NOT_WRITABLE, errno.EBADF),
        ("by its path", NOT_WRITABLE, errno.EBADF),
        ("a directory", NOT_WRITABLE, errno.EBADF),
        ("of /proc", OF_THE_KERNEL, errno.EINVAL),
        ("set-user-ID", WITH_A_BIT, errno.EINVAL),
        ("listening", NOT_CONNECTED, errno.ENOTCONN),
        ("not connected", NOT_CONNECTED, errno.ENOTCONN),
        ("datagrams", NOT_CONNECTED, errno.ENOTCONN),
        ("packets", NOT_CONNECTED, errno.ENOTCONN),
        ("netlink", NOT_CONNECTED, errno.ENOTCONN),
        ("an emulator", EMULATOR, errno.EINVAL),
        ("events", OF_ANOTHER_KIND, errno.EINVAL),
    ],
)
def test_a_descriptor_that_is_not_written(
    wire: Wire, origin: ScriptedOrigin, text: str, tmp_path: Path, kind: str, reason: str, number: int
) -> None:
    with opened(kind, tmp_path) as descriptor:
        error = refuse(wire, [descriptor], url=text)
    assert error["message"] == f"cannot open descriptor 0: {reason}"
    assert (error["code"], error["data"]["name"], error["data"]["errno"]) == (1301, "file.cannot_open", number)
    assert error["data"]["path"] == "descriptor 0"
    assert error["data"]["hint"]
    assert origin.requests == []


@pytest.mark.parametrize(
    ("params", "path", "reason"),
    [
        ({"response_body": {"fd": 3}}, "params.response_body.fd", MISSING.format(3)),
        ({"body": {"fd": 0}}, "params.response_body.fd", MISSING.format(0)),
        (
            {"kind": "download", "destination": {"path": "/nonexistent/x"}},
            "params.destination",
            "the body goes to the descriptor of response_body",
        ),
        (
            {"serialize": "json"},
            "params.serialize",
            "the body goes to the descriptor of response_body, and is not kept",
        ),
        (
            {"key": "once"},
            "params.key",
            "the body is written once, and a call that is repeated with the key gets none",
        ),
        ({"kind": "stream"}, "params.response_body.fd", "the body of a stream goes elsewhere"),
        ({"kind": "download"}, "params.response_body.fd", "the body of a download goes elsewhere"),
        (
            {"validate": [{"callback": {"name": "check"}}]},
            "params.validate",
            "a callback validates the whole body, which is written as it arrives",
        ),
    ],
)
def test_what_excludes_it(
    wire: Wire, origin: ScriptedOrigin, text: str, params: dict[str, Any], path: str, reason: str
) -> None:
    pair = Pair("socket")
    error = refuse(wire, [pair.write], url=text, **params)
    assert (error["code"], error["data"]["name"], error["data"]["path"]) == (-32602, "invalid_params", path)
    assert error["message"] == f"Invalid params: {path}: {reason}"
    assert origin.requests == []
    pair.close()
