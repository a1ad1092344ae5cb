"""A connection that cannot take another stream, or has failed, is not used for the next request."""

from __future__ import annotations

import contextlib
import ctypes
import signal
import socket
import ssl
import struct
import subprocess
import threading
import time
from typing import Any

import pytest
from harness.calls import line, send_and_read
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, SLOWNESS, eventually
from harness.wire import Wire
from origins import frames as h2
from origins.peer import StartPeer

MAX_CONCURRENT_STREAMS = 3
INITIAL_WINDOW_SIZE = 4
HTTP_1_1_REQUIRED = 13
SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
BPF_RETURN = 6
NO_STREAMS = h2.frame(h2.SETTINGS, 0, 0, struct.pack(">HI", MAX_CONCURRENT_STREAMS, 0))
CONNECTIONS = 6
"""To one host."""
SILENT_SECONDS = 0.6
"""Longer than a server may be silent before its connection is taken for stuck, when a request on it is ended."""
AT_ONCE_SECONDS = 3.0 * SLOWNESS
RESPONSE = h2.END_HEADERS | h2.END_STREAM


@pytest.fixture(autouse=True)
def multiplexing(daemon: Daemon) -> None:
    if daemon.call("daemon.info")["libcurl"]["profile"] != "multiplex":
        pytest.skip("this libcurl gets HTTP/1.1")


class Server:
    """Its first connection answers one request, then does something; the others answer every request."""

    def __init__(self, fault: bytes, *, before: bool = False, together: bool = False) -> None:
        self.fault = fault
        self.before = before
        self.together = together
        self.connections = 0
        self.is_stuck = threading.Event()

    def __call__(self, connection: socket.socket) -> None:
        self.connections += 1
        is_first = self.connections == 1
        (stream,) = h2.greet(connection, 1)
        if is_first and self.before:
            connection.sendall(self.fault)
            return h2.wait_for_the_end(connection)
        response = h2.frame(h2.HEADERS, RESPONSE, stream, h2.OK)
        connection.sendall(response + (self.fault if is_first and self.together else b""))
        if is_first and not self.together:
            connection.sendall(self.fault)
        while True:
            (stream,) = h2.read_requests(connection, 1)
            if is_first and self.is_stuck.is_set():
                return h2.wait_for_the_end(connection)
            connection.sendall(h2.frame(h2.HEADERS, RESPONSE, stream, h2.OK))


def perform(daemon: Daemon, origin: dict[str, Any], **params: Any) -> dict[str, Any]:
    url = f"https://127.0.0.1:{origin['port']}/"
    with daemon.wire() as wire:
        record: dict[str, Any] = wire.call("request.perform", url=url, trust=origin["trust"], **params)
    return record


@pytest.mark.parametrize(
    "fault", [NO_STREAMS, h2.frame(h2.GOAWAY, 0, 0, struct.pack(">II", 1, 0))], ids=["no-streams", "goaway"]
)
@pytest.mark.parametrize("together", [True, False], ids=["with the response", "later"])
def test_the_next_request_has_a_connection_of_its_own(
    daemon: Daemon, peer: StartPeer, fault: bytes, together: bool
) -> None:
    server = Server(fault, together=together)
    origin = peer(server, tls=True, protocols=("h2",))
    for _ in range(3):
        begun = time.monotonic()
        record = perform(daemon, origin, resource_timeout_ms=20_000)
        assert record["outcome"]["ok"], record["outcome"]
        assert time.monotonic() - begun < AT_ONCE_SECONDS
    assert server.connections == 2


