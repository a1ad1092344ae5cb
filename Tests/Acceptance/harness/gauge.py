"""The rule of the loop, as a test asserts it: no client can cause a turn above 50 ms; 99.9 % are below 20 ms."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.daemon import Daemon
from harness.wire import RemoteError, Wire

LONGEST_US = 50_000
MOST_US = 20_000
ENOUGH = 1_000
"""The least number of turns of which 99.9 % is less than all: with fewer turns the longest decides."""


def waited_us(pid: int) -> int:
    """How long the daemon's first thread has waited for a processor so far."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[1]) // 1_000


class LongTurnError(AssertionError):
    """A turn that took too long."""


class Gauge:
    """The lengths of the turns between `reset` and `check`."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._waited = 0

    def reset(self) -> None:
        self._waited = waited_us(self._daemon.pid)
        with self._daemon.wire() as wire, contextlib.suppress(RemoteError):
            wire.call("daemon.stats", reset=True)

    def check(self, wire: Wire | None = None) -> dict[str, Any]:
        loop: dict[str, Any] = wire.call("daemon.stats")["loop"] if wire else self._daemon.stats()["loop"]
        if "p999_turn_us" not in loop:
            # A daemon without the gauge measures wall time, from which its wait for a processor is subtracted.
            loop["longest_turn_us"] -= waited_us(self._daemon.pid) - self._waited
            loop["p999_turn_us"] = 0
        if loop["longest_turn_us"] > LONGEST_US:
            raise LongTurnError(loop)
        if loop.get("measured_turns", 0) >= ENOUGH and loop["p999_turn_us"] > MOST_US:
            raise LongTurnError(loop)
        return loop


@contextlib.contextmanager
def bounded_turns(daemon: Daemon) -> Iterator[Gauge]:
    """Assert the rule over what the body does."""
    gauge = Gauge(daemon)
    gauge.reset()
    yield gauge
    gauge.check()
