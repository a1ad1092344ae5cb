"""Bodies of any size: throughput, CPU and memory of downloads and uploads, and of a large body in Python."""

from __future__ import annotations

import hashlib
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import largebody
from bench import Bench
from daemon import Daemon
from report import Row, limit_row, ratio_row

# At least 0.95 of the peer's throughput, as time.
TIME_AIM = 1 / 0.95
CPU_AIM = 1.15
GROWTH_AIM_MIB = 16.0
PARALLEL_GROWTH_AIM_MIB = 64.0
PARALLEL = 100
MIB = 1 << 20
Cost = tuple[float, float]


def measure(bench: Bench) -> list[Row]:
    """Measure one large body both ways over both schemes, many at once, and one in Python."""
    size = (128 if bench.quick else 1024) * MIB
    daemon = Daemon(bench.scratch / "bodies")
    try:
        daemon.call("session.create", name="benchmark", configuration={"trust": {"ca_file": str(bench.origin.ca_file)}})
        large = bench.origin.make_file("large", size)
        file = bench.origin.directory / large
        rows = []
        for scheme, origin in (("http", bench.origin.http), ("https", bench.origin.https)):
            rows += _download(bench, daemon, f"{size // MIB} MiB over {scheme}", origin + large, file)
            rows += _upload(bench, daemon, f"{size // MIB} MiB over {scheme}", origin + "put/large", file)
        return rows + _parallel(bench, daemon) + largebody.measure(bench, daemon)
    finally:
        daemon.stop()


def _download(bench: Bench, daemon: Daemon, what: str, url: str, file: Path) -> list[Row]:
    place = bench.scratch / "downloaded"

    def ours() -> None:
        _perform(daemon, url=url, kind="download", destination=_destination(place))

    command = ["curl", "-s", "-f", "--cacert", str(bench.origin.ca_file), "-o", str(place), url]
    return _pair(bench, daemon, f"download of {what}", ours, command, [place], file, GROWTH_AIM_MIB)


def _upload(bench: Bench, daemon: Daemon, what: str, url: str, file: Path) -> list[Row]:
    def ours() -> None:
        _perform(daemon, url=url, method="PUT", kind="upload", body={"file": str(file)})

    command = ["curl", "-s", "-f", "--cacert", str(bench.origin.ca_file), "-T", str(file), url]
    left = bench.origin.directory / "put/large"
    return _pair(bench, daemon, f"upload of {what}", ours, command, [left], file, GROWTH_AIM_MIB)


def _parallel(bench: Bench, daemon: Daemon) -> list[Row]:
    ten = bench.origin.make_file("ten", 10 * 1_000_000)
    url = bench.origin.http + ten
    places = [bench.scratch / f"downloaded-{number}" for number in range(PARALLEL)]

    def ours() -> None:
        calls = [_params(url=url, kind="download", destination=_destination(place)) for place in places]
        _check(daemon.call_all("request.perform", calls))

    outputs = [argument for place in places for argument in ("-o", str(place), url)]
    command = ["curl", "-s", "-f", "--parallel", "--parallel-max", str(PARALLEL), *outputs]
    what = f"{PARALLEL} downloads of 10 MB at once"
    return _pair(bench, daemon, what, ours, command, places, bench.origin.directory / ten, PARALLEL_GROWTH_AIM_MIB)


def _pair(
    bench: Bench,
    daemon: Daemon,
    what: str,
    ours: Callable[[], None],
    theirs: list[str],
    made: list[Path],
    content: Path,
    growth_aim: float,
) -> list[Row]:
    """Do the same with both in turn; our result must be the content, and all is removed for the next one."""
    mine, other, growth = [], [], []
    expected = _hash(content)
    for _ in range(3):
        other.append(_cost_of_command(theirs))
        _remove(made)
        before = daemon.begin_peak()
        mine.append(_cost_of_call(daemon, ours))
        growth.append((daemon.peak() - before) / 1024)
        if wrong := [path for path in made if _hash(path) != expected]:
            raise RuntimeError(f"{what}: {wrong} is not what was sent")
        _remove(made)
    return [
        ratio_row(f"{what}: time", "s", [cost[0] for cost in mine], [cost[0] for cost in other], TIME_AIM),
        ratio_row(f"{what}: CPU", "s", [cost[1] for cost in mine], [cost[1] for cost in other], CPU_AIM),
        limit_row(f"{what}: growth of the daemon's RSS", statistics.median(growth), "MiB", growth_aim),
    ]


def _cost_of_command(command: list[str]) -> Cost:
    """Return the time and the CPU of a program."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[:4]} ended with {process.returncode}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime


def _cost_of_call(daemon: Daemon, call: Callable[[], None]) -> Cost:
    """Return the time of a call and the CPU that the daemon used meanwhile."""
    cpu, began = daemon.cpu_seconds(), time.perf_counter()
    call()
    return time.perf_counter() - began, daemon.cpu_seconds() - cpu


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove(paths: list[Path]) -> None:
    for path in paths:
        path.unlink()


def _destination(place: Path) -> dict[str, object]:
    return {"path": str(place), "remove_previous": True}


def _params(**params: Any) -> dict[str, Any]:
    return {"session": "benchmark", "resource_timeout_ms": 110_000, **params}


def _perform(daemon: Daemon, **params: Any) -> None:
    _check([daemon.call("request.perform", **_params(**params))])


def _check(records: list[Any]) -> None:
    for record in records:
        if not record["outcome"]["ok"] or record["response"]["status"] >= 300:
            raise RuntimeError(f"{record['outcome']} {record.get('response')}")
