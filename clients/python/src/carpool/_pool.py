"""The connections of a blocking client: one for each thread."""

from __future__ import annotations

import contextlib
from collections import deque
from typing import Final

from ._link import Link
from ._rpc import Notification

# The connections that are kept of threads that have ended.
MAX_IDLE: Final = 16


class Pool:
    """The connections of all threads, and those of threads that have ended."""

    def __init__(self) -> None:
        self.links: set[Link] = set()
        self.idle: list[Link] = []

    def release(self, link: Link) -> None:
        """Keep the connection of a thread that has ended for another one, unless something belongs to it."""
        is_reusable = link.can_be_replaced() and not link.announced and len(self.idle) < MAX_IDLE
        if is_reusable and link in self.links:
            self.idle.append(link)
        else:
            self.links.discard(link)
            link.close()

    def reused(self) -> Link | None:
        """Return the connection of a thread that has ended; None if there is none."""
        while self.idle:
            with contextlib.suppress(IndexError):  # another thread was faster
                link = self.idle.pop()
                if not link.has_ended():
                    return link
                self.links.discard(link)
                link.close()
        return None


class Seat:
    """The connection of one thread, with its unread notifications. The thread's end releases it."""

    def __init__(self, pool: Pool) -> None:
        self.link: Link | None = None
        self.notifications: deque[Notification] = deque()
        self.is_declaring = False
        self._pool = pool

    def __del__(self) -> None:
        if self.link is not None:
            self._pool.release(self.link)
