"""A machine whose link a test cuts and restores during requests, also with latency. Needs root."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from harness.daemon import ROOT
from harness.namespace import Namespace
from harness.namespaces import Machine
from harness.process import begin, end
from harness.waiting import PATIENCE_SECONDS

T = TypeVar("T")

_CLONE_NEWNS = 0x00020000
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18


class Link(Machine):
    """The daemon is inside; origins are outside, where the default route leads."""

    ADDRESS6, PEER6 = "2001:db8::1", "2001:db8::2"
    DEVICE = "eth0"

    def __init__(self) -> None:
        super().__init__()
        try:
            self.connect()
        except BaseException:
            self.remove()
            raise

    def route(self) -> None:
        """Make the default route, which vanishes with the link and with the last address of its network."""
        self.ip(f"route replace default via {self.PEER}")

    def down(self) -> None:
        self.ip(f"link set {self.DEVICE} down")

    def up(self) -> None:
        """Restore the link and the route; the IPv4 address has stayed."""
        self.ip(f"link set {self.DEVICE} up")
        self.route()

    def both_families(self) -> None:
        """Add IPv6 with a route of its own."""
        self.ip(f"addr add {self.ADDRESS6}/64 dev {self.DEVICE} nodad")
        self.peer(f"addr add {self.PEER6}/64 dev p0 nodad")
        self.ip(f"-6 route replace default via {self.PEER6}")


class DelayedLink(Link):
    """The wire adds 20 ms each way."""

    DEVICE = "tun0"

    def __init__(self, scratch: Path) -> None:
        self._program = scratch / "tunlink"
        source = ROOT / "Tests/Support/tunlink.c"
        subprocess.run(["cc", "-O2", "-Wall", "-o", str(self._program), str(source)], check=True)
        self._process: subprocess.Popen[bytes] | None = None
        super().__init__()

    def connect(self) -> None:
        command = [str(self._program), self.inside.name, self.DEVICE, self.outside.name, self.DEVICE, "20"]
        self._process = begin(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if self._process.stdout is None or self._process.stdout.readline() != b"ready\n":
            raise OSError("tunlink did not start")
        self.ip(f"addr add {self.ADDRESS}/24 dev {self.DEVICE}", f"route add default via {self.PEER}")
        self.peer(f"addr add {self.PEER}/24 dev {self.DEVICE}")

    def remove(self) -> None:
        if self._process is not None:
            end(self._process, PATIENCE_SECONDS)
            if self._process.stdout is not None:
                self._process.stdout.close()
        super().remove()


def with_file(namespace: Namespace, path: str, file: Path, make: Callable[[], T]) -> T:
    """Return what `make` makes inside, where a path leads to another file: for processes alone."""

    def enter() -> T:
        # The thread gets a view of the files of its own, and its children have it too.
        libc = ctypes.CDLL(None, use_errno=True)
        for failed in (
            libc.unshare(_CLONE_NEWNS),
            libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None),
            libc.mount(os.fsencode(file), os.fsencode(path), None, _MS_BIND, None),
        ):
            if failed:
                raise OSError(ctypes.get_errno(), path)
        return make()

    return namespace.run(enter)
