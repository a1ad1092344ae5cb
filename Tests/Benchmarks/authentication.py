"""The cost of authentication: a request with a known nonce, beside a bare one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping

from bench import Bench
from daemon import Daemon
from report import Row, ratio_row

CPU_AIM = 1.15
CONCURRENCY = 64
CREDENTIAL = {"username": "ada", "password": "secret"}


def measure(bench: Bench) -> list[Row]:
    """Measure the CPU of the daemon for each, in turn."""
    load = bench.compile("daemonload")
    daemon = Daemon(bench.scratch / "authentication")
    try:
        entry = {"host": "127.0.0.1", **CREDENTIAL}
        daemon.call("session.create", name="vault", configuration={"credentials": [entry]})
        cases: dict[str, Mapping[str, object]] = {
            "Digest, the request's credential": {"url": bench.origin.http + "digest", "credential": CREDENTIAL},
            "Digest, the session's credential": {"url": bench.origin.http + "digest", "session": "vault"},
            "Basic, the request's credential": {
                "url": bench.origin.http + "basic",
                "credential": {**CREDENTIAL, "username": "grace"},
            },
        }
        # The origin does the same for it: how fast it answers decides how many answers the daemon reads in a turn.
        bare = {"url": bench.origin.http + "open"}
        count = 3200 if bench.quick else 24_000
        peer: list[float] = []
        found: dict[str, list[float]] = {name: [] for name in cases}
        # The nonce is known from here on.
        for params in cases.values():
            _run(load, daemon, CONCURRENCY, params)
        for _ in range(bench.rounds):
            peer.append(_run(load, daemon, count, bare))
            for name, params in cases.items():
                found[name].append(_run(load, daemon, count, params))
        return [
            ratio_row(f"{name}, {CONCURRENCY} in flight: CPU a request, against a bare one", "us", mine, peer, CPU_AIM)
            for name, mine in found.items()
        ]
    finally:
        daemon.stop()


def _run(load: str, daemon: Daemon, count: int, params: Mapping[str, object]) -> float:
    command = [load, str(daemon.socket_path), str(daemon.pid), str(CONCURRENCY), str(count), json.dumps(params)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=120)
    return float(json.loads(done.stdout)["cpu_us"])
