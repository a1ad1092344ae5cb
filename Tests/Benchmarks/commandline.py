"""The command in a shell loop against curl: warm, over a delayed link, and for the very first time."""

from __future__ import annotations

import os
import statistics
import subprocess
from pathlib import Path

import stopwatch
from bench import Bench
from daemon import Daemon, environment
from delay import DelayedLink
from origin import Origin
from programs import CARPOOL
from report import Row, limit_row, ratio_row

LOOP = 'for ((i = 0; i < $1; i++)); do "${@:2}" >/dev/null || exit 1; done'
WARM_AIM = 0.2
DELAYED_AIM = 0.36
FIRST_AIM_MS = 40


def measure(bench: Bench) -> list[Row]:
    """Measure the three."""
    return [_warm(bench), _first(bench), *_delayed(bench)]


def loop(count: int, command: list[str], env: dict[str, str], prefix: tuple[str, ...] = ()) -> float:
    """Return the seconds that `count` runs of `command`, one after another in a shell, take."""
    return stopwatch.seconds([*prefix, "bash", "-c", LOOP, "loop", str(count), *command], env)


def _commands(url: str, ca_file: Path, *more: str) -> tuple[list[str], list[str]]:
    curl = ["curl", "-sSf", "--cacert", str(ca_file), url]
    return [str(CARPOOL), "get", url, "--cacert", str(ca_file), *more], curl


def _warm(bench: Bench) -> Row:
    daemon = Daemon(bench.scratch / "warm")
    carpool, curl = _commands(bench.origin.https, bench.origin.ca_file, "--socket", str(daemon.socket_path))
    try:
        loop(5, carpool, daemon.environment)
        mine, other = [], []
        for _ in range(bench.rounds):
            other.append(loop(100, curl, daemon.environment))
            mine.append(loop(100, carpool, daemon.environment))
    finally:
        daemon.stop()
    return ratio_row("100 x get of an https URL", "s", mine, other, WARM_AIM)


def _first(bench: Bench) -> Row:
    """Without a daemon: the command starts one. The difference to curl is the user's additional wait, once."""
    extra = []
    for turn in range(bench.rounds):
        env = environment(bench.scratch / f"first-{turn}")
        carpool, curl = _commands(bench.origin.https, bench.origin.ca_file)
        theirs = loop(1, curl, env)
        extra.append(1000 * (loop(1, carpool, env) - theirs))
        subprocess.run([str(CARPOOL), "daemon", "stop"], check=True, env=env, stdout=subprocess.DEVNULL)
    return limit_row("first get, no daemon running: longer than curl by", statistics.median(extra), "ms", FIRST_AIM_MS)


def _delayed(bench: Bench) -> list[Row]:
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        print("delayed link: needs root and /dev/net/tun; left out")
        return []
    count = 20 if bench.quick else 100
    with DelayedLink(bench.scratch, one_way_ms=20) as link:
        origin = Origin(bench.scratch / "far", link.far_address, link.far)
        daemon = Daemon(bench.scratch / "near", link.near)
        try:
            # The daemon opens no file for a client with other mounts, and `ip netns exec` makes some.
            trust = {"ca_pem": origin.ca_file.read_text()}
            daemon.call("session.create", name="delayed", configuration={"trust": trust})
            url = f"{origin.https}logged"
            _, curl = _commands(url, origin.ca_file)
            carpool = [str(CARPOOL), "get", url, "--session", "delayed", "--socket", str(daemon.socket_path)]
            mine, other, connections = [], [], []
            for _ in range(1 if bench.quick else 3):
                other.append(loop(count, curl, daemon.environment, link.near))
                origin.connections(count)
                mine.append(loop(count, carpool, daemon.environment, link.near))
                connections.append(origin.connections(count))
        finally:
            daemon.stop()
            origin.stop()
    return [
        ratio_row(f"{count} x get of an https URL, 40 ms round trip", "s", mine, other, DELAYED_AIM),
        limit_row("the same: connections at the origin", max(connections), "", 1, str(count)),
    ]
