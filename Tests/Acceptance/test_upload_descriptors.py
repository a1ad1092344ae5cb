"""Bodies that are read from descriptors: they come with the line by SCM_RIGHTS."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import signal
import socket
import struct
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
from harness.gauge import bounded_turns
from harness.users import NOBODY as NOBODY_UID
from harness.users import as_root, wire_as
from harness.waiting import PATIENCE_SECONDS, eventually, join
from harness.wire import Wire
from origins.scripted import ScriptedOrigin


@pytest.fixture
def url(origin: ScriptedOrigin) -> Iterator[str]:
    yield origin.on("/", lambda exchange: exchange.reply(200)) + "?"


def call(wire: Wire, body: Any, descriptors: list[int], **params: Any) -> Any:
    """Make a request on a line with descriptors."""
    message = {"jsonrpc": "2.0", "id": 900, "method": "request.perform", "params": {"body": body, **params}}
    socket.send_fds(wire.socket, [json.dumps(message).encode() + b"\n"], descriptors)
    return wire.answer(900)


def open_descriptors(daemon: Daemon) -> int:
    return sum(1 for _ in Path(f"/proc/{daemon.pid}/fd").iterdir())


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


def test_up_01_what_nobody_claims_is_closed(daemon: Daemon, wire: Wire, url: str) -> None:
    """Also with more than may come, with lines that are none, and with those whose client goes."""
    wire.call("daemon.ping")
    before = open_descriptors(daemon)
    for count in (1, 16, 40):
        call(wire, {"text": "x"}, [0] * count, url=url)
    socket.send_fds(wire.socket, [b'{"a\n'], [0, 0])
    wire.receive()
    socket.send_fds(wire.socket, [b'  {"jsonrpc":"2.0","id":1,"method":"daemon.ping"}  \n  \n'], [0, 0])
    wire.answer(1)
    with daemon.wire() as other:
        socket.send_fds(other.socket, [b'{"unfinished'], [0, 0])
    eventually(lambda: open_descriptors(daemon) <= before + 2)


def test_up_01_descriptors_belong_to_their_line(wire: Wire, origin: ScriptedOrigin, url: str, tmp_path: Path) -> None:
    """Lines before and behind it, in the same piece of the stream, have nothing of it."""
    (tmp_path / "file").write_bytes(b"mine")
    line = json.dumps(
        {"jsonrpc": "2.0", "id": 2, "method": "request.perform", "params": {"url": url, "body": {"fd": 0}}}
    ).encode()
    with (tmp_path / "file").open("rb") as file:
        wire.socket.sendall(line.replace(b'"id": 2', b'"id": 1') + b"\n")
        socket.send_fds(wire.socket, [line[:40]], [file.fileno()])
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
    """The length of a form with it is more than any number: the form is sent, and ends when its request does."""
    descriptor = os.memfd_create("endless")
    os.ftruncate(descriptor, 2**63 - 1)
    parts: list[dict[str, Any]] = [{"name": "endless", "fd": 0}]
    if more:
        parts.append({"name": "more", **more})
    answer = call(wire, {"multipart": parts}, [descriptor], url=NOBODY, resource_timeout_ms=300)
    os.close(descriptor)
    assert "error" in answer or not answer["result"]["outcome"]["ok"]
    assert wire.call("daemon.ping")["pong"]


def lingering(data: bytes, seconds: int = 5) -> tuple[socket.socket, socket.socket]:
    """A socket whose close waits once this is read, its buffers being full; and its peer, which does not read."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        far, _ = server.accept()
    near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, seconds))
    far.sendall(data)
    near.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            near.send(bytes(65_536))
    return near, far


@pytest.mark.parametrize("kind", ["unclaimed", "claimed", "part", "surplus", "unfinished"])
def test_b1_a_descriptor_whose_close_waits_holds_no_turn(
    daemon: Daemon, origin: ScriptedOrigin, url: str, kind: str
) -> None:
    data = b"hello" if kind in {"claimed", "part"} else b""
    near, far = lingering(data)
    with far, daemon.wire() as other, bounded_turns(daemon):
        with daemon.wire() as wire, near:
            descriptors = [*[0] * 16, near.fileno()] if kind == "surplus" else [near.fileno()]
            body: dict[str, Any] = {"text": "x"}
            if kind == "claimed":
                body = {"fd": 0, "length_bytes": 5}
            elif kind == "part":
                body = {"multipart": [{"name": "a", "fd": 0, "length_bytes": 5}]}
            params = {"url": url, "method": "POST", "body": body}
            message = {"jsonrpc": "2.0", "id": 9, "method": "request.perform", "params": params}
            line = json.dumps(message).encode() + b"\n"
            socket.send_fds(wire.socket, [line[:9] if kind == "unfinished" else line], descriptors)
            # From here on the daemon has the only reference.
            near.close()
            if kind != "unfinished":
                assert wire.answer(9)["result"]["outcome"]["ok"]
                assert wire.call("daemon.ping")["pong"]
        for _ in range(20):
            assert other.call("daemon.ping")["pong"]
    assert not data or data in origin.requests[-1].body


def test_up_01_descriptors_end_with_a_line_that_a_thread_reads(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin, url: str, tmp_path: Path
) -> None:
    """They are closed when it has been handled, and the next line has none of them."""
    (tmp_path / "file").write_bytes(b"former")
    wire.call("daemon.ping")
    before = open_descriptors(daemon)
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
        eventually(lambda: open_descriptors(daemon) <= before)
    call = {"jsonrpc": "2.0", "id": 2, "method": "request.perform", "params": {"url": url, "body": {"fd": 0}}}
    wire.send(call)
    assert wire.answer(2)["error"]["data"]["path"] == "params.body.fd"
    assert origin.requests == []


