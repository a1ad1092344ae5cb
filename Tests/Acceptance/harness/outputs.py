"""Descriptors to which the daemon writes bodies."""

from __future__ import annotations

import fcntl
import os
import socket
import threading
from collections.abc import Callable
from typing import Any

from harness.waiting import join
from harness.wire import Wire

NUMBER = 901


def send(
    wire: Wire, descriptors: list[int], call: int = NUMBER, method: str = "request.perform", **params: Any
) -> None:
    """Send a request whose body goes to the first descriptor, unless `response_body` says otherwise."""
    params.setdefault("response_body", {"fd": 0})
    message = {"jsonrpc": "2.0", "id": call, "method": method, "params": params}
    wire.send(message, descriptors)


def perform(wire: Wire, descriptors: list[int], **params: Any) -> Any:
    """Make a request and return its record."""
    send(wire, descriptors, **params)
    return wire.answer(NUMBER)["result"]


def refuse(wire: Wire, descriptors: list[int], **params: Any) -> Any:
    """Make a call that is refused, and return its error."""
    send(wire, descriptors, **params)
    return wire.answer(NUMBER)["error"]


def flags(descriptor: int) -> int:
    """Return the flags of an open file, which all that share it have."""
    return fcntl.fcntl(descriptor, fcntl.F_GETFL)


class Pair:
    """A pipe or a pair of sockets, and what was read from it."""

    def __init__(self, kind: str = "pipe") -> None:
        if kind == "pipe":
            self.read, self.write = os.pipe()
        else:
            near, far = socket.socketpair()
            self.read, self.write = near.detach(), far.detach()
        self.flags = flags(self.write)
        self.received = bytearray()
        self._thread: threading.Thread | None = None

    def send(self, wire: Wire, **params: Any) -> None:
        """Pass the writing end with a request, and close this process's own."""
        send(wire, [self.write], **params)
        self.close_write()

    def perform(self, wire: Wire, **params: Any) -> Any:
        """Make a request, read everything, and return the record."""
        self.start()
        self.send(wire, **params)
        record = wire.answer(NUMBER)["result"]
        self.finish()
        return record

    def start(self) -> None:
        """Begin to read."""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def finish(self) -> bytes:
        """Wait for the end, and return everything."""
        if self._thread is None:
            self.start()
        join([thread for thread in [self._thread] if thread])
        self.close()
        return bytes(self.received)

    def _read(self) -> None:
        while block := os.read(self.read, 65_536):
            self.received += block

    def close_write(self) -> None:
        """Close the writing end of this process."""
        if self.write >= 0:
            os.close(self.write)
        self.write = -1

    def close_read(self) -> None:
        """Close the reading end."""
        if self.read >= 0:
            os.close(self.read)
        self.read = -1

    def close(self) -> None:
        """Close both ends."""
        self.close_write()
        self.close_read()


def at_end(descriptor: int) -> bytes:
    """Return what can be read now without waiting; fails unless the end follows."""
    os.set_blocking(descriptor, False)
    received = b""
    read: Callable[[], bytes] = lambda: os.read(descriptor, 65_536)  # noqa: E731
    while block := read():
        received += block
    return received
