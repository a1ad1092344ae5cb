"""Programs that the tests start, which end with them whatever happens."""

from __future__ import annotations

import atexit
import contextlib
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any


def begin(command: Sequence[str], **arguments: Any) -> subprocess.Popen[bytes]:
    """Start a program, which is killed when the interpreter ends, should its test not have ended it."""
    process = subprocess.Popen(command, **arguments)
    atexit.register(process.kill)
    return process


def end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Ask a program to end, and kill it if it does not in time."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(seconds)
        raise
    finally:
        atexit.unregister(process.kill)


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
