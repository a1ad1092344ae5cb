"""A body that the client waits for does not keep it: the call ends with its request."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import io
import os
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, eventually
from loops import RunLoop
from origins.scripted import Exchange, ScriptedOrigin


def ended(call: Callable[[], Any]) -> Any:
    """Call a function in a thread, and return its result or exception; fails if it does not end."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(call())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    assert results, "the call waits for its body"
    return results[0]


def ended_on(run_loop: RunLoop, daemon: Daemon, call: Callable[[carpool.AsyncClient], Awaitable[Any]]) -> Any:
    """Return the result or the exception of a call of the asynchronous client."""

    async def main() -> Any:
        async with carpool.AsyncClient(daemon.socket) as client:
            try:
                return await asyncio.wait_for(call(client), PATIENCE_SECONDS)
            except carpool.CarpoolError as error:
                return error

    return ended(lambda: run_loop(main()))


@pytest.fixture
def silent() -> Iterator[dict[str, Any]]:
    """Sources that have no bytes and no end during the test."""
    reading, writing = os.pipe()
    ours, theirs = socket.socketpair()
    with contextlib.ExitStack() as stack:
        sources: dict[str, Any] = {
            "pipe": os.fdopen(reading, "rb"),
            "file": os.fdopen(os.dup(reading), "rb", buffering=0),
            "socket": ours.makefile("rb"),
        }
        for source in (ours, *sources.values()):
            stack.enter_context(source)
        # First: a file that a thread reads cannot be closed.
        stack.callback(theirs.close)
        stack.callback(os.close, writing)
        yield {**sources, "path": Path(f"/dev/fd/{reading}")}


KINDS = ["pipe", "file", "path", "socket"]


async def never() -> AsyncIterator[bytes]:
    yield b"first"
    await asyncio.Event().wait()


def assert_total_has_passed(error: Any) -> None:
    assert isinstance(error, carpool.RequestTimeoutError)
    assert "raise total=" in str(error)


@pytest.mark.parametrize("kind", KINDS)
def test_total_ends_a_blocking_call(
    client: carpool.Client, origin: ScriptedOrigin, silent: dict[str, Any], kind: str
) -> None:
    assert_total_has_passed(ended(lambda: client.put(origin.url, data=silent[kind], total=0.5)))
    assert client.call("request.list")["requests"] == []


@pytest.mark.parametrize("kind", [*KINDS, "generator"])
def test_total_ends_an_asynchronous_call(
    run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin, silent: dict[str, Any], kind: str
) -> None:
    sources = {**silent, "generator": never()}
    error = ended_on(run_loop, daemon, lambda client: client.put(origin.url, data=sources[kind], total=0.5))
    assert_total_has_passed(error)


def test_total_ends_uploads_and_what_is_submitted(
    run_loop: RunLoop, daemon: Daemon, client: carpool.Client, origin: ScriptedOrigin, silent: dict[str, Any]
) -> None:
    assert_total_has_passed(ended(lambda: client.upload(origin.url, silent["pipe"], total=0.5)))
    assert_total_has_passed(ended_on(run_loop, daemon, lambda client: client.upload(origin.url, never(), total=0.5)))
    request = ended(lambda: client.submit("PUT", origin.url, data=silent["pipe"], total=0.5))
    assert_total_has_passed(client.wait(request).error)


def test_total_ends_a_call_whose_file_waits_inside_of_itself(
    run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin
) -> None:
    reading, writing = os.pipe()

    async def call(client: carpool.AsyncClient) -> Any:
        with os.fdopen(reading, "rb") as pipe:
            try:
                return await client.put(origin.url, data=gzip.GzipFile(fileobj=pipe), total=0.5)
            finally:
                # The event loop waits for the thread that reads.
                os.close(writing)

    assert_total_has_passed(ended_on(run_loop, daemon, call))


