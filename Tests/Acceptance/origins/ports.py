"""Ports of programs that listen by themselves."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

from harness.tcp import listens
from harness.waiting import eventually


def free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago: these programs take no sockets from their parent."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def await_ports(process: subprocess.Popen[bytes], ports: list[int], log: Path) -> None:
    """Wait until the process itself listens; fails if it has ended, because another program has a port."""

    def listens_on_all() -> bool:
        assert process.poll() is None, log.read_text() if log.exists() else process.args
        return all(listens(process.pid, port) for port in ports)

    eventually(listens_on_all)