class Forgetful:
    """Its first connection forbids streams when it shall, and drops what arrives until it was sent again."""

    def __init__(self) -> None:
        self.connections = 0
        self.shall_forbid = threading.Event()
        self.has_forbidden = threading.Event()

    def __call__(self, connection: socket.socket) -> None:
        self.connections += 1
        is_first = self.connections == 1
        (stream,) = h2.greet(connection, 1)
        connection.sendall(h2.frame(h2.HEADERS, RESPONSE, stream, h2.OK))
        if is_first:
            self.shall_forbid.wait(PATIENCE_SECONDS)
            drop = ctypes.create_string_buffer(struct.pack("HBBI", BPF_RETURN, 0, 0, 0))
            connection.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(drop)))
            connection.sendall(NO_STREAMS)
            self.has_forbidden.set()
            eventually(lambda: "bytes_retrans" in sent_to(connection.getsockname()[1]))
            connection.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
        (stream,) = h2.read_requests(connection, 1)
        connection.sendall(h2.frame(h2.HEADERS, RESPONSE, stream, h2.OK))
        h2.wait_for_the_end(connection)


def sent_to(port: int) -> str:
    """Return what the kernel tells of connections to a port."""
    return subprocess.run(["ss", "-tinHO", f"dport = {port}"], check=True, capture_output=True, text=True).stdout


def test_what_the_kernel_sends_again_is_no_request(daemon: Daemon, peer: StartPeer) -> None:
    """Streams are forbidden when libcurl has chosen the connection: it waits for one, and only answers the settings."""
    for _ in range(20):
        server = Forgetful()
        origin = peer(server, tls=True, protocols=("h2",))
        assert perform(daemon, origin)["outcome"]["ok"]
        with daemon.wire() as wire:
            daemon.stop_between_turns()
            url = f"https://127.0.0.1:{origin['port']}/"
            call = wire.request("request.perform", url=url, trust=origin["trust"], resource_timeout_ms=20_000)
            server.shall_forbid.set()
            assert server.has_forbidden.wait(PATIENCE_SECONDS)
            begun = time.monotonic()
            daemon.signal(signal.SIGCONT)
            record = wire.result(call)
        assert record["outcome"]["ok"], record["outcome"]
        assert time.monotonic() - begun < AT_ONCE_SECONDS
        # Else the request was sent before the settings were read.
        if server.connections == 2:
            return
    pytest.fail("libcurl has never chosen the connection before it had read the settings")


FAULTS = {
    "data on no stream": h2.frame(h2.DATA, 0, 0, b"x"),
    "window of no stream": h2.frame(h2.WINDOW_UPDATE, 0, 0, struct.pack(">I", 0)),
    "settings of a wrong size": h2.frame(h2.SETTINGS, 0, 0, b"x"),
    "window too large": h2.frame(h2.SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW_SIZE, 1 << 31)),
    "bad table": h2.frame(h2.HEADERS, RESPONSE, 1, b"\xff\xff\xff\xff\xff"),
    "settings": h2.frame(h2.SETTINGS, 0, 0) * 20_000,
    "pings": h2.frame(h2.PING, 0, 0, b"12345678") * 20_000,
    "empty data": h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.OK) + h2.frame(h2.DATA, 0, 1) * 200_000,
    "continuations": h2.frame(h2.HEADERS, 0, 1, h2.OK) + h2.frame(9, 0, 1) * 200_000,
    "unknown": h2.frame(h2.UNKNOWN, 0, 0) * 200_000,
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_connection_that_has_failed_is_not_used_again(daemon: Daemon, peer: StartPeer, fault: bytes) -> None:
    server = Server(fault, before=True)
    origin = peer(server, tls=True, protocols=("h2",))
    first = perform(daemon, origin, timeout_ms=500, method="POST", body={"text": "x"})
    assert first["outcome"]["error"]["name"].endswith(("network_connection_lost", "timed_out")), first["outcome"]
    begun = time.monotonic()
    record = perform(daemon, origin, resource_timeout_ms=20_000)
    assert record["outcome"]["ok"], record["outcome"]
    assert time.monotonic() - begun < AT_ONCE_SECONDS


