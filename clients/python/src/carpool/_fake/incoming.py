"""A body of a request that the fake daemon reads from a descriptor, while the client writes it."""

from __future__ import annotations

import os
import select
import threading
from typing import Final

READ_BYTES: Final = 65_536


class Incoming:
    """The body behind a descriptor: `read` waits for its end, `stop` ends the wait of another thread."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waking, self._wake = os.pipe()
        self._lock = threading.Lock()

    def read(self, most: int) -> bytes | None:
        """Return the body, and close the descriptor; None after `stop`. Raises ValueError for more than `most`."""
        body = bytearray()
        ready = select.poll()
        ready.register(self._descriptor, select.POLLIN)
        ready.register(self._waking, select.POLLIN)
        try:
            while True:
                if any(found == self._waking for found, _ in ready.poll()):
                    return None
                if not (block := os.read(self._descriptor, READ_BYTES)):
                    return bytes(body)
                body += block
                if len(body) > most:
                    raise ValueError(f"a body of more than {most} bytes")
        finally:
            self.stop()
            os.close(self._descriptor)
            os.close(self._waking)

    def stop(self) -> None:
        """End the wait of `read`."""
        with self._lock:
            if self._wake >= 0:
                os.close(self._wake)
                self._wake = -1
