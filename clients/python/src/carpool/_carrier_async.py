"""The asyncio channel of an exchange: one call at a time, and the bodies beside it."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

from . import _waiting
from ._adapters import MAX_LINE_BYTES
from ._channel_async import AsyncChannel
from ._exceptions import ConnectionLostError
from ._feed import Feed
from ._link_async import Link, within
from ._pipe import Pipe
from ._rpc import Notification


class AsyncCarrier(AsyncChannel):
    """A channel that one exchange after the other uses."""

    def __init__(self) -> None:
        super().__init__(None)

    async def begin(self, method: str, params: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Call a method without waiting: `answer` returns its result."""
        link = await self._connected(_waiting.silence(params))
        link.begun = await link.begin(method, params, descriptors)

    async def answer(self, *, until_notified: bool = False) -> Any:
        """Return the result of the call that was begun; with `until_notified` None if a notification precedes it.

        Raises RPCError, or ConnectionLostError if the connection of the call has ended.
        """
        link = self.link
        if link is None or (begun := link.begun) is None:
            raise ConnectionLostError("the connection of the call has ended")
        link.begun = None
        return await link.answer(begun, until_notified=until_notified)

    async def settle(self) -> None:
        """Take the answer of a call whose result is not needed; raises CarpoolError if it does not come soon."""
        try:
            await within(self.answer(), _waiting.SETTLE_SECONDS)
        except asyncio.TimeoutError as error:
            raise _waiting.silent() from error
        self.forget_notifications()

    def take(self) -> Notification | None:
        """Return the next notification that has been read."""
        unread = None if self.link is None else self.link.notifications
        return unread.popleft() if unread else None

    def forget_notifications(self) -> None:
        """Remove the notifications that nothing waits for."""
        if self.link is not None:
            self.link.notifications.clear()

    async def read(self, pipe: Pipe) -> bytes:
        """Return what has arrived in a pipe, empty at its end; waits until there is something."""
        if (block := pipe.read()) is not None:
            # A fast body must not keep other tasks from running.
            await asyncio.sleep(0)
            return block
        loop = asyncio.get_running_loop()
        while (block := pipe.read()) is None:
            watch = functools.partial(loop.add_reader, pipe.descriptor)
            if not await self._happens_to(watch, lambda: loop.remove_reader(pipe.descriptor), pipe.silence_seconds):
                await self._check_daemon()
        return block

    async def write(self, feed: Feed, block: bytes, seconds: float | None) -> None:
        """Write a block. Raises TimeoutError if that takes too long, and OSError if the daemon reads no more."""
        rest = memoryview(block)
        end = None if seconds is None else time.monotonic() + seconds
        while rest:
            if count := feed.write(rest):
                rest = rest[count:]
                continue
            left = _waiting.SILENCE_SECONDS if end is None else end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if not await self._has_room(feed, left) and end is None:
                await self._check_daemon()

    async def wait_for_close(self, feed: Feed) -> None:
        """Wait until the daemon, whose connection has been closed, reads no more of a body."""
        end = time.monotonic() + _waiting.PING_SECONDS
        while time.monotonic() < end and not feed.is_closed():
            await asyncio.sleep(_waiting.FIRST_PAUSE)

    async def _announce(self, link: Link) -> None:
        """Let the daemon send long heads on a new connection."""
        link.tell("client.hello", {"max_line_bytes": MAX_LINE_BYTES})

    @staticmethod
    async def _has_room(feed: Feed, seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        watch = functools.partial(loop.add_writer, feed.socket)
        return await AsyncCarrier._happens_to(watch, lambda: loop.remove_writer(feed.socket), seconds)

    @staticmethod
    async def _happens_to(watch: Callable[..., None], unwatch: Callable[[], object], seconds: float) -> bool:
        """Wait until a descriptor is ready; False after so many seconds."""
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[bool] = loop.create_future()
        timer = loop.call_later(seconds, _settle, ready, False)
        watch(_settle, ready, True)
        try:
            return await ready
        finally:
            unwatch()
            timer.cancel()


def _settle(future: asyncio.Future[bool], value: bool) -> None:
    if not future.done():
        future.set_result(value)
