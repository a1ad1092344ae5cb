"""Uploads whose peer reads no more: they end in their time, and with the response if there is one."""

from __future__ import annotations

import contextlib
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, SLOWNESS, eventually
from origins import frames as h2
from origins.peer import StartPeer, Talk
from origins.scripted import ScriptedOrigin

LIMIT_MS = 2_000
LATE_SECONDS = 1.0 * SLOWNESS
"""How much later than its limit a request may end on a busy machine: less than another limit. 0.05 on a quiet one."""
BYTES = 30_000_000
STATUS = {
    200: h2.OK,
    302: b"\x08\x03302",
    413: b"\x08\x03413",
}


@pytest.fixture
def released() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(BYTES)
    return path


def timed(client: carpool.Client, **params: Any) -> tuple[dict[str, Any], float]:
    """Return the record of a request, and how many seconds it took."""
    began = time.monotonic()
    record = client.call("request.perform", method="POST", **params)
    return record, time.monotonic() - began


def assert_ended_in_time(record: dict[str, Any], seconds: float, since: float = 0.0) -> None:
    assert record["outcome"]["error"]["name"] == "session_task_failed.timed_out", record
    assert record["outcome"]["error"]["timeout"] == "idle"
    assert -0.05 <= seconds - since - LIMIT_MS / 1_000 < LATE_SECONDS, seconds


def target(origin: dict[str, Any], **params: Any) -> dict[str, Any]:
    """Parameters of a request over HTTP/2, or over TLS."""
    return {"url": f"https://127.0.0.1:{origin['port']}/", "trust": origin["trust"], **params}


def read_head(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(1)
    return data


# MARK: without a response


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_a_peer_that_stops_reading(
    client: carpool.Client, peer: StartPeer, released: threading.Event, large: Path, tls: bool
) -> None:
    """What its kernel has taken of the body counts only when it is taken."""

    def stall(connection: socket.socket) -> None:
        read_head(connection)
        released.wait(PATIENCE_SECONDS)

    origin = peer(stall, tls=tls)
    url = {"url": f"http://127.0.0.1:{origin['port']}/"} if not tls else target(origin, http_version="1.1")
    record, seconds = timed(client, **url, body={"file": str(large)}, timeout_ms=LIMIT_MS)
    assert_ended_in_time(record, seconds)


@pytest.mark.parametrize("length", [1, 50_000])
def test_a_server_that_is_silent_after_a_small_body(
    client: carpool.Client, origin: ScriptedOrigin, released: threading.Event, length: int
) -> None:
    url = origin.on_head("/", lambda _: released.wait(PATIENCE_SECONDS))
    record, seconds = timed(client, url=url, body={"text": "x" * length}, timeout_ms=LIMIT_MS)
    assert_ended_in_time(record, seconds)


def test_a_peer_that_reads_once_more(
    client: carpool.Client, peer: StartPeer, released: threading.Event, large: Path
) -> None:
    """The time counts from what it has read last."""
    last: list[float] = []

    def talk(connection: socket.socket) -> None:
        read_head(connection)
        released.wait(1.2)
        for _ in range(64):
            connection.recv(65_536)
        last.append(time.monotonic())
        released.wait(PATIENCE_SECONDS)

    origin = peer(talk, receive_bytes=262_144)
    began = time.monotonic()
    record, seconds = timed(
        client, url=f"http://127.0.0.1:{origin['port']}/", body={"file": str(large)}, timeout_ms=LIMIT_MS
    )
    assert_ended_in_time(record, seconds, last[0] - began)


def test_a_peer_that_reads_slowly_is_waited_for(client: carpool.Client, peer: StartPeer, tmp_path: Path) -> None:
    """libcurl and the kernel hold the rest of the body, and no event says that it is read."""
    (tmp_path / "body").write_bytes(bytes(900_000))

    def talk(connection: socket.socket) -> None:
        head = read_head(connection)
        length = int(head.lower().partition(b"content-length:")[2].split()[0])
        wait = threading.Event()
        while length > 0:
            length -= len(connection.recv(min(length, 60_000)))
            wait.wait(0.2)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        connection.recv(1)

    origin = peer(talk, receive_bytes=65_536)
    record, _ = timed(
        client, url=f"http://127.0.0.1:{origin['port']}/", body={"file": str(tmp_path / "body")}, timeout_ms=1_000
    )
    assert record["outcome"] == {"ok": True}, record


def stalling_h2(chat: Callable[[socket.socket, int], None]) -> Talk:
    """A server that opens no window, and calls the function when the first request is there."""

    def talk(connection: socket.socket) -> None:
        (stream,) = h2.greet(connection, 1)
        chat(connection, stream)

    return talk


@pytest.fixture
def is_multiplex(daemon: Daemon) -> bool:
    """The older libcurl sends large bodies over HTTP/1.1."""
    return bool(daemon.call("daemon.info")["libcurl"]["profile"] == "multiplex")


def ping(connection: socket.socket, _: int) -> None:
    """Send pings until the client leaves."""
    wait = threading.Event()
    while not wait.wait(0.2):
        connection.sendall(h2.frame(h2.PING, 0, 0, bytes(8)))


def answer_others(connection: socket.socket, first: int) -> None:
    """Answer the requests of other streams."""
    while True:
        kind, flags, stream, _ = h2.read(connection)
        if kind == h2.HEADERS and stream != first and flags & h2.END_STREAM:
            connection.sendall(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, stream, h2.OK))


