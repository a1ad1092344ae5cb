"""Programs that the tests start, and that always end with them."""

from __future__ import annotations

import atexit
import contextlib
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def begin(command: Sequence[str], **arguments: Any) -> subprocess.Popen[bytes]:
    """Start a program, which is killed when the interpreter ends if its test has not ended it."""
    process = subprocess.Popen(command, **arguments)
    atexit.register(process.kill)
    return process


def end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Send a program SIGTERM, and kill it if it does not end in time."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(seconds)
        raise
    finally:
        atexit.unregister(process.kill)


def persistently(make: Callable[[int], T]) -> T:
    """Return what `make` makes, from the number of the try: another program may take a port that was free."""
    for number in range(4):
        with contextlib.suppress(AssertionError):
            return make(number)
    return make(4)


@contextlib.contextmanager
def running(command: Sequence[str], **arguments: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program for the time of a `with`, at whose end it is killed if it still runs."""
    process = begin(command, **arguments)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        atexit.unregister(process.kill)
