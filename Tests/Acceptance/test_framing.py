"""Responses that violate the rules of their framing: one name, no retry, and nothing stored."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable

import carpool
import pytest
from harness.wire import Wire
from origins.frames import (
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    OK,
    SETTINGS,
    UNKNOWN,
    frame,
    greet,
    read_requests,
    reset,
    wait_for_the_end,
)
from origins.peer import StartPeer
from origins.scripted import Exchange, ScriptedOrigin

HEAD = b"HTTP/1.1 200 OK\r\n"
NAME = "session_task_failed.cannot_parse_response"


def framed(head: bytes, body: bytes) -> Callable[[Exchange], None]:
    def fault(exchange: Exchange) -> None:
        exchange.send(HEAD + head + b"\r\n" + body)
        exchange.close()

    return fault


CHUNKED = b"Transfer-Encoding: chunked\r\n"
FRAMING = {
    "no size": (CHUNKED, b"xyz\r\nwhole\r\n0\r\n\r\n"),
    "an empty size": (CHUNKED, b"\r\nwhole\r\n0\r\n\r\n"),
    "a negative size": (CHUNKED, b"-5\r\nwhole\r\n0\r\n\r\n"),
    "0x before a size": (CHUNKED, b"0x2\r\nok\r\n0\r\n\r\n"),
    "a size of 68 bits": (CHUNKED, b"5" * 17 + b"\r\nwhole\r\n0\r\n\r\n"),
    "a chunk that is too long": (CHUNKED, b"2\r\nwhole\r\n0\r\n\r\n"),
    "a trailer field without a colon": (CHUNKED, b"2\r\nok\r\n0\r\nbad trailer\r\n\r\n"),
    "a field without a colon": (b"Content-Length: 2\r\nno field\r\n", b"ok"),
    "an unknown transfer coding": (b"Transfer-Encoding: none-such\r\n", b"ok"),
    "an unknown transfer coding before the chunks": (
        b"Transfer-Encoding: none-such, chunked\r\n",
        b"2\r\nok\r\n0\r\n\r\n",
    ),
    **{
        f"the length {value.decode() or 'of nothing'}": (b"Content-Length: %s\r\n" % value, b"whole")
        for value in (
            b"99999999999999999999",
            b"9223372036854775808",
            b"-5",
            b"+5",
            b"5 5",
            b"5;",
            b"0x5",
            b"five",
            b"5, 6",
        )
    },
    "a folded transfer coding": (b"Transfer-Encoding:\r\n chunked\r\n", b"2\r\nok\r\n0\r\n\r\n"),
    "a folded transfer coding beside a length": (
        b"Content-Length: 3\r\nTransfer-Encoding:\r\n\tchunked\r\n",
        b"2\r\nok\r\n0\r\n\r\n",
    ),
    "two lengths": (b"Content-Length: 4\r\nContent-Length: 40\r\n", b"some"),
}


@pytest.mark.parametrize("case", list(FRAMING))
def test_each_failure_of_framing_has_one_name_and_is_not_retried(
    client: carpool.Client, origin: ScriptedOrigin, case: str
) -> None:
    url = origin.on("/framed", framed(FRAMING[case][0] + b"Cache-Control: max-age=600\r\n", FRAMING[case][1]))
    for _ in range(2):
        with pytest.raises(carpool.RequestError) as caught:
            client.get(url, interceptor=[{"retry_policy": {"scale_ms": 1}}])
        assert caught.value.name == NAME
    assert len(origin.received(2, "/framed")) == 2, "nothing is stored, nothing retried"
    assert client.get(f"{origin.url}/next").ok


def field(name: bytes, value: bytes) -> bytes:
    """A field without Huffman code, and not for the table (RFC 7541, section 6.2.2)."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def length(value: bytes) -> bytes:
    return OK + field(b"content-length", value)