@pytest.mark.parametrize("traffic", ["pings", "requests"])
def test_a_window_that_stays_closed(
    daemon: Daemon, client: carpool.Client, peer: StartPeer, released: threading.Event, large: Path, traffic: str,
    is_multiplex: bool,
) -> None:  # fmt: skip
    """Frames of the connection and of other streams are none of this one."""
    if not is_multiplex:
        pytest.skip("the older libcurl sends large bodies over HTTP/1.1")

    origin = peer(stalling_h2(ping if traffic == "pings" else answer_others), tls=True, protocols=("h2",))
    others: list[str] = []

    def ask_others() -> None:
        with daemon.wire() as wire:
            while not released.wait(0.2):
                record = wire.call("request.perform", **target(origin))
                others.append(str(record["outcome"]))

    asking = threading.Thread(target=ask_others, daemon=True)
    if traffic == "requests":
        asking.start()
    record, seconds = timed(client, **target(origin), body={"file": str(large)}, timeout_ms=LIMIT_MS)
    released.set()
    if traffic == "requests":
        asking.join()
        assert "{'ok': True}" in others
    assert_ended_in_time(record, seconds)


# MARK: with a response

LENGTH = b"Content-Length: 8\r\n\r\nanswered"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n8\r\nanswered\r\n0\r\n\r\n"


@pytest.mark.parametrize("status", [200, 413])
@pytest.mark.parametrize("framing", [LENGTH, CHUNKED], ids=["length", "chunked"])
@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_a_response_of_a_peer_that_reads_no_more(
    client: carpool.Client, peer: StartPeer, released: threading.Event, large: Path, tls: bool, framing: bytes,
    status: int,
) -> None:  # fmt: skip
    def talk(connection: socket.socket) -> None:
        read_head(connection)
        connection.sendall(b"HTTP/1.1 %d Reason\r\n" % status + framing)
        released.wait(PATIENCE_SECONDS)

    origin = peer(talk, tls=tls)
    url = {"url": f"http://127.0.0.1:{origin['port']}/"} if not tls else target(origin, http_version="1.1")
    record, seconds = timed(client, **url, body={"file": str(large)}, timeout_ms=20_000)
    assert record["outcome"]["ok"], record
    assert (record["response"]["status"], record["body"]["text"]) == (status, "answered")
    assert seconds < 5 * SLOWNESS


@pytest.mark.parametrize("framing", [LENGTH, CHUNKED], ids=["length", "chunked"])
@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_a_response_of_a_peer_that_closes(
    daemon: Daemon, peer: StartPeer, large: Path, tls: bool, framing: bytes, kind: str, is_multiplex: bool
) -> None:
    """While the body's source has no bytes, and while the connection takes none."""
    answered = threading.Event()

    def talk(connection: socket.socket) -> None:
        read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + framing)
        answered.wait(PATIENCE_SECONDS)

    origin = peer(talk, tls=tls)
    url = {"url": f"http://127.0.0.1:{origin['port']}/"} if not tls else target(origin, http_version="1.1")
    body: dict[str, Any] = {"file": str(large)} if kind == "file" else {"stream": True}
    with daemon.wire() as wire:
        request = wire.call("request.submit", **url, method="POST", body=body, timeout_ms=20_000)["request"]
        if kind == "stream":
            wire.call("body.put", request=request, text="start")
        eventually(lambda: wire.call("request.get", request=request).get("response"))
        answered.set()
        if kind == "stream":
            with contextlib.suppress(Exception):
                for _ in range(5):
                    wire.call("body.put", request=request, text="more")
                    threading.Event().wait(0.05)
                wire.call("body.put", request=request, end=True)
        record = wire.call("request.wait", request=request)
    if framing is CHUNKED and not is_multiplex and not record["outcome"]["ok"]:
        # That version does not say whether the last chunk has come when the connection has ended too.
        assert record["outcome"]["error"]["name"].endswith("network_connection_lost")
        return
    assert record["outcome"]["ok"], record
    assert record["body"]["text"] == "answered"