def refusal(daemon: Daemon) -> Any:
    """Connect, and return the error if the connection is refused."""
    with daemon.wire(timeout=1) as wire, contextlib.suppress(TimeoutError):
        with contextlib.suppress(BrokenPipeError):
            wire.request("daemon.ping")
        return wire.receive().get("error")


def test_b1_descriptors_whose_close_waits_are_bounded_for_a_user(daemon: Daemon, wire: Wire, url: str) -> None:
    wire.call("daemon.ping")
    before = open_descriptors(daemon)
    null = os.open("/dev/null", os.O_RDONLY)
    with contextlib.ExitStack() as stack:
        # The first of them hold all threads that a user may have, so that what comes behind them waits. The daemon has
        # the only reference to each, since it reads none before all are closed here.
        daemon.signal(signal.SIGSTOP)
        for _ in range(40):
            near, far = lingering(b"", seconds=60)
            stack.enter_context(far)
            other = stack.enter_context(daemon.wire())
            socket.send_fds(other.socket, [b"[]\n"], [near.fileno(), *[null] * 252])
            near.close()
        daemon.signal(signal.SIGCONT)
        error = eventually(lambda: refusal(daemon))["data"]
        assert (error["name"], error["retryable"]) == ("too_many_in_flight", True)
        assert open_descriptors(daemon) - before < 1_600
        # It is not read either, until they are closed.
        call = wire.request("daemon.ping")
        stack.close()
        assert wire.result(call)["pong"]
    os.close(null)
    eventually(lambda: open_descriptors(daemon) <= before)
    with daemon.wire() as last:
        assert last.call("request.perform", url=url)["outcome"]["ok"]


@contextlib.contextmanager
def stopped(daemon: Daemon) -> Iterator[None]:
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(daemon.pid, signal.SIGCONT)


def pass_too_many(daemon: Daemon, uid: int, null: int, peers: contextlib.ExitStack) -> None:
    """Pass descriptors of which as many wait to be closed as one user may have, until the peers close."""
    with stopped(daemon):
        for _ in range(20):
            # One among those that a call may claim, one among the surplus: each part is closed by a job of its own.
            pairs = [lingering(b"", seconds=60) for _ in range(2)]
            with wire_as(uid, daemon.socket) as other:
                first, second = (near.fileno() for near, _ in pairs)
                passed = [first, *[null] * 15, second, *[null] * 236]
                socket.send_fds(other.socket, [b"[]\n"], passed)
            for near, far in pairs:
                near.close()
                peers.enter_context(far)
    eventually(lambda: open_descriptors(daemon) > 1_012)


@as_root
@pytest.mark.parametrize("passes", [True, False])
def test_b1_refused_connections_with_descriptors_are_bounded(start: StartDaemon, passes: bool) -> None:
    daemon = start(config={"access": {"uids": {str(NOBODY_UID): "submit"}}})
    daemon.directory.chmod(0o755)
    with contextlib.ExitStack() as peers, Path("/dev/null").open() as null, daemon.wire() as wire:
        wire.call("daemon.ping")
        before = open_descriptors(daemon)
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (2_000, 2_000))
        pass_too_many(daemon, NOBODY_UID, null.fileno(), peers)
        with wire_as(NOBODY_UID, daemon.socket) as other:
            assert other.receive()["error"]["data"]["name"] == "too_many_in_flight"
        eventually(lambda: wire.call("daemon.stats")["worker"]["stalled"] == 16)
        full = open_descriptors(daemon)

        def crowd(count: int) -> int:
            """Connect and write, mostly before the daemon accepts. A signal that stopped it would end its close(2)."""
            for _ in range(count):
                with wire_as(NOBODY_UID, daemon.socket) as other, contextlib.suppress(BrokenPipeError):
                    socket.send_fds(other.socket, [b"x"], [null.fileno()] if passes else [])
            return open_descriptors(daemon) - full

        if passes:
            assert any(crowd(50) > 450 for _ in range(400))
            crowd(200)
        else:
            crowd(900)
            eventually(lambda: wire.call("daemon.stats")["connections"]["refused"] > 900)
        # Its other clients go on, and so would what it accepts.
        for _ in range(50):
            assert wire.call("daemon.ping")["pong"]
            assert open_descriptors(daemon) - full <= (500 if passes else 5)
        peers.close()
        eventually(lambda: open_descriptors(daemon) <= before)
        with wire_as(NOBODY_UID, daemon.socket) as other:
            assert other.call("daemon.ping")["pong"]


REFUSED_USER = """
import os, socket, sys
connection = socket.socket(socket.AF_UNIX)
os.setgid(65534)
os.setuid(65534)
connection.connect(sys.argv[1])
socket.send_fds(connection, [b"{}"], [int(sys.argv[2])])
os.close(int(sys.argv[2]))
while connection.recv(4096):
    pass
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_b1_a_refused_user_whose_descriptors_wait_holds_no_turn(start: StartDaemon) -> None:
    daemon = start(config={"access": {"uids": {"65533": "submit"}}})
    daemon.directory.chmod(0o755)
    near, far = lingering(b"")
    with far, daemon.wire() as other, bounded_turns(daemon):
        command = [sys.executable, "-c", REFUSED_USER, str(daemon.socket), str(near.fileno())]
        process = subprocess.Popen(command, pass_fds=[near.fileno()])
        near.close()
        assert process.wait(PATIENCE_SECONDS) == 0
        for _ in range(20):
            assert other.call("daemon.ping")["pong"]
