"""Bodies that are read from descriptors: they come with the line by SCM_RIGHTS."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.calls import NOBODY
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, eventually, join
from harness.wire import Wire
from origins.scripted import ScriptedOrigin


@pytest.fixture
def url(origin: ScriptedOrigin) -> Iterator[str]:
    yield origin.on("/", lambda exchange: exchange.reply(200)) + "?"


def call(wire: Wire, body: Any, descriptors: list[int], **params: Any) -> Any:
    """Make a request on a line with descriptors."""
    return wire.answer(wire.request_with(descriptors, "request.perform", body=body, **params))


def test_up_01_a_regular_file(wire: Wire, origin: ScriptedOrigin, url: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    with (tmp_path / "file").open("rb") as file:
        file.seek(5)
        assert call(wire, {"fd": 0}, [file.fileno()], url=url)["result"]["outcome"]["ok"]
        call(wire, {"fd": 1, "offset": 2, "length_bytes": 3}, [0, file.fileno()], url=url)
        assert file.tell() == 5
    assert [request.body for request in origin.requests] == [b"0123456789", b"234"]
    assert origin.requests[0].values("content-length") == ["10"]


@pytest.mark.parametrize("kind", ["pipe", "socket"])
@pytest.mark.parametrize("known", [True, False])
def test_up_01_what_comes_meanwhile(wire: Wire, origin: ScriptedOrigin, url: str, kind: str, known: bool) -> None:
    data = os.urandom(1_048_583)
    if kind == "pipe":
        read, write = os.pipe()
    else:
        near, far = socket.socketpair()
        read, write = near.detach(), far.detach()
    assert os.get_blocking(read)

    def feed() -> None:
        with os.fdopen(write, "wb") as pipe:
            pipe.write(data)

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    body = {"fd": 0, "length_bytes": len(data)} if known else {"fd": 0}
    assert call(wire, body, [read], url=url)["result"]["outcome"]["ok"]
    join([thread])
    assert os.get_blocking(read), "the caller's own descriptor is as it was"
    os.close(read)
    [received] = origin.requests
    assert received.body == data
    assert received.values("transfer-encoding") == ([] if known else ["chunked"])


def test_up_01_a_pipe_that_ends_too_soon(wire: Wire, origin: ScriptedOrigin, url: str) -> None:
    read, write = os.pipe()
    os.write(write, b"abc")
    os.close(write)
    error = call(wire, {"fd": 0, "length_bytes": 10}, [read], url=url)["result"]["outcome"]["error"]
    assert error["name"] == "session_task_failed.request_body_stream_exhausted"
    assert "3 of 10" in error["message"]
    assert origin.requests == []
    os.close(read)


@pytest.mark.parametrize("kind", ["whole", "part"])
def test_up_05_a_pipe_that_was_read_is_not_sent_again(wire: Wire, origin: ScriptedOrigin, url: str, kind: str) -> None:
    old = origin.on("/old", lambda exchange: exchange.reply(307, headers=[("Location", "/")]))
    read, write = os.pipe()
    os.write(write, b"abc")
    os.close(write)
    body: dict[str, Any] = {"fd": 0, "length_bytes": 3}
    if kind == "part":
        body = {"multipart": [{"name": "a", **body}]}
    error = call(wire, body, [read], url=old)["result"]["outcome"]["error"]
    assert error["name"] == "session_task_failed.request_body_stream_exhausted"
    assert [request.target for request in origin.requests] == ["/old"]
    os.close(read)


def test_mp_08_parts_from_descriptors(wire: Wire, origin: ScriptedOrigin, url: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    read, write = os.pipe()
    os.write(write, b"piped")
    with (tmp_path / "file").open("rb") as file:
        parts = [{"name": "a", "fd": 1, "length_bytes": 5}, {"name": "b", "fd": 0, "offset": 8}]
        body = {"multipart": parts, "boundary": "B"}
        assert call(wire, body, [file.fileno(), read], url=url)["result"]["outcome"]["ok"]
        untold = call(wire, {"multipart": [{"name": "a", "fd": 0}]}, [read], url=url)
    assert origin.requests[0].body == (
        b'--B\r\nContent-Disposition: form-data; name="a"\r\n\r\npiped\r\n'
        b'--B\r\nContent-Disposition: form-data; name="b"\r\n\r\n89\r\n--B--\r\n'
    )
    assert untold["error"]["data"]["path"] == "params.body.multipart[0].length_bytes"
    os.close(read)
    os.close(write)


def test_up_01_wrong_descriptors(wire: Wire, origin: ScriptedOrigin, url: str, tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    zero = os.open("/dev/zero", os.O_RDONLY)
    kernel = os.open("/proc/version", os.O_RDONLY)
    writable = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
    for descriptor, number in {
        folder: errno.EISDIR,
        zero: errno.EINVAL,
        kernel: errno.EINVAL,
        writable: errno.EBADF,
    }.items():
        error = call(wire, {"fd": 0}, [descriptor], url=url)["error"]["data"]
        assert (error["name"], error["errno"]) == ("file.cannot_open", number)
        os.close(descriptor)
    assert call(wire, {"fd": 1}, [0], url=url)["error"]["data"]["path"] == "params.body.fd"
    assert call(wire, {"fd": 0}, [], url=url)["error"]["data"]["path"] == "params.body.fd"
    assert origin.requests == []


@pytest.mark.parametrize("is_part", [False, True], ids=["body", "part"])
def test_up_01_sockets_of_other_families_are_refused(wire: Wire, url: str, is_part: bool) -> None:
    """Polling one of them may wait for its lock; the call has no effect."""
    before = wire.call("daemon.stats")["requests"]["made"]
    part = {"fd": 0, "length_bytes": 5}
    body = {"multipart": [{"name": "a", **part}]} if is_part else part
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        error = call(wire, body, [netlink.fileno()], url=url)["error"]["data"]
    place = "params.body.multipart[0].fd" if is_part else "params.body.fd"
    assert (error["name"], error["path"]) == ("invalid_params", place)
    assert "AF_UNIX, AF_INET or AF_INET6" in error["expected"]
    assert "pipe" in error["hint"]
    assert wire.call("daemon.stats")["requests"]["made"] == before


def test_up_01_what_nobody_claims_is_closed(daemon: Daemon, wire: Wire, url: str) -> None:
    """Also with too many descriptors, with invalid lines, and with clients that disconnect."""
    wire.call("daemon.ping")
    before = len(daemon.descriptors())
    for count in (1, 16, 40):
        call(wire, {"text": "x"}, [0] * count, url=url)
    wire.send_bytes(b'{"a\n', [0, 0])
    wire.receive()
    wire.send_bytes(b'  {"jsonrpc":"2.0","id":1,"method":"daemon.ping"}  \n  \n', [0, 0])
    wire.answer(1)
    with daemon.wire() as other:
        other.send_bytes(b'{"unfinished', [0, 0])
    eventually(lambda: len(daemon.descriptors()) <= before + 2)


def test_up_01_descriptors_belong_to_their_line(wire: Wire, origin: ScriptedOrigin, url: str, tmp_path: Path) -> None:
    """Lines before and after it, in the same piece of the stream, do not get it."""
    (tmp_path / "file").write_bytes(b"mine")
    line = json.dumps(
        {"jsonrpc": "2.0", "id": 2, "method": "request.perform", "params": {"url": url, "body": {"fd": 0}}}
    ).encode()
    with (tmp_path / "file").open("rb") as file:
        wire.socket.sendall(line.replace(b'"id": 2', b'"id": 1') + b"\n")
        wire.send_bytes(line[:40], [file.fileno()])
        wire.socket.sendall(line[40:] + b"\n" + line.replace(b'"id": 2', b'"id": 3') + b"\n")
        answers = {answer["id"]: answer for answer in (wire.receive() for _ in range(3))}
    assert "error" in answers[1]
    assert answers[2]["result"]["outcome"]["ok"]
    assert "error" in answers[3]
    assert [request.body for request in origin.requests] == [b"mine"]


ANOTHER_USER = """
import json, os, socket, sys
path, url, *files = sys.argv[1:]
passed = [os.open(file, os.O_RDONLY) for file in files]
os.setgid(65534)
os.setuid(65534)
connection = socket.socket(socket.AF_UNIX)
connection.connect(path)
answers = connection.makefile()
def ask(body):
    params = {"url": url, "kind": "upload", "body": body}
    call = {"jsonrpc": "2.0", "id": 1, "method": "request.perform", "params": params}
    socket.send_fds(connection, [json.dumps(call).encode() + b"\\n"], passed)
    return json.loads(answers.readline())
