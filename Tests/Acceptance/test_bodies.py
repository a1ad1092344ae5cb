"""Bodies of responses: read in pieces, passed as descriptors, and deleted when no client needs them."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import Wire
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

LARGE = "/1m.bin"


@pytest.fixture
def receiver(daemon: Daemon) -> Iterator[socket.socket]:
    """A connection that receives descriptors."""
    with socket.socket(socket.AF_UNIX) as connected:
        connected.connect(str(daemon.socket))
        connected.settimeout(20)
        yield connected


def ask(receiver: socket.socket, method: str, **params: Any) -> tuple[dict[str, Any], list[int]]:
    """Make a call; return its answer and the descriptors that came with it."""
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    receiver.sendall(json.dumps(call).encode() + b"\n")
    line, descriptors = b"", []
    while not line.endswith(b"\n"):
        data, found, flags, _ = socket.recv_fds(receiver, 65_536, 16)
        assert data
        assert not flags & socket.MSG_CTRUNC
        line += data
        descriptors += found
    return json.loads(line), descriptors


def content(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def pieces(wire: Wire, request: str, length: int = 32_768) -> bytes:
    """Return a body as `body.read` returns it."""
    data = b""
    while True:
        piece = wire.call("body.read", request=request, offset=len(data), length_bytes=length)
        data += base64.b64decode(piece["base64"])
        if piece["eof"]:
            assert piece["size_bytes"] == len(data)
            return data


# Pieces and descriptors


@pytest.mark.parametrize("path", ["/empty.txt", "/hello.txt", "/200.bin", LARGE])
@pytest.mark.parametrize("kind", ["data", "download"])
def test_a_body_is_read_in_pieces_and_by_descriptor(
    wire: Wire, receiver: socket.socket, nginx: Nginx, folder: Path, path: str, kind: str
) -> None:
    params = {"destination": str(folder / "a")} if kind == "download" else {}
    request = wire.call("request.submit", url=nginx.http + path, kind=kind, **params)["request"]
    wire.call("request.wait", request=request)
    expected = nginx.hashes[path[1:]]
    assert hashlib.sha256(pieces(wire, request)).hexdigest() == expected
    answer, (descriptor,) = ask(receiver, "body.open", request=request)
    assert answer["result"]["descriptor"] == 0
    with pytest.raises(OSError, match=r"Bad file descriptor|Operation not permitted"):
        os.write(descriptor, b"x")
    data = content(descriptor)
    assert len(data) == answer["result"]["size_bytes"]
    assert hashlib.sha256(data).hexdigest() == expected


def test_a_body_in_memory_is_sealed(wire: Wire, receiver: socket.socket, nginx: Nginx) -> None:
    request = wire.call("request.submit", url=f"{nginx.http}/hello.txt")["request"]
    wire.call("request.wait", request=request)
    _, (descriptor,) = ask(receiver, "body.open", request=request)
    seals = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
    assert fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) == seals
    assert content(descriptor) == b"hello, world\n"


def test_a_descriptor_outlives_the_body(wire: Wire, receiver: socket.socket, nginx: Nginx, daemon: Daemon) -> None:
    record = wire.call("request.perform", url=nginx.http + LARGE)
    _, (descriptor,) = ask(receiver, "body.open", request=record["request"])
    assert wire.call("body.release", request=record["request"])["changed"]
    eventually(lambda: daemon.spooled() == [])
    assert hashlib.sha256(content(descriptor)).hexdigest() == nginx.hashes[LARGE[1:]]


def test_descriptors_come_with_their_own_lines(wire: Wire, receiver: socket.socket, nginx: Nginx) -> None:
    """Between other answers, each with the line that announces it."""
    requests = [wire.call("request.submit", url=nginx.http + path)["request"] for path in ("/hello.txt", "/200.bin")]
    for request in requests:
        wire.call("request.wait", request=request)
    calls = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": {"request": request}}
        for number, (method, request) in enumerate(
            [("request.get", requests[0]), ("body.open", requests[0]), ("body.open", requests[1])]
        )
    ]
    receiver.sendall(b"".join(json.dumps(call).encode() + b"\n" for call in calls))
    data, found = b"", []
    while data.count(b"\n") < 3:
        more, descriptors, _, _ = socket.recv_fds(receiver, 65_536, 16)
        data += more
        found += descriptors
        # The kernel may deliver bytes sent before a descriptor together with it, but never a later byte without it.
        assert len(found) >= data.count(b'"descriptor"')
    assert [len(content(descriptor)) for descriptor in found] == [13, 200]


def test_a_descriptor_comes_with_its_answer_though_events_wait(
    wire: Wire, receiver: socket.socket, nginx: Nginx
) -> None:
    request = wire.call("request.submit", url=f"{nginx.http}/hello.txt")["request"]
    wire.call("request.wait", request=request)
    ask(receiver, "events.subscribe")
    # A call without an answer, whose events wait when the next call is answered.
    submit = {"jsonrpc": "2.0", "method": "request.submit", "params": {"url": f"{nginx.http}/hello.txt"}}
    opening = {"jsonrpc": "2.0", "id": "open", "method": "body.open", "params": {"request": request}}
    receiver.sendall(b"".join(json.dumps(call).encode() + b"\n" for call in (submit, opening)))
    data, found, place = b"", [], -1
    while not (data.endswith(b"\n") and b'"open"' in data):
        # A byte at a time: a descriptor comes with the first byte that it was sent with.
        more, descriptors, _, _ = socket.recv_fds(receiver, 1, 16)
        assert more
        if descriptors:
            place = len(data)
        data += more
        found += descriptors
    assert [content(descriptor) for descriptor in found] == [b"hello, world\n"]
    assert data.count(b"\n") > 1, "events came before the answer"
    assert place == data[:-1].rindex(b"\n") + 1


def test_who_does_not_read_gets_no_more_descriptors(
    wire: Wire, receiver: socket.socket, nginx: Nginx, daemon: Daemon
) -> None:
    """An unread answer holds an open file."""
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    request = wire.call("request.submit", url=f"{nginx.http}/hello.txt")["request"]
    wire.call("request.wait", request=request)
    before = len(daemon.descriptors())
    call = {"jsonrpc": "2.0", "method": "body.open", "params": {"request": request}}
    for number in range(2_000):
        receiver.sendall(json.dumps({**call, "id": number}).encode() + b"\n")
    wire.call("daemon.ping")
    assert len(daemon.descriptors()) <= before + 16
    refused = 0
    data = b""
    while data.count(b"\n") < 2_000:
        more, descriptors, _, _ = socket.recv_fds(receiver, 65_536, 253)
        for descriptor in descriptors:
            os.close(descriptor)
        data += more
        refused = data.count(b"too_many_in_flight")
    # `before` may count one of the request that a thread has still to close.
    eventually(lambda: len(daemon.descriptors()) <= before)
    assert refused < 2_000


def test_body_open_is_refused(wire: Wire, origin: ScriptedOrigin, nginx: Nginx) -> None:
    def code(params: Any) -> int:
        return int(wire.answer(wire.request("body.open", params))["error"]["code"])

    assert code({"request": "r_none_1"}) == 1101
    gate = origin.hold("/held")
    request = wire.call("request.submit", url=f"{origin.url}/held")["request"]
    assert code({"request": request}) == 1102
    gate.set()
    wire.call("request.wait", request=request)
    wire.send([{"jsonrpc": "2.0", "id": 99, "method": "body.open", "params": {"request": request}}])
    (answer,) = wire.receive()
    assert answer["error"]["code"] == -32600


def test_a_download_s_file_that_has_gone(wire: Wire, nginx: Nginx, folder: Path) -> None:
    request = wire.call(
        "request.submit", url=f"{nginx.http}/hello.txt", kind="download", destination=str(folder / "a")
    )["request"]
    wire.call("request.wait", request=request)
    (folder / "a").unlink()
    for method in ("body.read", "body.open"):
        assert wire.answer(wire.request(method, request=request))["error"]["code"] == 1106
    os.mkfifo(folder / "a")
    for method in ("body.read", "body.open"):
        assert wire.answer(wire.request(method, request=request))["error"]["code"] == 1106


# Other users


# A client of another user, without a client library: it prints the answers and the bodies.
STRANGER = """
import hashlib, json, os, socket, sys
connected = socket.socket(socket.AF_UNIX)
connected.connect(sys.argv[1])

