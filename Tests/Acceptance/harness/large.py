"""Bodies of gibibytes, and a reader that keeps the last part of them."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from harness.waiting import join

END = os.urandom(1 << 20)
"""The end of every large file."""
PIECE = 1 << 20
GIB = 1 << 30
SIZE = int(os.environ.get("CARPOOL_TEST_BODY_GIB", "2")) * GIB
"""The size of large bodies: more than a signed number of 32 bits counts. `Tests/run --long` sends 5 GiB."""


@contextlib.contextmanager
def large_file(directory: Path, size: int) -> Iterator[Path]:
    """Make a file of zeros, which take no place, and an end that is checked, for the time of a `with`."""
    path = directory / "large.bin"
    with path.open("wb") as file:
        file.seek(size - len(END))
        file.write(END)
    yield path
    path.unlink()


class Counter:
    """A reader that keeps the last mebibyte. It pauses before the byte number `pause`, until it may go on."""

    def __init__(self, descriptor: int, pause: int | None = None) -> None:
        self.count = 0
        self.paused = threading.Event()
        self.may_go_on = threading.Event()
        self._pause = pause
        self._last: deque[bytes] = deque()
        self._descriptor = descriptor
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def end(self) -> bytes:
        return b"".join(self._last)[-len(END) :]

    def _read(self) -> None:
        kept = 0
        while block := os.read(self._descriptor, self._next_size()):
            self.count += len(block)
            self._last.append(block)
            kept += len(block)
            while kept - len(self._last[0]) >= len(END):
                kept -= len(self._last.popleft())
        self.paused.set()

    def _next_size(self) -> int:
        if self._pause is None:
            return PIECE
        if self.count == self._pause:
            self._pause = None
            self.paused.set()
            self.may_go_on.wait()
            return PIECE
        return min(PIECE, self._pause - self.count)

    def finish(self) -> None:
        """Wait for the end, which the writer has written."""
        join([self._thread])
