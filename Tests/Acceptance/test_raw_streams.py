"""`stream.*`: bytes over TCP and TLS."""

from __future__ import annotations

import base64
import hashlib
import queue
import random
import signal
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.raw import read_all
from harness.tcp import is_stopped, unsent
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import RemoteError, Wire
from origins.peer import StartPeer


def read(wire: Wire, stream: str, **params: Any) -> bytes:
    return base64.b64decode(wire.call("stream.read", stream=stream, **params)["base64"])


both = pytest.mark.parametrize("tls", [False, True], ids=["tcp", "tls"])


@both
def test_bytes_go_both_ways(wire: Wire, peer: StartPeer, tls: bool) -> None:
    opened = wire.call("stream.open", **peer(tls=tls))
    assert (opened["host"], opened["tls"]) == ("127.0.0.1", tls)
    stream = opened["stream"]
    assert wire.call("stream.write", stream=stream, text="hé") == {
        "accepted_bytes": 3,
        "offset_bytes": 3,
        "room_bytes": 262_144,
    }
    assert read_all(wire, stream, 3) == "hé".encode()
    assert wire.call("stream.write", stream=stream, base64=base64.b64encode(b"\x00\xff").decode())["offset_bytes"] == 5
    assert read_all(wire, stream, 2) == b"\x00\xff"
    assert wire.call("stream.close", stream=stream) == {"changed": True, "state": "closed"}
    assert wire.call("stream.close", stream=stream)["changed"] is False


@both
def test_large_data_goes_both_ways_at_once(wire: Wire, peer: StartPeer, tls: bool) -> None:
    data = random.Random(5).randbytes(8 << 20)
    stream = wire.call("stream.open", **peer(tls=tls))["stream"]
    digest, got = hashlib.sha256(), 0
    pieces = [data[start : start + 100_000] for start in range(0, len(data), 100_000)]
    writing, reading = None, None
    while got < len(data):
        if writing is None and pieces:
            writing = wire.request("stream.write", stream=stream, base64=base64.b64encode(pieces.pop(0)).decode())
        if reading is None:
            reading = wire.request("stream.read", stream=stream)
        answer = wire.receive()
        if answer["id"] == writing:
            writing = None
        else:
            piece = base64.b64decode(answer["result"]["base64"])
            got += len(piece)
            digest.update(piece)
            reading = None
    assert digest.digest() == hashlib.sha256(data).digest()


def test_the_peer_reads_the_end_and_is_still_heard(wire: Wire, peer: StartPeer) -> None:
    def talk(connection: socket.socket) -> None:
        data = b""
        while piece := connection.recv(65_536):
            data += piece
        connection.sendall(hashlib.sha256(data).digest())

    data = random.Random(6).randbytes(600_000)
    stream = wire.call("stream.open", **peer(talk))["stream"]
    wire.call("stream.write", stream=stream, base64=base64.b64encode(data[:300_000]).decode())
    wire.call("stream.write", stream=stream, base64=base64.b64encode(data[300_000:]).decode())
    assert wire.call("stream.close_write", stream=stream) == {"changed": True, "state": "half_closed"}
    assert wire.call("stream.close_write", stream=stream)["changed"] is False
    assert read_all(wire, stream, 32) == hashlib.sha256(data).digest()
    assert wire.call("stream.read", stream=stream) == {"base64": "", "size_bytes": 0, "eof": True}
    with pytest.raises(RemoteError) as refusal:
        wire.call("stream.write", stream=stream, text="more")
    assert refusal.value.error["data"]["state"] == "half_closed"


def test_tls_is_not_half_closed(wire: Wire, peer: StartPeer) -> None:
    stream = wire.call("stream.open", **peer(tls=True))["stream"]
    with pytest.raises(RemoteError) as refusal:
        wire.call("stream.close_write", stream=stream)
    assert (refusal.value.name, refusal.value.error["data"]["state"]) == ("wrong_state", "tls")
    wire.call("stream.write", stream=stream, text="goes on")
    assert read_all(wire, stream, 7) == b"goes on"


@both
def test_what_came_before_the_end_is_read(wire: Wire, peer: StartPeer, tls: bool) -> None:
    def talk(connection: socket.socket) -> None:
        connection.sendall(b"x" * 100_000)
        if isinstance(connection, socket.socket) and hasattr(connection, "unwrap"):
            connection.unwrap()

    stream = wire.call("stream.open", **peer(talk, tls=tls))["stream"]
    assert read_all(wire, stream, 100_000) == b"x" * 100_000
    assert wire.call("stream.read", stream=stream)["eof"] is True


