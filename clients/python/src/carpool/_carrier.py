"""The blocking channel of an exchange: one call at a time, and the bodies beside it."""

from __future__ import annotations

import select
import time
from collections.abc import Sequence
from typing import Any

from . import _waiting
from ._adapters import MAX_LINE_BYTES
from ._channel import Channel
from ._exceptions import ConnectionLostError
from ._feed import Feed
from ._link import Begun, Link
from ._pipe import Pipe
from ._rpc import Notification


class Carrier(Channel):
    """A channel with one connection, which one thread after the other may use."""

    def __init__(self) -> None:
        super().__init__(None, is_exclusive=True)

    def begin(self, method: str, params: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Call a method without waiting: `answer` returns its result."""
        silence = _waiting.silence(params)
        link = self._connected(silence)
        link.begun = self._send(link, method, params, silence, descriptors)

    def answer(self, *, until_notified: bool = False) -> Any:
        """Return the result of the call that was begun; with `until_notified` None if a notification precedes it.

        Raises RPCError, or ConnectionLostError if the connection of the call has ended.
        """
        link, begun = self._begun_on()
        link.begun = None
        return self._answer(link, begun, until_notified=until_notified)

    def settle(self) -> None:
        """Take the answer of a call whose result is not needed; raises CarpoolError if it does not come soon."""
        link, _ = self._begun_on()
        with self._in_step(link, " after a response"):
            while link.begun is not None and link.begun.id not in link.answers:
                if not self._advance(link, _waiting.SETTLE_SECONDS):
                    raise _waiting.silent()
        self.answer()
        self.forget_notifications()

    def take(self) -> Notification | None:
        """Return the next notification that has been read."""
        unread = self._seat.notifications
        return unread.popleft() if unread else None

    def forget_notifications(self) -> None:
        """Remove the notifications that nothing waits for."""
        self._seat.notifications.clear()

    def read(self, pipe: Pipe) -> bytes:
        """Return what has arrived in a pipe, empty at its end; waits until there is something."""
        while (block := pipe.read()) is None:
            self._wait(pipe.descriptor, select.POLLIN, pipe.silence_seconds)
        return block

    def write(self, feed: Feed, block: bytes, seconds: float | None) -> None:
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
            self._wait(feed.socket.fileno(), select.POLLOUT, left, pings=end is None)

    def wait_for_close(self, feed: Feed) -> None:
        """Wait until the daemon, whose connection has been closed, reads no more of a body."""
        feed.is_closed(_waiting.PING_SECONDS)

    def wake(self) -> None:
        """End the connection for the thread that waits for it."""
        if (link := self.link) is not None:
            link.interrupt()

    def _announce(self, link: Link) -> None:
        """Let the daemon send long heads on a new connection."""
        link.send(link.rpc.send_notification("client.hello", {"max_line_bytes": MAX_LINE_BYTES}))

    def _begun_on(self) -> tuple[Link, Begun]:
        link = self.link
        if link is None or (begun := link.begun) is None:
            raise ConnectionLostError("the connection of the call has ended")
        return link, begun

    def _wait(self, descriptor: int, events: int, seconds: float, *, pings: bool = True) -> None:
        """Wait for a descriptor, or for a message, which is read. Asks a silent daemon whether it runs."""
        link, _ = self._begun_on()
        waiting = select.poll()
        waiting.register(descriptor, events)
        waiting.register(link.socket, select.POLLIN)
        ready = waiting.poll(seconds * 1000)
        if any(number == descriptor for number, _ in ready) or (not ready and not pings):
            return
        with self._in_step(link, " while a body was transferred"):
            if ready:
                self._advance(link, 0.0)
            elif not self._is_alive(link):
                raise _waiting.silent()
