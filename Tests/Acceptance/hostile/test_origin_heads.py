"""Heads of the maximum size: whatever is in which field, and over HTTP/2 many of them in a few kilobytes."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from harness.caches import SESSION, cache
from harness.calls import line, send_and_read
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.waiting import SLOWNESS
from harness.wire import Wire
from origins import frames as h2
from origins.peer import StartPeer
from origins.scripted import Exchange, ScriptedOrigin

LINE_BYTES = 96 * 1_024
LINES = 3
SHAPES = {
    "not UTF-8": b"\xe9",
    "members": b"a, ",
    "different members": b"",
    "commas": b",",
    "blanks": b"a ",
    "parameters": b'a="b";c=d; ',
    "quotes": b'"\\"',
    "directives": b'private="a", no-cache=b, max-age=1, ',
    "challenges": b'Digest realm="a", nonce="b", qop=auth,auth, ',
    "percents": b"/%e9\xe9/../",
}
FIELDS = {
    "Content-Encoding": 200,
    "Vary": 200,
    "Cache-Control": 200,
    "Connection": 200,
    "Clear-Site-Data": 200,
    "Set-Cookie": 200,
    "Content-Type": 200,
    "Content-Disposition": 200,
    "Content-Range": 206,
    "Accept-Ranges": 200,
    "ETag": 200,
    "Last-Modified": 200,
    "Date": 200,
    "Expires": 200,
    "Age": 200,
    "Retry-After": 503,
    "WWW-Authenticate": 401,
    "Authentication-Info": 200,
    "Location": 302,
    "Content-Location": 201,
}


def value(shape: str) -> bytes:
    if shape == "different members":
        return b", ".join(b"x%x" % number for number in range(20_000))[:LINE_BYTES]
    return (SHAPES[shape] * LINE_BYTES)[:LINE_BYTES].strip()


@pytest.mark.parametrize("name", FIELDS)
def test_fields_of_the_maximum_size(daemon: Daemon, wire: Wire, origin: ScriptedOrigin, name: str) -> None:
    """Of one request, one to a session with a cache, and a download."""
    fields = b""

    def serve(exchange: Exchange) -> None:
        fresh = b"" if name == "Cache-Control" else b"Cache-Control: max-age=1000\r\n"
        head = b"HTTP/1.1 %d X\r\nContent-Length: 4\r\n" % FIELDS[name]
        if name == "Authentication-Info" and not exchange.request.values("Authorization"):
            challenge = b'WWW-Authenticate: Digest realm="a", nonce="b", qop="auth"\r\n'
            return exchange.send(b"HTTP/1.1 401 X\r\nContent-Length: 4\r\n" + challenge + b"\r\nbody")
        return exchange.send(head + fresh + fields + b"\r\nbody")

    url = origin.on("/head", serve)
    cache(wire, SESSION)
    common: dict[str, Any] = {"url": url, "credential": {"username": "a", "password": "b"}, "redirect": "do_not_follow"}
    for shape in SHAPES:
        fields = b"".join(b"%s: %s\r\n" % (name.encode(), value(shape)) for _ in range(LINES))
        with bounded_turns(daemon):
            for more in ({}, {"session": SESSION}, {"session": SESSION}, {"kind": "download"}, {"method": "POST"}):
                record = wire.call("request.perform", **common, **more)
                assert "outcome" in record, (shape, record)


INDEXED = {
    "content-encoding": 26,
    "vary": 59,
    "cache-control": 24,
    "set-cookie": 55,
    "content-type": 31,
    "etag": 34,
    "link": 45,
}
"""Names by their number in the table of RFC 7541."""
STREAMS = 60
TIMES = 72
VALUE_BYTES = 4_000


def field(index: int, data: bytes) -> bytes:
    """Return a field that is added to the table, where it is 62 from then on."""
    length, encoded = len(data) - 127, b"\x7f"
    while length >= 128:
        encoded += bytes([length % 128 + 128])
        length //= 128
    return bytes([0x40 + index]) + encoded + bytes([length]) + data


@pytest.mark.parametrize("name", INDEXED)
@pytest.mark.parametrize("shape", ["not UTF-8", "members", "different members", "quotes"])
def test_many_heads_in_a_few_kilobytes(daemon: Daemon, peer: StartPeer, name: str, shape: str) -> None:
    """Each byte stands for a field of 4,000."""
    if daemon.call("daemon.info")["libcurl"]["profile"] != "multiplex":
        pytest.skip("this libcurl gets HTTP/1.1")

    def serve(connection: socket.socket) -> None:
        (stream,) = h2.greet(connection, 1)
        connection.sendall(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, stream, h2.OK))
        streams = h2.read_requests(connection, STREAMS)
        block = h2.OK + field(INDEXED[name], value(shape)[:VALUE_BYTES]) + b"\xbe" * (TIMES - 1)
        data = b""
        for stream in streams:
            data += h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, stream, block)
            block = h2.OK + b"\xbe" * TIMES
        connection.sendall(data)
        h2.wait_for_the_end(connection)

    origin = peer(serve, tls=True, protocols=("h2",))
    url = f"https://127.0.0.1:{origin['port']}/"
    common: dict[str, Any] = {
        "trust": origin["trust"],
        "session": SESSION,
        "resource_timeout_ms": int(20_000 * SLOWNESS),
    }
    with daemon.wire() as wire:
        cache(wire, SESSION)
        assert wire.call("request.perform", url=url, **common)["outcome"]["ok"]
        calls = b"".join(line("request.perform", n, url=f"{url}{n}", **common) for n in range(STREAMS))
        with bounded_turns(daemon):
            for answer in send_and_read(wire, calls, STREAMS):
                assert b'"outcome"' in answer
