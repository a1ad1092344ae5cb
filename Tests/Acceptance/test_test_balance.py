"""The tests' own check of what a test leaves behind."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
from pathlib import Path

import pytest
from harness.balance import Balance
from harness.daemon import Daemon
from harness.process import own_name, remove_remains, running
from harness.tcp import listens
from origins.authority import Authority
from origins.proxies import Squid
from origins.scripted import ScriptedOrigin


def test_what_an_earlier_test_left_may_end(daemon: Daemon, origin: ScriptedOrigin) -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait, daemon=True)
    thread.start()
    pipe = os.pipe()
    balance = Balance(daemon, origin)
    end.set()
    thread.join()
    for descriptor in pipe:
        os.close(descriptor)
    balance.check()
    balance.close()


def test_what_is_left_is_named(daemon: Daemon, origin: ScriptedOrigin) -> None:
    balance = Balance(daemon, origin)
    pipe = os.pipe()
    with daemon.client() as client:
        client.call("daemon.ping")
        with pytest.raises(AssertionError, match=r"'pipe': 2.*'clients': 1"):
            balance.check(0.1)
    for descriptor in pipe:
        os.close(descriptor)
    balance.check()
    balance.close()


def shared_memory(name: str) -> list[str]:
    return [path.name for path in Path("/dev/shm").glob(f"{name}-*")]


def test_each_squid_has_shared_memory_of_its_own(squid: Squid, authority: Authority) -> None:
    """Beside another one of the tests, and after one that was killed."""
    with tempfile.TemporaryDirectory(prefix="squid-") as place:
        Path(place).chmod(0o755)
        second = Squid(Path(place) / "squid", authority.issue("second-squid", "DNS:localhost"))
        assert shared_memory(squid.name)
        assert shared_memory(second.name)
        second.kill()
        assert shared_memory(second.name), "it is left by one that is killed"
        second.stop()
        assert shared_memory(second.name) == []


def test_remains_of_a_run_that_was_killed_are_removed() -> None:
    with running(["sleep", "0"]) as dead:
        dead.wait()
    paths = {pid: Path(f"/dev/shm/carpool{pid}x0123abcd-cf__metadata.shm") for pid in (dead.pid, os.getpid())}
    for path in paths.values():
        path.touch()
    remove_remains()
    assert not paths[dead.pid].exists()
    assert paths[os.getpid()].exists(), "that of a run that goes on"
    paths[os.getpid()].unlink()


def test_names_are_used_once() -> None:
    assert own_name("a") != own_name("a")
    assert own_name("a").isalnum(), "squid takes no other characters"


def test_a_port_of_another_program_is_not_taken_for_that_of_an_origin() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mine, running(["sleep", "600"]) as other:
        port = mine.getsockname()[1]
        assert listens(os.getpid(), port)
        assert not listens(other.pid, port)
    assert not listens(os.getpid(), port)