BODY = (DATA, END_STREAM, b"whole")
MALFORMED = {
    "a body that is too short": [(HEADERS, END_HEADERS, length(b"6")), BODY],
    "a body that is too long": [(HEADERS, END_HEADERS, length(b"4")), BODY],
    "a length of 67 bits": [(HEADERS, END_HEADERS, length(b"9" * 20)), BODY],
    "a length that is no number": [(HEADERS, END_HEADERS, length(b"5x")), BODY],
    "two lengths": [(HEADERS, END_HEADERS, length(b"5") + field(b"content-length", b"6")), BODY],
    "a name in capitals": [(HEADERS, END_HEADERS, OK + field(b"X-A", b"b")), BODY],
    "a field of HTTP/1.1": [(HEADERS, END_HEADERS, OK + field(b"transfer-encoding", b"chunked")), BODY],
    "no status": [(HEADERS, END_HEADERS, field(b"a", b"b")), BODY],
    "a status behind the body": [
        (HEADERS, END_HEADERS, OK),
        (DATA, 0, b"whole"),
        (HEADERS, END_HEADERS | END_STREAM, OK),
    ],
}


@pytest.mark.parametrize("case", list(MALFORMED))
def test_a_malformed_response_over_http2_has_the_same_name(wire: Wire, peer: StartPeer, case: str) -> None:
    asked: list[int] = []

    def serve(connection: socket.socket) -> None:
        streams = greet(connection, 1)
        while True:
            asked.extend(streams)
            connection.sendall(
                b"".join(frame(kind, flags, streams[0], content) for kind, flags, content in MALFORMED[case])
            )
            streams = read_requests(connection, 1)

    origin = peer(serve, tls=True, protocols=("h2",))
    record = wire.call(
        "request.perform",
        url=f"https://127.0.0.1:{origin['port']}/",
        trust=origin["trust"],
        http_version="2",
        interceptor=[{"retry_policy": {"scale_ms": 1}}],
    )
    error = record["outcome"]["error"]
    assert (error["name"], error["retryable"]) == (NAME, False)
    assert len(asked) == 1


@pytest.mark.parametrize("value", [b"5, 5", b"05", b"5\r\nContent-Length: 5"])
def test_the_same_length_twice_is_that_length(client: carpool.Client, origin: ScriptedOrigin, value: bytes) -> None:
    url = origin.on("/framed", framed(b"Content-Length: %s\r\n" % value, b"whole and more"))
    assert client.get(url).content == b"whole"


def ended(stream: int) -> bytes:
    return frame(DATA, END_STREAM, stream, b"")


@pytest.mark.parametrize(
    ("end", "is_whole"),
    [
        (ended, True),
        (lambda _: frame(UNKNOWN, 0, 0, bytes(20_000)), False),
        (lambda _: frame(SETTINGS, 0, 0, b"x"), False),
        (lambda _: frame(DATA, 0, 0, b"x"), False),
        (lambda _: frame(GOAWAY, 0, 0, struct.pack(">II", 0, 2)), False),
        (lambda stream: reset(stream, 0), False),
        (lambda _: b"", False),
    ],
    ids=["whole", "too large a frame", "bad settings", "data of no stream", "goaway", "reset", "close"],
)
def test_a_stream_without_its_end_is_no_response(
    wire: Wire, peer: StartPeer, end: Callable[[int], bytes], is_whole: bool
) -> None:
    def serve(connection: socket.socket) -> None:
        (stream,) = greet(connection, 1)
        connection.sendall(frame(HEADERS, END_HEADERS, stream, OK) + frame(DATA, 0, stream, b"half") + end(stream))
        if end(stream):
            wait_for_the_end(connection)

    origin = peer(serve, tls=True, protocols=("h2",))
    url = f"https://127.0.0.1:{origin['port']}/"
    record = wire.call("request.perform", url=url, trust=origin["trust"], http_version="2", timeout_ms=1_000)
    if is_whole:
        assert (record["outcome"], record["body"]["text"]) == ({"ok": True}, "half")
    else:
        # The older libcurl waits after some of them, as if the server could still say more.
        assert record["outcome"]["error"]["name"].endswith(("network_connection_lost", "timed_out")), record["outcome"]
