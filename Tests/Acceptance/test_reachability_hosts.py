"""The routes to single hosts: looked up in the kernel, without sending anything."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.namespaces import Machine
from harness.waiting import SLOWNESS, eventually
from harness.watcher import Watcher

SLACK = 5 * SLOWNESS


@pytest.fixture
def online(machine: Machine, start: StartDaemon) -> Daemon:
    machine.connect()
    # Without IPv6 on the cable the kernel sends nothing by itself.
    machine.set("net/ipv6/conf/eth0/disable_ipv6", "1")
    for kind, last in [("unreachable", 1), ("prohibit", 2), ("blackhole", 3), ("throw", 4)]:
        machine.ip(f"route add {kind} 198.51.100.{last}")
    return machine.run(start)


def sent(machine: Machine) -> list[str]:
    """Return the counters of packets that have left the machine."""

    def read() -> list[str]:
        lines = Path("/proc/thread-self/net/snmp").read_text().splitlines()
        names, values = (line.split() for line in lines if line.startswith("Ip:"))
        six = dict(line.split() for line in Path("/proc/thread-self/net/snmp6").read_text().splitlines())
        return [values[names.index("OutRequests")], six["Ip6OutRequests"]]

    return machine.run(read)


REASONS = {
    "198.51.100.1": "unreachable",
    "198.51.100.2": "prohibited",
    "198.51.100.3": "blackhole",
    "198.51.100.4": "no_route",
    "2001:db8::1": "no_route",
}


def test_a9_reasons_and_places(machine: Machine, online: Daemon) -> None:
    with online.client() as client:
        times: list[float] = []

        def way(host: str) -> dict[str, Any]:
            began = time.monotonic()
            answer: dict[str, Any] = client.call("reachability.get", host=host)["host"]
            times.append(time.monotonic() - began)
            return answer

        client.call("reachability.get")
        before = sent(machine)
        for host, reason in REASONS.items():
            found = way(host)
            assert found["status"] == "unsatisfied"
            assert [address["reason"] for address in found["addresses"]] == [reason]
            assert found["model_status"] == {"status": "not_reachable"}
            assert found["flags"] == []
        for host in ["127.0.0.1", machine.ADDRESS, "::1"]:
            found = way(host)
            assert found["status"] == "satisfied"
            assert found["addresses"][0]["is_local_address"]
            assert "is_local_address" in found["flags"]
        near = way(machine.PEER)
        assert near["addresses"][0]["is_direct"]
        assert near["flags"] == ["reachable", "is_direct"]
        far = way("203.0.113.7")
        assert far["addresses"][0]["gateway"] == machine.PEER
        assert far["addresses"][0]["source"] == machine.ADDRESS
        assert far["flags"] == ["reachable"]
        assert min(times) <= 0.001 * SLACK
        assert sent(machine) == before, "a look-up sends nothing"


def test_a9_names(online: Daemon) -> None:
    with online.client() as client:
        found = client.call("reachability.get", host="localhost")["host"]
        assert found["status"] == "satisfied"
        assert found["dns"]["ms"] >= 0
        assert all(address["is_local_address"] for address in found["addresses"])
        unknown = client.call("reachability.get", host="localhost", resolve=False)["host"]
        assert (unknown["status"], unknown["addresses"]) == ("unknown", [])


def test_a9_a_name_is_looked_up_when_there_is_a_network(machine: Machine, online: Daemon) -> None:
    machine.ip("link set eth0 down")
    with online.client() as client:
        eventually(lambda: client.call("reachability.get")["status"] == "unsatisfied")
    with Watcher(online, hosts=["localhost"]) as watcher:
        assert [host["status"] for host in watcher.answer["hosts"]] == ["unknown"]
        machine.ip("link set eth0 up")
        machine.settle()
        machine.ip(f"route add default via {machine.PEER}")
        statuses: list[str] = []
        while statuses != ["satisfied"]:
            data = watcher.next()
            statuses = [host["status"] for host in data.get("hosts", [])]
        assert data["hosts"][0]["addresses"][0]["is_local_address"]


def test_a9_a_host_is_watched(machine: Machine, online: Daemon) -> None:
    with Watcher(online, hosts=["203.0.113.7", "198.51.100.1"], lost_after_ms=0) as watcher:
        assert [host["status"] for host in watcher.answer["hosts"]] == ["satisfied", "unsatisfied"]
        machine.ip("route add prohibit 203.0.113.7")
        data = watcher.next()
        assert data["changed"] == ["hosts"]
        assert [host["status"] for host in data["hosts"]] == ["unsatisfied", "unsatisfied"]
        assert data["reachability"]["status"] == "satisfied"
        machine.ip("route del prohibit 203.0.113.7")
        assert [host["status"] for host in watcher.next()["hosts"]] == ["satisfied", "unsatisfied"]