part = {"name": "f", "file_name": "a.txt"}
bodies = [{"fd": 0}, {"multipart": [{**part, "fd": 0}]}]
bodies += [{"file": files[0]}, {"multipart": [{**part, "file": files[0]}]}]
print(json.dumps([ask(body) for body in bodies]))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_up_01_other_users_send_descriptors_only(
    start: StartDaemon, origin: ScriptedOrigin, url: str, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    daemon = start(config={"access": {"uids": {"65534": "submit"}}})
    daemon.directory.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", ANOTHER_USER, str(daemon.socket), url, str(tmp_path / "mine")],
        check=True,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
    )
    *sent, by_path, part_by_path = json.loads(done.stdout)
    assert all(answer["result"]["outcome"]["ok"] for answer in sent)
    assert origin.requests[0].body == b"mine"
    assert b"\r\n\r\nmine\r\n--" in origin.requests[1].body
    assert [answer["error"]["data"]["name"] for answer in (by_path, part_by_path)] == ["file.not_owner"] * 2
    assert len(origin.requests) == 2


@pytest.mark.parametrize("more", [{}, {"text": "x"}], ids=["alone", "beside text"])
def test_a_file_in_memory_that_claims_to_have_no_end(wire: Wire, more: dict[str, str]) -> None:
    """The length of a form with it exceeds every integer: the form is sent, and ends with its request."""
    descriptor = os.memfd_create("endless")
    os.ftruncate(descriptor, 2**63 - 1)
    parts: list[dict[str, Any]] = [{"name": "endless", "fd": 0}]
    if more:
        parts.append({"name": "more", **more})
    answer = call(wire, {"multipart": parts}, [descriptor], url=NOBODY, resource_timeout_ms=300)
    os.close(descriptor)
    assert "error" in answer or not answer["result"]["outcome"]["ok"]
    assert wire.call("daemon.ping")["pong"]


def test_up_01_descriptors_end_with_a_line_that_a_thread_reads(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin, url: str, tmp_path: Path
) -> None:
    """They are closed when the line has been handled, and the next line gets none of them."""
    (tmp_path / "file").write_bytes(b"former")
    wire.call("daemon.ping")
    before = len(daemon.descriptors())
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "daemon.ping",
        "params": {"unknown": [[1, 2]] * 40_000},
    }
    with (tmp_path / "file").open("rb") as file:
        line = json.dumps(message).encode() + b"\n"
        sent = socket.send_fds(wire.socket, [line], [file.fileno()])
        wire.socket.sendall(line[sent:])
        wire.answer(1)
        eventually(lambda: len(daemon.descriptors()) <= before)
    call = {"jsonrpc": "2.0", "id": 2, "method": "request.perform", "params": {"url": url, "body": {"fd": 0}}}
    wire.send(call)
    assert wire.answer(2)["error"]["data"]["path"] == "params.body.fd"
    assert origin.requests == []
