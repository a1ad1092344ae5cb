"""The cost of a hostile client to others: the delay of a ping, and memory that is not freed."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from attackers import ATTACKS, Connection, line
from bench import HERE, Bench
from busy import BUSY, BUSY_PROGRAMS
from daemon import Daemon
from report import Row, limit_row, quantity

AIMS_MS = {"p999_us": 20.0, "worst_us": 50.0}
FILE_AIMS_MS = {"p999_us": 10.0}
SLEEP_AIM_MS = 2.0
LEAST_JOBS_A_SECOND = 300
"""Of a thousand that are asked for: with fewer, the other numbers say nothing."""
NAMES = {"p999_us": "p99.9", "worst_us": "worst"}
MEMORY_AIM_MIB = 8.0
PENDING_AIM_MB = 1.2
PENDING = 30
KNOWN = 10_000
LARGE_BYTES = 1 << 30


def measure(bench: Bench) -> list[Row]:
    """Attack in six ways at once, then in each way alone."""
    pinger = bench.compile("pinger")
    bench.origin.make_file("large", LARGE_BYTES)
    rows = []
    try:
        with _daemon(bench, "together") as daemon:
            _retain(bench, daemon, 1_000 if bench.quick else KNOWN)
            before = daemon.status("RssAnon")
            latencies = _attack(bench, daemon, pinger, list(ATTACKS), 5 if bench.quick else 60)
            rows += _delays("six attackers at once", latencies)
            rows.append(_memory(bench, daemon, "six attackers at once", before))
        for kind in ATTACKS:
            with _daemon(bench, kind) as daemon:
                _retain(bench, daemon, 1_000)
                before = daemon.status("RssAnon")
                rows += _delays(kind, _attack(bench, daemon, pinger, [kind], 3 if bench.quick else 10), aims={})
                rows.append(_memory(bench, daemon, kind, before))
        return [*rows, _pending(bench)]
    finally:
        (bench.origin.directory / "files/large").unlink()


def measure_file_jobs(bench: Bench) -> list[Row]:
    """Measure what other clients notice of jobs on files."""
    return _file_jobs(bench, bench.compile("pinger"))


@contextlib.contextmanager
def _daemon(bench: Bench, name: str) -> Iterator[Daemon]:
    # The journal is kept for ten minutes on purpose, up to 64 MiB; here it is dropped before the memory is measured.
    limits = {"journal_linger_ms": 1_000}
    daemon = Daemon(bench.scratch / f"hostile-{name}", configuration={"limits": limits})
    try:
        yield daemon
    finally:
        daemon.process.kill()
        daemon.process.wait(30)
        shutil.rmtree(daemon.directory)


def _retain(bench: Bench, daemon: Daemon, count: int) -> None:
    """Make the daemon retain requests that have finished."""
    for begun in range(0, count, 200):
        made = daemon.call_all("request.submit", [{"url": bench.origin.http}] * min(200, count - begun))
        daemon.call_all("request.wait", [{"request": each["request"]} for each in made])


def _attack(bench: Bench, daemon: Daemon, pinger: str, kinds: list[str], seconds: int) -> dict[str, Any]:
    """Return the latencies of a ping, and of an echo server's, beside these attackers."""
    folder = daemon.directory / "attack"
    folder.mkdir(exist_ok=True)
    path = daemon.directory / "echo"
    echo = subprocess.Popen([pinger, "echo", str(path)])
    given = [str(daemon.socket_path), bench.origin.http, str(seconds + 2), str(folder)]
    programs = [[sys.executable, str(HERE / "attackers.py"), kind, *given] for kind in kinds]
    attackers = [subprocess.Popen(program, stdout=subprocess.PIPE) for program in programs]
    try:
        for attacker in attackers:
            if attacker.stdout is None or attacker.stdout.readline() != b"ready\n":
                raise OSError("an attacker did not start")
        command = [pinger, "ping", str(daemon.socket_path), str(path), str(seconds), "500"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=seconds + 300)
        for kind, attacker in zip(kinds, attackers, strict=True):
            if attacker.poll():
                raise OSError(f"the attacker {kind} has failed")
        result: dict[str, Any] = json.loads(done.stdout)
        return result
    finally:
        for process in (*attackers, echo):
            process.kill()
            process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _file_jobs(bench: Bench, pinger: str) -> list[Row]:
    """Measure a ping, and the sleep of the loop, beside busy programs and a thousand jobs on files a second."""
    what = f"{BUSY_PROGRAMS} busy programs and many jobs on files"
    with _daemon(bench, "files") as daemon, contextlib.ExitStack() as stack:
        for _ in range(BUSY_PROGRAMS):
            program = stack.enter_context(subprocess.Popen(BUSY))
            stack.callback(program.kill)
        before = daemon.call("daemon.stats", reset=True)
        latencies = _attack(bench, daemon, pinger, ["files"], 5 if bench.quick else 60)
        after = daemon.call("daemon.stats")
    seconds = (after["uptime_ms"] - before["uptime_ms"]) / 1000
    rate = (after["worker"]["jobs"] - before["worker"]["jobs"]) / seconds
    longest = after["loop"].get("longest_sleep_us", 0) / 1000
    told = quantity(rate, "")
    return [
        *_delays(what, latencies, aims=FILE_AIMS_MS),
        limit_row(f"{what}: longest sleep of the loop in a turn", longest, "ms", SLEEP_AIM_MS),
        Row(f"{what}: jobs a second", told, "", told, f"at least {LEAST_JOBS_A_SECOND}", rate >= LEAST_JOBS_A_SECOND),
    ]