@pytest.mark.parametrize("framing", [LENGTH, CHUNKED], ids=["length", "chunked"])
def test_a_response_counts_before_the_next_piece_of_the_body(
    daemon: Daemon, peer: StartPeer, framing: bytes, is_multiplex: bool
) -> None:
    """The piece is there before the peer closes, and the daemon sees both in one turn: sending fails."""
    closes, has_closed = threading.Event(), threading.Event()

    def talk(connection: socket.socket) -> None:
        read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + framing)
        closes.wait(PATIENCE_SECONDS)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        has_closed.set()

    if framing is CHUNKED and not is_multiplex:
        pytest.skip("this libcurl does not say whether the last chunk has come when the connection has ended too")
    url = f"http://127.0.0.1:{peer(talk)['port']}/"
    with daemon.wire() as wire:
        request = wire.call("request.submit", url=url, method="POST", body={"stream": True})["request"]
        wire.call("body.put", request=request, text="start")
        eventually(lambda: wire.call("request.get", request=request).get("response"))
        daemon.stop_between_turns()
        wire.request("body.put", {"request": request, "text": "more"})
        closes.set()
        assert has_closed.wait(PATIENCE_SECONDS)
        daemon.signal(signal.SIGCONT)
        wire.receive()
        record = wire.call("request.wait", request=request)
    assert record["outcome"]["ok"], record["outcome"]
    assert record["body"]["text"] == "answered"


def test_a_part_of_a_chunked_response_is_not_the_whole(client: carpool.Client, peer: StartPeer, large: Path) -> None:
    """The server closes after a piece of its early response."""

    def talk(connection: socket.socket) -> None:
        read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + CHUNKED[:-5])
        connection.recv(65_536)

    origin = peer(talk)
    for _ in range(5):
        record, _ = timed(client, url=f"http://127.0.0.1:{origin['port']}/", body={"file": str(large)})
        assert record["outcome"].get("error", {}).get("name") == "session_task_failed.network_connection_lost", record


def test_a_server_that_answers_while_it_reads_gets_the_whole_body(
    client: carpool.Client, peer: StartPeer, large: Path
) -> None:
    received: list[int] = []

    def talk(connection: socket.socket) -> None:
        read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + CHUNKED)
        count = 0
        while count < BYTES and (piece := connection.recv(1 << 20)):
            count += len(piece)
        received.append(count)

    origin = peer(talk)
    record, _ = timed(client, url=f"http://127.0.0.1:{origin['port']}/", body={"file": str(large)})
    assert record["outcome"] == {"ok": True}
    eventually(lambda: received == [BYTES])


@pytest.mark.parametrize("status", list(STATUS))
@pytest.mark.parametrize("ending", ["head", "data", "reset after head", "reset after data", "cancel after data"])
def test_a_whole_response_over_http2_while_the_window_is_closed(
    client: carpool.Client, peer: StartPeer, released: threading.Event, large: Path, status: int, ending: str,
    is_multiplex: bool,
) -> None:  # fmt: skip
    """RFC 9113, section 8.1; the connection is used again."""
    if not is_multiplex:
        pytest.skip("the older libcurl sends large bodies over HTTP/1.1")
    connections: list[int] = []

    def answer(connection: socket.socket, stream: int) -> None:
        has_data = "data" in ending
        connection.sendall(
            h2.frame(h2.HEADERS, h2.END_HEADERS | (0 if has_data else h2.END_STREAM), stream, STATUS[status])
            + (h2.frame(h2.DATA, h2.END_STREAM, stream, b"answered") if has_data else b"")
            + (h2.reset(stream, 8 if "cancel" in ending else 0) if "after" in ending else b"")
        )

    def talk(connection: socket.socket) -> None:
        connections.append(1)
        (stream,) = h2.greet(connection, 1)
        answer(connection, stream)
        while True:
            kind, _, stream, _ = h2.read(connection)
            if kind == h2.HEADERS:
                connection.sendall(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, stream, h2.OK))

    origin = peer(talk, tls=True, protocols=("h2",))
    params = {"body": {"file": str(large)}, "timeout_ms": 20_000, "redirect": "do_not_follow"}
    record, seconds = timed(client, **target(origin), **params)
    assert record["outcome"]["ok"], record
    assert record["response"]["status"] == status
    assert record["body"].get("text", "") == ("answered" if "data" in ending else "")
    assert seconds < 5 * SLOWNESS
    record = client.call("request.perform", **target(origin))
    assert record["outcome"] == {"ok": True}
    assert len(connections) == 1


def test_a_part_of_a_response_over_http2_is_not_the_whole(
    client: carpool.Client, peer: StartPeer, large: Path, is_multiplex: bool
) -> None:
    if not is_multiplex:
        pytest.skip("the older libcurl sends large bodies over HTTP/1.1")

    def answer(connection: socket.socket, stream: int) -> None:
        head = h2.frame(h2.HEADERS, h2.END_HEADERS, stream, h2.OK)
        connection.sendall(head + h2.frame(h2.DATA, 0, stream, b"answ") + h2.reset(stream, 0))
        h2.wait_for_the_end(connection)

    origin = peer(stalling_h2(answer), tls=True, protocols=("h2",))
    record, _ = timed(client, **target(origin), body={"file": str(large)})
    assert record["outcome"]["error"]["name"] == "session_task_failed.network_connection_lost", record
