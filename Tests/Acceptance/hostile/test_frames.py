"""Origins over HTTP/2 whose frames cost libcurl much work in one call."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.waiting import eventually
from harness.wire import Wire
from origins import frames as h2
from origins.peer import StartPeer

STREAMS = 70
"""The number of streams of one client on a connection."""
ORIGINS = 30
FLOOD_BYTES = 1 << 25
NEW_FIELD = b"\x40\x01a\x01b"
"""`a: b`, to be added as the first entry of the dynamic table."""
FIELD = b"\xbe"
"""The first field of the dynamic table."""


def submit(wire: Wire, origin: dict[str, Any], count: int) -> list[str]:
    params = {"url": f"https://127.0.0.1:{origin['port']}/", "trust": origin["trust"]}
    return [wire.call("request.submit", **params)["request"] for _ in range(count)]


def outcomes(wire: Wire, requests: list[str]) -> Iterator[dict[str, Any]]:
    for request in requests:
        yield wire.call("request.wait", request=request, timeout_ms=60_000)["outcome"]


@pytest.mark.parametrize(
    ("kind", "flags", "payload"),
    [
        (h2.DATA, 0, b""),
        (h2.DATA, h2.PADDED, b"\0"),
        (h2.WINDOW_UPDATE, 0, struct.pack(">I", 1)),
        (h2.UNKNOWN, 0, b""),
    ],
    ids=["empty data", "padding", "window updates", "unknown"],
)
def test_b2_frames_without_end(daemon: Daemon, peer: StartPeer, kind: int, flags: int, payload: bytes) -> None:
    sent: list[int] = []

    def talk(connection: socket.socket) -> None:
        streams = h2.greet(connection, STREAMS)
        connection.sendall(b"".join(h2.frame(h2.HEADERS, h2.END_HEADERS, stream, h2.OK) for stream in streams))
        round_ = b"".join(h2.frame(kind, flags, stream, payload) for stream in streams)
        flood = round_ * ((1 << 20) // len(round_))
        while sum(sent) < FLOOD_BYTES:
            connection.sendall(flood)
            sent.append(len(flood))

    origin = peer(talk, tls=True, protocols=("h2",))
    with daemon.wire() as wire, bounded_turns(daemon):
        for outcome in outcomes(wire, submit(wire, origin, STREAMS)):
            assert outcome["error"]["name"].endswith("network_connection_lost"), outcome
    assert sum(sent) >= FLOOD_BYTES


@pytest.mark.parametrize(("fields", "error"), [(250, None), (1_900, "data_length_exceeds_maximum")])
def test_b2_heads_of_many_fields(daemon: Daemon, peer: StartPeer, fields: int, error: str | None) -> None:
    def talk(connection: socket.socket) -> None:
        streams = h2.greet(connection, STREAMS)
        blocks = [h2.OK + NEW_FIELD + FIELD * (fields - 1), *[h2.OK + FIELD * fields] * (STREAMS - 1)]
        heads = zip(streams, blocks, strict=True)
        connection.sendall(b"".join(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, *head) for head in heads))
        h2.wait_for_the_end(connection)

    origin = peer(talk, tls=True, protocols=("h2",))
    with daemon.wire() as wire, bounded_turns(daemon):
        for outcome in outcomes(wire, submit(wire, origin, STREAMS)):
            assert (error or "") in str(outcome.get("error"))
            assert outcome["ok"] is (error is None)


@pytest.mark.parametrize("kind", [h2.RST_STREAM, h2.GOAWAY], ids=["reset", "goaway"])
def test_b2_many_origins_refuse_all_streams_at_once(daemon: Daemon, peer: StartPeer, kind: int) -> None:
    refuses = threading.Event()
    seen: list[int] = []

    def talk(connection: socket.socket) -> None:
        # libcurl sends a refused request again, a few times.
        count = 1 if refuses.is_set() else STREAMS
        streams = h2.greet(connection, count)
        seen.extend(streams)
        refuses.wait(60)
        if kind == h2.GOAWAY:
            connection.sendall(h2.frame(h2.GOAWAY, 0, 0, struct.pack(">II", 0, 0)))
            return h2.wait_for_the_end(connection)
        while True:
            refusal = struct.pack(">I", h2.REFUSED_STREAM)
            connection.sendall(b"".join(h2.frame(h2.RST_STREAM, 0, stream, refusal) for stream in streams))
            streams = h2.read_requests(connection, 1)

    origins = [peer(talk, tls=True, protocols=("h2",)) for _ in range(ORIGINS)]
    with daemon.wire() as wire, bounded_turns(daemon):
        requests = [request for origin in origins for request in submit(wire, origin, STREAMS)]
        eventually(lambda: len(seen) >= ORIGINS * STREAMS)
        refuses.set()
        assert not any(outcome["ok"] for outcome in outcomes(wire, requests))
