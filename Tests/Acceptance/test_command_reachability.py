"""`carpool reachability` and `carpool wait-online`, on a machine whose cable can be pulled."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import StartDaemon
from harness.command import OK, TIMED_OUT, USAGE, Run, runner
from harness.daemon import CARPOOL, Daemon
from harness.link import with_file
from harness.namespaces import Machine
from harness.process import begin
from harness.tool import Tool
from harness.waiting import PATIENCE_SECONDS, eventually

NOT_REACHABLE = 6


@pytest.fixture
def offline(machine: Machine, start: StartDaemon) -> Daemon:
    """A daemon on a machine without a network."""
    return machine.run(start)


@pytest.fixture
def surroundings(offline: Daemon) -> dict[str, str]:
    """The environment in which the command finds it."""
    return {**offline.environment, "CARPOOL_SOCKET": str(offline.socket)}


@pytest.fixture
def tell(surroundings: dict[str, str], offline: Daemon) -> Run:
    return runner(surroundings, offline.directory)


def on_a_terminal(variables: dict[str, str], *arguments: str) -> tuple[int, str]:
    """Return the exit code and the output on the terminal."""
    own, its = pty.openpty()
    with os.fdopen(own, "rb", buffering=0) as screen:
        process = begin([CARPOOL, *arguments], env=variables, stdout=its)
        os.close(its)
        shown = b""
        # At the end of a terminal whose last writer has closed the reader gets an error.
        try:
            while piece := screen.read(4096):
                shown += piece
        except OSError:
            pass
        return process.wait(PATIENCE_SECONDS), shown.decode()


def test_what_it_prints_is_what_the_daemon_answers(tell: Run, machine: Machine) -> None:
    done = tell("reachability")
    assert done.returncode == NOT_REACHABLE
    assert json.loads(done.stdout)["status"] == "unsatisfied"
    machine.connect()
    done = tell("reachability", "--fresh")
    assert (done.returncode, json.loads(done.stdout)["interface"]) == (OK, "eth0")


def test_the_exit_code_is_that_of_the_host(tell: Run, machine: Machine) -> None:
    assert tell("reachability", "127.0.0.1").returncode == OK
    assert tell("reachability", machine.PEER).returncode == NOT_REACHABLE
    machine.connect()
    machine.ip(f"route add unreachable {machine.PEER}/32")
    assert tell("reachability", "--fresh").returncode == OK
    done = tell("reachability", "--fresh", machine.PEER)
    assert done.returncode == NOT_REACHABLE
    assert json.loads(done.stdout)["host"]["addresses"][0]["reason"] == "unreachable"
    assert tell("reachability", "a", "b").returncode == USAGE


def test_on_a_terminal_it_is_a_table(surroundings: dict[str, str], machine: Machine) -> None:
    machine.connect()
    code, text = on_a_terminal(surroundings, "reachability", "--fresh", machine.PEER)
    assert code == OK
    rows = dict(line.split(maxsplit=1) for line in text.splitlines()[:2])
    assert rows["network"] == "reachable over eth0"
    assert rows["IPv4"] == f"from {machine.ADDRESS} over eth0 by way of {machine.PEER}"
    assert f"{machine.PEER}: from {machine.ADDRESS} over eth0" in text
    code, text = on_a_terminal(surroundings, "reachability", "--json")
    assert json.loads(text)["status"] == "satisfied"


def test_changes_are_printed_as_they_come(surroundings: dict[str, str], machine: Machine) -> None:
    with Tool(surroundings, "reachability", "--watch", machine.PEER) as tool:
        first = tool.next()
        assert (first["type"], first["data"]["reachability"]["status"]) == ("snapshot", "unsatisfied")
        machine.connect()
        line = tool.next()
        while line["data"]["reachability"]["status"] != "satisfied":
            assert line["type"] == "reachability.changed"
            line = tool.next()
        assert tool.end(signal.SIGINT) == -signal.SIGINT
        assert tool.told == ""


def test_waiting_ends_when_the_network_is_there(
    surroundings: dict[str, str], machine: Machine, offline: Daemon
) -> None:
    with Tool(surroundings, "wait-online") as world, Tool(surroundings, "wait-online", machine.PEER) as host:
        eventually(lambda: offline.stats()["reachability"]["watches"] == 2)
        # A route to the host is not a default route.
        machine.plug()
        machine.ip(f"addr add {machine.ADDRESS}/24 dev eth0")
        assert host.end() == OK
        assert world.process.poll() is None
        machine.ip(f"route add default via {machine.PEER}")
        assert world.end() == OK
        assert (world.told, host.told) == ("", "")
    # It is reachable already.
    assert subprocess.run([CARPOOL, "wait-online", "--timeout", "20"], env=surroundings, check=True).returncode == OK


def test_waiting_ends_when_its_time_is_over(tell: Run, machine: Machine) -> None:
    done = tell("wait-online", "--timeout", "0.1")
    assert done.returncode == TIMED_OUT
    assert b"timed out: network not reachable (no_" in done.stderr
    assert tell("wait-online", "--timeout", "0.1", machine.PEER).returncode == TIMED_OUT


def test_u_waiting_for_a_host_that_does_not_exist_fails(machine: Machine, start: StartDaemon, tmp_path: Path) -> None:
    machine.connect()
    # Names are looked up in /etc/hosts alone, so that no name server is queried.
    names = tmp_path / "nsswitch.conf"
    names.write_text("hosts: files\n")
    daemon = with_file(machine.inside, "/etc/nsswitch.conf", names, start)
    tell = runner({**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket)}, daemon.directory)
    assert tell("reachability", "nosuch.invalid").returncode == NOT_REACHABLE
    done = tell("wait-online", "nosuch.invalid")
    assert done.returncode == NOT_REACHABLE
    assert b"host not found: nosuch.invalid" in done.stderr
    assert tell("wait-online", "localhost").returncode == OK
    assert tell("wait-online").returncode == OK


def test_waiting_goes_on_with_the_daemons_successor(
    surroundings: dict[str, str], machine: Machine, offline: Daemon, start: StartDaemon
) -> None:
    with Tool(surroundings, "wait-online") as tool:
        eventually(lambda: offline.stats()["reachability"]["watches"] == 1)
        offline.kill()
        tool.until_told("waiting for it")
        machine.connect()
        machine.run(start)
        assert tool.end() == OK
