"""What a program does while a Python client waits: its signals, its time limits and its other event loops."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

import anyio
import carpool
import httpx
import pytest
from carpool.httpx import AsyncCarpoolTransport
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, eventually
from origins.scripted import Exchange, ScriptedOrigin

LINES = 30


@pytest.fixture
def alarm() -> Iterator[Callable[[BaseException], None]]:
    """Let a handler raise an exception in a fifth of a second."""
    former = signal.getsignal(signal.SIGALRM)

    def begin(error: BaseException) -> None:
        def handle(number: int, frame: FrameType | None) -> None:
            raise error

        signal.signal(signal.SIGALRM, handle)
        signal.setitimer(signal.ITIMER_REAL, 0.2)

    yield begin
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, former)


@pytest.fixture
def lines(origin: ScriptedOrigin) -> str:
    """The URL of lines that come slowly."""

    def drip(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (LINES * 10))
        pause = threading.Event()
        for _ in range(LINES):
            exchange.send(b"123456789\n")
            pause.wait(0.03)

    return origin.on("/lines", drip)


def test_the_exception_of_a_signal_handler_is_the_program_s(
    client: carpool.Client, origin: ScriptedOrigin, alarm: Callable[[BaseException], None]
) -> None:
    gate = origin.hold("/held")
    alarm(TimeoutError("my alarm"))
    with pytest.raises(TimeoutError, match="my alarm"):
        client.get(f"{origin.url}/held")
    gate.set()
    assert client.get(f"{origin.url}/held").content == b"released"


def test_a_step_of_a_stream_that_was_cancelled_can_be_repeated(daemon: Daemon, lines: str) -> None:
    async def run() -> tuple[int, int]:
        count = cancelled = 0
        async with carpool.AsyncClient(daemon.socket) as client, client.stream("GET", lines) as stream:
            iterator = stream.iter_lines()
            while True:
                try:
                    assert await asyncio.wait_for(anext(iterator), 0.01) == "123456789"
                    count += 1
                except asyncio.TimeoutError:  # noqa: UP041, of its own in Python 3.10
                    cancelled += 1
                except StopAsyncIteration:
                    return count, cancelled

    count, cancelled = asyncio.run(asyncio.wait_for(run(), PATIENCE_SECONDS))
    assert count == LINES
    assert cancelled


def test_a_stream_that_was_interrupted_does_not_seem_to_be_whole(
    client: carpool.Client, lines: str, alarm: Callable[[BaseException], None]
) -> None:
    with client.stream("GET", lines) as stream:
        iterator = stream.iter_lines()
        next(iterator)
        alarm(KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            list(iterator)
        with pytest.raises(carpool.CarpoolError):
            list(iterator)


def test_a_value_that_is_not_json_ends_the_iterator(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/values", lambda exchange: exchange.reply(200, b"1\n2\nno\n4\n"))
    with client.stream("GET", url) as stream:
        values = stream.iter_json()
        assert [next(values), next(values)] == [1, 2]
        with pytest.raises(carpool.DecodingError):
            next(values)
        assert list(values) == []


def test_after_a_refused_connection_the_next_call_connects(
    start: Callable[..., Daemon], origin: ScriptedOrigin
) -> None:
    daemon = start(config={"limits": {"connections_per_client": 1}})
    with carpool.Client(daemon.socket) as client:
        with daemon.wire() as first:
            first.call("daemon.ping")
            with pytest.raises(carpool.AccessError, match="too many connections"):
                client.get(origin.url)

        def is_admitted() -> bool:
            # The daemon may not have seen yet that the first one is closed.
            with contextlib.suppress(carpool.AccessError):
                return client.get(origin.url).ok
            return False

        eventually(is_admitted)
        assert client.get(origin.url).ok


def test_a_transport_in_two_event_loops_wakes_what_waits_in_each(
    daemon: Daemon, origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    gate = origin.hold("/held")
    limits = httpx.Limits(max_connections=1)
    transport = AsyncCarpoolTransport(limits=limits)
    answers: list[int] = []

    async def one(path: str) -> None:
        async with httpx.AsyncClient(transport=transport, timeout=httpx.Timeout(10, pool=None)) as client:
            request = client.build_request("GET", origin.url + path)
            response = await client.send(request)
            answers.append(response.status_code)

    async def first() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(one, "/held")
            await anyio.to_thread.run_sync(lambda: origin.received(1, "/held"))
            group.start_soon(one, "/second")
            await anyio.sleep(0)
            # Another event loop uses the transport meanwhile.
            await anyio.to_thread.run_sync(lambda: asyncio.run(one("/other")))
            gate.set()

    asyncio.run(asyncio.wait_for(first(), PATIENCE_SECONDS))
    assert answers == [200, 200, 200]
