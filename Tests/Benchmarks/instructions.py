"""Instructions of the daemon for one request, counted by callgrind, beside those of an older build."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import Bench
from counts import callgrind, total, without_debug_information
from daemon import Daemon
from programs import CARPOOLD, ROOT
from report import Row, quantity

AIM = 1.02
WARM = 200
START_S = 60
MANY = 64
INTERCEPTORS = [{"set_header": {"name": "X-Benchmark", "value": "1"}}, "retry_policy"]


@dataclass(frozen=True)
class Case:
    """A kind of request."""

    scheme: str
    is_intercepted: bool = False
    in_flight: int = 1


CASES = {
    "a bare request, http": Case("http"),
    "a bare request, https": Case("https"),
    f"a bare request, http, {MANY} in flight": Case("http", in_flight=MANY),
    f"an intercepted request, http, {MANY} in flight": Case("http", is_intercepted=True, in_flight=MANY),
}


@dataclass(frozen=True)
class Count:
    """Instructions for one request, in each of the rounds."""

    rounds: list[float]

    @property
    def median(self) -> float:
        """Return the middle one."""
        return statistics.median(self.rounds)

    def __str__(self) -> str:
        """Return the median and the distance from the smallest to the largest count."""
        spread = (max(self.rounds) - min(self.rounds)) / self.median
        return f"{quantity(self.median, '')} (spread {spread:.2%})"


def measure(bench: Bench) -> list[Row]:
    """Count for the built daemon and, if one is given, for the older one, in turn."""
    subprocess.run([str(ROOT / "clients/install"), "valgrind", "binutils"], check=True)
    programs = [_copy(bench, program) for program in (CARPOOLD, bench.baseline) if program]
    counts: dict[tuple[int, str], list[float]] = {}
    for number in range(3 if bench.quick else 5):
        for place, program in enumerate(programs):
            directory = bench.scratch / f"instructions-{number}-{place}"
            for name, instructions in count(bench, program, directory, CASES).items():
                counts.setdefault((place, name), []).append(instructions)
    return [_row(name, [Count(counts[place, name]) for place in range(len(programs))]) for name in CASES]


def _copy(bench: Bench, program: Path) -> Path:
    return without_debug_information(program, Path(tempfile.mkdtemp(prefix="instructions-", dir=bench.scratch)))


def _row(name: str, counts: list[Count]) -> Row:
    what = f"instructions of {name}"
    if len(counts) == 1:
        return Row(what, str(counts[0]), "", quantity(counts[0].median, ""), "", None)
    ratio = counts[0].median / counts[1].median
    return Row(what, str(counts[0]), str(counts[1]), f"{ratio:.4f}", f"at most {AIM:.2f}", ratio <= AIM)


def count(bench: Bench, program: Path, directory: Path, cases: dict[str, Case]) -> dict[str, float]:
    """Start the program under callgrind and count for each case."""
    # The sessions have no cache, and a baseline may know none.
    daemon = Daemon(directory, callgrind(directory), program=program, patience_s=START_S, configuration={"cache": None})
    requests = 320 if bench.quick else 1024
    try:
        trust = {"ca_file": str(bench.origin.ca_file)}
        daemon.call("session.create", name="bare", configuration={"trust": trust})
        daemon.call("session.create", name="intercepted", configuration={"trust": trust, "interceptor": INTERCEPTORS})
        found = {}
        for place, (name, case) in enumerate(cases.items()):
            _send(bench, daemon, case, WARM)
            _dump(daemon, f"{place}-before")
            _send(bench, daemon, case, requests)
            found[name] = _dump(daemon, f"{place}-after") / requests
        return found
    finally:
        daemon.stop()


def _send(bench: Bench, daemon: Daemon, case: Case, requests: int) -> None:
    """Make this many requests; with several in flight in whole groups, so that there may be a few more."""
    url = bench.origin.http if case.scheme == "http" else bench.origin.https
    params = {"url": url, "session": "intercepted" if case.is_intercepted else "bare"}
    if case.in_flight == 1:
        daemon.call_in_turn("request.perform", params, requests)
        return
    for _ in range(0, requests, case.in_flight):
        daemon.call_all("request.perform", [params] * case.in_flight)


def _dump(daemon: Daemon, hint: str) -> int:
    """Return the instructions since the last dump; callgrind begins to count at zero after each."""
    before = set(daemon.directory.glob("out*"))
    subprocess.run(
        ["callgrind_control", f"--dump={hint}", str(daemon.pid)], check=True, capture_output=True, timeout=START_S
    )
    (made,) = set(daemon.directory.glob("out*")) - before
    return total(made)
