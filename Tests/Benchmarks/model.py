"""What the session model costs: a request that is adapted, validated and serialized, beside a bare one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping

from bench import Bench
from daemon import Daemon
from report import Row, ratio_row

CPU_AIM = 1.25
CONCURRENCY = 64


def measure(bench: Bench) -> list[Row]:
    """Measure the CPU of the daemon for both, in turn."""
    load = bench.compile("daemonload")
    daemon = Daemon(bench.scratch / "model")
    try:
        configuration = {"interceptor": [_set_header("X-Session")]}
        daemon.call("session.create", name="model", configuration=configuration)
        bare = {"url": bench.origin.http + "json"}
        whole = {
            **bare,
            "session": "model",
            "interceptor": [_set_header("X-Request"), "retry_policy"],
            "validate": True,
            "serialize": "json",
        }
        count = 3200 if bench.quick else 24_000
        mine, other = [], []
        for _ in range(bench.rounds):
            other.append(_run(load, daemon, count, bare))
            mine.append(_run(load, daemon, count, whole))
        what = f"session model, {CONCURRENCY} in flight: CPU a request, against a bare one"
        return [ratio_row(what, "us", mine, other, CPU_AIM)]
    finally:
        daemon.stop()


def _set_header(name: str) -> dict[str, object]:
    return {"set_header": {"name": name, "value": "benchmark"}}


def _run(load: str, daemon: Daemon, count: int, params: Mapping[str, object]) -> float:
    command = [load, str(daemon.socket_path), str(daemon.pid), str(CONCURRENCY), str(count), json.dumps(params)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=120)
    return float(json.loads(done.stdout)["cpu_us"])
