"""The cost of cookies: a request of a session with a full jar, beside one of a session without a jar."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from urllib.parse import urlsplit

from bench import Bench
from daemon import Daemon
from report import Row, ratio_row

CPU_AIM = 1.10
CONCURRENCY = 64
COOKIES = 3_000
OWN = 10
"""Those of the origin; the others are of 100 other sites."""


def measure(bench: Bench) -> list[Row]:
    """Measure the CPU of the daemon for both, in turn."""
    load = bench.compile("daemonload")
    daemon = Daemon(bench.scratch / "cookies")
    try:
        bare = {"url": bench.origin.http + "json"}
        host = str(urlsplit(bench.origin.http).hostname)
        daemon.call("session.create", name="bare")
        for session, own in (("full", OWN), ("other", 0)):
            daemon.call("session.create", name=session, configuration={"cookies": {}})
            text = "".join(_line(host, number) for number in range(own))
            text += "".join(_line(f"h{number % 100}.test", number) for number in range(COOKIES - own))
            total = daemon.call("cookies.import", session=session, text=text)["cookies"]
            if total != COOKIES:
                raise RuntimeError(f"the jar has {total} cookies")
            count = len(daemon.call("cookies.list", session=session, url=bare["url"])["cookies"])
            if count != own:
                raise RuntimeError(f"{count} cookies are sent, and not {own}")
        count = 3200 if bench.quick else 24_000
        peer, full, other = [], [], []
        for _ in range(bench.rounds):
            peer.append(_run(load, daemon, count, {**bare, "session": "bare"}))
            full.append(_run(load, daemon, count, {**bare, "session": "full"}))
            other.append(_run(load, daemon, count, {**bare, "session": "other"}))
        what = f"a jar of {COOKIES:,} cookies, {CONCURRENCY} in flight: CPU a request, against one without a jar"
        return [
            ratio_row(f"{what}; {OWN} are sent", "us", full, peer, CPU_AIM),
            ratio_row(f"{what}; none is sent", "us", other, peer, CPU_AIM),
        ]
    finally:
        daemon.stop()


def _line(host: str, number: int) -> str:
    return f"{host}\tFALSE\t/\tFALSE\t0\tname{number}\tvalue{number}\n"


def _run(load: str, daemon: Daemon, count: int, params: Mapping[str, object]) -> float:
    command = [load, str(daemon.socket_path), str(daemon.pid), str(CONCURRENCY), str(count), json.dumps(params)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=120)
    return float(json.loads(done.stdout)["cpu_us"])
