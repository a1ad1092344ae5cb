"""The arguments of the adapters of requests and httpx: each has an effect that an origin or the library sees."""

from __future__ import annotations

import contextlib
import os
import signal
import socket as sockets
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import requests
import trio
import urllib3
from carpool import _pool, _rpc, _threads
from carpool.httpx import AsyncCarpoolTransport, CarpoolTransport
from carpool.requests import CarpoolAdapter, InvalidParameter
from harness.daemon import Daemon
from harness.pairs import faulty
from harness.transports import Send, mounted, running, sending
from harness.waiting import PATIENCE_SECONDS, eventually
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

ASYNCHRONOUS = ["asyncio", "uvloop", "trio"]
CONNECTIONS = _pool.MAX_IDLE + 4


@pytest.fixture(autouse=True)
def socket(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> Daemon:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    return daemon


@pytest.fixture(params=["blocking", *ASYNCHRONOUS])
def send(request: pytest.FixtureRequest) -> Send:
    """Send a request through the test's daemon."""
    return sending(request.param)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The methods that this program calls."""
    called: list[str] = []
    encode = _rpc.RPCConnection.send_request

    def note(self: _rpc.RPCConnection, method: str, params: dict[str, Any]) -> tuple[int, bytes]:
        called.append(method)
        return encode(self, method, params)

    monkeypatch.setattr(_rpc.RPCConnection, "send_request", note)
    return called


def peer_of(origin: ScriptedOrigin) -> str:
    """Return a URL whose response is the address that the request came from."""
    return origin.on("/peer", lambda exchange: exchange.reply(body=exchange.peer.encode()))


def test_the_local_address(send: Send, origin: ScriptedOrigin, directory: Path) -> None:
    url = peer_of(origin)
    assert send("GET", url).content == b"127.0.0.1"
    assert send("GET", url, settings={"local_address": "127.0.0.2"}).content == b"127.0.0.2"
    with pytest.raises(httpx.ConnectError):
        send("GET", origin.url, settings={"uds": str(directory / "none")})


def test_connections_are_retried(send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    performed: list[str] = []
    encode = _rpc.RPCConnection.send_request
    with sockets.socket() as listener:
        listener.bind(("127.0.0.1", 0))

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        def note(self: _rpc.RPCConnection, method: str, params: dict[str, Any]) -> tuple[int, bytes]:
            if method == "request.perform":
                if len(performed) == 2:
                    # Until now nothing listens, so that connections are refused.
                    listener.listen()
                    threading.Thread(target=answer, daemon=True).start()
                if "python-adapter" in params["session"]:
                    performed.append(method)
            return encode(self, method, params)

        # Before, so that no call of it is counted.
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(httpx.ConnectError):
            send("GET", url)
        monkeypatch.setattr(_rpc.RPCConnection, "send_request", note)
        with pytest.raises(httpx.ConnectError):
            send("GET", url, settings={"retries": 1})
        assert len(performed) == 2
        performed.clear()
        assert send("GET", url, settings={"retries": 2}).content == b"ok"
    assert len(performed) == 3


def test_only_connections_are_retried(send: Send, origin: ScriptedOrigin) -> None:
    faulty(origin)
    with pytest.raises(httpx.RemoteProtocolError):
        send("POST", f"{origin.url}/gone", settings={"retries": 3})
    assert len(origin.requests) == 1


def test_trace_has_the_head(send: Send, origin: ScriptedOrigin) -> None:
    name = "http11.receive_response_headers.complete"
    heads: list[Any] = []

    def note(event: str, information: dict[str, Any]) -> None:
        if event == name:
            heads.append(information["return_value"])

    async def note_async(event: str, information: dict[str, Any]) -> None:
        note(event, information)

    url = origin.on("/", lambda exchange: exchange.send(b"HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 0\r\n\r\n"))
    sending("plain")("GET", url, extensions={"trace": note})
    is_blocking = "send_from_task" not in send.__name__
    send("GET", url, extensions={"trace": note if is_blocking else note_async})
    assert heads[0] == heads[1] == (b"HTTP/1.1", 200, b"OK", [(b"X-A", b"1"), (b"Content-Length", b"0")])


def never_ending(origin: ScriptedOrigin) -> tuple[str, threading.Event]:
    """Return a URL whose body does not end, and an event for the end of its connection."""
    ended = threading.Event()

    def begin(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        if exchange.wait_for_peer_to_close():
            ended.set()

    return origin.on("/endless", begin), ended


def test_a_trace_that_raises_ends_its_request(origin: ScriptedOrigin) -> None:
    url, ended = never_ending(origin)

    def fail(event: str, information: dict[str, Any]) -> None:
        raise LookupError(event)

    limits = httpx.Limits(max_connections=1)
    with httpx.Client(transport=CarpoolTransport(limits=limits)) as client:
        # The exception keeps what its frames refer to: only the transport ends the request.
        with pytest.raises(LookupError) as raised:
            client.get(url, extensions={"trace": fail}, timeout=None)
        assert raised.tb is not None
        assert ended.wait(PATIENCE_SECONDS)
        assert client.get(origin.url, timeout=PATIENCE_SECONDS).status_code == 200


@pytest.mark.parametrize("kind", ASYNCHRONOUS)
def test_an_asynchronous_trace_that_raises_ends_its_request(kind: str, origin: ScriptedOrigin) -> None:
    url, ended = never_ending(origin)

    async def fail(event: str, information: dict[str, Any]) -> None:
        raise LookupError(event)

    async def run() -> None:
        limits = httpx.Limits(max_connections=1)
        async with httpx.AsyncClient(transport=AsyncCarpoolTransport(limits=limits)) as client:
            with pytest.raises(LookupError) as raised:
                await client.get(url, extensions={"trace": fail}, timeout=None)
            assert raised.tb is not None
            assert await anyio.to_thread.run_sync(ended.wait, PATIENCE_SECONDS)
            assert (await client.get(origin.url, timeout=PATIENCE_SECONDS)).status_code == 200

    running(kind, run)


@pytest.mark.parametrize("kind", ASYNCHRONOUS)
def test_the_limit_of_an_asynchronous_transport(kind: str, origin: ScriptedOrigin) -> None:
    async def run() -> None:
        transport = AsyncCarpoolTransport(limits=httpx.Limits(max_connections=1))
        timeout = httpx.Timeout(PATIENCE_SECONDS, pool=0.1)
        async with httpx.AsyncClient(transport=transport, timeout=timeout) as client:
            async with client.stream("GET", origin.url):
                with pytest.raises(httpx.PoolTimeout):
                    await client.get(origin.url)
            assert (await client.get(origin.url)).status_code == 200

    running(kind, run)


def test_one_limiter_of_threads_belongs_to_an_event_loop() -> None:
    async def two() -> list[anyio.CapacityLimiter]:
        return [_threads._threads(), _threads._threads()]

    first, second = trio.run(two), trio.run(two)
    assert first[0] is first[1]
    assert second[0] is second[1] is not first[0]


def test_the_context_of_a_subclass(nginx: Nginx, authority: Authority) -> None:
    class Trusting(CarpoolAdapter):
        def init_poolmanager(self, *arguments: Any, **pool: Any) -> None:
            context = ssl.create_default_context(cafile=str(authority.ca_file))
            super().init_poolmanager(*arguments, **pool, ssl_context=context)

    url = f"{nginx.https1}/hello.txt"
    with mounted(CarpoolAdapter()) as session, pytest.raises(requests.exceptions.SSLError):
        session.get(url)
    with mounted(Trusting()) as session:
        assert session.get(url).ok


def test_the_source_address_of_a_subclass(origin: ScriptedOrigin) -> None:
    class Bound(CarpoolAdapter):
        def init_poolmanager(self, *arguments: Any, **pool: Any) -> None:
            super().init_poolmanager(*arguments, **pool, source_address=("127.0.0.2", 0))

    with mounted(Bound()) as session:
        assert session.get(peer_of(origin)).content == b"127.0.0.2"


def refusing(origin: ScriptedOrigin) -> tuple[str, list[bytes]]:
    """Return a URL that refuses what a request expects, and what was sent after the head."""
    rest: list[bytes] = []

    def refuse(exchange: Exchange) -> bool:
        assert exchange.request.values("expect") == ["100-continue"]
        exchange.send(b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        rest.append(exchange.take())
        return True

    return origin.on_head("/expect", refuse), rest


def test_an_expectation_of_requests_is_waited_for(origin: ScriptedOrigin) -> None:
    url, rest = refusing(origin)
    with mounted(CarpoolAdapter()) as session:
        assert session.post(url, data=b"a body", headers={"Expect": "100-continue"}).status_code == 413
    assert eventually(lambda: rest) == [b""]


def test_an_expectation_of_httpx_is_waited_for(send: Send, origin: ScriptedOrigin) -> None:
    url, rest = refusing(origin)
    assert send("POST", url, content=b"a body", headers={"Expect": "100-continue"}).status_code == 413
    assert eventually(lambda: rest) == [b""]


def test_a_timeout_with_a_total(origin: ScriptedOrigin) -> None:
    faulty(origin)
    with mounted(CarpoolAdapter()) as session:
        # The annotations of requests do not have it.
        patient: Any = urllib3.Timeout(total=PATIENCE_SECONDS)
        assert session.get(origin.url, timeout=patient).ok
        short: Any = urllib3.Timeout(total=0.3)
        with pytest.raises(requests.exceptions.ReadTimeout):
            session.get(f"{origin.url}/silent", timeout=short)


def test_requests_does_not_repeat_what_the_daemon_refuses(calls: list[str], origin: ScriptedOrigin) -> None:
    retry = urllib3.Retry(3, allowed_methods=None, backoff_factor=0)
    with mounted(CarpoolAdapter(max_retries=retry)) as session:
        assert session.get(origin.url).ok
        calls.clear()
        with pytest.raises(InvalidParameter, match="CONNECT"):
            session.request("CONNECT", origin.url)
        with pytest.raises(requests.exceptions.InvalidHeader):
            session.get(origin.url, headers={"TE": "trailers"})
    assert calls == ["request.perform"] * 2
    assert issubclass(InvalidParameter, (requests.RequestException, ValueError))


def test_httpx_does_not_repeat_what_the_daemon_refuses(send: Send, calls: list[str], origin: ScriptedOrigin) -> None:
    assert send("GET", origin.url).status_code == 200
    calls.clear()
    for arguments in ({"method": "CONNECT"}, {"method": "GET", "headers": {"TE": "trailers"}}):
        with pytest.raises(httpx.LocalProtocolError):
            send(url=origin.url, settings={"retries": 3}, **arguments)
    assert calls == ["request.perform"] * 2


def test_the_connections_that_no_request_uses_are_bounded(daemon: Daemon, origin: ScriptedOrigin) -> None:
    count = CONNECTIONS
    together = threading.Barrier(count)

    def wait(exchange: Exchange) -> None:
        together.wait(PATIENCE_SECONDS)
        exchange.reply()

    url = origin.on("/wait", wait)
    with mounted(CarpoolAdapter()) as session, ThreadPoolExecutor(count) as pool:
        assert all(response.ok for response in pool.map(session.get, [url] * count))
        # The one more is that of the count.
        eventually(lambda: daemon.stats()["connections"]["open"] == _pool.MAX_IDLE + 1)


def test_the_name_of_the_client(daemon: Daemon, origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARPOOL_CLIENT", "named-by-the-test")
    with mounted(CarpoolAdapter()) as session:
        assert session.get(origin.url).ok
        monkeypatch.delenv("CARPOOL_CLIENT")
        assert "named-by-the-test" in str(daemon.call("client.list"))


def test_a_child_of_fork_does_not_wait_for_the_lock_of_its_parent(origin: ScriptedOrigin) -> None:
    adapter = CarpoolAdapter()
    with mounted(adapter) as session:
        assert session.get(origin.url).ok
        # As if another thread of the parent were about to take a connection.
        with adapter._idle._lock:
            child = os.fork()
            if child == 0:
                with contextlib.suppress(BaseException):
                    signal.signal(signal.SIGALRM, signal.SIG_DFL)
                    signal.alarm(int(PATIENCE_SECONDS))
                    os._exit(0 if session.get(origin.url).ok else 1)
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
