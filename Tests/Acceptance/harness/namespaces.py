"""Machines made of network namespaces: the daemon's, and one at the other end of its cable. Needs root."""

from __future__ import annotations

import ctypes
import json
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from harness.namespace import Namespace
from harness.process import begin, own_name
from harness.waiting import eventually

T = TypeVar("T")

_CLONE_NEWNS = 0x00020000
_MS_REC, _MS_PRIVATE, _MS_BIND = 0x4000, 0x40000, 0x1000


class Machine:
    """A namespace with loopback, and `eth0` with a cable to `p0` of another namespace.

    Both ends have the number 2, so that the kernel takes the link for real hardware, and is as slow about its carrier.
    """

    ADDRESS, PEER = "10.77.0.1", "10.77.0.2"

    def __init__(self) -> None:
        name = own_name("reach")
        self.inside = Namespace(name)
        try:
            self.outside = Namespace(f"{name}-b")
        except BaseException:
            self.inside.remove()
            raise
        self.name = name

    def remove(self) -> None:
        self.inside.remove()
        self.outside.remove()

    def ip(self, *commands: str) -> None:
        """Carry out commands of ip(8) inside, in one process."""
        self._batch(self.inside, commands)

    def peer(self, *commands: str) -> None:
        """Carry out commands of ip(8) at the other end of the cable."""
        self._batch(self.outside, commands)

    def show(self, *arguments: str) -> Any:
        """Return the output of ip(8) inside."""
        command = ["ip", "-n", self.inside.name, "-j", *arguments]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout or b"[]")

    def set(self, name: str, value: str) -> None:
        """Set one of the inside's own kernel parameters, by its path under /proc/sys."""
        self.inside.run(lambda: Path("/proc/sys", name).write_text(value))

    def plug(self) -> None:
        """Make the cable, and wait until both ends run."""
        self.ip(f"link add eth0 type veth peer name p0 netns {self.outside.name}", "link set eth0 up")
        self.peer(f"addr add {self.PEER}/24 dev p0", "link set p0 up")
        self.settle()

    def settle(self, name: str = "eth0") -> None:
        """Wait until an interface runs: the kernel may take a second to report it."""
        eventually(lambda: self.show("link", "show", name)[0]["operstate"] in {"UP", "UNKNOWN"})

    def connect(self) -> None:
        """Make the cable, an address and a default route."""
        self.plug()
        self.ip(f"addr add {self.ADDRESS}/24 dev eth0", f"route add default via {self.PEER}")

    def run(self, make: Callable[[], T], devices: Mapping[str, str] | None = None) -> T:
        """Return what `make` makes inside; with `devices`, interfaces by name whose `DEVTYPE` sysfs is to show."""
        if devices is None:
            return self.inside.run(make)
        shown = devices

        def enter() -> T:
            _show_devices(shown)
            return make()

        return self.inside.run(enter)

    @staticmethod
    def _batch(namespace: Namespace, commands: tuple[str, ...]) -> None:
        if len(commands) == 1:
            subprocess.run(["ip", "-n", namespace.name, *commands[0].split()], check=True, capture_output=True)
            return
        text = "\n".join(commands).encode()
        subprocess.run(["ip", "-n", namespace.name, "-batch", "-"], input=text, check=True, capture_output=True)


def _show_devices(devices: Mapping[str, str]) -> None:
    """Mount a sysfs for this thread and its processes, in which some interfaces are wireless or modems."""
    libc = ctypes.CDLL(None, use_errno=True)

    def check(result: int, what: str) -> None:
        if result != 0:
            raise OSError(ctypes.get_errno(), what)

    check(libc.unshare(_CLONE_NEWNS), "unshare")
    check(libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "mount --make-rprivate")
    check(libc.mount(b"sysfs", b"/sys", b"sysfs", 0, None), "mount sysfs")
    for name, kind in devices.items():
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            file.write(f"DEVTYPE={kind}\nINTERFACE={name}\n")
        path = f"/sys/class/net/{name}/uevent"
        check(libc.mount(file.name.encode(), path.encode(), None, _MS_BIND, None), f"mount {path}")
        Path(file.name).unlink()


class Tunnel:
    """A process inside that holds a tun device: while it lives the tunnel has a carrier."""

    _HOLD = """
import fcntl, os, struct, sys
tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", sys.argv[1].encode(), 0x1001))
print("ready", flush=True)
sys.stdin.read()
"""

    def __init__(self, machine: Machine, name: str) -> None:
        command = ["python3", "-c", self._HOLD, name]
        self._process = machine.run(lambda: begin(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def end(self) -> None:
        self._process.communicate()
