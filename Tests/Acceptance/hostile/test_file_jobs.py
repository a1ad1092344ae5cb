"""Many jobs on files beside busy programs: the loop never waits for one of its threads."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from busy import BUSY, BUSY_PROGRAMS
from harness.daemon import Daemon
from harness.gauge import DisturbedTurnError, LongTurnError
from harness.process import running
from harness.wire import Wire
from harness.witness import witness
from origins.nginx import Nginx

CLIENTS = 4
JOBS = 2_000
JOBS_A_SECOND = 1_000
JOBS_A_DOWNLOAD = 5
PAUSE_SECONDS = CLIENTS * JOBS_A_DOWNLOAD / JOBS_A_SECOND
LONGEST_SLEEP_US = 2_000


@pytest.fixture
def busy() -> Iterator[None]:
    """Programs that use all processors."""
    with contextlib.ExitStack() as stack:
        for _ in range(BUSY_PROGRAMS):
            stack.enter_context(running(BUSY))
        yield


def download(wire: Wire, url: str, path: Path) -> int:
    destination = {"path": str(path), "remove_previous": True}
    return wire.request("request.perform", url=url, kind="download", destination=destination)


@pytest.mark.usefixtures("busy")
def test_the_loop_does_not_sleep_while_threads_wait_for_a_processor(
    daemon: Daemon, nginx: Nginx, directory: Path
) -> None:
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(daemon.wire()) for _ in range(CLIENTS)]
        for number, wire in enumerate(wires):
            wire.call("client.hello", name=f"client {number}")
        witness().stops()
        stats = wires[0].call("daemon.stats", reset=True)
        enough = stats["worker"]["jobs"] + JOBS
        while stats["worker"]["jobs"] < enough:
            for _ in range(10):
                files = [directory / f"file {number}" for number in range(CLIENTS)]
                calls = [
                    download(wire, f"{nginx.http}/hello.txt", file) for wire, file in zip(wires, files, strict=True)
                ]
                for wire, call in zip(wires, calls, strict=True):
                    assert wire.result(call)["outcome"]["ok"]
                time.sleep(PAUSE_SECONDS)
            stats = wires[0].call("daemon.stats")
    stops = witness().stops()
    if stats["loop"]["longest_sleep_us"] > LONGEST_SLEEP_US:
        # Where the host stops a processor, that time counts as sleep in a turn with a wait.
        raise DisturbedTurnError(stats["loop"], stops) if stops else LongTurnError(stats["loop"])