def refuse(exchange: Exchange) -> bool:
    exchange.reply(413, headers=[("Connection", "close")])
    return exchange.wait_for_peer_to_close()


def test_an_early_response_ends_the_call(
    run_loop: RunLoop, daemon: Daemon, client: carpool.Client, origin: ScriptedOrigin, silent: dict[str, Any]
) -> None:
    url = origin.on_head("/small", refuse)
    assert ended(lambda: client.post(url, data=silent["pipe"])).status_code == 413
    assert ended_on(run_loop, daemon, lambda client: client.post(url, data=never())).status_code == 413


@pytest.mark.parametrize("method", ["request.cancel", "request.dismiss"])
def test_another_client_ends_the_call(
    run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin, silent: dict[str, Any], method: str
) -> None:
    def end() -> None:
        with daemon.client() as client:
            (entry,) = eventually(lambda: client.call("request.list")["requests"])
            client.call("request.cancel", request=entry["request"])
            if method == "request.dismiss":
                client.call(method, request=entry["request"])

    # The connection of a blocking client is that of its thread.
    def call() -> Any:
        with daemon.client() as client:
            return client.put(origin.url, data=silent["pipe"])

    calls: list[Callable[[], Any]] = [
        call,
        lambda: ended_on(run_loop, daemon, lambda client: client.put(origin.url, data=never())),
    ]
    expected = carpool.RequestCancelledError if method == "request.cancel" else carpool.ObjectError
    for each in calls:
        ending = threading.Thread(target=end, daemon=True)
        ending.start()
        assert isinstance(ended(each), expected)
        ending.join(PATIENCE_SECONDS)


def test_a_generator_runs_in_one_task_and_ends_with_the_call(
    run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin
) -> None:
    tasks, endings = [], []
    silent: list[asyncio.Event] = []

    async def blocks() -> AsyncIterator[bytes]:
        try:
            for _ in range(3):
                tasks.append(asyncio.current_task())
                yield b"block"
                # Other tasks run between two blocks.
                await asyncio.sleep(0)
            silent[-1].set()
            await asyncio.Event().wait()
        except BaseException as error:
            endings.append(type(error))
            raise

    async def call(client: carpool.AsyncClient) -> list[Any]:
        silent.append(asyncio.Event())
        with pytest.raises(carpool.RequestTimeoutError):
            await client.put(origin.url, data=blocks(), total=0.5)
        silent.append(asyncio.Event())
        sending = asyncio.create_task(client.put(origin.url, data=blocks()))
        await asyncio.wait_for(silent[-1].wait(), PATIENCE_SECONDS)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        return endings

    assert ended_on(run_loop, daemon, call) == [asyncio.CancelledError] * 2
    assert [len(set(tasks[:3])), len(set(tasks[3:]))] == [1, 1]


def test_what_python_has_read_of_a_silent_pipe_is_sent_at_once(
    run_loop: RunLoop, daemon: Daemon, client: carpool.Client, origin: ScriptedOrigin
) -> None:
    ends: list[int] = []

    def handle(exchange: Exchange) -> bool:
        chunk = exchange.take(len(b"4\r\nrest\r\n"))
        # The pipe ends when the server has its bytes.
        os.close(ends.pop())
        exchange.take(len(b"0\r\n\r\n"))
        exchange.reply(200, chunk)
        return True

    def source() -> io.BufferedReader:
        reading, writing = os.pipe()
        os.write(writing, b"line\nrest")
        ends.append(writing)
        pipe = os.fdopen(reading, "rb")
        assert pipe.readline() == b"line\n"
        return pipe

    url = origin.on_head("/rest", handle)
    with source() as pipe:
        assert ended(lambda: client.post(url, data=pipe)).content == b"4\r\nrest\r\n"
    with source() as pipe:
        response = ended_on(run_loop, daemon, lambda client: client.post(url, data=pipe))
    assert response.content == b"4\r\nrest\r\n"
