"""Ports of programs that listen by themselves."""

from __future__ import annotations

import contextlib
import random
import socket
import subprocess
from pathlib import Path

from harness.tcp import listens
from harness.waiting import eventually

FIRST = 10_000
"""Below it are the ports of well-known servers."""


def free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago, for programs that take no sockets from their parent.

    They are none that the kernel gives to connections and to listeners of any port: another one would have it soon.
    """
    end = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    dice = random.SystemRandom()
    ports: list[int] = []
    while len(ports) < count:
        port = dice.randrange(FIRST, max(end, FIRST + 1_000))
        # Tests replace the ports in what they compare, and count to ten in it.
        if str(port) in "0123456789":
            continue
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            ports += [port] * (port not in ports)
    return ports


def await_ports(process: subprocess.Popen[bytes], ports: list[int], log: Path) -> None:
    """Wait until the process itself listens; fails if it has ended, because another program has a port."""

    def listens_on_all() -> bool:
        assert process.poll() is None, log.read_text() if log.exists() else process.args
        return all(listens(process.pid, port) for port in ports)

    eventually(listens_on_all)
