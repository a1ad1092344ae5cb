"""Descriptors that clients pass and whose close(2) waits: they hold no turn of the loop, and are bounded for a user."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.users import NOBODY as NOBODY_UID
from harness.users import as_root, wire_as
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import Wire
from origins.scripted import ScriptedOrigin


@pytest.fixture
def url(origin: ScriptedOrigin) -> Iterator[str]:
    yield origin.on("/", lambda exchange: exchange.reply(200)) + "?"


def lingering(data: bytes, seconds: int = 5) -> tuple[socket.socket, socket.socket]:
    """Return a socket with full buffers, whose close(2) waits once this data is read, and its silent peer."""
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
            wire.send_bytes(line[:9] if kind == "unfinished" else line, descriptors)
            # Now the daemon has the only reference.
            near.close()
            if kind != "unfinished":
                assert wire.answer(9)["result"]["outcome"]["ok"]
                assert wire.call("daemon.ping")["pong"]
        for _ in range(20):
            assert other.call("daemon.ping")["pong"]
    assert not data or data in origin.requests[-1].body


@contextlib.contextmanager
def stopped(daemon: Daemon) -> Iterator[None]:
    daemon.stop_between_turns()
    try:
        yield
    finally:
        daemon.signal(signal.SIGCONT)


def send_with(sender: socket.socket, data: bytes, near: socket.socket, flags: int) -> None:
    """Send bytes with a descriptor, to which only the receiver has a reference afterwards."""
    sender.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", near.fileno()))], flags)
    near.close()


@pytest.mark.parametrize("is_urgent", [False, True])
def test_b1_a_descriptor_inside_a_body_holds_no_turn(
    daemon: Daemon, origin: ScriptedOrigin, url: str, is_urgent: bool
) -> None:
    """A body that is read from a Unix socket may carry descriptors, which the kernel closes when the bytes are read.

    So it does with an urgent byte, which is no part of the body.
    """
    near, far = lingering(b"")
    ours, passed = socket.socketpair()
    with far, ours, passed, daemon.wire() as other, daemon.wire() as wire, bounded_turns(daemon):
        ours.sendall(b"hell")
        if is_urgent:
            send_with(ours, b"!", near, socket.MSG_OOB)
            ours.sendall(b"o")
        else:
            send_with(ours, b"o", near, 0)
        params = {"url": url, "method": "POST", "body": {"fd": 0, "length_bytes": 5}}
        message = {"jsonrpc": "2.0", "id": 9, "method": "request.perform", "params": params}
        wire.send(message, [passed.fileno()])
        assert wire.answer(9)["result"]["outcome"]["ok"]
        for _ in range(20):
            assert other.call("daemon.ping")["pong"]
    assert origin.requests[-1].body == b"hello"


def test_b1_a_descriptor_with_an_urgent_byte_holds_no_turn(daemon: Daemon) -> None:
    """The kernel drops an urgent byte that is not read, and closes the descriptors that came with it."""
    near, far = lingering(b"")
    with far, daemon.wire() as other, daemon.wire() as wire, bounded_turns(daemon):
        send_with(wire.socket, b"\n", near, socket.MSG_OOB)
        wire.send_bytes(b"[]\n")
        wire.receive()
        for _ in range(20):
            assert other.call("daemon.ping")["pong"]


def test_b1_a_descriptor_behind_the_end_of_a_connection_holds_no_turn(daemon: Daemon) -> None:
    """A client that the daemon disconnects has written more: unread descriptors are closed with its socket."""
    near, far = lingering(b"")
    with far, daemon.wire() as other, daemon.wire() as wire, bounded_turns(daemon):
        name = wire.call("client.hello", name="test")["client"]
        message = {"jsonrpc": "2.0", "id": 1, "method": "client.disconnect", "params": {"client": name}}
        # Stopped until all is sent: a turn reads up to the next descriptor.
        with stopped(daemon):
            for data in (json.dumps(message).encode() + b"\n", b"x", b"x", b"x"):
                wire.send_bytes(data, [0])
            send_with(wire.socket, b"x", near, 0)
        wire.answer(1)
        for _ in range(20):
            assert other.call("daemon.ping")["pong"]


def refusal(daemon: Daemon) -> Any:
    """Connect, and return the error if the connection is refused."""
    with daemon.wire(timeout=1) as wire, contextlib.suppress(TimeoutError):
        with contextlib.suppress(BrokenPipeError):
            wire.request("daemon.ping")
        return wire.receive().get("error")


def test_b1_descriptors_whose_close_waits_are_bounded_for_a_user(daemon: Daemon, wire: Wire, url: str) -> None:
    wire.call("daemon.ping")
    before = len(daemon.descriptors())
    null = os.open("/dev/null", os.O_RDONLY)
    with contextlib.ExitStack() as stack, bounded_turns(daemon):
        # The first of them occupy all threads of a user, so that the later ones wait. The daemon has
        # the only reference to each, since it reads none before all are closed here.
        daemon.stop_between_turns()
        for _ in range(40):
            near, far = lingering(b"", seconds=60)
            stack.enter_context(far)
            other = stack.enter_context(daemon.wire())
            other.send_bytes(b"[]\n", [near.fileno(), *[null] * 252])
            near.close()
        daemon.signal(signal.SIGCONT)
        error = eventually(lambda: refusal(daemon))["data"]
        assert (error["name"], error["retryable"]) == ("too_many_in_flight", True)
        assert len(daemon.descriptors()) - before < 1_600
        # It is not read before they are closed either.
        call = wire.request("daemon.ping")
        stack.close()
        assert wire.result(call)["pong"]
    os.close(null)
    eventually(lambda: len(daemon.descriptors()) <= before)
    with daemon.wire() as last:
        assert last.call("request.perform", url=url)["outcome"]["ok"]


def pass_too_many(daemon: Daemon, uid: int, null: int, peers: contextlib.ExitStack) -> None:
    """Pass descriptors until the maximum of one user waits to be closed, until the peers close."""
    with stopped(daemon):
        for _ in range(20):
            # One among those that a call can claim, one beyond them: each part is closed by a job of its own.
            pairs = [lingering(b"", seconds=60) for _ in range(2)]
            with wire_as(uid, daemon.socket) as other:
                first, second = (near.fileno() for near, _ in pairs)
                passed = [first, *[null] * 15, second, *[null] * 236]
                other.send_bytes(b"[]\n", passed)
            for near, far in pairs:
                near.close()
                peers.enter_context(far)
    eventually(lambda: len(daemon.descriptors()) > 1_012)


@as_root
@pytest.mark.parametrize("passes", [True, False])
def test_b1_refused_connections_with_descriptors_are_bounded(start: StartDaemon, passes: bool) -> None:
    daemon = start(config={"access": {"uids": {str(NOBODY_UID): "submit"}}})
    daemon.directory.chmod(0o755)
    with contextlib.ExitStack() as peers, Path("/dev/null").open() as null, daemon.wire() as wire:
        wire.call("daemon.ping")
        before = len(daemon.descriptors())
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (2_000, 2_000))
        pass_too_many(daemon, NOBODY_UID, null.fileno(), peers)
        with wire_as(NOBODY_UID, daemon.socket) as other:
            assert other.receive()["error"]["data"]["name"] == "too_many_in_flight"
        eventually(lambda: wire.call("daemon.stats")["worker"]["stalled"] == 16)
        full = len(daemon.descriptors())

        def crowd(count: int) -> int:
            """Connect and write, mostly before the daemon accepts. SIGSTOP would end its close(2)."""
            for _ in range(count):
                with wire_as(NOBODY_UID, daemon.socket) as other, contextlib.suppress(BrokenPipeError):
                    other.send_bytes(b"x", [null.fileno()] if passes else [])
            return len(daemon.descriptors()) - full

        if passes:
            assert any(crowd(50) > 450 for _ in range(400))
            crowd(200)
        else:
            crowd(900)
            eventually(lambda: wire.call("daemon.stats")["connections"]["refused"] > 900)
        # The daemon answers other clients, and keeps descriptors free for new ones.
        for _ in range(50):
            assert wire.call("daemon.ping")["pong"]
            assert len(daemon.descriptors()) - full <= (500 if passes else 5)
        peers.close()
        eventually(lambda: len(daemon.descriptors()) <= before)
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
