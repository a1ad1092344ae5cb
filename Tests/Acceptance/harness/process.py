"""Programs that the tests start, and that always end with them."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import secrets
import select
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def begin(command: Sequence[str], **arguments: Any) -> subprocess.Popen[bytes]:
    """Start a program, which is killed when the interpreter ends if its test has not ended it."""
    process = subprocess.Popen(command, **arguments)
    atexit.register(process.kill)
    return process


def await_end(process: subprocess.Popen[bytes], seconds: float) -> int:
    """Wait for the end of a program and return its exit code; `Popen.wait` polls, and sees it up to 50 ms later."""
    if process.poll() is None:
        descriptor = os.pidfd_open(process.pid)
        try:
            select.select([descriptor], [], [], seconds)
        finally:
            os.close(descriptor)
    return process.wait(0.1)


def end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Send a program SIGTERM, and kill it if it does not end in time."""
    process.terminate()
    try:
        await_end(process, seconds)
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


def own_name(kind: str) -> str:
    """Return a name that nothing else on the machine has, also if the process of an earlier run had the same number."""
    return f"{kind}{os.getpid()}x{secrets.token_hex(4)}"


def remove_remains() -> None:
    """Remove what runs that were killed have left under names of `own_name`: shared memory and network namespaces."""
    for folder in ("/dev/shm", "/run/netns"):
        for path in Path(folder).glob("*"):
            found = re.match(r"(?:carpool|caching|reach)(\d+)x[0-9a-f]{8}", path.name)
            if found is None or Path("/proc", found[1]).exists():
                continue
            if folder == "/run/netns":
                subprocess.run(["ip", "netns", "delete", path.name], check=False, capture_output=True)
            else:
                path.unlink(missing_ok=True)


def remove_shared_memory(name: str) -> None:
    """Remove the shared memory of a squid of this name: it stays if the program was killed."""
    for path in Path("/dev/shm").glob(f"{name}-*"):
        path.unlink(missing_ok=True)


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
