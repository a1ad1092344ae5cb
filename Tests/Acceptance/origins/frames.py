"""Frames of HTTP/2 (RFC 9113), for servers that send what no real one does."""

from __future__ import annotations

import socket
import struct

PREFACE_BYTES = 24
HEADER_BYTES = 9
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, UNKNOWN = 0, 1, 3, 4, 6, 7, 8, 0xBE
ACKNOWLEDGED, END_STREAM, END_HEADERS, PADDED, PRIORITY = 1, 1, 4, 8, 32
REFUSED_STREAM = 7
MANY_STREAMS = struct.pack(">HI", 3, 1_000)
"""SETTINGS_MAX_CONCURRENT_STREAMS."""
OK = b"\x88"
"""`:status: 200`, by its number in the table of RFC 7541."""


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def read_exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        if not (piece := connection.recv(count - len(data))):
            raise ConnectionError("the client has left")
        data += piece
    return data


def read(connection: socket.socket) -> tuple[int, int, int, bytes]:
    """Return the kind of the next frame, its flags, its stream and its payload."""
    head = read_exactly(connection, HEADER_BYTES)
    payload = read_exactly(connection, int.from_bytes(head[:3], "big"))
    return head[3], head[4], int.from_bytes(head[5:], "big"), payload


def reset(stream: int, code: int) -> bytes:
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def goaway(last: int) -> bytes:
    """Return the frame after which only the streams up to `last` get a response."""
    return frame(GOAWAY, 0, 0, struct.pack(">II", last, 0))


def read_requests(connection: socket.socket, count: int) -> list[int]:
    """Return the numbers of the streams, when there are so many."""
    streams: list[int] = []
    while len(streams) < count:
        kind, _, stream, _ = read(connection)
        if kind == HEADERS:
            streams.append(stream)
    return streams


def greet(connection: socket.socket, count: int) -> list[int]:
    """Allow many streams, and return the numbers of so many requests."""
    connection.sendall(frame(SETTINGS, 0, 0, MANY_STREAMS) + frame(SETTINGS, ACKNOWLEDGED, 0))
    read_exactly(connection, PREFACE_BYTES)
    return read_requests(connection, count)


def wait_for_the_end(connection: socket.socket) -> None:
    while connection.recv(65_536):
        pass
