"""Events: their cost to the daemon, their delay, and the effect of a subscriber that does not read on others."""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Callable

from bench import Bench
from daemon import Daemon
from report import Row, limit_row, ratio_row

Run = Callable[..., dict[str, float]]

EVENTS_OF_A_GET = 13
COST_AIM_US = 1.0
CPU_AIMS = {1: 1.5, 10: 4.0}
RATE = 1_000
DELAY_AIMS_US = {"p50_us": 300.0, "p99_us": 3_000.0}
CROWD, CROWD_RATE, CROWD_AIM = 100, 200, 1.5
MEMORY_AIM_MB = 64.0 + CROWD * 0.5 + 32.0
"""The journal, what so many connections may hold, and the daemon itself."""


def measure(bench: Bench) -> list[Row]:
    """Measure with and without subscribers, in turn, on one daemon."""
    load = bench.compile("eventload")
    # Without a journal that outlives its readers: otherwise a measurement would include the previous subscribers.
    daemon = Daemon(bench.scratch / "events", configuration={"limits": {"journal_linger_ms": 0}})
    params = json.dumps({"url": bench.origin.http + "json"})

    def run(rate: int, count: int, subscribers: int, stopped: int = 0) -> dict[str, float]:
        numbers = [str(number) for number in (daemon.pid, rate, count, subscribers, stopped)]
        command = [load, str(daemon.socket_path), *numbers, params]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=300)
        result: dict[str, float] = json.loads(done.stdout)
        return result

    try:
        return [*_cost(bench, run), *_delay(bench, run), *_crowd(bench, daemon, run)]
    finally:
        daemon.stop()


def _cost(bench: Bench, run: Run) -> list[Row]:
    """Compare the CPU of requests with subscribers with that of requests without."""
    count = 3_200 if bench.quick else 16_000
    alone: list[float] = []
    followed: dict[int, list[float]] = {subscribers: [] for subscribers in CPU_AIMS}
    for _ in range(bench.rounds):
        alone.append(run(0, count, 0)["cpu_us"])
        for subscribers, costs in followed.items():
            costs.append(run(0, count, subscribers)["cpu_us"])
    what = "full subscribers: CPU"
    rows = [
        ratio_row(f"events, {subscribers} {what} a request, against none", "us", costs, alone, CPU_AIMS[subscribers])
        for subscribers, costs in followed.items()
    ]
    most = max(CPU_AIMS)
    each = statistics.median(
        (costs - none) / (most * EVENTS_OF_A_GET) for costs, none in zip(followed[most], alone, strict=True)
    )
    return [*rows, limit_row(f"events, {most} {what} an event and subscriber", each, "us", COST_AIM_US)]


def _delay(bench: Bench, run: Run) -> list[Row]:
    """Measure the delay from the end of a request until a subscriber has read its event."""
    runs = [run(RATE, 2_000 if bench.quick else 10_000, 1) for _ in range(bench.rounds)]
    return [
        limit_row(
            f"events, {RATE:,} requests a second: from the end of a request to its reader, {field.removesuffix('_us')}",
            statistics.median(each[field] for each in runs),
            "us",
            aim,
        )
        for field, aim in DELAY_AIMS_US.items()
    ]


def _crowd(bench: Bench, daemon: Daemon, run: Run) -> list[Row]:
    """Let one of a hundred subscribers stop reading."""
    count = CROWD_RATE * (15 if bench.quick else 60)
    daemon.begin_peak()
    reading = run(CROWD_RATE, count, CROWD)["p99_us"]
    stopped = run(CROWD_RATE, count, CROWD, 1)["p99_us"]
    what = f"events, {CROWD} subscribers, one of them stopped for {count // CROWD_RATE} s"
    return [
        ratio_row(f"{what}: delay of the others, p99", "us", [stopped], [reading], CROWD_AIM),
        limit_row(f"{what}: memory of the daemon", daemon.peak() / 1024, "MB", MEMORY_AIM_MB),
    ]
