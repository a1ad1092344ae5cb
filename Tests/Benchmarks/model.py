"""The cost of the session model: a request that is adapted, validated and serialized, beside a bare one."""

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
        retry, validation = ["retry_policy"], {"validate": True}
        session, own = [_set_header("X-Session")], [_set_header("X-Request")]
        daemon.call("session.create", name="shared", configuration={"interceptor": session + retry, **validation})
        daemon.call("session.create", name="plain", configuration={"interceptor": session})
        bare = {"url": bench.origin.http + "json"}
        whole = {**bare, "serialize": "json"}
        # As in a typical program: the common settings of all requests are those of the session.
        shared = {**whole, "session": "shared", "interceptor": own}
        # All of it in every call, which is four times as long.
        called = {**whole, "session": "plain", "interceptor": own + retry, **validation}
        count = 3200 if bench.quick else 24_000
        peer, first, second = [], [], []
        for _ in range(bench.rounds):
            peer.append(_run(load, daemon, count, bare))
            first.append(_run(load, daemon, count, shared))
            second.append(_run(load, daemon, count, called))
        what = f"session model, {CONCURRENCY} in flight: CPU a request, against a bare one"
        return [
            ratio_row(what, "us", first, peer, CPU_AIM),
            ratio_row(f"{what}; all of it in every call", "us", second, peer, None),
        ]
    finally:
        daemon.stop()


def _set_header(name: str) -> dict[str, object]:
    return {"set_header": {"name": name, "value": "benchmark"}}


def _run(load: str, daemon: Daemon, count: int, params: Mapping[str, object]) -> float:
    command = [load, str(daemon.socket_path), str(daemon.pid), str(CONCURRENCY), str(count), json.dumps(params)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=120)
    return float(json.loads(done.stdout)["cpu_us"])
