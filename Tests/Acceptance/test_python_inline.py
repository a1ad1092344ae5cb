"""Short bodies in the answer of an exchange of the adapters, and what happens with the order of the messages."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import requests
from carpool._pipe import Pipe
from carpool.httpx import AsyncCarpoolTransport, CarpoolTransport
from carpool.requests import CarpoolAdapter
from harness.daemon import Daemon
from harness.transports import content, running, sending
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import Exchange, ScriptedOrigin

KINDS = ["blocking", "asyncio", "trio"]
INLINE_BYTES = 16_384


@pytest.fixture(autouse=True)
def socket(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the list of what is read from pipes."""
    blocks: list[bytes] = []
    read = Pipe.read

    def note(self: Pipe) -> bytes | None:
        block = read(self)
        if block:
            blocks.append(block)
        return block

    monkeypatch.setattr(Pipe, "read", note)
    return blocks


def connections(daemon: Daemon) -> int:
    return int(daemon.stats()["connections"]["accepted"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", [b"short", b"\xff\x00\xfe", "é".encode() * 4_000, b"", b"\x01" * INLINE_BYTES])
def test_a_short_body_is_in_the_answer(kind: str, body: bytes, origin: ScriptedOrigin, piped: list[bytes]) -> None:
    url = origin.on("/short", lambda exchange: exchange.reply(body=body))
    for _ in range(2):
        response = sending(kind)("GET", url)
        assert (response.status_code, response.content) == (200, body)
    assert piped == []


@pytest.mark.parametrize("size", [INLINE_BYTES - 1, INLINE_BYTES, INLINE_BYTES + 1, 65_536, 300_000])
def test_sizes_around_the_limit(size: int, origin: ScriptedOrigin, piped: list[bytes]) -> None:
    body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    url = origin.on("/sized", lambda exchange: exchange.reply(body=body))
    with requests.Session() as session, httpx.Client(transport=CarpoolTransport()) as client:
        session.mount("http://", CarpoolAdapter())
        for _ in range(3):
            assert session.get(url).content == body
            assert client.get(url).content == body
    if size > INLINE_BYTES:
        assert b"".join(piped) == body * 6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("has_length", [True, False])
def test_the_head_first_and_a_short_body_later(kind: str, has_length: bool, origin: ScriptedOrigin) -> None:
    """The event is read long before the answer with the body."""
    gate = origin.hold("/never")

    def halves(exchange: Exchange) -> None:
        length = b"Content-Length: 5\r\n" if has_length else b"Connection: close\r\n"
        exchange.send(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n")
        gate.wait(PATIENCE_SECONDS)
        exchange.send(b"later")
        exchange.close()

    url = origin.on("/halves", halves)
    if kind == "blocking":
        with httpx.Client(transport=CarpoolTransport()) as client, client.stream("GET", url) as response:
            gate.set()
            assert response.read() == b"later"
        return

    async def run() -> bytes:
        client = httpx.AsyncClient(transport=AsyncCarpoolTransport())
        async with client, client.stream("GET", url) as response:
            gate.set()
            return await response.aread()

    assert running(kind, run) == b"later"


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_in_small_pieces(kind: str, origin: ScriptedOrigin) -> None:
    def pieces(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number in range(200):
            exchange.send(b"3\r\n%03d\r\n" % number)
        exchange.send(b"0\r\n\r\n")

    expected = b"".join(b"%03d" % number for number in range(200))
    url = origin.on("/pieces", pieces)
    assert [sending(kind)("GET", url).content for _ in range(20)] == [expected] * 20


def broken(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
    exchange.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_short_body_that_breaks_off(kind: str, origin: ScriptedOrigin) -> None:
    """Also where the answer has what arrived: the caller gets it before the error."""
    url = origin.on("/broken", broken)
    for _ in range(10):
        with pytest.raises(httpx.RemoteProtocolError):
            sending(kind)("GET", url)
    with httpx.Client(transport=CarpoolTransport()) as client:
        for _ in range(10):
            with client.stream("GET", url) as response:
                received: list[bytes] = []
                with pytest.raises(httpx.RemoteProtocolError):
                    received.extend(response.iter_raw())
                assert b"".join(received) == b"first"
    with requests.Session() as session:
        session.mount("http://", CarpoolAdapter())
        for _ in range(10):
            with pytest.raises(requests.exceptions.ChunkedEncodingError, match="IncompleteRead"):
                session.get(url)


def test_a_response_that_is_not_read_keeps_its_connection(
    daemon: Daemon, origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = origin.on("/short", lambda exchange: exchange.reply(body=b"short"))
    with httpx.Client(transport=CarpoolTransport()) as client:
        client.get(url)
        before = connections(daemon)
        for _ in range(20):
            with client.stream("GET", url) as response:
                assert response.status_code == 200
            assert client.get(url).content == b"short"
    # Mostly the daemon writes the answer with the event. Where it does not, the request ends with its connection.
    assert connections(daemon) - before < 20


@pytest.mark.parametrize("kind", KINDS)
def test_a_short_answer_to_a_streamed_body(kind: str, origin: ScriptedOrigin, piped: list[bytes]) -> None:
    url = origin.on("/echo", lambda exchange: exchange.reply(body=exchange.request.body))
    for _ in range(5):
        assert sending(kind)("POST", url, content=content(kind, [b"a" * 100, b"b"])).content == b"a" * 100 + b"b"
    assert piped == []


def test_threads_with_short_and_long_bodies(origin: ScriptedOrigin) -> None:
    """Each response has its own body, whichever way it comes."""
    bodies = {f"/{size}": bytes([size % 251]) * size for size in (0, 1, 5_000, 16_384, 16_385, 70_000)}
    for path, body in bodies.items():
        origin.on(path, functools.partial(Exchange.reply, body=body))
    found: list[bool] = []

    def work(client: httpx.Client, paths: Iterator[tuple[str, bytes]]) -> None:
        found.extend(client.get(origin.url + path).content == body for path, body in paths)

    with httpx.Client(transport=CarpoolTransport()) as client:
        items: list[Any] = list(bodies.items()) * 10
        threads = [
            threading.Thread(target=work, args=(client, iter(items[start:] + items[:start])), daemon=True)
            for start in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
    assert found == [True] * 360
