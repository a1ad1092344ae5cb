"""Changes of the network, from the kernel to a subscriber: which are reported, and how soon."""

from __future__ import annotations

import socket
import statistics
import threading
import time
from collections.abc import Callable

import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.namespaces import Machine
from harness.waiting import PATIENCE_SECONDS, SLOWNESS, eventually, join
from harness.watcher import Watcher

# Times are those of a quiet machine; they are multiplied for a busy one. Of several times in a test the best one
# counts: a delay of the daemon itself is in all of them.
SLACK = 5 * SLOWNESS
TRIALS = 5


@pytest.fixture
def online(machine: Machine, start: StartDaemon) -> Daemon:
    """A daemon on a machine with a network."""
    machine.connect()
    return machine.run(start)


def restore(machine: Machine) -> None:
    """Restore what a loss has removed."""
    machine.ip("link set eth0 up", f"addr replace {machine.ADDRESS}/24 dev eth0")
    machine.peer("link set p0 up")
    machine.settle()
    machine.ip(f"route replace default via {machine.PEER}")


def test_a1_a_link_that_goes_down_is_told_when_that_has_lasted(machine: Machine, online: Daemon) -> None:
    with Watcher(online) as watcher:
        assert watcher.first["status"] == "satisfied"
        began = time.monotonic()
        machine.ip("link set eth0 down")
        data = watcher.next()
        assert 0.25 <= data["arrived"] - began <= 0.35 * SLACK
        assert data["reachability"]["status"] == "unsatisfied"
        assert data["reachability"]["unsatisfied_reason"] == "no_interface"
        assert data["level"] == "major"
        assert {"status", "interface", "ipv4"} <= set(data["changed"])
        assert data["previous"]["status"] == "satisfied"
        assert data["previous"]["interface"] == "eth0"
        assert "link" in data["causes"]


def test_a1_a_link_that_goes_down_is_told_at_once_to_those_who_want_that(machine: Machine, online: Daemon) -> None:
    times = []
    with Watcher(online, lost_after_ms=0, min_interval_ms=0) as watcher:
        for _ in range(TRIALS):
            began = time.monotonic()
            machine.ip("link set eth0 down")
            times.append(watcher.until(status="unsatisfied")["arrived"] - began)
            restore(machine)
            watcher.until(status="satisfied")
    assert statistics.median(times) <= 0.05 * SLACK
    assert min(times) <= 0.01 * SLACK


def test_a2_a_network_that_comes_back_is_told_at_once(machine: Machine, online: Daemon) -> None:
    with Watcher(online, lost_after_ms=0, min_interval_ms=0) as watcher:
        for _ in range(TRIALS):
            machine.ip("link set eth0 down")
            watcher.until(status="unsatisfied")
            machine.ip("link set eth0 up")
            machine.settle()
            began = time.monotonic()
            machine.ip(f"route add default via {machine.PEER}")
            data = watcher.until(status="satisfied")
            assert data["arrived"] - began <= 0.1 * SLACK
            assert data["reachability"]["gateways"] == [machine.PEER]


def take_the_link_down(machine: Machine) -> None:
    machine.ip("link set eth0 down")


def delete_the_last_address(machine: Machine) -> None:
    machine.ip(f"addr del {machine.ADDRESS}/24 dev eth0")


def delete_the_nexthop(machine: Machine) -> None:
    machine.ip(f"nexthop add id 7 via {machine.PEER} dev eth0", "route replace default nhid 7")
    machine.ip("nexthop del id 7")


@pytest.mark.parametrize("lose", [take_the_link_down, delete_the_last_address, delete_the_nexthop])
def test_a3_routes_that_vanish_without_a_word(
    machine: Machine, online: Daemon, lose: Callable[[Machine], None]
) -> None:
    with Watcher(online, lost_after_ms=0, min_interval_ms=0) as watcher:
        for _ in range(TRIALS):
            lose(machine)
            data = watcher.until(status="unsatisfied")
            assert data["removed_addresses"] == ([machine.ADDRESS] if lose is delete_the_last_address else [])
            restore(machine)
            watcher.until(status="satisfied")


def test_a4_a_cable_that_is_pulled(machine: Machine, online: Daemon) -> None:
    with Watcher(online) as watcher:
        began = time.monotonic()
        machine.peer("link set p0 down")
        data = watcher.until(status="unsatisfied")
        assert data["arrived"] - began <= 0.35 * SLACK
        assert data["reachability"]["unsatisfied_reason"] == "no_carrier"
        assert data["reachability"]["ipv4"]["gateway"] == machine.PEER, "the kernel keeps the route"
        machine.peer("link set p0 up")
        watcher.until(status="satisfied")
        # Within a second of the last change the kernel sends no message; a call with `fresh` reports the change.
        machine.peer("link set p0 down")
        with online.client() as client:
            times = []
            for _ in range(TRIALS):
                began = time.monotonic()
                fresh = client.call("reachability.get", fresh=True)
                times.append(time.monotonic() - began)
                assert (fresh["status"], fresh["unsatisfied_reason"]) == ("unsatisfied", "no_carrier")
            assert min(times) <= 0.01 * SLACK


def make_noise(machine: Machine) -> None:
    """Make the usual changes of a machine that affect no connection."""
    machine.ip("link set eth0 mtu 1400", "link set eth0 mtu 1500", "link set eth0 txqueuelen 900")
    machine.ip("link add br9 type bridge", "addr add 172.18.0.1/16 dev br9", "link set br9 up")
    for number in range(5):
        machine.ip(
            f"link add c{number} type veth peer name d{number}",
            f"link set c{number} master br9",
            f"link set c{number} up",
            f"link set d{number} up",
        )
    machine.ip(*(f"link del c{number}" for number in range(5)), "link del br9")
    # A router advertisement, which is repeated every few minutes.
    machine.ip("-6 addr change 2001:db8:5::2/64 dev eth0 valid_lft 900 preferred_lft 600")


def test_a5_noise_is_not_told(machine: Machine, start: StartDaemon) -> None:
    machine.connect()
    machine.ip("-6 addr add 2001:db8:5::2/64 dev eth0 nodad valid_lft 600 preferred_lft 300")
    # A cable that is out for a moment may be out for longer on a busy machine.
    config = {"reachability": {"lost_after_ms": 3_000}}
    online = machine.run(lambda: start(config=config))
    listener = machine.outside.run(lambda: socket.create_server((machine.PEER, 0)))
    port = listener.getsockname()[1]
    released = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            released.wait(PATIENCE_SECONDS)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    with Watcher(online) as watcher, online.wire() as wire, listener:
        wire.call("events.subscribe", types=["pool.connection_closed", "reachability.changed"], scope="all")
        call = wire.request("request.perform", url=f"http://{machine.PEER}:{port}/")
        eventually(lambda: online.call("pool.stats")["opened"] > 0)
        make_noise(machine)
        machine.peer("link set p0 down", "link set p0 up")
        machine.settle()
        released.set()
        message = wire.receive()
        assert message.get("id") == call, message
        assert message["result"]["response"]["status"] == 200
        join([server])
        # The next event is that of the next relevant change.
        machine.ip("link set eth0 down")
        data = watcher.next()
        assert data["reachability"]["status"] == "unsatisfied"
        assert data["previous"]["seq"] == watcher.first["seq"]
