"""Requests while the network is lost and returns, and over a delayed link. Needs root, iproute2 and /dev/net/tun."""

from __future__ import annotations

import json
import socket
import statistics
import subprocess
import time
from typing import Any

from bench import Bench
from daemon import Daemon
from delay import DelayedLink
from origin import Origin
from report import Row, limit_row

NOTIFIED_AIM_MS = 20
FAILED_AIM_MS = 20
BACK_AIM_MS = 300
MOVED_AIM_MS = 200
FIRST_AIMS_MS = {"http": 100, "TLSv1.3": 145, "TLSv1.2": 190}
REUSED_AIM_MS = 46


class Wire:
    """A connection that gets an event when a request waits, and its answer."""

    def __init__(self, daemon: Daemon) -> None:
        """Connect and subscribe."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(30)
        self._socket.connect(str(daemon.socket_path))
        self._input = self._socket.makefile("rb")
        self.send("events.subscribe", types=["task.is_waiting_for_connectivity"])
        self.until("id")

    def close(self) -> None:
        """End the connection."""
        self._input.close()
        self._socket.close()

    def send(self, method: str, **params: Any) -> None:
        """Make a call."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def until(self, member: str) -> float:
        """Return when the next message with a member was read: `id` for an answer, `method` for an event."""
        while member not in json.loads(self._input.readline()):
            pass
        return time.monotonic()


def measure(bench: Bench) -> list[Row]:
    """Measure a link that is cut, and one that is long."""
    with DelayedLink(bench.scratch, one_way_ms=0) as link:
        rows = _cut(bench, link)
    with DelayedLink(bench.scratch, one_way_ms=20) as link:
        for name, protocols in (("http", "TLSv1.3"), ("TLSv1.3", "TLSv1.3"), ("TLSv1.2", "TLSv1.2")):
            rows += _reuse(bench, link, name, protocols)
    return rows


def _await(daemon: Daemon, status: str) -> None:
    while daemon.call("reachability.get")["status"] != status:
        time.sleep(0.001)


def _ip(link: DelayedLink, *commands: str) -> None:
    text = "\n".join(commands).encode()
    subprocess.run(["ip", "-n", link.names[0], "-batch", "-"], input=text, check=True)


def _cut(bench: Bench, link: DelayedLink) -> list[Row]:
    rounds = 3 if bench.quick else 21
    route = f"route replace default via {link.far_address}"
    _ip(link, route)
    origin = Origin(bench.scratch / "cut-far", link.far_address, link.far)
    daemon = Daemon(bench.scratch / "cut-near", link.near)
    wire = Wire(daemon)
    notified, failed, back, moved = [], [], [], []
    try:
        for number in range(rounds):
            _ip(link, "link set tun0 down")
            _await(daemon, status="unsatisfied")
            began = time.monotonic()
            wire.send("request.perform", url=origin.http, waits_for_connectivity=True)
            notified.append(wire.until("method") - began)
            began = time.monotonic()
            daemon.call("request.perform", url=origin.http)
            failed.append(time.monotonic() - began)
            began = time.monotonic()
            _ip(link, "link set tun0 up", route)
            back.append(wire.until("id") - began)
            _await(daemon, status="satisfied")
            moved.append(_move(link, daemon, origin, route, number))
    finally:
        wire.close()
        daemon.stop()
        origin.stop()
    return [
        _median_row("offline: until the client is notified that its request waits", notified, NOTIFIED_AIM_MS),
        _median_row("offline: until a request that does not wait has failed", failed, FAILED_AIM_MS),
        _median_row("back: until a request that waited is done", back, BACK_AIM_MS),
        _median_row("another address: the next request", moved, MOVED_AIM_MS),
    ]


def _move(link: DelayedLink, daemon: Daemon, origin: Origin, route: str, number: int) -> float:
    """Set another address of the link, and return how long the next request takes."""
    old, new = ("10.77.0.1", "10.77.0.3") if number % 2 == 0 else ("10.77.0.3", "10.77.0.1")
    daemon.call("request.perform", url=origin.http)
    _ip(link, f"addr del {old}/24 dev tun0", f"addr add {new}/24 dev tun0", route)
    while daemon.call("reachability.get")["ipv4"].get("source") != new:
        time.sleep(0.001)
    began = time.monotonic()
    daemon.call("request.perform", url=origin.http, timeout_ms=5_000)
    return time.monotonic() - began


def _reuse(bench: Bench, link: DelayedLink, name: str, protocols: str) -> list[Row]:
    directory = bench.scratch / f"reuse-{name}"
    origin = Origin(directory / "far", link.far_address, link.far, protocols)
    daemon = Daemon(directory / "near", link.near)
    url = (origin.http if name == "http" else origin.https) + "logged"
    try:
        times = []
        # The daemon opens no file for a client with other mounts, and `ip netns exec` makes some.
        trust = {"ca_pem": origin.ca_file.read_text()}
        for _ in range(20):
            began = time.monotonic()
            daemon.call("request.perform", url=url, trust=trust)
            times.append((time.monotonic() - began) * 1_000)
        connections = origin.connections(20)
        peer = _curl(link, url, origin)
    finally:
        daemon.stop()
        origin.stop()
    return [
        limit_row(
            f"40 ms round trip, {name}: the first of 20", times[0], "ms", FIRST_AIMS_MS[name], f"curl: {peer[0]:.0f} ms"
        ),
        limit_row(
            f"40 ms round trip, {name}: the others",
            statistics.median(times[1:]),
            "ms",
            REUSED_AIM_MS,
            f"curl: {statistics.median(peer[1:]):.0f} ms",
        ),
        limit_row(f"40 ms round trip, {name}: connections", connections, "", 1),
    ]


def _curl(link: DelayedLink, url: str, origin: Origin) -> list[float]:
    """Return the milliseconds that one curl takes for each of 20: the first connects."""
    command = [*link.near, "curl", "-s", "-o", "/dev/null", "-w", "%{time_total}\n", "--cacert", str(origin.ca_file)]
    told = subprocess.run([*command, f"{url}?[1-20]"], check=True, capture_output=True, text=True).stdout
    return [float(line) * 1_000 for line in told.split()]


def _median_row(what: str, seconds: list[float], aim_ms: float) -> Row:
    return limit_row(f"{what} (median of {len(seconds)})", statistics.median(seconds) * 1_000, "ms", aim_ms)