@pytest.mark.parametrize("kind", ["data", "stream"])
def test_a_silent_connection_is_not_used_again_after_the_time_of_a_request(
    daemon: Daemon, peer: StartPeer, kind: str
) -> None:
    """`resource_timeout_ms` may end a request on it sooner than its idle timeout."""
    server = Server(b"")
    origin = peer(server, tls=True, protocols=("h2",))
    assert perform(daemon, origin, kind=kind)["outcome"]["ok"]
    server.is_stuck.set()
    record = perform(daemon, origin, kind=kind, resource_timeout_ms=600)
    assert record["outcome"]["error"]["timeout"] == "resource"
    record = perform(daemon, origin, kind=kind, resource_timeout_ms=20_000)
    assert record["outcome"]["ok"], record["outcome"]
    assert server.connections == 2


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_stream_that_is_reset_without_its_end_is_cut(daemon: Daemon, peer: StartPeer, method: str) -> None:
    """Also with the code NO_ERROR (RFC 9113, section 8.1), and its body is not stored."""
    requests: list[int] = []

    def answer(connection: socket.socket) -> None:
        streams = h2.greet(connection, 1)
        while True:
            requests.extend(streams)
            # cache-control: max-age=1000
            head = h2.OK + b"\x58\x0c" + b"max-age=1000"
            connection.sendall(h2.frame(h2.HEADERS, h2.END_HEADERS, streams[0], head))
            connection.sendall(h2.frame(h2.DATA, 0, streams[0], b"half") + h2.reset(streams[0], 0))
            streams = h2.read_requests(connection, 1)

    origin = peer(answer, tls=True, protocols=("h2",))
    for _ in range(2):
        record = perform(daemon, origin, method=method)
        assert record["outcome"]["error"]["name"] == "session_task_failed.network_connection_lost", record["outcome"]
    assert len(requests) == 2


def test_a_reset_behind_a_whole_response_is_none_of_the_response(daemon: Daemon, peer: StartPeer) -> None:
    """A server that needs no more of the body sends it (RFC 9113, section 8.1)."""

    def answer(connection: socket.socket) -> None:
        (stream,) = h2.greet(connection, 1)
        connection.sendall(h2.frame(h2.HEADERS, h2.END_HEADERS, stream, h2.OK))
        connection.sendall(h2.frame(h2.DATA, h2.END_STREAM, stream, b"whole") + h2.reset(stream, 0))
        h2.wait_for_the_end(connection)

    origin = peer(answer, tls=True, protocols=("h2",))
    record = perform(daemon, origin, method="POST", body={"text": "x" * 200_000})
    assert record["outcome"]["ok"], record["outcome"]
    assert record["body"]["text"] == "whole"


def test_a_server_that_requires_http_1_1_gets_it(daemon: Daemon, peer: StartPeer) -> None:
    """HTTP_1_1_REQUIRED (RFC 9113, section 7), for a method that is not repeated otherwise."""
    seen: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        assert isinstance(connection, ssl.SSLSocket)
        if connection.selected_alpn_protocol() == "h2":
            (stream,) = h2.greet(connection, 1)
            connection.sendall(h2.reset(stream, HTTP_1_1_REQUIRED))
            h2.wait_for_the_end(connection)
            return
        while b"\r\n\r\nonce" not in (data := b"".join(seen)):
            seen.append(connection.recv(65_536))
            assert seen[-1], data
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    origin = peer(answer, tls=True, protocols=("h2", "http/1.1"))
    record = perform(daemon, origin, method="POST", body={"text": "once"})
    assert record["outcome"]["ok"], record["outcome"]
    assert b"".join(seen).startswith(b"POST / HTTP/1.1\r\n")


