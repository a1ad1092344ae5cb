"""The cache: hits beside the origin, misses beside no cache, the disk beside nginx with proxy_cache, full stores."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench import Bench
from daemon import Daemon
from origin import free_port
from report import Row, limit_row, quantity, ratio_row

HIT_AIM = 0.30
MISS_AIM = 1.03
DISK_AIM = 2.0
START_AIM = 1.10
TURN_AIM_MS = 50.0
LARGE_BYTES = 100_000
SERVERS = "cache-origin"
BATCH = 256
UNLIMITED = {"cache": None, "limits": {"cache_memory_bytes": 1 << 31, "cache_disk_bytes": 1 << 32}}
CONCURRENCY = 64
Pairs = dict[str, tuple[list[float], list[float]]]
SMALL, LARGE = "x" * 200, "y" * LARGE_BYTES
_ORIGIN = """
user root; pid {directory}/pid; error_log {directory}/error.log; worker_processes 1; daemon off;
events {{ worker_connections 1024; }}
http {{
    access_log off; keepalive_requests 1000000; client_body_temp_path {directory}/c; proxy_temp_path {directory}/p;
    fastcgi_temp_path {directory}/f; uwsgi_temp_path {directory}/u; scgi_temp_path {directory}/g;
    proxy_cache_path {directory}/cache keys_zone=all:8m;
    server {{
        listen 127.0.0.1:{origin}; root {directory}/files; default_type text/plain;
        location /fresh/ {{ alias {directory}/files/; add_header Cache-Control max-age=3600; }}
        location /never/ {{ alias {directory}/files/; add_header Cache-Control no-store; }}
    }}
    server {{
        listen 127.0.0.1:{peer};
        location / {{ proxy_pass http://127.0.0.1:{origin}; proxy_cache all; }}
    }}
}}
"""


def measure(bench: Bench) -> list[Row]:
    """Measure each pair in turn."""
    load = bench.compile("daemonload")
    daemon = Daemon(bench.scratch / "cache", configuration={"cache": None})
    try:
        with _servers(bench.scratch / SERVERS) as (origin, peer):
            daemon.call("session.create", name="plain", configuration={})
            daemon.call("session.create", name="memory", configuration={"cache": {"disk_bytes": 0}})
            run = _Runs(bench, load, daemon)
            rows = [*_hits(run, origin), *_misses(run, origin), *_disk(bench, load, origin, peer)]
            return [*rows, *_many(bench, origin), *_start(bench, origin)]
    finally:
        daemon.stop()


class _Runs:
    def __init__(self, bench: Bench, load: str, daemon: Daemon) -> None:
        self.rounds = bench.rounds
        self.count = 3_200 if bench.quick else 24_000
        self._load, self._daemon = load, daemon

    def pairs(
        self, ours: dict[str, Any], theirs: dict[str, Any], concurrency: int = CONCURRENCY, peer: int | None = None
    ) -> Pairs:
        """Alternate both, and return the results of each by their names; the peer's CPU is that of process `peer`."""
        found: Pairs = {}
        for _ in range(self.rounds):
            for place, params in enumerate((ours, theirs)):
                pid = peer if place == 1 and peer is not None else self._daemon.pid
                for name, value in self._run(params, concurrency, pid).items():
                    if isinstance(value, int | float):
                        found.setdefault(name, ([], []))[place].append(float(value))
        return found

    def _run(self, params: Mapping[str, object], concurrency: int, pid: int) -> dict[str, Any]:
        numbers = [str(number) for number in (pid, concurrency, self.count)]
        command = [self._load, str(self._daemon.socket_path), *numbers, json.dumps(params)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=300)
        result: dict[str, Any] = json.loads(done.stdout)
        return result


def _rows(what: str, found: Pairs, names: dict[str, float | None]) -> list[Row]:
    return [
        ratio_row(f"{what}: {name.removesuffix('_us')}", "us", found[name][0], found[name][1], aim)
        for name, aim in names.items()
        if name in found
    ]


def _hits(run: _Runs, origin: str) -> list[Row]:
    url = f"{origin}/fresh/small"
    many = run.pairs({"url": url, "session": "memory"}, {"url": url, "session": "plain"})
    one = run.pairs({"url": url, "session": "memory"}, {"url": url, "session": "plain"}, 1)
    what = "200 B from memory, against the origin"
    return [
        *_rows(f"{what}, {CONCURRENCY} in flight", many, {"cpu_us": HIT_AIM}),
        *_rows(f"{what}, one after the other", one, {"p50_us": 1.0, "cpu_us": None}),
    ]


def _misses(run: _Runs, origin: str) -> list[Row]:
    url = f"{origin}/never/small"
    found = run.pairs({"url": url, "session": "memory"}, {"url": url, "session": "plain"})
    return _rows(f"200 B that are not stored, {CONCURRENCY} in flight, against no cache", found, {"cpu_us": MISS_AIM})


def _disk(bench: Bench, load: str, origin: str, peer: str) -> list[Row]:
    """Each with its own CPU: that of the daemon for a body that it has on disk, that of nginx for one that it has."""
    ours = {"url": f"{origin}/fresh/large", "session": "disk"}
    theirs = {"url": f"{peer}/fresh/large", "session": "plain"}
    directory = bench.scratch / "cache-disk"
    configuration: dict[str, Any] = {"cache": None, "sessions": {"disk": {"cache": {}}, "plain": {}}}
    # After a restart nothing is in memory.
    for is_filled in (False, True):
        daemon = Daemon(directory, configuration=configuration)
        try:
            if not is_filled:
                _fill(daemon, "disk", ours["url"], 1)
                continue
            ours["url"] += "?0"
            found = _Runs(bench, load, daemon).pairs(ours, theirs, 8, peer=_worker_of(bench.scratch / SERVERS))
        finally:
            daemon.stop()
    return _rows("100 kB from the disk, 8 in flight, against proxy_cache of nginx", found, {"cpu_us": DISK_AIM})


def _worker_of(directory: Path) -> int:
    """Return the process of nginx that serves: others look after its cache."""
    command = ["pgrep", "-P", (directory / "pid").read_text().strip(), "-f", "worker process"]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _many(bench: Bench, origin: str) -> list[Row]:
    """A hit in a store with many entries, beside one with few; and what an entry takes."""
    count = 10_000 if bench.quick else 100_000
    daemon = Daemon(bench.scratch / "cache-many", configuration=UNLIMITED)
    try:
        for name in ("few", "many"):
            daemon.call("session.create", name=name, configuration={"cache": {"disk_bytes": 0}})
        urls = {"few": _fill(daemon, "few", f"{origin}/fresh/small", 100)}
        before = daemon.status("VmRSS")
        urls["many"] = _fill(daemon, "many", f"{origin}/fresh/small", count)
        bytes_of_entry = (daemon.status("VmRSS") - before) * 1024 / count
        dice = random.Random(1)
        costs: dict[str, list[float]] = {"few": [], "many": []}
        for _ in range(bench.rounds):
            for name, known in urls.items():
                costs[name].append(_cpu_of_hits(daemon, name, dice.choices(known, k=BATCH * 10)))
        longest = daemon.call("daemon.stats")["loop"]["longest_turn_us"] / 1e3
        what = f"a hit among {count:,} entries, against one among 100"
        return [
            ratio_row(f"{what}: cpu", "us", costs["many"], costs["few"], None),
            Row(f"memory of an entry of 200 B among {count:,}", quantity(bytes_of_entry, "B"), "", "", "", None),
            limit_row("the longest turn of the loop meanwhile", longest, "ms", TURN_AIM_MS),
        ]
    finally:
        daemon.stop()


def _fill(daemon: Daemon, session: str, url: str, count: int) -> list[str]:
    """Store so many responses, and return their URLs."""
    urls = [f"{url}?{number}" for number in range(count)]
    for start in range(0, count, BATCH):
        _perform(daemon, session, urls[start : start + BATCH])
    return urls


def _cpu_of_hits(daemon: Daemon, session: str, urls: list[str]) -> float:
    before = daemon.cpu_seconds()
    for start in range(0, len(urls), BATCH):
        for record in _perform(daemon, session, urls[start : start + BATCH]):
            if record["cache"]["status"] != "hit":
                raise RuntimeError(f"not from the store: {record['cache']}")
    return (daemon.cpu_seconds() - before) * 1e6 / len(urls)


def _perform(daemon: Daemon, session: str, urls: list[str]) -> list[Any]:
    return daemon.call_all("request.perform", [{"url": url, "session": session} for url in urls])


def _start(bench: Bench, origin: str) -> list[Row]:
    """From the start to the first answer, with much on disk and with nothing."""
    count = 640 if bench.quick else 10_000
    full, empty = bench.scratch / "cache-full", bench.scratch / "cache-empty"
    times: tuple[list[float], list[float]] = ([], [])
    sessions = {"sessions": {"disk": {"cache": {"disk_bytes": 1 << 31}}}}
    daemon = Daemon(full, configuration={**UNLIMITED, **sessions})
    # At the speed of the disk: what it cannot take in time stays in memory.
    for start in range(0, count, BATCH):
        end = min(count, start + BATCH)
        _perform(daemon, "disk", [f"{origin}/fresh/large?{number}" for number in range(start, end)])
        _await_disk(daemon, end * LARGE_BYTES)
    daemon.stop()
    for _ in range(bench.rounds):
        for place, directory in enumerate((full, empty)):
            daemon = Daemon(directory, configuration={**UNLIMITED, **sessions})
            times[place].append(daemon.started_s * 1e3)
            entries = daemon.call("cache.stats", store="disk")["stores"][0]["entries"]
            daemon.stop()
            if place == 0 and entries < count * 0.9:
                raise RuntimeError(f"only {entries} entries were found again")
    size = count * LARGE_BYTES / (1 << 30)
    what = f"start with {size:.2f} GiB of {count:,} responses on disk, against none"
    return [ratio_row(f"{what}: time to the first answer", "ms", *times, START_AIM)]


def _await_disk(daemon: Daemon, size: int) -> None:
    deadline = time.monotonic() + 30
    while daemon.call("cache.stats", store="disk")["stores"][0]["disk_bytes"] < size:
        if time.monotonic() > deadline:
            raise RuntimeError("the disk does not take what was received")
        time.sleep(0.01)


@contextlib.contextmanager
def _servers(directory: Path) -> Iterator[tuple[str, str]]:
    """Start an nginx with an origin, and one with a cache in front of it."""
    (directory / "files").mkdir(parents=True)
    (directory / "files/small").write_text(SMALL)
    (directory / "files/large").write_text(LARGE)
    ports = {"origin": free_port(), "peer": free_port()}
    configuration = directory / "nginx.conf"
    configuration.write_text(_ORIGIN.format(directory=directory, **ports))
    directory.chmod(0o755)
    process = subprocess.Popen(["nginx", "-p", str(directory), "-c", str(configuration)])
    try:
        for port in ports.values():
            _await(port)
        yield f"http://127.0.0.1:{ports['origin']}", f"http://127.0.0.1:{ports['peer']}"
    finally:
        process.terminate()
        process.wait(30)


def _await(port: int) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