@both
def test_writing_waits_for_a_peer_that_does_not_read(wire: Wire, peer: StartPeer, tls: bool) -> None:
    gate = threading.Event()
    digests: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def talk(connection: socket.socket) -> None:
        gate.wait(PATIENCE_SECONDS)
        digest = hashlib.sha256()
        tail = b""
        while tail != b"end." and (data := connection.recv(65_536)):
            digest.update(data)
            tail = (tail + data)[-4:]
        digests.put(digest.digest())

    stream = wire.call("stream.open", **peer(talk, tls=tls, receive_bytes=262_144))["stream"]
    piece = b"y" * 200_000
    # More than the buffers of the kernel, the daemon, and four calls.
    most = 4 * int(Path("/proc/sys/net/ipv4/tcp_wmem").read_text().split()[2]) + (4 << 20)
    sent, waiting, refused = hashlib.sha256(), set[int](), 0
    for _ in range(most // len(piece)):
        written = wire.request("stream.write", stream=stream, base64=base64.b64encode(piece).decode())
        waiting.add(written)
        # The daemon has handled the call when it answers the next one, whether or not the call is answered.
        barrier = wire.request("daemon.ping")
        while (answer := wire.receive())["id"] != barrier:
            waiting.remove(answer["id"])
            if "error" in answer:
                assert (answer["id"], answer["error"]["data"]["name"]) == (written, "too_many_in_flight")
                refused += 1
            else:
                assert answer["result"]["accepted_bytes"] == len(piece)
        if refused:
            break
        sent.update(piece)
    else:
        pytest.fail(f"{most} bytes were taken for a peer that does not read")
    assert len(waiting) <= 4
    gate.set()
    for call in sorted(waiting):
        assert wire.result(call)["accepted_bytes"] == len(piece)
    wire.call("stream.write", stream=stream, text="end.")
    sent.update(b"end.")
    assert digests.get(timeout=PATIENCE_SECONDS) == sent.digest()


def test_writes_that_wait_are_answered_when_a_later_one_empties_the_buffer(
    daemon: Daemon, wire: Wire, peer: StartPeer
) -> None:
    gate = threading.Event()

    def talk(connection: socket.socket) -> None:
        gate.wait(PATIENCE_SECONDS)
        while connection.recv(65_536):
            pass

    reached = peer(talk, receive_bytes=262_144)
    stream = wire.call("stream.open", **reached)["stream"]
    piece = base64.b64encode(bytes(600_000)).decode()
    waiting = set[int]()
    while len(waiting) < 2:
        waiting.add(wire.request("stream.write", stream=stream, base64=piece))
        barrier = wire.request("daemon.ping")
        while (answer := wire.receive())["id"] != barrier:
            waiting.remove(answer["id"])
    # Next the daemon handles a call, then other clients until its turn is full, and only then the free room.
    others = [daemon.wire() for _ in range(300)]
    daemon.signal(signal.SIGSTOP)
    try:
        waiting.add(wire.request("stream.write", stream=stream, text="z"))
        pings = [other.request("daemon.ping") for other in others]
        gate.set()
        eventually(lambda: unsent(reached["port"]) == 0)
    finally:
        daemon.signal(signal.SIGCONT)
    for call in waiting:
        assert "result" in wire.answer(call)
    for other, ping in zip(others, pings, strict=True):
        assert other.result(ping)["pong"]
        other.close()


@pytest.mark.own_daemon
def test_what_was_sent_is_not_kept(daemon: Daemon, wire: Wire, peer: StartPeer) -> None:
    """Of a client that always has more to send than the peer has read."""
    # Several segments of loopback: into a smaller window the kernel sends only a few times a second.
    size = 262_144
    may_read, has_read = threading.Semaphore(0), threading.Semaphore(0)

    def talk(connection: socket.socket) -> None:
        data = b"x"
        while data and may_read.acquire(timeout=PATIENCE_SECONDS):
            left = size
            while left and (data := connection.recv(min(left, 32_768))):
                left -= len(data)
            has_read.release()

    stream = wire.call("stream.open", **peer(talk, receive_bytes=size))["stream"]
    piece = base64.b64encode(bytes(600_000)).decode()
    before = daemon.memory_kib()
    waiting, taken = set[int](), 0
    while taken < 80:
        while len(waiting) < 4:
            waiting.add(wire.request("stream.write", stream=stream, base64=piece))
        barrier = wire.request("daemon.ping")
        while (answer := wire.receive())["id"] != barrier:
            assert answer["result"]["accepted_bytes"] == 600_000
            waiting.remove(answer["id"])
            taken += 1
        # The peer reads only while four calls wait for it.
        if len(waiting) == 4:
            may_read.release()
            assert has_read.acquire(timeout=PATIENCE_SECONDS)
    may_read.release(1_000)
    for call in waiting:
        assert wire.result(call)["accepted_bytes"] == 600_000
    assert daemon.memory_kib() - before < 20_000


@pytest.mark.own_daemon
@both
def test_a_peer_waits_for_a_client_that_does_not_read(daemon: Daemon, wire: Wire, peer: StartPeer, tls: bool) -> None:
    size = 64 << 20
    sent = [0]

    def talk(connection: socket.socket) -> None:
        while sent[0] < size:
            connection.sendall(b"z" * 65_536)
            sent[0] += 65_536

    before = daemon.memory_kib()
    reached = peer(talk, tls=tls)
    stream = wire.call("stream.open", **reached)["stream"]
    looks = 0

    def has_stopped() -> bool:
        nonlocal looks
        assert wire.call("daemon.ping")["pong"], "a turn in which the daemon could read"
        looks = looks + 1 if is_stopped(reached["port"]) else 0
        return looks >= 20 or sent[0] >= size

    eventually(has_stopped)
    assert sent[0] < size
    assert daemon.memory_kib() - before < 4_096
    assert len(read_all(wire, stream, 1_000_000)) >= 1_000_000


# Waiting


def test_a_read_waits_and_gives_up_in_time(wire: Wire, peer: StartPeer) -> None:
    stream = wire.call("stream.open", **peer())["stream"]
    assert wire.call("stream.read", stream=stream, timeout_ms=50) == {"base64": "", "size_bytes": 0, "eof": False}
    waiting = wire.request("stream.read", stream=stream)
    with pytest.raises(RemoteError) as refusal:
        wire.call("stream.read", stream=stream)
    assert refusal.value.error["data"]["state"] == "being read"
    wire.call("rpc.cancel", id=waiting)
    wire.call("stream.write", stream=stream, text="now")
    assert read_all(wire, stream, 3) == b"now"


def test_a_read_takes_no_more_than_was_asked_for(wire: Wire, peer: StartPeer) -> None:
    stream = wire.call("stream.open", **peer())["stream"]
    wire.call("stream.write", stream=stream, text="abcdef")
    assert read(wire, stream, max_bytes=2) == b"ab"
    assert read_all(wire, stream, 4) == b"cdef"


# Ownership


def test_a_stream_is_its_connections_own_and_goes_with_it(daemon: Daemon, wire: Wire, peer: StartPeer) -> None:
    ended = threading.Event()

    def talk(connection: socket.socket) -> None:
        connection.recv(1)
        ended.set()

    with daemon.wire() as other:
        stream = other.call("stream.open", **peer(talk))["stream"]
        with pytest.raises(RemoteError) as refusal:
            wire.call("stream.read", stream=stream)
        assert refusal.value.name == "stream.not_found"
        assert not ended.is_set()
    assert ended.wait(PATIENCE_SECONDS)


@both
def test_closing_ends_it_for_the_peer_and_for_who_waits(wire: Wire, peer: StartPeer, tls: bool) -> None:
    ended: list[bytes] = []
    over = threading.Event()

    def talk(connection: socket.socket) -> None:
        ended.append(connection.recv(1))
        over.set()

    stream = wire.call("stream.open", **peer(talk, tls=tls))["stream"]
    waiting = wire.request("stream.read", stream=stream)
    wire.request("stream.close", stream=stream)
    with pytest.raises(RemoteError) as refusal:
        wire.result(waiting)
    assert refusal.value.name == "stream.not_found"
    assert over.wait(PATIENCE_SECONDS)
    assert ended == [b""]


@pytest.mark.own_daemon
def test_a_connection_has_so_many_and_no_more(daemon: Daemon, wire: Wire, peer: StartPeer) -> None:
    where = peer()
    # Descriptors that the daemon opens once, with the first stream, are open before they are counted.
    wire.call("stream.close", stream=wire.call("stream.open", **where)["stream"])
    descriptors = len(daemon.descriptors())
    for _ in range(32):
        wire.call("stream.open", **where)
    with pytest.raises(RemoteError) as refusal:
        wire.call("stream.open", **where)
    assert refusal.value.name == "too_many_in_flight"
    for number in range(2, 34):
        wire.call("stream.close", stream=f"raw_{number}")
    wire.call("stream.open", **where)
    assert len(daemon.descriptors()) <= descriptors + 3
