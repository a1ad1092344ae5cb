"""The transports of httpx: what its clients send and receive through the daemon, compared with their own."""

from __future__ import annotations

import asyncio
import functools
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from socket import create_server
from typing import Any

import httpx
import pytest
import trio
from carpool.httpx import AsyncCarpoolTransport, CarpoolTransport
from harness.daemon import ROOT, Daemon
from harness.pairs import LONG, difference, faulty
from harness.transports import Send, sending
from harness.waiting import PATIENCE_SECONDS
from origins.authority import Authority, Certificate
from origins.httpbin import Httpbin
from origins.mutual import MutualNginx
from origins.nginx import Nginx
from origins.proxies import PASSWORD, USER, Socks, Squid
from origins.scripted import Exchange, ScriptedOrigin

MEBIBYTE = 1 << 20
BLOCKS = [b"x" * 300_000] * 5


@pytest.fixture
def socket(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> Daemon:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    return daemon


@pytest.fixture(params=["blocking", "asyncio", "trio"])
def send(request: pytest.FixtureRequest, socket: Daemon) -> Send:
    """Send a request through the test's daemon."""
    return sending(request.param)


@pytest.mark.parametrize(
    "arguments",
    [
        {"method": "GET"},
        {"method": "GET", "params": {"q": "a b[ü]|%zz"}},
        {"method": "GET", "headers": {"X-B": "2", "x-a": "1", "User-Agent": "mine", "X-Empty": ""}},
        {"method": "GET", "headers": {"Host": "other.example"}},
        {"method": "GET", "auth": ("ada", "secret"), "headers": {"Cookie": "c=1"}},
        {"method": "HEAD"},
        {"method": "OPTIONS"},
        {"method": "DELETE"},
        {"method": "POST"},
        {"method": "POST", "data": {"a": ["1", "ü"]}},
        {"method": "POST", "json": {"a": [1, None]}},
        {"method": "PUT", "content": b"\x00\xff" * 1_000_000},
        {"method": "FIND", "content": b"x"},
    ],
)
def test_it_sends_what_httpx_sends(send: Send, origin: ScriptedOrigin, arguments: dict[str, Any]) -> None:
    for each in (sending("plain"), send):
        assert each(url=f"{origin.url}/a/b", **arguments).status_code == 200
    assert difference(*origin.requests) == {}


def test_a_get_with_a_body(send: Send, origin: ScriptedOrigin) -> None:
    for each in (sending("plain"), send):
        assert each("GET", origin.url, content=b"a body").content.endswith(b"a body")
    assert difference(*origin.requests) == {}


def test_blocks_are_sent_as_they_are_read(socket: Daemon, origin: ScriptedOrigin) -> None:
    async def blocks() -> AsyncIterator[bytes]:
        for block in BLOCKS:
            yield block

    sending("plain")("POST", origin.url, content=iter(BLOCKS))
    sending("blocking")("POST", origin.url, content=iter(BLOCKS))
    sending("asyncio")("POST", origin.url, content=blocks())
    sending("trio")("POST", origin.url, content=blocks())
    plain, *ours = origin.requests
    assert [difference(plain, each) for each in ours] == [{}, {}, {}]


def test_a_response_is_what_httpx_makes_of_it(send: Send, origin: ScriptedOrigin) -> None:
    faulty(origin)
    for path in ("/chunked", "/gzip", "/cookie", "/nothing", "/moved"):
        first, second = (each("GET", origin.url + path, follow_redirects=True) for each in (sending("plain"), send))
        assert first.content == second.content
        assert first.headers.raw == second.headers.raw
        assert (first.status_code, first.http_version, first.url) == (
            second.status_code,
            second.http_version,
            second.url,
        )
        assert [each.status_code for each in first.history] == [each.status_code for each in second.history]
        assert dict(first.cookies) == dict(second.cookies)
    assert send("GET", f"{origin.url}/gzip").content == LONG


def test_a_stream_arrives_while_it_is_sent(socket: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/never")

    def half(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        gate.wait(PATIENCE_SECONDS)
        exchange.send(b"other")

    url = origin.on("/half", half)
    with httpx.Client(transport=CarpoolTransport()) as client, client.stream("GET", url) as response:
        pieces = response.iter_raw()
        assert next(pieces) == b"first"
        gate.set()
        assert list(pieces) == [b"other"]


def test_a_slow_reader_holds_the_server_back(socket: Daemon, origin: ScriptedOrigin) -> None:
    written: list[int] = []
    total = 32 * MEBIBYTE

    def endless(exchange: Exchange) -> None:
        exchange.send(f"HTTP/1.1 200 OK\r\nContent-Length: {total}\r\n\r\n".encode())
        for _ in range(32):
            exchange.send(b"x" * MEBIBYTE)
            written.append(MEBIBYTE)

    url = origin.on("/endless", endless)
    with httpx.Client(transport=CarpoolTransport()) as client, client.stream("GET", url) as response:
        pieces = response.iter_raw()
        received = len(next(pieces))
        assert client.get(f"{origin.url}/other").status_code == 200
        assert sum(written) < total / 2
        assert received + sum(map(len, pieces)) == total


@pytest.mark.parametrize(
    ("path", "timeout"),
    [
        ("/cut", 5),
        ("/cut-chunks", 5),
        ("/gone", 5),
        ("/reset", 5),
        ("/silent", httpx.Timeout(5, read=0.3)),
        ("/stalled", httpx.Timeout(5, read=0.3)),
    ],
)
def test_a_failure_is_the_exception_of_httpx(send: Send, origin: ScriptedOrigin, path: str, timeout: Any) -> None:
    faulty(origin)
    kinds = []
    for each in (sending("plain"), send):
        with pytest.raises(httpx.HTTPError) as raised:
            each("GET", origin.url + path, timeout=timeout)
        kinds.append(raised.type)
        assert raised.value.request.url == origin.url + path
    assert kinds[0] is kinds[1], raised.value


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:1/", httpx.ConnectError),
        ("http://no-such-host.invalid/", httpx.ConnectError),
        ("ftp://127.0.0.1/", httpx.UnsupportedProtocol),
    ],
)
def test_no_connection(send: Send, url: str, kind: type[Exception]) -> None:
    with pytest.raises(kind) as raised:
        send("GET", url, timeout=10)
    assert raised.type is kind


def test_timeouts(socket: Daemon, origin: ScriptedOrigin) -> None:
    with create_server(("127.0.0.1", 0)) as listener, pytest.raises(httpx.ConnectTimeout):
        sending("blocking")(
            "GET", f"https://127.0.0.1:{listener.getsockname()[1]}/", timeout=httpx.Timeout(30, connect=0.3)
        )
    transport = CarpoolTransport(limits=httpx.Limits(max_connections=1))
    with (
        httpx.Client(transport=transport) as client,
        client.stream("GET", origin.url),
        pytest.raises(httpx.PoolTimeout),
    ):
        client.get(origin.url, timeout=httpx.Timeout(5, pool=0.1))


def test_a_cancelled_task_ends_its_request(socket: Daemon, origin: ScriptedOrigin) -> None:
    ended, begun = threading.Event(), threading.Event()

    def wait(exchange: Exchange) -> None:
        begun.set()
        if exchange.wait_for_peer_to_close():
            ended.set()

    async def run(url: str) -> None:
        async with httpx.AsyncClient(transport=AsyncCarpoolTransport()) as client:
            task = asyncio.create_task(client.get(url))
            await asyncio.to_thread(begun.wait, PATIENCE_SECONDS)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert (await client.get(origin.url)).status_code == 200

    asyncio.run(run(origin.on("/wait", wait)))
    assert ended.wait(PATIENCE_SECONDS)


def test_a_cancelled_task_of_trio_ends_its_request(socket: Daemon, origin: ScriptedOrigin) -> None:
    ended = threading.Event()

    def wait(exchange: Exchange) -> None:
        if exchange.wait_for_peer_to_close():
            ended.set()

    async def run(url: str) -> None:
        async with httpx.AsyncClient(transport=AsyncCarpoolTransport()) as client:
            async with trio.open_nursery() as nursery:
                # Without a time limit only the cancellation ends the thread that waits.
                nursery.start_soon(functools.partial(client.get, url, timeout=None))
                await trio.to_thread.run_sync(origin.received, 1, "/wait")
                nursery.cancel_scope.cancel()
            assert (await client.get(origin.url)).status_code == 200

    trio.run(run, origin.on("/wait", wait))
    assert ended.wait(PATIENCE_SECONDS)


def test_tasks_and_threads_share_a_transport(socket: Daemon, origin: ScriptedOrigin) -> None:
    async def run() -> None:
        async with httpx.AsyncClient(transport=AsyncCarpoolTransport()) as client:
            answers = await asyncio.gather(*(client.get(f"{origin.url}/{number}") for number in range(50)))
            assert all(f"/{number} ".encode() in answer.content for number, answer in enumerate(answers))

    asyncio.run(run())
    with httpx.Client(transport=CarpoolTransport()) as client, ThreadPoolExecutor(8) as pool:
        assert all(
            pool.map(lambda number: f"/{number} ".encode() in client.get(f"{origin.url}/{number}").content, range(50))
        )


def test_certificates(
    send: Send, socket: Daemon, nginx: Nginx, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{nginx.https}/hello.txt"
    with pytest.raises(httpx.ConnectError):
        send("GET", url)
    context = ssl.create_default_context(cafile=str(authority.ca_file))
    assert send("GET", url, settings={"verify": context}).http_version == "HTTP/1.1"
    # With both versions, an old libcurl has HTTP/1.1.
    both = "HTTP/2" if socket.call("daemon.info")["libcurl"]["profile"] == "multiplex" else "HTTP/1.1"
    assert send("GET", url, settings={"verify": context, "http2": True}).http_version == both
    assert send("GET", url, settings={"verify": context, "http1": False, "http2": True}).http_version == "HTTP/2"
    assert send("GET", url, settings={"verify": False}).status_code == 200
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.ca_file))
    assert send("GET", url).status_code == 200
    with pytest.raises(httpx.ConnectError):
        send("GET", url, settings={"trust_env": False})


