"""Every body is whole in every client: what a server receives and what a program gets back (`harness/wholebodies.py`).

A seeded sample runs by default, all cells with CARPOOL_BODY_CELLS=all. CARPOOL_BODY_SEED chooses another sample.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import carpool
import httpx
import httpx2
import pytest
import requests
import trio
import urllib3
from carpool import httpx as httpx_transports
from carpool import httpx2 as httpx2_transports
from carpool.requests import CarpoolAdapter
from carpool.testing import FakeDaemon, Reply
from harness import wholebodies
from harness.command import OK
from harness.daemon import CARPOOL, Daemon
from harness.waiting import PATIENCE_SECONDS
from harness.wholebodies import Cell, Place
from loops import LOOPS, running_on
from origins.scripted import Exchange, Received, ScriptedOrigin

COUNT = os.environ.get("CARPOOL_BODY_CELLS", "1")
"""How many cells of each way run, or `all`."""
SEED = int(os.environ.get("CARPOOL_BODY_SEED", "1"))
CHUNK = 100
"""How many cells one test runs: it has to end in time on a slow machine."""
METHOD = "PUT"
"""A method that may be sent again."""

RETRY = carpool.RetryPolicy(limit=1, scale_ms=1, without_validation=True)

Post = Callable[[str, dict[str, Any]], Awaitable[bytes]]

# MARK: Clients


@contextlib.asynccontextmanager
async def blocking() -> AsyncIterator[Post]:
    with carpool.Client(retry=RETRY) as client:

        async def send(url: str, body: dict[str, Any]) -> bytes:
            return bytes(client.put(url, **body).content)

        yield send


@contextlib.asynccontextmanager
async def asynchronous() -> AsyncIterator[Post]:
    async with carpool.AsyncClient(retry=RETRY) as client:

        async def send(url: str, body: dict[str, Any]) -> bytes:
            return bytes((await client.put(url, **body)).content)

        yield send


@contextlib.asynccontextmanager
async def by_requests() -> AsyncIterator[Post]:
    with requests.Session() as session:
        session.mount("http://", CarpoolAdapter(max_retries=urllib3.Retry(1, status_forcelist=[503])))

        async def send(url: str, body: dict[str, Any]) -> bytes:
            return bytes(session.put(url, **body).content)

        yield send


def by_httpx(library: Any, transports: Any) -> Callable[[], Any]:
    @contextlib.asynccontextmanager
    async def opened() -> AsyncIterator[Post]:
        with library.Client(transport=transports.CarpoolTransport(), follow_redirects=True) as client:

            async def send(url: str, body: dict[str, Any]) -> bytes:
                return bytes(client.put(url, **body).content)

            yield send

    return opened


def by_async_httpx(library: Any, transports: Any) -> Callable[[], Any]:
    @contextlib.asynccontextmanager
    async def opened() -> AsyncIterator[Post]:
        transport = transports.AsyncCarpoolTransport()
        async with library.AsyncClient(transport=transport, follow_redirects=True) as client:

            async def send(url: str, body: dict[str, Any]) -> bytes:
                return bytes((await client.put(url, **body)).content)

            yield send

    return opened


def run_on(loop: str, function: Callable[[], Any]) -> None:
    if loop == "trio":
        trio.run(function)
    else:
        running_on(loop)(function())


LIBRARIES: dict[str, tuple[Any, Any]] = {
    "httpx": (httpx, httpx_transports),
    "httpx2": (httpx2, httpx2_transports),
}
SENDERS: dict[str, tuple[str, str, Callable[[], Any]]] = {
    "Client": ("client", "asyncio", blocking),
    "requests": ("requests", "asyncio", by_requests),
    **{f"AsyncClient on {loop}": ("async client", loop, asynchronous) for loop in LOOPS},
    **{name: ("httpx", "asyncio", by_httpx(*both)) for name, both in LIBRARIES.items()},
    **{
        f"{name} on {loop}": ("async httpx", loop, by_async_httpx(*both))
        for (name, both), loop in itertools.product(LIBRARIES.items(), [*LOOPS, "trio"])
    },
}
"""The clients: the kind of each, its event loop, and what opens it. A blocking one ignores the loop."""
EVENTS = {"httpx": ("plain", "redirect"), "async httpx": ("plain", "redirect")}
"""What may happen before an answer; httpx does not send again because of a status."""
FAILURES = (
    carpool.CarpoolError,
    requests.RequestException,
    *(kind for library in (httpx, httpx2) for kind in (library.HTTPError, library.StreamError)),
)
"""What a client raises for a body that it would have to send again and cannot."""


def chunks(kind: str) -> list[list[Cell]]:
    chosen = wholebodies.sample(wholebodies.cells(kind, EVENTS.get(kind, ("plain", "redirect", "retry"))), COUNT, SEED)
    return [chosen[start : start + CHUNK] for start in range(0, len(chosen), CHUNK)]


TESTS = [(sender, part) for sender, (kind, *_) in SENDERS.items() for part in range(len(chunks(kind)))]
# The fake daemon does not know the event loop of its client.
FAKE_TESTS = [(sender, part) for sender, part in TESTS if SENDERS[sender][1] == "asyncio"]

# MARK: Servers


class Pages:
    """The pages of an origin, or of a fake daemon, and what they have received."""

    def __init__(self) -> None:
        self.received: list[tuple[str, bytes]] = []
        """Content types and bodies."""
        self.frame = ""
        self._seen: Counter[str] = Counter()

    def begin(self) -> None:
        self.received.clear()
        self._seen.clear()

    def status(self, event: str) -> int:
        """The status of the next response to a request for a page with this event."""
        self._seen[event] += 1
        return {"redirect": 307, "retry": 503}.get(event, 200) if self._seen[event] == 1 else 200

    def answer(self, exchange: Exchange) -> None:
        request = exchange.request
        event, size, framing = request.target.strip("/").split("/")
        self.received.append(((request.values("content-type") or [""])[0], request.body))
        self.frame = frame(request)
        status, body = self.status(event), wholebodies.content(int(size))
        if status != 200:
            headers = {307: [("Location", f"/plain/{size}/{framing}")], 503: []}
            exchange.reply(status, b"not yet", headers[status])
        elif framing == "length":
            exchange.reply(200, body)
        else:
            exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for start in range(0, len(body), 99_991):
                piece = body[start : start + 99_991]
                exchange.send(b"%x\r\n%b\r\n" % (len(piece), piece))
            exchange.send(b"0\r\n\r\n")

    def reply(self, request: Any) -> Reply:
        event, size, framing = request.url.rsplit("/", 3)[1:]
        self.received.append((request.headers.get("Content-Type", ""), request.content))
        status = self.status(event)
        if status != 200:
            location = {"Location": f"/plain/{size}/{framing}"} if status == 307 else {}
            return Reply(status, headers=location, content=b"not yet")
        headers = {"Transfer-Encoding": "chunked"} if framing == "chunks" else {}
        return Reply(content=wholebodies.content(int(size)), headers=headers)


def frame(request: Received) -> str:
    """How a request says where its body ends."""
    lengths, codings = request.values("content-length"), request.values("transfer-encoding")
    if not lengths and not codings:
        return "none"
    if lengths == [str(len(request.body))] and not codings:
        return "length"
    return "chunks" if codings == ["chunked"] and not lengths else f"{lengths} and {codings}"


def judge(cell: Cell, pages: Pages, returned: bytes | BaseException) -> str:
    """Return what is wrong with what has arrived and come back; empty if nothing is."""
    if isinstance(returned, BaseException):
        may_fail = cell.event != "plain" and cell.way in wholebodies.ONCE and isinstance(returned, FAILURES)
        return "" if may_fail else f"{cell}: {type(returned).__name__}: {returned}"
    if not pages.received:
        return f"{cell}: nothing has arrived"
    if returned != wholebodies.content(cell.answer):
        return f"{cell}: {len(returned):,} other bytes came back"
    for content_type, body in pages.received:
        if not wholebodies.arrived(cell, content_type, body):
            return f"{cell}: {len(body):,} other bytes arrived, as {content_type}"
    if pages.frame not in {"", cell.frame}:
        return f"{cell}: sent with {pages.frame}, expected {cell.frame}"
    return ""


def check(folder: Path, sender: str, part: int, base: str, pages: Pages) -> None:
    """Send the bodies of some cells by one client."""
    kind, loop, opened = SENDERS[sender]
    place, wrong = Place(folder), []

    async def run() -> None:
        async with opened() as send:
            for cell in chunks(kind)[part]:
                pages.begin()
                with contextlib.closing(place):
                    returned: bytes | BaseException
                    try:
                        returned = await send(base + cell.path, place.arguments(kind, cell))
                    except Exception as error:
                        returned = error
                wrong.append(judge(cell, pages, returned))

    run_on(loop, run)
    assert list(filter(None, wrong)) == []


# MARK: Tests


@pytest.fixture
def pages(origin: ScriptedOrigin) -> Pages:
    made = Pages()
    origin.handler = made.answer
    return made


@pytest.mark.parametrize(("sender", "part"), TESTS)
def test_bodies_are_whole(
    daemon: Daemon, origin: ScriptedOrigin, pages: Pages, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sender: str,
    part: int,
) -> None:  # fmt: skip
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    check(tmp_path, sender, part, origin.url, pages)
    assert daemon.spooled() == []


@pytest.mark.parametrize("part", range(len(chunks("command"))))
def test_bodies_of_the_command_are_whole(
    daemon: Daemon, origin: ScriptedOrigin, pages: Pages, tmp_path: Path, part: int
) -> None:
    environment = {**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket)}
    place, wrong = Place(tmp_path), []
    for cell in chunks("command")[part]:
        pages.begin()
        words, stdin = place.words(cell)
        with contextlib.closing(place):
            done = subprocess.run(
                [CARPOOL, "put", "-f", "--retry", "1", "--retry-delay", "1ms", *words, origin.url + cell.path],
                env=environment, stdin=stdin or subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_SECONDS,
                check=False,
            )  # fmt: skip
        failure = carpool.CarpoolError(f"{done.returncode}: {done.stderr.decode()}")
        wrong.append(judge(cell, pages, done.stdout if done.returncode == OK else failure))
    assert list(filter(None, wrong)) == []
    assert daemon.spooled() == []


@pytest.mark.parametrize("sender", SENDERS)
def test_a_body_that_cannot_be_read_is_an_error(
    daemon: Daemon, origin: ScriptedOrigin, pages: Pages, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sender: str
) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    kind, loop, opened = SENDERS[sender]
    place = Place(tmp_path)

    async def run() -> None:
        async with opened() as send:
            for way in wholebodies.ENDED[kind]:
                body = await place.ended(way)
                with pytest.raises((ValueError, *FAILURES)):
                    await send(f"{origin.url}/plain/0/length", {"content" if "httpx" in kind else "data": body})

    run_on(loop, run)
    assert pages.received == []
    assert origin.requests == []


@pytest.mark.parametrize(("sender", "part"), FAKE_TESTS)
def test_bodies_are_whole_with_the_fake_daemon(tmp_path: Path, sender: str, part: int) -> None:
    pages = Pages()
    with FakeDaemon() as fake:
        fake.route(METHOD, re.compile("http://fake.example/"), pages.reply)
        check(tmp_path, sender, part, "http://fake.example", pages)
        assert list(Path(fake.folder).iterdir()) == [Path(fake.socket)]
