"""A pipe through which the daemon writes the body of a response."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import socket
from collections.abc import Iterator
from typing import Any, Final

from . import _checks, _fork, _waiting

# The most bytes of a read.
READ_BYTES: Final = 65_536
# fcntl has no name for it before Python 3.10.
_SET_SIZE: Final = 1031


class Pipe:
    """A pipe of `credit_bytes`: this process reads, and passes the other end to the daemon.

    A child of os.fork() has no copy of its ends: with one of the writing end, the pipe would have no end.
    """

    descriptor = -1
    _writing = -1
    silence_seconds = _waiting.SILENCE_SECONDS

    def __init__(self, credit_bytes: int) -> None:
        _checks.check_count("credit_bytes", credit_bytes)
        self.descriptor, self._writing = os.pipe()
        self._most = min(credit_bytes, READ_BYTES)
        _fork.add(self)
        # The ends have open files of their own, so that this changes nothing for the daemon.
        os.set_blocking(self.descriptor, False)
        try:
            fcntl.fcntl(self._writing, _SET_SIZE, credit_bytes)
        except (OSError, OverflowError):
            # It is too large, or the user has pipes with too many bytes: it stays as the kernel makes it.
            return

    def body_of(self, params: dict[str, Any]) -> list[int]:
        """Make the parameters ask for the body in this pipe, and return the descriptors to pass with them."""
        params["response_body"] = {"fd": 0}
        self.silence_seconds = _waiting.silence(params)
        return [self._writing]

    @contextlib.contextmanager
    def passing(self) -> Iterator[Pipe]:
        """Close this process's copy of the daemon's end after the block, and both ends if it fails."""
        try:
            yield self
        except BaseException:
            self.close()
            raise
        finally:
            self.close_writing()

    def read(self) -> bytes | None:
        """Return what has arrived, empty at the end; None if nothing has."""
        if self.descriptor < 0:
            return b""
        try:
            return os.read(self.descriptor, self._most)
        except BlockingIOError:
            return None

    def is_ready(self, other: socket.socket, seconds: float) -> bool:
        """Wait for bytes or the end, or for what `other` receives; False if neither comes for so long."""
        waiting = select.poll()
        waiting.register(self.descriptor, select.POLLIN)
        waiting.register(other, select.POLLIN)
        return bool(waiting.poll(seconds * 1000))

    def close_writing(self) -> None:
        """Close this process's copy of the daemon's end, so that there is an end."""
        if self._writing >= 0:
            os.close(self._writing)
            self._writing = -1

    def close(self) -> None:
        """Close both ends."""
        self.close_writing()
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def abandon(self) -> None:
        """Close the ends in a child."""
        self.close()

    def __del__(self) -> None:
        self.close()
