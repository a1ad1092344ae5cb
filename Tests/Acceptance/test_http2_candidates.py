"""A connection that cannot take another stream, or has failed, is not used for the next request."""

from __future__ import annotations

import socket
import struct
import time
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.waiting import SLOWNESS
from origins import frames as h2
from origins.peer import StartPeer

MAX_CONCURRENT_STREAMS = 3
INITIAL_WINDOW_SIZE = 4
NO_STREAMS = h2.frame(h2.SETTINGS, 0, 0, struct.pack(">HI", MAX_CONCURRENT_STREAMS, 0))
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
