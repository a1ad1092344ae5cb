"""Memory and wake-ups of a daemon with nothing to do."""

from __future__ import annotations

import subprocess
import time

from bench import Bench
from daemon import Daemon, status
from report import Row, limit_row

RSS_LIMIT_MIB = 24
ANONYMOUS_LIMIT_MIB = 8
TICK_S = 30


def measure(bench: Bench) -> list[Row]:
    """Measure a daemon before its first call, and one that has finished its work."""
    bare_rss, bare_anonymous = _bare(bench)
    daemon = Daemon(bench.scratch / "idle")
    try:
        rows = [*_memory(daemon, "idle", bare_rss, bare_anonymous), _wake_ups(bench, daemon)]
        for _ in range(1000):
            daemon.call("request.perform", url=bench.origin.http)
        daemon.call("pool.flush")
        return rows + _memory(daemon, "after 1000 requests", bare_rss, bare_anonymous)
    finally:
        daemon.stop()


def _bare(bench: Bench) -> tuple[float, float]:
    with subprocess.Popen([bench.compile_swift("bare")], stdout=subprocess.PIPE) as bare:
        try:
            if bare.stdout is None or bare.stdout.readline() != b"ready\n":
                raise OSError("the bare program did not start")
            return status(bare.pid, "VmRSS") / 1024, status(bare.pid, "RssAnon") / 1024
        finally:
            bare.terminate()


def _memory(daemon: Daemon, when: str, bare_rss: float, bare_anonymous: float) -> list[Row]:
    rss, anonymous = daemon.status("VmRSS") / 1024, daemon.status("RssAnon") / 1024
    return [
        limit_row(f"{when}: RSS", rss, "MiB", RSS_LIMIT_MIB, f"{bare_rss:.3g} MiB"),
        limit_row(f"{when}: RssAnon", anonymous, "MiB", ANONYMOUS_LIMIT_MIB, f"{bare_anonymous:.3g} MiB"),
    ]


def _wake_ups(bench: Bench, daemon: Daemon) -> Row:
    """With no client and no pooled connection: no wake-ups but the tick."""
    seconds = 2 * TICK_S if not bench.quick else TICK_S // 3
    last = -1
    # Until the connection of the last call is closed.
    while last != (last := daemon.voluntary_switches()):
        time.sleep(0.2)
    before = daemon.voluntary_switches()
    time.sleep(seconds)
    woken = daemon.voluntary_switches() - before
    return limit_row(f"idle: wake-ups in {seconds} s", woken, "", seconds // TICK_S + 1)
