"""CPU and latency per request: through the daemon, and with the same libcurl in process."""

from __future__ import annotations

import json
import subprocess

from bench import Bench
from daemon import Daemon
from report import Row, ratio_row

CPU_AIM_AT_64 = 1.6
LATENCY_AIM_AT_1 = {"http": 1.7, "https": 1.9}


def measure(bench: Bench) -> list[Row]:
    """Measure both schemes at 1 and at 64 requests in flight."""
    peer, load = bench.compile("peer"), bench.compile("daemonload")
    daemon = Daemon(bench.scratch / "throughput")
    try:
        # As a program with a private authority would have it: the trust stands in a session, not in every request.
        trust = {"ca_file": str(bench.origin.ca_file)}
        daemon.call("session.create", name="benchmark", configuration={"trust": trust})
        multiplexes = daemon.call("daemon.info")["libcurl"]["profile"] == "multiplex"
        rows = []
        for scheme, url in (("http", bench.origin.http), ("https", bench.origin.https)):
            version = "2" if multiplexes and scheme == "https" else "1"
            for concurrency in (1, 64):
                count = (400 if bench.quick else 3000) * (1 if concurrency == 1 else 8)
                rows += _pairs(bench, (peer, load), daemon, (scheme, url, version), concurrency, count)
        return rows
    finally:
        daemon.stop()


def _run(*command: str) -> dict[str, float]:
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=120)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def _pairs(
    bench: Bench, programs: tuple[str, str], daemon: Daemon, target: tuple[str, str, str], concurrency: int, count: int
) -> list[Row]:
    scheme, url, version = target
    ca_file = str(bench.origin.ca_file)
    params = json.dumps({"url": url, "session": "benchmark"})
    theirs = [programs[0], url, str(concurrency), str(count), version, ca_file]
    ours = [programs[1], str(daemon.socket_path), str(daemon.pid), str(concurrency), str(count), params]
    mine, other, whole = [], [], []
    for _ in range(bench.rounds):
        other.append(_run(*theirs))
        mine.append(_run(*ours))
        whole.append(_run(*theirs, "whole"))
    name = f"{scheme} (HTTP/{'2' if version == '2' else '1.1'}), {concurrency} in flight"

    def row(what: str, field: str, aim: float | None, peer: list[dict[str, float]] = other) -> Row:
        return ratio_row(f"{name}: {what}", "us", [run[field] for run in mine], [run[field] for run in peer], aim)

    same_job = row("CPU a request, peer with fresh handles, heads and metrics", "cpu_us", None, whole)
    if concurrency == 1:
        return [row("p50", "p50_us", LATENCY_AIM_AT_1[scheme]), row("CPU a request", "cpu_us", None), same_job]
    return [row("CPU a request", "cpu_us", CPU_AIM_AT_64), same_job, row("p50", "p50_us", None)]
