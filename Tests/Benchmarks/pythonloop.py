"""Python programs of a benchmark: each is a process of its own that repeats its work when asked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import NamedTuple, Self

from bench import Bench
from programs import ROOT

# `once` is the code of a user. Every program ends with this, so that all do the same around it.
LOOP = """
import sys, time
for _ in range({warm}): once()
while sys.stdin.readline():
    began, used = time.perf_counter(), time.process_time()
    for _ in range({count}): size = once()
    took = (time.perf_counter() - began) / {count}, (time.process_time() - used) / {count}
    print(*took, size, flush=True)
"""


class Took(NamedTuple):
    """What one repetition took, in seconds: of time, and of the client's CPU."""

    seconds: float
    cpu: float


def interpreter() -> str:
    """The tests' interpreter, which has requests; otherwise the one that runs this."""
    own = ROOT / ".venv/bin/python"
    return str(own) if own.exists() else sys.executable


def environment(bench: Bench) -> dict[str, str]:
    """The environment of the programs, without proxies and authorities. Bytecode is kept, as for installed packages."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().endswith(("_PROXY", "_CA_BUNDLE")) and not name.startswith("SSL_CERT_")
    }
    bytecode = {"PYTHONPYCACHEPREFIX": str(bench.scratch / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
    return kept | bytecode | {"PYTHONPATH": str(ROOT / "clients/python/src")}


class Program:
    """A running program, for the time of a `with`."""

    def __init__(self, bench: Bench, code: str, size: int, *, count: int, warm: int, **values: object) -> None:
        """Start it. `code` defines `once`, which returns how many bytes it has received: `size`."""
        self.size = size
        text = code.format(**values) + LOOP.format(count=count, warm=warm)
        command = [interpreter(), "-c", text]
        self.process = subprocess.Popen(
            command, env=environment(bench), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it: it reads no more lines."""
        self.process.communicate(timeout=30)

    def round(self) -> Took:
        """Repeat the work, and return what one repetition took."""
        if self.process.stdin is None or self.process.stdout is None:
            raise OSError("the program has no pipes")
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            raise OSError("the program has failed")
        if int(answer[2]) != self.size:
            raise OSError(f"the program has received {answer[2]} bytes, not {self.size}")
        return Took(float(answer[0]), float(answer[1]))


def alternate(rounds: int, programs: Sequence[Program]) -> list[list[Took]]:
    """Run the programs in turn, and return what each took in each round."""
    with ExitStack() as running:
        for program in programs:
            running.enter_context(program)
        taken = [[program.round() for program in programs] for _ in range(rounds)]
    return [list(column) for column in zip(*taken, strict=True)]