def _delays(what: str, latencies: dict[str, Any], *, aims: dict[str, float] = AIMS_MS) -> list[Row]:
    rows = []
    for name, label in NAMES.items():
        aim = aims.get(name)
        ours, theirs = (latencies[whose][name] / 1000 for whose in ("daemon", "echo"))
        extra = max(0.0, ours - theirs)
        told = quantity(extra, "ms")
        limit = "" if aim is None else f"at most {quantity(aim, 'ms')}"
        title = f"{what}: another client's ping, {label}, less an echo server's"
        met = None if aim is None else extra <= aim
        rows.append(Row(title, quantity(ours, "ms"), quantity(theirs, "ms"), told, limit, met))
    return rows


def _memory(bench: Bench, daemon: Daemon, what: str, before: int) -> Row:
    time.sleep(10 if bench.quick else 60)
    growth = (daemon.status("RssAnon") - before) / 1024
    return limit_row(f"{what}: RssAnon a minute later, more than before", growth, "MiB", MEMORY_AIM_MIB)


def _pending(bench: Bench) -> Row:
    """Measure the memory that a call with a JSON body of 1 MB holds while it waits for its answer."""
    value = [{"id": number, "name": f"name {number}", "ratio": number / 7} for number in range(15_000)]
    value = json.loads(json.dumps(value))
    size = len(json.dumps(value))
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener, _daemon(bench, "pending") as daemon:
        listener.settimeout(60)
        connection = Connection(str(daemon.socket_path), "pending")
        before = daemon.status("RssAnon")
        params = {"url": f"http://127.0.0.1:{listener.getsockname()[1]}/", "method": "POST", "body": {"json": value}}
        connection.socket.settimeout(60)
        # The origin accepts no connection, so that running requests are not sent either.
        for number in range(PENDING):
            connection.socket.sendall(line("request.perform", params, number))
        daemon.call("daemon.ping")
        _settle(daemon)
        each = (daemon.status("RssAnon") - before) / 1024 / PENDING * 1.048576
    title = f"a pending call with a JSON body of {size / 1e6:.2f} MB: memory of the daemon"
    return limit_row(title, each / (size / 1e6), "MB a MB", PENDING_AIM_MB)


def _settle(daemon: Daemon) -> None:
    """Wait until the memory of the daemon does not change any more."""
    last, same = -1, 0
    for _ in range(100):
        now = daemon.status("RssAnon")
        same = same + 1 if now == last else 0
        if same >= 5:
            return
        last = now
        time.sleep(0.1)
