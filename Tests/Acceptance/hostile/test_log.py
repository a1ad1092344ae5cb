"""A standard error without a reader blocks nothing."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from harness.calls import NOBODY, line, send_and_read
from harness.daemon import CARPOOLD, environment
from harness.waiting import eventually
from harness.wire import Wire


def test_b1_a_log_that_nobody_reads_stops_no_client(directory: Path) -> None:
    reader, writer = os.pipe()
    socket = directory / "s"
    process = subprocess.Popen(
        [CARPOOLD, "--socket", str(socket), "--log-level", "debug"], env=environment(directory), stderr=writer
    )
    os.close(writer)
    try:
        eventually(socket.exists)
        with Wire(socket) as wire:
            for _ in range(20):
                data = b"".join(line("request.submit", n, url=f"{NOBODY}{'x' * 200}") for n in range(200))
                send_and_read(wire, data, 200)
            eventually(lambda: wire.call("daemon.stats")["requests"]["active"] == 0)
            loop = wire.call("daemon.stats")
            assert loop["log"]["dropped_lines"] > 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        with os.fdopen(reader, "rb") as lines:
            assert lines.readline().endswith(b"\n")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(20)
