"""The delay until subscribers are notified of changes of the network, and its cost. Needs root, for namespaces."""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import time
from types import TracebackType
from typing import Any, Self

from bench import Bench
from daemon import Daemon
from report import Row, limit_row, ratio_row

TOLD_LIMIT_MS = 10
STORM_LIMIT_S = 1.2
STORM_SECONDS = 4
SETTLED_S = 1.2
# Switches eth0 off and on for this many seconds, and prints how often: RTM_NEWLINK with NLM_F_REQUEST | NLM_F_ACK.
FLAPPER = """
import socket, struct, sys, time
kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
index = socket.if_nametoindex("eth0")
off, on = (struct.pack("=IHHIIBxHiII", 32, 16, 5, 1, 0, 0, 0, index, flag, 1) for flag in (0, 1))
count, end = 0, time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    for message in (off, on):
        kernel.send(message)
        kernel.recv(4096)
    count += 1
print(count)
"""
ADDRESS, PEER = "10.77.0.1", "10.77.0.2"


class Machine:
    """Two namespaces joined by a cable, for the time of a `with`."""

    def __init__(self) -> None:
        """Choose names; nothing is set up yet."""
        self.names = (f"reach-bench-{os.getpid()}", f"reach-bench-{os.getpid()}-b")

    def __enter__(self) -> Self:
        """Make the namespaces, the cable, an address and a default route."""
        far = self.names[1]
        for name in self.names:
            subprocess.run(["ip", "netns", "add", name], check=True)
            self.ip("link", "set", "lo", "up", name=name)
        self.ip("link", "add", "eth0", "type", "veth", "peer", "name", "p0", "netns", far)
        self.ip("link", "set", "eth0", "up")
        self.ip("link", "set", "p0", "up", name=far)
        self.ip("address", "add", f"{PEER}/24", "dev", "p0", name=far)
        self.ip("address", "add", f"{ADDRESS}/24", "dev", "eth0")
        self.ip("route", "add", "default", "via", PEER)
        time.sleep(SETTLED_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the namespaces."""
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], check=True)

    @property
    def inside(self) -> tuple[str, ...]:
        """The prefix of a command that runs on the machine."""
        return ("ip", "netns", "exec", self.names[0])

    def ip(self, *arguments: str, name: str = "") -> None:
        """Carry out one command of ip(8)."""
        subprocess.run(["ip", "-n", name or self.names[0], *arguments], check=True)


class Watch:
    """A `reachability.watch` that reports a loss at once."""

    def __init__(self, daemon: Daemon) -> None:
        """Begin to watch."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(daemon.socket_path))
        params = {"lost_after_ms": 0, "min_interval_ms": 0}
        call = {"jsonrpc": "2.0", "id": 1, "method": "reachability.watch", "params": params}
        self._socket.sendall(json.dumps(call).encode() + b"\n")
        self._stream = self._socket.makefile("rb")
        self._stream.readline()

    def until(self, status: str) -> float:
        """Return the time at which a status was reported."""
        while True:
            line = self._stream.readline()
            now = time.monotonic()
            event: dict[str, Any] = json.loads(line)
            if event["params"]["data"]["reachability"]["status"] == status:
                return now

    def close(self) -> None:
        """End it."""
        self._stream.close()
        self._socket.close()


def measure(bench: Bench) -> list[Row]:
    """Measure a loss, the calls, a storm, and the start."""
    with Machine() as machine:
        daemon = Daemon(bench.scratch / "reachability", machine.inside)
        try:
            return [*_losses(bench, machine, daemon), *_questions(bench, daemon), *_storm(bench, machine, daemon)]
        finally:
            daemon.stop()


def _losses(bench: Bench, machine: Machine, daemon: Daemon) -> list[Row]:
    """From the start of `ip link set down` to the line in the subscriber, and the same without the daemon."""
    watch = Watch(daemon)
    told, command = [], []
    for _ in range(5 if bench.quick else 50):
        began = time.monotonic()
        machine.ip("link", "set", "eth0", "down")
        command.append((time.monotonic() - began) * 1000)
        told.append((watch.until("unsatisfied") - began) * 1000)
        machine.ip("link", "set", "eth0", "up")
        time.sleep(SETTLED_S)
        machine.ip("route", "add", "default", "via", PEER)
        watch.until("satisfied")
    watch.close()
    peer = f"{statistics.median(command):.3g} ms until ip(8) is done"
    return [
        limit_row("link down to the subscriber, median", statistics.median(told), "ms", TOLD_LIMIT_MS, peer),
        limit_row("the same, slowest", max(told), "ms", 5 * TOLD_LIMIT_MS),
    ]


def _questions(bench: Bench, daemon: Daemon) -> list[Row]:
    """CPU of the daemon for a look-up, beside that of a ping."""
    count = 200 if bench.quick else 2_000

    def cpu(method: str, **params: Any) -> float:
        before = daemon.cpu_seconds()
        daemon.call_all(method, [params] * count)
        return (daemon.cpu_seconds() - before) / count * 1e6

    rows = []
    questions: dict[str, dict[str, Any]] = {
        "known": {},
        "an address": {"host": "203.0.113.7"},
        "fresh": {"fresh": True},
    }
    for what, params in questions.items():
        ours, peer = [], []
        for _ in range(bench.rounds):
            ours.append(cpu("reachability.get", **params))
            peer.append(max(cpu("daemon.ping"), 0.01))
        rows.append(ratio_row(f"reachability.get, {what}: CPU, beside daemon.ping", "us", ours, peer, None))
    return rows


def _storm(bench: Bench, machine: Machine, daemon: Daemon) -> list[Row]:
    """Switch the interface off and on as fast as possible."""
    seconds = 1 if bench.quick else STORM_SECONDS
    memory, cpu = daemon.status("RssAnon"), daemon.cpu_seconds()
    command = [*machine.inside, sys.executable, "-c", FLAPPER, str(seconds)]
    flaps = int(subprocess.run(command, check=True, capture_output=True).stdout)
    spent = daemon.cpu_seconds() - cpu
    grown = (daemon.status("RssAnon") - memory) / 1024
    limit = STORM_LIMIT_S * seconds / STORM_SECONDS
    return [
        limit_row(f"{flaps / seconds:,.0f} flaps a second for {seconds} s: CPU of the daemon", spent, "s", limit),
        limit_row("the same: growth of its memory", max(0.0, grown), "MiB", 5),
    ]
