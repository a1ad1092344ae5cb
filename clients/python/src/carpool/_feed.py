"""The body of a request that the daemon reads while the client writes it."""

from __future__ import annotations

import contextlib
import select
import socket

from . import _fork
from ._exceptions import CarpoolError


class Feed:
    """A pair of sockets: this process writes to one, and passes the other to the daemon, which reads to its end.

    Sockets, because writing to a pipe whose reader is gone sends SIGPIPE, which some programs do not ignore. A child of
    os.fork() has no copy of them: with one of the writing end, the body would have no end.
    """

    def __init__(self) -> None:
        try:
            self.socket, self._reading = socket.socketpair()
        except OSError as error:
            raise CarpoolError(f"cannot make sockets for the body of the request: {error.strerror}") from error
        self.socket.setblocking(False)
        _fork.add(self)

    @property
    def reading(self) -> int:
        """The descriptor for the daemon."""
        return self._reading.fileno()

    def close_reading(self) -> None:
        """Close this process's copy of the daemon's end, so that the daemon's close is seen."""
        self._reading.close()

    def write(self, block: memoryview) -> int:
        """Write what there is room for, and return its length; raises OSError if the daemon reads no more."""
        try:
            return self.socket.send(block, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except BlockingIOError:
            return 0

    def is_closed(self, seconds: float = 0.0) -> bool:
        """Wait until the daemon has closed its end; False after so many seconds."""
        waiting = select.poll()
        waiting.register(self.socket, 0)
        return bool(waiting.poll(seconds * 1000))

    def end(self) -> None:
        """End the body."""
        # The daemon may have closed its end before.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close both ends."""
        self._reading.close()
        self.socket.close()

    def abandon(self) -> None:
        """Close the ends in a child."""
        self.close()
