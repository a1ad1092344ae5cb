"""A pipe through which the daemon writes the body of a response."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import socket
from _thread import RLock
from collections.abc import Iterator
from typing import Any, Final

from . import _checks, _fork, _waiting
from ._exceptions import CarpoolError

# The most bytes of a read, and the size of a pipe as the kernel makes it.
READ_BYTES: Final = 65_536
# fcntl has no name for it before Python 3.10.
_SET_SIZE: Final = 1031

_IS_BEING_READ: Final = "the stream is being read by another thread or task"


class Pipe:
    """A pipe of `credit_bytes`: this process reads, and passes the other end to the daemon.

    A child of os.fork() has no copy of its ends: with one of the writing end, the pipe would have no end.

    `close` may be called while another thread or task reads. The descriptor is closed when that has left `reading`:
    if it were closed before, the next file that is opened could have its number, and the reader would wait for that.
    """

    descriptor = -1
    _writing = -1
    _is_closed = False
    _has_begun = False
    _is_being_read = False
    silence_seconds = _waiting.SILENCE_SECONDS

    def __init__(self, credit_bytes: int) -> None:
        _checks.check_count("credit_bytes", credit_bytes)
        # Not a Lock: the handler of a signal may close the stream that its thread reads.
        self._lock = RLock()
        try:
            self.descriptor, self._writing = os.pipe()
        except OSError as error:
            raise CarpoolError(f"cannot make a pipe for the body of the response: {error.strerror}") from error
        self._most = min(credit_bytes, READ_BYTES)
        _fork.add(self)
        # The ends have open files of their own, so that this changes nothing for the daemon.
        os.set_blocking(self.descriptor, False)
        if credit_bytes != READ_BYTES:
            self._resize(self._writing, credit_bytes)

    def body_of(self, params: dict[str, Any], inline_bytes: int = 0) -> list[int]:
        """Make the parameters ask for the body in this pipe, and return the descriptors to pass with them.

        A body of at most `inline_bytes` may be in the record instead.
        """
        params["response_body"] = {"fd": 0, "inline_bytes": inline_bytes} if inline_bytes else {"fd": 0}
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

    def begin_reading(self) -> None:
        """Begin the only iteration over what arrives; raises CarpoolError in a second one, also by another thread."""
        with self._lock:
            if self._is_being_read:
                raise CarpoolError(_IS_BEING_READ)
            if self._has_begun:
                raise CarpoolError(
                    "the stream is read by an iterator that has begun, or has failed: keep that one and continue it, "
                    "or use read() alone for the whole body"
                )
            self._has_begun = True

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Keep the descriptor open in the block; raises CarpoolError in a second such block at the same time."""
        with self._lock:
            if self._is_being_read:
                raise CarpoolError(_IS_BEING_READ)
            self._is_being_read = True
        try:
            yield
        finally:
            with self._lock:
                self._is_being_read = False
                if self._is_closed:
                    self._close_descriptor()

    def read(self) -> bytes | None:
        """Return what has arrived, empty at the end and after `close`; None if nothing has."""
        if self._is_closed:
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

    def grow(self, size_bytes: int) -> None:
        """Make room for more, which makes a long body faster, and read more at a time."""
        self._most = max(self._most, size_bytes)
        self._resize(self.descriptor, size_bytes)

    @staticmethod
    def _resize(descriptor: int, size_bytes: int) -> None:
        # It may be too large, or the user may have pipes with too many bytes: it stays as it is.
        with contextlib.suppress(OSError, OverflowError):
            fcntl.fcntl(descriptor, _SET_SIZE, size_bytes)

    def close_writing(self) -> None:
        """Close this process's copy of the daemon's end, so that there is an end."""
        if self._writing >= 0:
            os.close(self._writing)
            self._writing = -1

    def close(self) -> None:
        """Close both ends; that of a reader is closed when it has left its block."""
        self.close_writing()
        with self._lock:
            self._is_closed = True
            if not self._is_being_read:
                self._close_descriptor()

    def _close_descriptor(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def abandon(self) -> None:
        """Close the ends in a child, whose copy of the lock may be held by a thread that the child does not have."""
        self._lock = RLock()
        self._is_closed = True
        self.close_writing()
        self._close_descriptor()

    def __del__(self) -> None:
        if self.descriptor >= 0:
            self.close()
