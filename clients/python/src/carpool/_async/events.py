"""The events of one subscription."""

from __future__ import annotations

import time
from collections import deque
from types import TracebackType
from typing import Any

from .. import _fork
from .._channel_async import AsyncChannel
from .._events import Event, initial_events
from .._exceptions import DaemonUnreachableError
from .._operations import deadline, present

# The pauses between attempts to reconnect, in seconds: short at first, for a daemon that was restarted; an attempt
# costs one failed connect.
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 1.0


class AsyncEventStream:
    """An iterator over events, on a connection of its own, which is closed at the end of a `with` block.

    The subscription is made at the beginning of such a block, or with the first event. Missing events are reported by
    `gap` and `lagged`. If the program reads slowly, the daemon waits and then drops events; the program's memory does
    not grow.
    """

    __module__ = "carpool"

    cursor: str | None
    """The cursor of the last event; `since` resumes after it."""

    def __init__(
        self,
        channel: AsyncChannel,
        method: str,
        params: dict[str, Any],
        *,
        since: str | None = None,
        reconnect: bool = True,
        timeout: float | None = None,
        until: float | None = None,
    ) -> None:
        self.cursor = since
        self._timeout = timeout
        self._until = until
        self._channel = channel
        self._method = method
        self._params = params
        self._is_resumable = method == "events.subscribe"
        self._reconnect = reconnect
        self._made_in = _fork.generation()
        self._has_begun = False
        self._is_closed = False
        self._told: deque[dict[str, Any]] = deque()

    async def __aenter__(self) -> AsyncEventStream:
        await self._begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __aiter__(self) -> AsyncEventStream:
        return self

    async def __anext__(self) -> Event:
        while not self._is_closed:
            event = await self._next()
            if event is None:
                break
            if event.cursor is not None:
                self.cursor = event.cursor
            # A bookmark only advances the cursor.
            if event.type != "bookmark":
                return event
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """End the subscription; the iteration ends too, also one that waits in another thread or task."""
        self._is_closed = self._channel.is_over = True
        await self._channel.close()

    async def _next(self) -> Event | None:
        """Return the next event; None after the timeout, and when the stream is closed."""
        _fork.check(self._made_in, "the event stream")
        idle = deadline(self._timeout)
        ends = [end for end in (idle, self._until) if end is not None]
        end = min(ends, default=None)
        while not self._told:
            try:
                if not self._has_begun:
                    await self._begin()
                    continue
                if self._is_closed:
                    # While the subscription was made, on a connection that the closing did not know.
                    await self._channel.close()
                    return None
                left = None if end is None else max(0.0, end - time.monotonic())
                notification = await self._channel.notification(left)
            except DaemonUnreachableError:
                if self._is_closed:
                    return None
                if not (self._reconnect and self._has_begun):
                    raise
                if not await self._wait_for_the_daemon(end):
                    return None
                continue
            if notification is None:
                return None
            self._told.append(notification.params)
        return Event(self._told.popleft())

    async def _begin(self) -> None:
        """Subscribe, from the last cursor."""
        _fork.check(self._made_in, "the event stream")
        since = self.cursor if self._is_resumable else None
        answer = await self._channel.call(self._method, present({**self._params, "since": since}))
        self._has_begun = True
        # A daemon that was stopped on purpose must not be started by a program that watches events.
        self._channel.may_start = False
        self._told.extend(initial_events(answer, since))
        if self.cursor is None:
            self.cursor = answer["cursor"]

    async def _wait_for_the_daemon(self, end: float | None) -> bool:
        """Subscribe again as soon as there is a daemon; False if there was none in time."""
        pause = _FIRST_PAUSE
        while end is None or time.monotonic() + pause < end:
            await self._channel.pause(pause)
            if self._is_closed:
                return False
            try:
                await self._begin()
            except DaemonUnreachableError:
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                return True
        return False
