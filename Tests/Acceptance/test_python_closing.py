"""Streams of the Python clients that are closed while they are read, or read twice at the same time."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, eventually, join
from loops import RunLoop
from origins.scripted import Exchange, ScriptedOrigin

CLOSED = "read to its end or closed"


@pytest.fixture
def url(origin: ScriptedOrigin) -> str:
    """A body that begins, and then waits until its client is gone."""

    def begin(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        exchange.wait_for_peer_to_close()

    return origin.on("/begun", begin)


def descriptors() -> list[str]:
    """The open files of this process, without those of the listing."""
    links = [entry for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    return sorted(str(link.readlink()) for link in links if link.is_symlink())


class Reader:
    """A thread that has read the first piece of a stream, and waits for the next one."""

    def __init__(self, stream: carpool.Stream) -> None:
        self.stream = stream
        self.pieces: list[bytes] = []
        self.errors: list[Exception] = []
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        eventually(lambda: self.pieces and self.stream._pipe._is_being_read)

    def _read(self) -> None:
        try:
            self.pieces.extend(self.stream.iter_bytes())
        except Exception as error:
            self.errors.append(error)

    def end(self) -> Exception:
        """Return the exception with which it ends."""
        join([self.thread])
        (error,) = self.errors
        return error


@pytest.fixture
def reader(client: carpool.Client, url: str) -> Iterator[Reader]:
    stream = client.get(url, stream=True)
    yield Reader(stream)
    stream.close()


def test_a_stream_that_another_thread_closes_ends_for_its_reader(
    daemon: Daemon, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that are opened at once must not have the number of the pipe that the reader polls."""
    before = descriptors()
    opened: list[int] = []
    with carpool.Client(daemon.socket) as client:
        stream = client.get(url, stream=True)
        reader = Reader(stream)
        ask = stream._channel.ask

        def opening(*arguments: Any) -> Any:
            opened.extend(os.pipe())
            return ask(*arguments)

        monkeypatch.setattr(stream._channel, "ask", opening)
        stream.close()
        error = reader.end()
        assert type(error) is carpool.CarpoolError
        assert CLOSED in str(error)
        assert reader.pieces == [b"first"]
        eventually(daemon.is_idle)
    for end in opened:
        os.close(end)
    assert descriptors() == before


def test_the_handler_of_a_signal_may_close_the_stream_that_its_thread_reads(
    daemon: Daemon, client: carpool.Client, url: str
) -> None:
    stream = client.get(url, stream=True)
    pieces = stream.iter_bytes()
    assert next(pieces) == b"first"

    def send() -> None:
        eventually(lambda: stream._pipe._is_being_read)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    previous = signal.signal(signal.SIGUSR1, lambda *_: stream.close())
    sender = threading.Thread(target=send, daemon=True)
    try:
        sender.start()
        with pytest.raises(carpool.CarpoolError, match=CLOSED):
            next(pieces)
    finally:
        join([sender])
        signal.signal(signal.SIGUSR1, previous)
    eventually(daemon.is_idle)


def test_a_stream_has_one_reader_at_a_time(reader: Reader) -> None:
    with pytest.raises(carpool.CarpoolError, match="by another thread or task"):
        next(reader.stream.iter_bytes())
    reader.stream.close()
    assert CLOSED in str(reader.end()), "the first reader is not affected"


@pytest.mark.parametrize("opens", [False, True])
def test_a_stream_that_another_task_closes_ends_for_its_reader(
    run_loop: RunLoop, daemon: Daemon, url: str, *, opens: bool
) -> None:
    """Files that are opened at once must not have the number of the pipe that the event loop watches."""

    async def run() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            stream = await client.get(url, stream=True)
            pieces = stream.iter_bytes()
            assert await anext_of(pieces) == b"first"
            reading = asyncio.ensure_future(anext_of(pieces))
            await asyncio.to_thread(eventually, lambda: stream._pipe._is_being_read)
            closing = asyncio.ensure_future(stream.aclose())
            ends = [os.pipe() for _ in range(4)] if opens else []
            with pytest.raises(carpool.CarpoolError, match=CLOSED):
                await asyncio.wait_for(reading, PATIENCE_SECONDS)
            await asyncio.wait_for(closing, PATIENCE_SECONDS)
            for end in [end for pair in ends for end in pair]:
                os.close(end)
            assert stream._pipe.descriptor == -1
            await asyncio.to_thread(eventually, daemon.is_idle)
            assert (await client.call("daemon.ping"))["pong"]

    run_loop(run())


def test_a_stream_has_one_task_at_a_time_that_reads(run_loop: RunLoop, daemon: Daemon, url: str) -> None:
    async def run() -> None:
        async with carpool.AsyncClient(daemon.socket) as client, client.stream("GET", url) as stream:
            pieces = stream.iter_bytes()
            assert await anext_of(pieces) == b"first"
            reading = asyncio.ensure_future(anext_of(pieces))
            await asyncio.to_thread(eventually, lambda: stream._pipe._is_being_read)
            with pytest.raises(carpool.CarpoolError, match="by another thread or task"):
                await anext_of(stream.iter_bytes())
            await stream.aclose()
            with pytest.raises(carpool.CarpoolError, match=CLOSED):
                await asyncio.wait_for(reading, PATIENCE_SECONDS)

    run_loop(run())


async def anext_of(pieces: Any) -> bytes:
    """Return the next piece; a coroutine, so that a task can wait for it."""
    piece: bytes = await pieces.__anext__()
    return piece
