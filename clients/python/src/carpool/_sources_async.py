"""Bodies that are read while they are sent by the asynchronous client: other tasks run while they are waited for."""

from __future__ import annotations

import asyncio
import select
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from typing import Any

from ._offload import in_thread
from ._sources import PIECE_BYTES, SILENCE_SECONDS, Gathering, check_piece, has_buffered, may_wait, pipe_reader
from ._sources import pieces as pieces_at_once


async def deliver(
    data: Iterable[bytes] | AsyncIterable[bytes],
    send: Callable[[bytes], Awaitable[bool]],
    is_over: Callable[[], Awaitable[bool]],
) -> bool:
    """Send a body in pieces as long as `send` returns True; return whether that was the whole.

    A body that is waited for is left when `is_over` says that the request has ended.
    """
    delivery = _Delivery(data, send)
    if isinstance(data, AsyncIterable) or may_wait(data):
        return await delivery.run_until(is_over)
    return await delivery.run()


class _Delivery:
    """Sends a body in pieces."""

    def __init__(self, data: Iterable[bytes] | AsyncIterable[bytes], send: Callable[[bytes], Awaitable[bool]]) -> None:
        self._data = data
        self._send = send
        self._is_waiting = True

    async def run(self) -> bool:
        """Send the body, and return whether that was the whole."""
        async for piece in pieces(self._data):
            self._is_waiting = False
            if not await self._send(piece):
                return False
            self._is_waiting = True
        return True

    async def run_until(self, is_over: Callable[[], Awaitable[bool]]) -> bool:
        """Send the body in a task, which is cancelled if the request has ended while the body is waited for."""
        # One for the whole body: what it opens, such as a time-out, may belong to a task.
        task = asyncio.ensure_future(self.run())
        try:
            while not (await asyncio.wait({task}, timeout=SILENCE_SECONDS))[0]:
                if self._is_waiting and await is_over():
                    return False
            return task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def pieces(data: Iterable[bytes] | AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Split a streamed body into pieces that fit a message."""
    if isinstance(data, AsyncIterable):
        gathering = Gathering()
        async for block in data:
            for piece in gathering.add(block):
                yield piece
        for piece in gathering.rest():
            yield piece
    elif (read := pipe_reader(data)) is not None:
        async for piece in _delivered(data, read):
            yield piece
    elif may_wait(data):
        blocks = pieces_at_once(data)
        while (piece := await in_thread(next, blocks, b"")) != b"":
            yield piece
    else:
        for piece in pieces_at_once(data):
            yield piece


async def _delivered(pipe: Any, read: Callable[[int], Any]) -> AsyncIterator[bytes]:
    """Yield what a pipe delivers. No thread waits for it, because a thread could not be ended with the call."""
    while True:
        if not has_buffered(pipe):
            await _readable(pipe)
        if not (piece := check_piece(await in_thread(read, PIECE_BYTES))):
            return
        yield piece


async def _readable(data: Any) -> None:
    """Wait until a file has bytes or is at its end."""
    loop, event = asyncio.get_running_loop(), asyncio.Event()
    # The program may watch the file too, and uvloop makes what it watches non-blocking, for all that have it open.
    with select.epoll() as watching:
        try:
            watching.register(data, select.EPOLLIN)
        except OSError:
            return  # a device that never waits, such as /dev/zero
        loop.add_reader(watching.fileno(), event.set)
        try:
            await event.wait()
        finally:
            loop.remove_reader(watching.fileno())
