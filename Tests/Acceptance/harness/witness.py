"""The times in which the host of a virtual machine stopped a processor, from Tests/Support/witness.c."""

from __future__ import annotations

import atexit
import functools
import subprocess
import tempfile
from pathlib import Path

from harness.daemon import ROOT

Stop = tuple[int, int, int]
"""A processor, and the beginning and the end of a time in which it ran nothing, in microseconds."""


class Witness:
    """A process with a thread on each processor that notices when the processor stands still."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._stops: list[Stop] = []

    def stops(self) -> list[Stop]:
        """Return all of them until now; none where the process may not have its priority."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return []
        while numbers := self._process.stdout.readline().split():
            processor, begin, end = map(int, numbers)
            self._stops.append((processor, begin, end))
        return self._stops

    def end(self) -> None:
        """End the process and wait for it."""
        self._process.kill()
        self._process.communicate()


@functools.cache
def witness() -> Witness:
    """The witness of this process, which lives as long as it."""
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "witness"
        source = ROOT / "Tests/Support/witness.c"
        subprocess.run(["cc", "-O1", "-pthread", "-o", str(program), str(source)], check=True, timeout=60)
        started = Witness(program)
        started.stops()
    atexit.register(started.end)
    return started


def stopped_us(processor: int, begin: int, end: int, stops: list[Stop]) -> int:
    """How long this processor stood still between two times."""
    return sum(max(0, min(end, last) - max(begin, first)) for number, first, last in stops if number == processor)