def test_a_client_certificate(send: Send, mutual: MutualNginx, person: Certificate, authority: Authority) -> None:
    settings = {"cert": (str(person.chain), str(person.key)), "verify": str(authority.ca_file)}
    assert send("GET", mutual.required, settings=settings).text.startswith("CN=person")


def test_proxies(send: Send, squid: Squid, socks: Socks, origin: ScriptedOrigin) -> None:
    assert send("GET", origin.url, settings={"proxy": f"http://127.0.0.1:{squid.plain}"}).status_code == 200
    assert any(name.lower() == "via" for name, _ in origin.requests[-1].headers)
    user = httpx.Proxy(f"http://127.0.0.1:{squid.basic}", auth=(USER, PASSWORD))
    assert send("GET", origin.url, settings={"proxy": user}).status_code == 200
    assert send("GET", origin.url, settings={"proxy": f"socks5://127.0.0.1:{socks.plain}"}).status_code == 200
    with pytest.raises(httpx.ProxyError):
        send("GET", "https://127.0.0.1/", settings={"proxy": f"http://127.0.0.1:{squid.basic}"})


def test_digest(send: Send, httpbin: Httpbin) -> None:
    answer = send("GET", f"{httpbin.url}/digest-auth/auth/ada/secret", auth=httpx.DigestAuth("ada", "secret"))
    assert answer.json() == {"authenticated": True, "user": "ada"}


def test_a_daemon_that_cannot_be_reached(
    origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(tmp_path / "none"))
    for kind in ("blocking", "asyncio", "trio"):
        monkeypatch.delenv("CARPOOL", raising=False)
        with pytest.raises(httpx.ConnectError, match="carpoold cannot be reached"):
            sending(kind)("GET", origin.url)
        monkeypatch.setenv("CARPOOL", "off")
        assert sending(kind)("GET", origin.url).status_code == 200
        assert origin.requests[-1].values("connection") == ["keep-alive"]


def test_the_missing_package_is_named(tmp_path: Path) -> None:
    (tmp_path / "httpx.py").write_text("raise ImportError('no')\n")
    path = f"{tmp_path}:{ROOT / 'clients/python/src'}"
    command = [sys.executable, "-c", "import carpool, sys; assert 'httpx' not in sys.modules; import carpool.httpx"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert "carpool.httpx needs the package httpx: pip install httpx" in done.stderr
