"""Two networks of a test's own, joined by a cable that it can pull: the daemon's and the origins'. Needs root."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from harness.daemon import ROOT
from harness.namespace import Namespace
from harness.waiting import PATIENCE_SECONDS

T = TypeVar("T")

_CLONE_NEWNS = 0x00020000
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18


class Link:
    """`near` is the daemon's side, whose way to the world leads to `far`, where origins are."""

    near_address, far_address = "10.79.0.1", "10.79.0.2"
    near_address6, far_address6 = "2001:db8::1", "2001:db8::2"
    device = "eth0"

    def __init__(self, name: str) -> None:
        self.near = Namespace(f"{name}-near")
        self.far = Namespace(f"{name}-far")
        try:
            self._join(name)
            for namespace, address in ((self.near, self.near_address), (self.far, self.far_address)):
                ip(namespace, "address", "add", f"{address}/24", "dev", self.device)
            self.route()
        except BaseException:
            self.remove()
            raise

    def _join(self, name: str) -> None:
        near, far = self.near.name, self.far.name
        _ip(
            "link", "add", self.device, "netns", near, "type", "veth", "peer", "name", self.device, "netns", far
        )  # fmt: skip
        for namespace in (self.near, self.far):
            # Addresses of IPv6 are given where a test wants them.
            ip(namespace, "link", "set", self.device, "addrgenmode", "none")
            ip(namespace, "link", "set", self.device, "up")

    def remove(self) -> None:
        self.near.remove()
        self.far.remove()

    def route(self) -> None:
        """Make the way to the world, which goes with the link and with the last address of its network."""
        ip(self.near, "route", "replace", "default", "via", self.far_address)

    def down(self) -> None:
        ip(self.near, "link", "set", self.device, "down")

    def up(self) -> None:
        """Bring the link and the way back; the address of IPv4 has stayed."""
        ip(self.near, "link", "set", self.device, "up")
        self.route()

    def add(self, address: str, namespace: Namespace | None = None) -> None:
        """Give an address with its prefix, which counts at once."""
        quick = ["nodad"] if ":" in address else []
        ip(namespace or self.near, "address", "add", address, "dev", self.device, *quick)

    def delete(self, address: str) -> None:
        ip(self.near, "address", "delete", address, "dev", self.device)

    def both_families(self) -> None:
        """Add IPv6 with a way of its own."""
        self.add(f"{self.near_address6}/64")
        self.add(f"{self.far_address6}/64", self.far)
        ip(self.near, "-6", "route", "replace", "default", "via", self.far_address6)


class DelayedLink(Link):
    """The same over a wire that takes its time."""

    device = "tun0"

    def __init__(self, name: str, scratch: Path, one_way_ms: float) -> None:
        self._program = scratch / "tunlink"
        source = ROOT / "Tests/Support/tunlink.c"
        subprocess.run(["cc", "-O2", "-Wall", "-o", str(self._program), str(source)], check=True)
        self._delay = one_way_ms
        self._process: subprocess.Popen[bytes] | None = None
        super().__init__(name)

    def _join(self, name: str) -> None:
        self._process = subprocess.Popen(
            [str(self._program), self.near.name, self.device, self.far.name, self.device, str(self._delay)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        if self._process.stdout is None or self._process.stdout.readline() != b"ready\n":
            raise OSError("tunlink did not start")

    def remove(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(PATIENCE_SECONDS)
            if self._process.stdout is not None:
                self._process.stdout.close()
        super().remove()


def ip(namespace: Namespace, *arguments: str) -> None:
    """Run ip(8) in a namespace."""
    _ip("-n", namespace.name, *arguments)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@contextlib.contextmanager
def whole(link: Link) -> Iterator[Link]:
    """Give a link that goes with the test."""
    try:
        yield link
    finally:
        link.remove()


def with_file(namespace: Namespace, path: str, file: Path, make: Callable[[], T]) -> T:
    """Return what `make` makes inside, where another file lies at a path: for processes alone."""

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
