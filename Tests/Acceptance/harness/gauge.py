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


def prefer(pid: int) -> None:
    """Give the daemon's first thread a real-time priority, so that no other program takes its processor in a turn.

    A time in which the host had stopped the processor is then part of a turn, and never of its waiting.
    """
    policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(pid, policy, os.sched_param(1))


class LongTurnError(AssertionError):
    """A turn that took too long."""


def remaining(loop: dict[str, Any], bound: int, stops: list[Stop]) -> int:
    """How many turns are longer than the bound without the time in which the host had stopped their processor.

    A time is subtracted once, if both the kernel and the witness have seen it.
    """
    if loop["longest_turn_us"] <= bound:
        return 0
    turns = loop.get("long_turns", [])
    longest = max((turn["wall_us"] - turn["waited_us"] for turn in turns), default=0)
    if longest < loop["longest_turn_us"] or len(turns) == MOST_RECORDED:
        # Older ones are not recorded any more, or the daemon does not record them.
        return int(loop.get("measured_turns", 1))
    return sum(_length(turn, stops) > bound for turn in turns)


def _length(turn: dict[str, int], stops: list[Stop]) -> int:
    begin, end = turn["end_us"] - turn["wall_us"], turn["end_us"]
    return turn["wall_us"] - max(turn["waited_us"], stopped_us(turn["processor"], begin, end, stops))


class Gauge:
    """The lengths of the turns between `reset` and `check`."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._waited = 0

    def reset(self) -> None:
        witness()
        prefer(self._daemon.pid)
        self._waited = waited_us(self._daemon.pid)
        with self._daemon.wire() as wire, contextlib.suppress(RemoteError):
            wire.call("daemon.stats", reset=True)

    def check(self, wire: Wire | None = None) -> dict[str, Any]:
        loop: dict[str, Any] = wire.call("daemon.stats")["loop"] if wire else self._daemon.stats()["loop"]
        if "p999_turn_us" not in loop:
            # A daemon without the gauge measures wall time, from which its wait for a processor is subtracted.
            loop["longest_turn_us"] -= waited_us(self._daemon.pid) - self._waited
            loop["p999_turn_us"] = 0
        stops = witness().stops()
        count = loop.get("measured_turns", 0)
        is_often_long = count >= ENOUGH and loop["p999_turn_us"] > MOST_US
        if remaining(loop, LONGEST_US, stops) > 0:
            raise LongTurnError(loop)
        if is_often_long and remaining(loop, MOST_US, stops) > count // 1_000:
            raise LongTurnError(loop)
        return loop


@contextlib.contextmanager
def bounded_turns(daemon: Daemon) -> Iterator[Gauge]:
    """Assert the rule over what the body does."""
    gauge = Gauge(daemon)
    gauge.reset()
    yield gauge
    gauge.check()
