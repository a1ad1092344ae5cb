"""The rule of the loop, as a test asserts it: no client can cause a turn above 50 ms; 99.9 % are below 20 ms."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.daemon import Daemon
from harness.wire import RemoteError, Wire
from harness.witness import Stop, stopped_us, witness

LONGEST_US = 50_000
MOST_US = 20_000
MOST_RECORDED = 8
ENOUGH = 1_000
"""The least number of turns of which 99.9 % is less than all: with fewer turns the longest decides."""


def waited_us(pid: int) -> int:
    """How long the daemon's first thread has waited for a processor so far."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[1]) // 1_000


def near(loop: dict[str, Any], stops: list[Stop]) -> list[Stop]:
    """The times in which a processor stood still that touch a long turn."""
    turns = [(turn["end_us"] - turn["wall_us"], turn["end_us"]) for turn in loop.get("long_turns", [])]
    return [stop for stop in stops if any(stop[1] < end and begin < stop[2] for begin, end in turns)]


def prefer(pid: int) -> bool:
    """Give the daemon's first thread a real-time priority, so that no other program takes its processor in a turn.

    It then waits only where the kernel gives the other threads their twentieth of a second.
    """
    policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
    try:
        os.sched_setscheduler(pid, policy, os.sched_param(1))
    except PermissionError:
        return False
    return True


class LongTurnError(AssertionError):
    """A turn that took too long."""


class DisturbedTurnError(LongTurnError):
    """A turn that took too long, while the host stopped a processor: pytest runs the test once more (pytest.ini).

    The stops of more than 2 ms are known; how much a host that does this takes beside them is not.
    """


def remaining(loop: dict[str, Any], bound: int, stops: list[Stop], *, is_preferred: bool = False) -> int:
    """How many turns are longer than the bound without the time in which the host had stopped their processor.

    If the thread had no real-time priority, it may have waited for its processor while the host had stopped that: then
    the time is subtracted once.
    """
    if loop["longest_turn_us"] <= bound:
        return 0
    turns = loop.get("long_turns", [])
    longest = max((turn["wall_us"] - turn["waited_us"] for turn in turns), default=0)
    if longest < loop["longest_turn_us"] or len(turns) == MOST_RECORDED:
        # Older ones are not recorded any more, or the daemon does not record them.
        return int(loop.get("measured_turns", 1))
    return sum(_length(turn, stops, is_preferred=is_preferred) > bound for turn in turns)


def _length(turn: dict[str, int], stops: list[Stop], *, is_preferred: bool) -> int:
    begin, end = turn["end_us"] - turn["wall_us"], turn["end_us"]
    stopped = stopped_us(turn["processor"], begin, end, stops)
    taken = turn["waited_us"] + stopped if is_preferred else max(turn["waited_us"], stopped)
    return turn["wall_us"] - taken


def verdict(loop: dict[str, Any], stops: list[Stop], *, is_preferred: bool) -> LongTurnError | None:
    """Return the error of a loop that breaks the rule."""
    count = loop.get("measured_turns", 0)
    is_often_long = count >= ENOUGH and loop.get("p999_turn_us", 0) > MOST_US
    if remaining(loop, LONGEST_US, stops, is_preferred=is_preferred) == 0 and not (
        is_often_long and remaining(loop, MOST_US, stops, is_preferred=is_preferred) > count // 1_000
    ):
        return None
    touching = near(loop, stops)
    return DisturbedTurnError(loop, touching) if touching else LongTurnError(loop)


class Gauge:
    """The lengths of the turns between `reset` and `check`."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._waited = 0
        self._is_preferred = False

    def reset(self) -> None:
        witness()
        self._is_preferred = prefer(self._daemon.pid)
        self._waited = waited_us(self._daemon.pid)
        with self._daemon.wire() as wire, contextlib.suppress(RemoteError):
            wire.call("daemon.stats", reset=True)

    def check(self, wire: Wire | None = None) -> dict[str, Any]:
        loop: dict[str, Any] = wire.call("daemon.stats")["loop"] if wire else self._daemon.stats()["loop"]
        if "p999_turn_us" not in loop:
            # A daemon without the gauge measures wall time, from which its wait for a processor is subtracted.
            loop["longest_turn_us"] -= waited_us(self._daemon.pid) - self._waited
        if error := verdict(loop, witness().stops(), is_preferred=self._is_preferred):
            raise error
        return loop


@contextlib.contextmanager
def bounded_turns(daemon: Daemon) -> Iterator[Gauge]:
    """Assert the rule over what the body does."""
    gauge = Gauge(daemon)
    gauge.reset()
    yield gauge
    gauge.check()
