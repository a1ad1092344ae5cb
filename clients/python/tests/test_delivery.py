"""Bodies that are read while they are sent: when the daemon is asked whether the request has ended."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path

from loops import RunLoop

from carpool import _sources, _sources_async

DEADLINE_SECONDS = 20


async def blocks() -> AsyncIterator[bytes]:
    for _ in range(3):
        yield bytes(_sources.PIECE_BYTES)


def test_a_fast_body_is_not_asked_about(run_loop: RunLoop) -> None:
    sent: list[bytes] = []

    async def send(piece: bytes) -> bool:
        # The daemon takes it slowly.
        await asyncio.sleep(2 * _sources.SILENCE_SECONDS)
        sent.append(piece)
        return True

    async def is_over() -> bool:
        raise AssertionError

    async def run() -> bool:
        return await asyncio.wait_for(_sources_async.deliver(blocks(), send, is_over), DEADLINE_SECONDS)

    assert run_loop(run())
    assert sent == [bytes(_sources.PIECE_BYTES)] * 3


def test_a_body_is_sent_as_long_as_it_is_taken(run_loop: RunLoop) -> None:
    sent: list[bytes] = []

    async def send(piece: bytes) -> bool:
        sent.append(piece)
        return len(sent) < 2

    async def is_over() -> bool:
        raise AssertionError

    async def run() -> bool:
        return await asyncio.wait_for(_sources_async.deliver(blocks(), send, is_over), DEADLINE_SECONDS)

    assert not run_loop(run())
    assert len(sent) == 2
    assert not _sources.deliver([b"a", b"b"], lambda _: False, lambda: False)


def test_a_silent_pipe_is_left_when_the_request_is_over() -> None:
    reading, writing = os.pipe()
    sent: list[bytes] = []
    answers = [True, False]
    results: list[bool] = []

    def send(piece: bytes) -> bool:
        sent.append(piece)
        return True

    with os.fdopen(reading, "rb") as pipe, os.fdopen(writing, "wb", buffering=0) as writer:
        writer.write(b"first")
        thread = threading.Thread(target=lambda: results.append(_sources.deliver(pipe, send, answers.pop)), daemon=True)
        thread.start()
        thread.join(DEADLINE_SECONDS)
        assert (sent, results, answers) == ([b"first"], [False], [])


def test_devices_and_pipes_have_their_ends() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"all")
    os.close(writing)
    sent: list[bytes] = []

    def send(piece: bytes) -> bool:
        sent.append(piece)
        return True

    with os.fdopen(reading, "rb") as pipe, Path("/dev/null").open("rb") as nothing:
        assert _sources.deliver(pipe, send, lambda: True)
        assert _sources.deliver(nothing, send, lambda: True)
    assert sent == [b"all"]
