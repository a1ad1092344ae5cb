"""The cache: a hit beside the origin, a miss beside no cache, the disk beside nginx with proxy_cache."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench import Bench
from daemon import Daemon
from origin import free_port
from report import Row, ratio_row

HIT_AIM = 0.30
MISS_AIM = 1.03
CONCURRENCY = 64
Pairs = dict[str, tuple[list[float], list[float]]]
SMALL, LARGE = "x" * 200, "y" * 100_000
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
        with _servers(bench.scratch / "cache-origin") as (origin, peer):
            daemon.call("session.create", name="plain", configuration={})
            daemon.call("session.create", name="memory", configuration={"cache": {"disk_bytes": 0}})
            daemon.call("session.create", name="disk", configuration={"cache": {}})
            run = _Runs(bench, load, daemon)
            return [*_hits(run, origin), *_misses(run, origin), *_disk(run, origin, peer)]
    finally:
        daemon.stop()


class _Runs:
    def __init__(self, bench: Bench, load: str, daemon: Daemon) -> None:
        self.rounds = bench.rounds
        self.count = 3_200 if bench.quick else 24_000
        self._load, self._daemon = load, daemon

    def pairs(self, ours: dict[str, Any], theirs: dict[str, Any], concurrency: int = CONCURRENCY) -> Pairs:
        """Alternate both, and return the results of each by their names."""
        found: Pairs = {}
        for _ in range(self.rounds):
            for place, params in enumerate((ours, theirs)):
                for name, value in self._run(params, concurrency).items():
                    if isinstance(value, int | float):
                        found.setdefault(name, ([], []))[place].append(float(value))
        return found

    def _run(self, params: Mapping[str, object], concurrency: int) -> dict[str, Any]:
        numbers = [str(number) for number in (self._daemon.pid, concurrency, self.count)]
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


def _disk(run: _Runs, origin: str, peer: str) -> list[Row]:
    """As a file each: the daemon links its own, and receives the peer's."""
    ours = {"url": f"{origin}/fresh/large", "session": "disk"}
    theirs = {"url": f"{peer}/fresh/large", "session": "plain"}
    found = run.pairs(ours, theirs, 8)
    return _rows("100 kB from the disk, 8 in flight, against nginx with proxy_cache", found, {"cpu_us": None})


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
