"""Bodies that are read while they are sent: their length, and the pieces in which the daemon gets them."""

from __future__ import annotations

import io
import os
import select
import socket
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, cast

from . import _lengths

# The size of a piece in body.put: large enough to keep the transfer busy, small enough not to delay other clients.
PIECE_BYTES: Final = 65_536
# A block that comes within this time after the one before is collected with others into a piece.
GATHERING_SECONDS: Final = 0.005
# How long a body is waited for before the daemon is asked whether the request has ended.
SILENCE_SECONDS: Final = 0.1


class Source:
    """A body that is read while it is sent, and the number of its bytes, if that is known."""

    def __init__(self, data: Any, given: str | None) -> None:
        """`given` is the header field Content-Length."""
        self._own = open(data, "rb") if isinstance(data, os.PathLike) else None  # noqa: PTH123, SIM115, closed below
        self.data = data if self._own is None else self._own
        known = _rest_of(self.data)
        self.length = known if given is None else _lengths.checked(given, known)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        if self._own is not None:
            self._own.close()

    @property
    def param(self) -> dict[str, Any]:
        """The parameter `body`."""
        return {"stream": True} if self.length is None else {"stream": True, "length_bytes": self.length}


class Gathering:
    """Combines the blocks of a body into pieces that fit a message; small blocks that come fast are collected."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._asked = time.monotonic()

    def add(self, block: bytes) -> Iterator[bytes]:
        """Add a block; return the pieces that can be sent, everything if the block came late."""
        was_slow = time.monotonic() - self._asked > GATHERING_SECONDS
        self._pending += check_piece(block)
        yield from self._take(1 if was_slow else PIECE_BYTES)
        self._asked = time.monotonic()

    def rest(self) -> Iterator[bytes]:
        """Return the rest."""
        return self._take(1)

    def _take(self, least: int) -> Iterator[bytes]:
        while len(self._pending) >= least:
            yield bytes(self._pending[:PIECE_BYTES])
            del self._pending[:PIECE_BYTES]


class Left:
    """How many bytes of a body of known length are still to be sent."""

    def __init__(self, source: Source) -> None:
        self._length = self._left = source.length
        self._is_file = hasattr(source.data, "read")

    def cut(self, piece: bytes) -> bytes:
        """Return what of a piece belongs to the body: of a file it is a part, and the file may grow while it is sent.

        Raises ValueError if an iterable yields more bytes than its Content-Length.
        """
        if self._left is None:
            return piece
        if len(piece) > self._left and not self._is_file:
            raise ValueError(f"data: it has more bytes than {self._length}, its Content-Length")
        piece = piece[: self._left]
        self._left -= len(piece)
        return piece

    @property
    def is_none(self) -> bool:
        """Whether the whole body was sent."""
        return self._left == 0

    def needs_end(self) -> bool:
        """Whether the end must be sent after the last piece; raises ValueError if bytes are missing."""
        if self._left:
            raise ValueError(f"data: it has {(self._length or 0) - self._left} bytes, expected {self._length}")
        return self._left is None


def deliver(data: Iterable[bytes], send: Callable[[bytes], bool], is_over: Callable[[], bool]) -> bool:
    """Send a body in pieces as long as `send` returns True; return whether that was the whole.

    A silent pipe is left when `is_over` says that the request has ended.
    """
    read = pipe_reader(data)
    if read is None:
        return all(map(send, pieces(data)))
    waiting = select.poll()
    waiting.register(cast("Any", data), select.POLLIN)
    while True:
        while not has_buffered(data) and not waiting.poll(SILENCE_SECONDS * 1000):
            if is_over():
                return False
        if not (piece := check_piece(read(PIECE_BYTES))):
            return True
        if not send(piece):
            return False


def pieces(data: Iterable[bytes]) -> Iterator[bytes]:
    """Collect blocks into pieces."""
    read = reader(data)
    gathering = Gathering()
    for block in data if read is None else iter(lambda: cast("bytes", read(PIECE_BYTES)), b""):
        yield from gathering.add(block)
    yield from gathering.rest()


def reader(data: Any) -> Callable[[int], Any] | None:
    """Return what reads the next bytes of a file; None for an iterable.

    Of a pipe it returns what is there: `read` waits until there is as much as it was asked for.
    """
    if isinstance(data, io.BufferedReader):
        return data.read1
    return getattr(data, "read", None)


def pipe_reader(data: Any) -> Callable[[int], bytes | None] | None:
    """Return what reads what is there of a pipe, a socket or a terminal; None for everything else."""
    if isinstance(data, io.FileIO) and may_wait(data):
        return data.read
    if isinstance(data, io.BufferedReader) and _tells_all(data.raw) and may_wait(data):
        return data.read1
    return None


def _tells_all(raw: Any) -> bool:
    """Whether poll(2) tells when a read does not wait: TLS and gzip have bytes of their own, a time-out an end."""
    connection = getattr(raw, "_sock", None)
    return isinstance(raw, io.FileIO) or (type(connection) is socket.socket and connection.gettimeout() is None)


def has_buffered(data: Any) -> bool:
    """Whether Python has read more of a pipe than the program has taken, of which the kernel does not know."""
    if not isinstance(data, io.BufferedReader):
        return False
    own = data.raw.__dict__
    # Python's buffer is filled from a pipe that seems to have nothing.
    own["readinto"] = lambda _: None
    try:
        return bool(data.peek())
    finally:
        del own["readinto"]


def may_wait(data: Any) -> bool:
    """Whether reading waits for another program, as from a pipe."""
    try:
        return not stat.S_ISREG(os.fstat(data.fileno()).st_mode)
    except (AttributeError, OSError, TypeError, ValueError):
        return False


def is_buffer(value: object) -> bool:
    """Whether a value has bytes in memory, such as bytes, a memoryview or an array: not a file, such as an mmap."""
    if isinstance(value, bytes) or hasattr(value, "read"):
        return isinstance(value, bytes)
    try:
        # One of Python's objects has only their addresses.
        return "O" not in memoryview(value).format  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def buffer_bytes(value: Any) -> bytes:
    """Return the bytes of such a value, without a copy if they are in one place; raises TypeError for another."""
    if isinstance(value, bytes):
        return value
    view = memoryview(value)
    try:
        return cast("bytes", view.cast("B"))
    except (TypeError, ValueError):
        return view.tobytes()


def has_ended(data: object) -> bool:
    """Whether a body is a generator, also an asynchronous one, that has no more bytes."""
    return getattr(data, "gi_frame", True) is None or getattr(data, "ag_frame", True) is None


def check_piece(piece: Any) -> Any:
    """Return a piece of a body that is read while it is sent; raises TypeError if it is not bytes."""
    if not is_buffer(piece):
        raise TypeError(f"data: an iterable yields bytes, not {type(piece).__name__}")
    return buffer_bytes(piece)


def _rest_of(data: Any) -> int | None:
    """Return how many bytes a list has, or a file from its position to its end; None if it does not tell."""
    if isinstance(data, (list, tuple)):
        return sum(memoryview(piece).nbytes for piece in data)
    if not hasattr(data, "read") or hasattr(data, "__aiter__"):
        return None
    try:
        # A GzipFile says that it is seekable, whatever it reads from.
        sources = [data, getattr(data, "fileobj", None)]
        if not all(each.seekable() for each in sources if hasattr(each, "seekable")):
            return None
        position = data.tell()
        end = data.seek(0, os.SEEK_END)
    except (AttributeError, OSError, TypeError, ValueError):
        return None
    rest = int(data.tell() if end is None else end) - int(position)
    # What cannot be read again from here would be sent without its beginning: that is an error.
    data.seek(position)
    if rest > 0:
        return rest
    # One of /proc seems to be empty.
    is_empty = not data.read(1)
    data.seek(position)
    return 0 if is_empty else None
