"""The clocks of a daemon of the checked build: a test sets and steps them."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path

from harness.daemon import Daemon
from harness.waiting import eventually

VARIABLE = "CARPOOL_CLOCKS_FILE"


class Clocks:
    """What a daemon adds to the clocks of the machine, in seconds, by a file that it reads in each turn of its loop.

    A suspension of the machine is a step of `boottime` and `realtime` alone.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offsets = {"realtime": 0.0, "monotonic": 0.0, "boottime": 0.0}
        self._write()

    @property
    def variables(self) -> dict[str, str]:
        """The variables of the environment of a daemon that has these clocks."""
        return {VARIABLE: str(self._path)}

    def step(self, *, realtime: float = 0, monotonic: float = 0, boottime: float = 0) -> None:
        """Move clocks forward, or back if the number is negative."""
        self._offsets["realtime"] += realtime
        self._offsets["monotonic"] += monotonic
        self._offsets["boottime"] += boottime
        self._write()

    def suspend(self, seconds: float) -> None:
        """Let so many seconds pass in which the machine does not run."""
        self.step(realtime=seconds, boottime=seconds)

    def set_time(self, when: datetime) -> None:
        """Set the clock that people read."""
        self._offsets["realtime"] = when.timestamp() - time.time()
        self._write()

    def await_time(self, daemon: Daemon, when: datetime) -> None:
        """Wait until a daemon has noticed that it is this time, or some minutes later."""
        eventually(lambda: 0 <= (now(daemon) - when).total_seconds() < 600)

    def _write(self) -> None:
        # Replaced in one step: the daemon reads it at any time.
        made = self._path.with_suffix(".new")
        made.write_text("".join(f"{name} {offset:+.6f}\n" for name, offset in self._offsets.items()))
        made.replace(self._path)


def now(daemon: Daemon) -> datetime:
    """The time of a daemon."""
    return datetime.fromisoformat(daemon.call("daemon.ping")["time"])
