"""Crowds that watch the network, and a network that appears and vanishes under a crowd."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from harness.command import runner
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.link import with_file
from harness.namespaces import Machine
from harness.waiting import SLOWNESS, eventually
from harness.wire import Wire
from origins.scripted import ScriptedOrigin

StartDaemon = Callable[..., Daemon]

WATCHERS, WATCHES, HOSTS = 100, 32, 16
"""Of one client: its connections, the watches of each, and the hosts of a watch."""
WAITING = 9_600
NAMES = 600
MOST_THREADS = 300
"""More than there are connections."""
BATCH = 200


def results(wire: Wire, calls: list[int]) -> int:
    """Return how many of these calls, whose answers come in their order, have succeeded."""
    return sum("result" in wire.answer(call) for call in calls)


def finished(daemon: Daemon) -> int:
    return int(daemon.stats()["transfers"]["finished"])


def has_finished(daemon: Daemon, count: int) -> bool:
    return finished(daemon) >= count


def test_b2_watches_of_fifty_thousand_hosts(daemon: Daemon) -> None:
    with ExitStack() as open_wires, bounded_turns(daemon):
        for watcher in range(WATCHERS):
            wire = open_wires.enter_context(daemon.wire())
            hosts = [[f"10.{watcher}.{watch}.{host}" for host in range(HOSTS)] for watch in range(WATCHES)]
            assert results(wire, [wire.request("reachability.watch", hosts=names) for names in hosts]) == WATCHES
        wire = open_wires.enter_context(daemon.wire())
        assert results(wire, [wire.request("reachability.get", fresh=True) for _ in range(BATCH)]) == BATCH


def test_b2_an_address_that_comes_and_goes_under_a_crowd(machine: Machine, start: StartDaemon) -> None:
    machine.plug()
    daemon = machine.run(start)
    with ExitStack() as open_wires, bounded_turns(daemon):
        for client in range(WAITING // 2_400):
            wire = open_wires.enter_context(daemon.wire())
            for first in range(0, 2_400, BATCH):
                urls = [f"http://10.{client}.{n >> 8}.{n & 255}/" for n in range(first, first + BATCH)]
                params = {"waits_for_connectivity": True, "connect_timeout_ms": 500}
                assert results(wire, [wire.request("request.submit", url=url, **params) for url in urls]) == BATCH
        for _ in range(2):
            enough = finished(daemon) + 500
            machine.ip("addr add 10.200.0.1/8 dev eth0")
            eventually(partial(has_finished, daemon, enough))
            machine.ip("addr del 10.200.0.1/8 dev eth0")
            eventually(lambda: daemon.stats()["transfers"]["active"] == 0)
        wire.call("session.cancel_requests", session="default")


def threads(daemon: Daemon) -> int:
    (count,) = re.findall(r"^Threads:\s+(\d+)$", Path(f"/proc/{daemon.pid}/status").read_text(), re.MULTILINE)
    return int(count)


def name_server() -> socket.socket:
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))
    return server


def replaced(number: int) -> dict[str, Any]:
    """Make a request whose host is replaced by the name. All entries of one list are one partition."""
    first = number // 60 * 60
    entries = [f"url-{entry}.example::name-{entry}.example:" for entry in range(first, first + 60)]
    return {"url": f"http://url-{number}.example/", "addresses": {"connect_to": entries}}


@pytest.mark.parametrize("is_replaced", [False, True], ids=["url", "connect_to"])
def test_b3_names_of_which_nobody_tells_the_address(
    machine: Machine, start: StartDaemon, directory: Path, is_replaced: bool
) -> None:
    machine.connect()
    resolver = directory / "resolv.conf"
    resolver.write_text("nameserver 127.0.0.1\noptions timeout:5 attempts:1\n")
    with machine.inside.run(name_server):
        daemon = with_file(machine.inside, "/etc/resolv.conf", resolver, start)
        with daemon.wire() as wire, bounded_turns(daemon):
            for number in range(NAMES):
                params = replaced(number) if is_replaced else {"url": f"http://name-{number}.example/"}
                request = wire.call("request.submit", connect_timeout_ms=20, **params)["request"]
            eventually(partial(has_finished, daemon, 100))
            # All of them, where nothing holds the others back.
            wire.call("request.wait", request=request, timeout_ms=1_000)
            assert threads(daemon) < MOST_THREADS
            wire.call("session.cancel_requests", session="default")
            eventually(lambda: daemon.stats()["transfers"]["active"] == 0)


@pytest.fixture
def silent(machine: Machine, start: StartDaemon, directory: Path) -> Iterator[Daemon]:
    """Start a daemon whose name server is silent, and whose machine knows the name `known.test`."""
    machine.connect()
    resolver, hosts = directory / "resolv.conf", directory / "hosts"
    resolver.write_text("nameserver 127.0.0.1\noptions timeout:20 attempts:1\n")
    hosts.write_text("127.0.0.1 known.test\n")

    def begin() -> Daemon:
        return with_file(machine.inside, "/etc/hosts", hosts, start)

    with machine.inside.run(name_server):
        yield with_file(machine.inside, "/etc/resolv.conf", resolver, begin)


@pytest.fixture
def port(machine: Machine) -> Iterator[int]:
    """Return the port of an origin at the machine's loopback."""
    origin = machine.inside.run(ScriptedOrigin)
    yield origin.port
    origin.stop()


def submit_slow(wire: Wire, **params: Any) -> str:
    """Submit requests for many names whose look-ups take 20 s; return the last one."""
    for number in range(NAMES):
        request = wire.call("request.submit", url=f"http://slow-{number}.example/", **params)["request"]
    return str(request)


def test_lookups_whose_requests_are_over_do_not_delay_the_next_request(silent: Daemon, port: int) -> None:
    with silent.wire() as wire:
        request = submit_slow(wire, resource_timeout_ms=200)
        assert wire.call("request.wait", request=request)["outcome"]["error"]["timeout"] == "resource"
        for host in ("127.0.0.1", "known.test", "localhost"):
            url = f"http://{host}:{port}/"
            record = wire.call("request.perform", url=url, resource_timeout_ms=int(4_000 * SLOWNESS))
            assert record["outcome"]["ok"], record


def test_lookups_of_one_process_leave_room_for_its_client(silent: Daemon, port: int, tmp_path: Path) -> None:
    """The requests wait for their names; those for addresses pass them, and those of another process too."""
    run = runner({**silent.environment, "CARPOOL_SOCKET": str(silent.socket)}, tmp_path)
    with silent.wire() as wire:
        request = submit_slow(wire)
        url = f"http://127.0.0.1:{port}/"
        record = wire.call("request.perform", url=url, resource_timeout_ms=int(4_000 * SLOWNESS))
        assert record["outcome"]["ok"], record
        late = wire.call("request.perform", url=f"http://known.test:{port}/", queue_timeout_ms=100)
        error = late["outcome"]["error"]
        assert (error["timeout"], error["waited_for"]) == ("queue", "lookups")
        assert error["position"] > NAMES // 2
        assert "still being looked up" in error["message"]
        for host in ("127.0.0.1", "known.test"):
            result = run("get", "--timeout", str(4 * SLOWNESS), f"http://{host}:{port}/")
            assert result.returncode == 0, result.stderr
        assert wire.call("request.get", request=request)["state"] != "finished"
        wire.call("session.cancel_requests", session="default")
