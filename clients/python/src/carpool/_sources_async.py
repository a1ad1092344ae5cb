"""Bodies that are read while they are sent by the asynchronous client: other tasks run while they are waited for."""

from __future__ import annotations

import asyncio
import select
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from typing import Any

from ._offload import in_thread
from ._sources import PIECE_BYTES, Gathering, check_piece, has_buffered, may_wait, pipe_reader
from ._sources import pieces as pieces_at_once


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