def call(method, **params):
    connected.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\\n")
    line, found = b"", []
    while not line.endswith(b"\\n"):
        data, more, _, _ = socket.recv_fds(connected, 65536, 16)
        line, found = line + data, found + more
    return json.loads(line), found

def can_open(path, flags):
    try:
        os.close(os.open(path, flags))
    except PermissionError:
        return False
    return True

told, _ = call("request.perform", url=sys.argv[2])
record = told["result"]
_, (descriptor,) = call("body.open", request=record["request"])
answer = {
    "path": can_open(record["body"]["file"], os.O_RDONLY),
    "write": can_open(f"/proc/self/fd/{descriptor}", os.O_RDWR),
    "sha256": hashlib.sha256(os.fdopen(descriptor, "rb").read()).hexdigest(),
    "refused": [
        call("request.perform", url=sys.argv[2], kind="download", **params)[0]["error"]["data"]["name"]
        for params in ({"destination": "/tmp/a"}, {"destination": {"directory": "/tmp"}}, {"resume_data": "x"})
    ],
    "spooled": call("request.perform", url=sys.argv[2], kind="download")[0]["result"]["body"]["size_bytes"],
}
print(json.dumps(answer))
"""
NOBODY = 65534


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_other_users_get_descriptors_only(start: Any, nginx: Nginx) -> None:
    daemon: Daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}})
    daemon.directory.chmod(0o755)
    daemon.socket.chmod(0o666)
    done = subprocess.run(
        ["/usr/bin/python3", "-I", "-c", STRANGER, str(daemon.socket), nginx.http + LARGE],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "path": False,
        "write": False,
        "sha256": nginx.hashes[LARGE[1:]],
        "refused": ["file.not_owner"] * 3,
        "spooled": 1 << 20,
    }


# Leases


def test_a_lease_ends_with_the_connection_that_performed_the_request(daemon: Daemon, nginx: Nginx) -> None:
    """The bodies of a program that was killed do not fill the spool of the other programs of its client."""
    with daemon.wire() as first, daemon.wire() as second:
        for wire in (first, second):
            wire.call("client.hello", name="reader")
        first.call("request.perform", url=nginx.http + LARGE)
        kept = Path(second.call("request.perform", url=nginx.http + LARGE)["body"]["file"])
        first.close()
        eventually(lambda: daemon.spooled() == [kept])
    eventually(lambda: daemon.spooled() == [])


def test_a_lease_lasts_as_long_as_its_connection_whatever_that_is_called_since(
    daemon: Daemon, nginx: Nginx, wire: Wire
) -> None:
    """A connection that changes its name keeps its bodies, and they are deleted with it."""
    with daemon.wire() as renamed:
        for name in ("first", "second", "third"):
            renamed.call("client.hello", name=name)
            renamed.call("request.perform", url=nginx.http + LARGE)
        renamed.call("client.hello", name="last")
        with daemon.wire() as namesake:
            namesake.call("client.hello", name="first")
        eventually(lambda: len(wire.call("client.list")["clients"]) == 2)
        assert len(daemon.spooled()) == 3
    eventually(lambda: daemon.spooled() == [])


@pytest.mark.own_daemon
def test_a_detached_lease_outlives_its_client(daemon: Daemon, nginx: Nginx, wire: Wire) -> None:
    with daemon.wire() as gone:
        gone.call("client.hello", name="gone")
        record = gone.call("request.perform", url=nginx.http + LARGE, on_disconnect="detach")
    eventually(lambda: len(wire.call("client.list")["clients"]) == 1)
    assert hashlib.sha256(Path(record["body"]["file"]).read_bytes()).hexdigest() == nginx.hashes[LARGE[1:]]


def test_a_submitted_request_keeps_its_body(daemon: Daemon, nginx: Nginx, wire: Wire) -> None:
    with daemon.wire() as gone:
        gone.call("client.hello", name="gone")
        request = gone.call("request.submit", url=nginx.http + LARGE)["request"]
        record = gone.call("request.wait", request=request)
        leased = gone.call("request.perform", url=nginx.http + LARGE)
    eventually(lambda: len(wire.call("client.list")["clients"]) == 1)
    eventually(lambda: not Path(leased["body"]["file"]).exists())
    assert Path(record["body"]["file"]).exists()
    wire.call("request.dismiss", request=request)
    eventually(lambda: daemon.spooled() == [])


def test_orphans_go_with_the_next_start(start: Any, nginx: Nginx) -> None:
    first: Daemon = start()
    with first.wire() as wire:
        wire.call("request.submit", url=nginx.http + LARGE)
        eventually(first.spooled)
        first.kill()
    assert first.spooled()
    second: Daemon = start()
    assert second.launch_status == "ready"
    assert second.spooled() == []
