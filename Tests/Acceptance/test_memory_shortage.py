"""A daemon that gets no memory ends; the next client starts another one, and no part of a file passes for the whole."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.command import OK, Run, runner
from harness.daemon import CARPOOL, environment
from harness.process import begin
from harness.waiting import eventually
from harness.wire import Wire
from origins.nginx import Nginx


@pytest.fixture
def variables(directory: Path) -> dict[str, str]:
    """The environment of programs that start the daemon themselves."""
    found = environment(directory)
    return {**found, "PATH": f"{Path(CARPOOL).resolve().parent}:{found['PATH']}"}


@pytest.fixture
def alone(variables: dict[str, str], directory: Path) -> Iterator[Run]:
    call = runner(variables, directory)
    yield call
    call("daemon", "stop")


def take_memory(pid: int) -> None:
    """Let a process map no more memory than it has."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    _, hard = resource.prlimit(pid, resource.RLIMIT_AS)
    resource.prlimit(pid, resource.RLIMIT_AS, (pages * resource.getpagesize(), hard))


def has_ended(pid: int) -> bool:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def test_a_daemon_without_memory_ends_and_the_next_client_starts_one(
    alone: Run, variables: dict[str, str], directory: Path, nginx: Nginx
) -> None:
    assert alone("daemon", "start").returncode == OK
    server = json.loads(alone("call", "daemon.info").stdout)
    pid = server["server"]["pid"]
    target = directory / "whole"
    download = begin(
        [CARPOOL, "get", "-s", "-o", str(target), f"{nginx.http}/slow/16m.bin"], env=variables, stderr=subprocess.PIPE
    )
    eventually(lambda: list(directory.glob(".whole.*.carpool-part")))
    take_memory(pid)
    with contextlib.suppress(OSError, AssertionError), Wire(server["socket"]) as wire:
        # Bodies that wait for the answer to a callback stay in memory.
        for _ in range(400):
            wire.request(
                "request.submit", url=f"{nginx.http}/slow/16m.bin", method="POST", body={"text": "x" * 900_000}
            )
            assert not has_ended(pid)
    with contextlib.suppress(AssertionError):
        eventually(lambda: has_ended(pid), 5)
    if not has_ended(pid):
        os.kill(pid, signal.SIGKILL)
        pytest.fail("the daemon lives on without memory")
    assert download.wait(30) != 0
    assert not target.exists()
    assert alone("get", f"{nginx.http}/hello.txt").stdout == b"hello, world\n"
    assert json.loads(alone("call", "daemon.info").stdout)["server"]["pid"] != pid
