"""Two network namespaces joined by a link with a delay, made by Tests/Support/tunlink.c. Nothing leaves the machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Self

from programs import ROOT


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


class DelayedLink:
    """A pair of namespaces for the time of a `with`; needs root, iproute2 and /dev/net/tun."""

    near_address = "10.77.0.1"
    far_address = "10.77.0.2"

    def __init__(self, scratch: Path, one_way_ms: float) -> None:
        """Compile the link; nothing is set up yet."""
        self.program = scratch / "tunlink"
        self.one_way_ms = one_way_ms
        self.names = (f"carpool-near-{os.getpid()}", f"carpool-far-{os.getpid()}")
        source = ROOT / "Tests/Support/tunlink.c"
        subprocess.run(["cc", "-O2", "-Wall", "-o", str(self.program), str(source)], check=True)

    @property
    def near(self) -> tuple[str, ...]:
        """The prefix of a command that runs on the clients' side."""
        return ("ip", "netns", "exec", self.names[0])

    @property
    def near_network(self) -> tuple[str, ...]:
        """The same with the mounts of this process: the daemon and its clients see the same files."""
        return ("nsenter", f"--net=/run/netns/{self.names[0]}")

    @property
    def far(self) -> tuple[str, ...]:
        """The prefix of a command that runs on the origin's side."""
        return ("ip", "netns", "exec", self.names[1])

    def __enter__(self) -> Self:
        """Make the namespaces, start the link and set the addresses of both ends."""
        for name in self.names:
            _ip("netns", "add", name)
        near, far = self.names
        command = [str(self.program), near, "tun0", far, "tun0", str(self.one_way_ms)]
        self.link = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if self.link.stdout is None or self.link.stdout.readline() != b"ready\n":
            raise OSError("tunlink did not start")
        for name, address in zip(self.names, (self.near_address, self.far_address), strict=True):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", "tun0")
            _ip("-n", name, "link", "set", "lo", "up")
        return self

    def __exit__(self, *exception: object) -> None:
        """End the link and remove the namespaces."""
        self.link.terminate()
        self.link.wait(timeout=10)
        for name in self.names:
            _ip("netns", "delete", name)
