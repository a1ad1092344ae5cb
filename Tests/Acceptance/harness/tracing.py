"""strace attached to a running daemon."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.daemon import Daemon
from harness.process import begin
from harness.waiting import PATIENCE_SECONDS, eventually

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is missing")


@contextlib.contextmanager
def traced(daemon: Daemon, log: Path, *expressions: str) -> Iterator[None]:
    """Trace all threads of the daemon while the body runs; the log is complete afterwards."""
    options = [word for expression in expressions for word in ("-e", expression)]
    strace = begin(
        ["strace", "-f", "-qq", "-o", str(log), "-p", str(daemon.pid), *options],
        stderr=subprocess.PIPE,
    )
    status = Path(f"/proc/{daemon.pid}/status")
    try:
        eventually(lambda: "TracerPid:\t0\n" not in status.read_text())
        yield
    finally:
        strace.send_signal(signal.SIGINT)
        assert strace.stderr is not None
        strace.stderr.close()
        strace.wait(PATIENCE_SECONDS)