class Partial:
    """Answers requests while it shall; leaves others unanswered, or sends the first of them a byte again and again."""

    def __init__(self, *, drips: bool = False) -> None:
        self.connections = 0
        self.waiting = 0
        self.shall_answer = True
        self.is_over = threading.Event()
        self._drips = drips

    def __call__(self, connection: socket.socket) -> None:
        self.connections += 1
        connection.sendall(h2.frame(h2.SETTINGS, 0, 0, h2.MANY_STREAMS) + h2.frame(h2.SETTINGS, h2.ACKNOWLEDGED, 0))
        h2.read_exactly(connection, h2.PREFACE_BYTES)
        lock = threading.Lock()
        while True:
            kind, _, stream, _ = h2.read(connection)
            if kind == h2.HEADERS and self.shall_answer:
                with lock:
                    connection.sendall(h2.frame(h2.HEADERS, RESPONSE, stream, h2.OK))
            elif kind == h2.HEADERS:
                self.waiting += 1
                if self._drips and self.waiting == 1:
                    threading.Thread(target=self.drip, args=(connection, stream, lock), daemon=True).start()

    def drip(self, connection: socket.socket, stream: int, lock: threading.Lock) -> None:
        data = h2.frame(h2.HEADERS, h2.END_HEADERS, stream, h2.OK)
        with contextlib.suppress(OSError):
            while not self.is_over.wait(0.05):
                with lock:
                    connection.sendall(data)
                data = h2.frame(h2.DATA, 0, stream, b"x")


def wait_in(wire: Wire, origin: dict[str, Any], server: Partial) -> str:
    """Begin a request that is not answered."""
    count = server.waiting
    server.shall_answer = False
    url = f"https://127.0.0.1:{origin['port']}/"
    request = wire.call("request.submit", url=url, trust=origin["trust"])["request"]
    eventually(lambda: server.waiting > count)
    server.shall_answer = True
    return str(request)


def time_out(daemon: Daemon, origin: dict[str, Any], server: Partial, **limit: int) -> None:
    """Make a request that is not answered in time."""
    server.shall_answer = False
    record = perform(daemon, origin, **limit)
    assert record["outcome"]["error"]["name"].endswith("timed_out")
    server.shall_answer = True


@pytest.mark.parametrize("ending", ["timeout", "cancel", "idle"])
def test_a_connection_with_an_unanswered_request_ends_no_reuse_of_others(
    daemon: Daemon, peer: StartPeer, ending: str
) -> None:
    """A request waits for long on it, so that it stays."""
    server = Partial()
    origin = peer(server, tls=True, protocols=("h2",))
    assert perform(daemon, origin)["outcome"]["ok"]
    with daemon.wire() as wire:
        wait_in(wire, origin, server)
        if ending == "cancel":
            request = wait_in(wire, origin, server)
            began = time.monotonic()
            eventually(lambda: time.monotonic() - began > SILENT_SECONDS)
            wire.call("request.cancel", request=request)
        else:
            time_out(daemon, origin, server, **{"resource_timeout_ms" if ending == "timeout" else "timeout_ms": 700})
        records = [perform(daemon, origin) for _ in range(10)]
        assert all(record["outcome"]["ok"] for record in records)
        assert [record["metrics"]["reused"] for record in records] == [False] + [True] * 9
        assert server.connections == 2
        calls = b"".join(
            line("request.perform", n, url=f"https://127.0.0.1:{origin['port']}/", trust=origin["trust"])
            for n in range(60)
        )
        for answer in send_and_read(wire, calls, 60):
            assert b'"ok":true' in answer
        assert server.connections == 2


def test_a_connection_whose_server_still_answers_others_stays_in_use(daemon: Daemon, peer: StartPeer) -> None:
    server = Partial(drips=True)
    origin = peer(server, tls=True, protocols=("h2",))
    assert perform(daemon, origin)["outcome"]["ok"]
    with daemon.wire() as wire:
        wait_in(wire, origin, server)
        time_out(daemon, origin, server, resource_timeout_ms=700)
        assert all(perform(daemon, origin)["outcome"]["ok"] for _ in range(5))
        assert server.connections == 1
        server.is_over.set()


def test_connections_with_unanswered_requests_leave_one_for_others(daemon: Daemon, peer: StartPeer) -> None:
    server = Partial()
    origin = peer(server, tls=True, protocols=("h2",))
    with daemon.wire() as wire:
        for _ in range(CONNECTIONS + 3):
            assert perform(daemon, origin, resource_timeout_ms=20_000)["outcome"]["ok"]
            wait_in(wire, origin, server)
            time_out(daemon, origin, server, resource_timeout_ms=500)
        assert server.connections == CONNECTIONS
