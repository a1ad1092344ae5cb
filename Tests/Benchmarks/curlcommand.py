"""`carpool curl` and `carpool get` against curl: in a shell loop, over a slow link, with many URLs, and into a pipe."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import stopwatch
from bench import Bench
from commandline import DELAYED_AIM, WARM_AIM, loop
from daemon import Daemon
from delay import DelayedLink
from origin import Origin
from programs import CARPOOL
from report import Row, limit_row, ratio_row

URLS = 100
MANY_AIM = 1.0
PIPE_TIME_AIM = 1.1
PIPE_CPU_AIM = 1.3
MIB = 1 << 20
VERSIONS = {"HTTP/1.1": "--http1.1", "HTTP/2": "--http2"}
Run = Callable[[list[str]], float]
Cost = tuple[float, float]


def measure(bench: Bench) -> list[Row]:
    """Measure all of it."""
    daemon = Daemon(bench.scratch / "curl")
    try:
        return [*_warm(bench, daemon), *_many(bench, daemon), *_pipes(bench, daemon), *_delayed(bench)]
    finally:
        daemon.stop()


def _environment(daemon: Daemon) -> dict[str, str]:
    return {**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket_path)}


def _pairs(rounds: int, run: Run, arguments: list[str]) -> tuple[list[float], list[float]]:
    """Run `carpool curl` and curl with the same arguments in turn; return what `run` measured of each."""
    ours, theirs = [str(CARPOOL), "curl", "--no-fallback", *arguments], ["curl", *arguments]
    run(ours)
    mine, other = [], []
    for _ in range(rounds):
        other.append(run(theirs))
        mine.append(run(ours))
    return mine, other


def _warm(bench: Bench, daemon: Daemon) -> list[Row]:
    count = 20 if bench.quick else URLS

    def run(command: list[str]) -> float:
        return loop(count, command, _environment(daemon))

    rows = []
    for name, option in VERSIONS.items():
        arguments = ["-sSf", option, "--cacert", str(bench.origin.ca_file), bench.origin.https]
        what = f"{count} x carpool curl of an https URL ({name})"
        rows.append(ratio_row(what, "s", *_pairs(bench.rounds, run, arguments), WARM_AIM))
    return rows


def _many(bench: Bench, daemon: Daemon) -> list[Row]:
    def run(command: list[str]) -> float:
        return stopwatch.seconds(command, _environment(daemon))

    rows = []
    for name, option in VERSIONS.items():
        for more in ([], ["-Z"]):
            trust = ["--cacert", str(bench.origin.ca_file)]
            arguments = ["-sSf", option, *more, *trust, f"{bench.origin.https}[1-{URLS}]"]
            what = " ".join(["carpool curl", *more, f"of {URLS} https URLs ({name})"])
            rows.append(ratio_row(what, "s", *_pairs(bench.rounds, run, arguments), MANY_AIM))
    return rows


def _delayed(bench: Bench) -> list[Row]:
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        print("delayed link: needs root and /dev/net/tun; left out")
        return []
    count = 10 if bench.quick else URLS
    rows = []
    with DelayedLink(bench.scratch, one_way_ms=20) as link:
        origin = Origin(bench.scratch / "curl-far", link.far_address, link.far)
        daemon = Daemon(bench.scratch / "curl-near", link.near_network)
        connections = []

        def run(command: list[str]) -> float:
            seconds = loop(count, command, _environment(daemon), link.near_network)
            connections.append(origin.connections(count))
            return seconds

        try:
            for name, option in VERSIONS.items():
                arguments = ["-sSf", option, "--cacert", str(origin.ca_file), f"{origin.https}logged"]
                what = f"{count} x carpool curl of an https URL ({name}), 40 ms round trip"
                rounds = 1 if bench.quick else 3
                rows.append(ratio_row(what, "s", *_pairs(rounds, run, arguments), DELAYED_AIM))
                rows.append(limit_row("the same: connections at the origin", connections[-1], "", 1, str(count)))
        finally:
            daemon.stop()
            origin.stop()
    return rows


def _pipes(bench: Bench, daemon: Daemon) -> list[Row]:
    size = (128 if bench.quick else 1024) * MIB
    large = bench.origin.make_file("piped", size)
    trust = ["--cacert", str(bench.origin.ca_file)]
    rows = []
    for scheme, origin in (("http", bench.origin.http), ("https", bench.origin.https)):
        theirs = ["curl", "-sf", *trust, origin + large]
        for name, ours in (("get", ["get", "--fail"]), ("curl", ["curl", "-sf", "--no-fallback"])):
            pair = _pipe_pairs(bench, daemon, [str(CARPOOL), *ours, *trust, origin + large], theirs)
            rows += _pipe_rows(f"carpool {name} of {size // MIB} MiB over {scheme} into a pipe", *pair)
    return rows


def _pipe_rows(what: str, mine: list[Cost], other: list[Cost]) -> list[Row]:
    times, cpus = ([[cost[kind] for cost in costs] for costs in (mine, other)] for kind in (0, 1))
    return [
        ratio_row(f"{what}: time", "s", times[0], times[1], PIPE_TIME_AIM),
        ratio_row(f"{what}: CPU of command and daemon", "s", cpus[0], cpus[1], PIPE_CPU_AIM),
    ]


def _pipe_pairs(bench: Bench, daemon: Daemon, ours: list[str], theirs: list[str]) -> tuple[list[Cost], list[Cost]]:
    mine, other = [], []
    for _ in range(bench.rounds):
        other.append(_cost(theirs, daemon))
        mine.append(_cost(ours, daemon))
    return mine, other


def _cost(command: list[str], daemon: Daemon) -> Cost:
    """Return the time of a command whose output cat(1) reads, and the CPU of the command and of the daemon."""
    cpu, began = daemon.cpu_seconds(), time.perf_counter()
    process = subprocess.Popen(command, env=_environment(daemon), stdout=subprocess.PIPE)
    assert process.stdout is not None
    with subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL) as reader:
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        reader.wait()
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[:4]} ended with {process.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime + daemon.cpu_seconds() - cpu
