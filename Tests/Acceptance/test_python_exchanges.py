"""The exchanges of the adapters: what one request costs, and what ends it, with each of the transports."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import carpool
import httpx
import pytest
from carpool.httpx import AsyncCarpoolTransport, CarpoolTransport
from harness.daemon import ROOT, Daemon
from harness.transports import content, running, sending
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import Exchange, ScriptedOrigin

KINDS = ["blocking", "asyncio", "uvloop", "trio"]
BLOCK = b"x" * 65_536


@pytest.fixture(autouse=True)
def socket(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> Daemon:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    return daemon


def connections(daemon: Daemon) -> int:
    """Return how many connections the daemon has accepted, this one included."""
    return int(daemon.stats()["connections"]["accepted"])


def several(kind: str, url: str, count: int) -> list[int]:
    """Send requests with a body that is read while it is sent, by one client; return their statuses."""
    if kind == "blocking":
        with httpx.Client(transport=CarpoolTransport()) as client:
            return [client.post(url, content=content(kind, [b"a", b"b"])).status_code for _ in range(count)]

    async def run() -> list[int]:
        async with httpx.AsyncClient(transport=AsyncCarpoolTransport()) as client:
            bodies = [content(kind, [b"a", b"b"]) for _ in range(count)]
            return [(await client.post(url, content=body)).status_code for body in bodies]

    statuses: list[int] = running(kind, run)
    return statuses


@pytest.mark.parametrize("kind", KINDS)
def test_streamed_bodies_share_a_connection(kind: str, daemon: Daemon, origin: ScriptedOrigin) -> None:
    before = connections(daemon)
    assert several(kind, f"{origin.url}/", 5) == [200] * 5
    assert connections(daemon) - before == 2, "one of the transport, and that of the second count"


def test_a_response_is_one_call(daemon: Daemon, origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    encode = carpool._rpc.RPCConnection.send_request

    def note(self: Any, method: str, params: dict[str, Any]) -> tuple[int, bytes]:
        calls.append(method)
        return encode(self, method, params)

    monkeypatch.setattr(carpool._rpc.RPCConnection, "send_request", note)
    with httpx.Client(transport=CarpoolTransport()) as client:
        assert client.get(origin.url).status_code == 200
        calls.clear()
        assert client.get(origin.url).status_code == 200
        assert client.post(origin.url, content=b"body").status_code == 200
        assert client.head(origin.url).status_code == 200
    assert calls == ["request.perform"] * 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [20_000, 200_000])
def test_a_long_head_arrives_whole(kind: str, size: int, origin: ScriptedOrigin) -> None:
    fields = [(f"X-{number}", "y" * 1_000) for number in range(size // 1_000)]
    url = origin.on("/long", lambda exchange: exchange.reply(body=b"end", headers=fields))
    response = sending(kind)("GET", url)
    assert [response.headers.get(name) for name, _ in fields] == [value for _, value in fields]
    assert response.content == b"end"


def test_the_response_to_a_get_with_a_body_arrives_while_it_is_sent(origin: ScriptedOrigin) -> None:
    gate = origin.hold("/never")

    def half(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        gate.wait(PATIENCE_SECONDS)
        exchange.send(b"5\r\nother\r\n0\r\n\r\n")

    url = origin.on("/half", half)
    with (
        httpx.Client(transport=CarpoolTransport()) as client,
        client.stream("GET", url, content=b"a body", timeout=PATIENCE_SECONDS) as response,
    ):
        pieces = response.iter_raw()
        assert next(pieces) == b"first"
        gate.set()
        assert list(pieces) == [b"other"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_that_breaks_off_is_not_sent_as_a_whole(kind: str, origin: ScriptedOrigin) -> None:
    received: list[bytes] = []
    begun, ended = threading.Event(), threading.Event()

    def take(exchange: Exchange) -> bool:
        received.append(exchange.take(len(b"5\r\nfirst\r\n")))
        begun.set()
        received.append(exchange.take())
        ended.set()
        return True

    def blocks() -> Iterator[bytes]:
        yield b"first"
        assert begun.wait(PATIENCE_SECONDS)
        raise LookupError("the generator fails")

    with pytest.raises(LookupError):
        sending(kind)("POST", origin.on_head("/", take), content=content(kind, blocks()))
    assert ended.wait(PATIENCE_SECONDS)
    assert b"".join(received) == b"5\r\nfirst\r\n"


@pytest.mark.parametrize("kind", KINDS)
def test_an_early_response_ends_the_body(kind: str, origin: ScriptedOrigin) -> None:
    def refuse(exchange: Exchange) -> bool:
        exchange.reply(413, b"too large")
        exchange.shutdown()
        exchange.wait_for_peer_to_close()
        return True

    url = origin.on_head("/early", refuse)
    response = sending(kind)("POST", url, content=content(kind, itertools.repeat(BLOCK)), timeout=PATIENCE_SECONDS)
    assert (response.status_code, response.content) == (413, b"too large")


@pytest.mark.parametrize("kind", KINDS)
def test_the_write_timeout(kind: str, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/never")

    def read_nothing(exchange: Exchange) -> bool:
        gate.wait(PATIENCE_SECONDS)
        return True

    url = origin.on_head("/full", read_nothing)
    timeout = httpx.Timeout(PATIENCE_SECONDS, write=0.3)
    with pytest.raises(httpx.WriteTimeout, match=r"within 0\.3 s"):
        sending(kind)("POST", url, content=content(kind, itertools.repeat(BLOCK)), timeout=timeout)
    gate.set()


def test_a_program_that_is_ended_by_sigpipe_survives_a_response_that_comes_early(origin: ScriptedOrigin) -> None:
    def refuse(exchange: Exchange) -> bool:
        exchange.reply(413)
        exchange.shutdown()
        exchange.wait_for_peer_to_close()
        return True

    program = f"""
import itertools, signal, httpx
from carpool.httpx import CarpoolTransport
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
with httpx.Client(transport=CarpoolTransport()) as client:
    print(client.post({origin.on_head("/early", refuse)!r}, content=itertools.repeat(b"x" * 65536)).status_code)
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python/src")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    assert (done.stdout, done.returncode) == ("413\n", 0), done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_the_next_request_is_sent_to_the_next_daemon(kind: str, daemon: Daemon, origin: ScriptedOrigin) -> None:
    def restart() -> None:
        daemon.stop()
        daemon._start({})

    if kind == "blocking":
        with httpx.Client(transport=CarpoolTransport()) as client:
            assert client.get(origin.url).status_code == 200
            restart()
            assert client.get(origin.url).status_code == 200
        return

    async def run() -> None:
        async with httpx.AsyncClient(transport=AsyncCarpoolTransport()) as client:
            assert (await client.get(origin.url)).status_code == 200
            restart()
            assert (await client.get(origin.url)).status_code == 200

    running(kind, run)
