"""A network of a test's own, whose link it can cut. Needs root."""

from __future__ import annotations

import ctypes
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from harness.waiting import join

T = TypeVar("T")

_CLONE_NEWNET = 0x40000000


class Namespace:
    """A network namespace with loopback alone."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._ip("netns", "add", name)
        self.up()

    def up(self) -> None:
        self._ip("-n", self.name, "link", "set", "lo", "up")

    def down(self) -> None:
        """Cut the link: connections stay open and receive nothing, and no new ones can be made."""
        self._ip("-n", self.name, "link", "set", "lo", "down")

    def remove(self) -> None:
        self._ip("netns", "delete", self.name)

    def run(self, make: Callable[[], T]) -> T:
        """Return what `make` makes inside: its sockets, threads and processes stay there."""
        made: list[T] = []
        errors: list[BaseException] = []

        def enter() -> None:
            # A thread may change its namespace alone; those that it starts, and its children, inherit that.
            try:
                descriptor = os.open(Path("/run/netns") / self.name, os.O_RDONLY)
                try:
                    if ctypes.CDLL(None, use_errno=True).setns(descriptor, _CLONE_NEWNET) != 0:
                        raise OSError(ctypes.get_errno(), "setns")
                finally:
                    os.close(descriptor)
                made.append(make())
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=enter, daemon=True)
        thread.start()
        join([thread])
        if errors:
            raise errors[0]
        return made[0]

    @staticmethod
    def _ip(*arguments: str) -> None:
        subprocess.run(["ip", *arguments], check=True, capture_output=True)
