"""Pooled connections, and the addresses that are tried, when the network changes."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.link import DelayedLink, Link, with_file
from harness.waiting import SLOWNESS, eventually
from harness.watcher import Watcher
from harness.wire import Wire
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin


@pytest.fixture
def delayed(tmp_path: Path) -> Iterator[Link]:
    try:
        made = DelayedLink(tmp_path)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no delayed link may be made here: {error}")
    yield made
    made.remove()


@pytest.fixture
def near(link: Link, start: StartDaemon) -> Daemon:
    daemon = link.inside.run(start)
    daemon.enter()
    assert daemon.call("reachability.get")["status"] == "satisfied"
    return daemon


@pytest.fixture
def far(link: Link, tmp_path: Path, authority: Authority) -> Iterator[Nginx]:
    origin = link.outside.run(lambda: Nginx(tmp_path, authority, 1, link.PEER))
    yield origin
    origin.stop()


def fetch(wire: Wire, url: str, **params: Any) -> dict[str, Any]:
    """Make a request and return the metrics of its hop."""
    record = wire.call("request.perform", url=url, **params)
    assert record["outcome"]["ok"], record["outcome"]
    hop: dict[str, Any] = record["attempts"][-1]["metrics"][0]
    return hop


def connections(nginx: Nginx, count: int, path: str) -> set[int]:
    """Return the connections of the requests for a path."""
    return {line.connection for line in nginx.log(count, lambda line: line.target == path)}


@pytest.mark.parametrize("scheme", ["http", "https", "https1"])
def test_a10_connections_of_a_gone_address_are_closed_and_the_others_kept(
    link: Link, near: Daemon, far: Nginx, authority: Authority, scheme: str
) -> None:
    link.ip(f"addr add 10.80.0.1/24 dev {link.DEVICE}")
    link.peer("addr add 10.80.0.2/24 dev p0")
    other = link.outside.run(lambda: ScriptedOrigin(address="10.80.0.2"))
    url = getattr(far, scheme) + "/hello.txt"
    trust = {"trust": {"ca_file": str(authority.ca_file)}}
    try:
        with near.wire() as wire:
            first, kept = fetch(wire, url, **trust), fetch(wire, other.url)
            assert first["local"].startswith(f"{link.ADDRESS}:") and kept["local"].startswith("10.80.0.1:")
            link.ip(f"addr delete {link.ADDRESS}/24 dev {link.DEVICE}")
            link.ip(f"addr add 10.77.0.3/24 dev {link.DEVICE}")
            link.route()
            eventually(lambda: near.call("reachability.get")["ipv4"].get("source") == "10.77.0.3")
            # The connection is closed before a request waits for it in vain.
            open_now = {entry["origin"]: entry["connections"] for entry in near.call("pool.stats")["origins"]}
            assert open_now == {url.removesuffix("/hello.txt"): 0, other.url: 1}
            second = fetch(wire, url, timeout_ms=5_000, **trust)
            assert second["local"].startswith("10.77.0.3:") and not second["reused"]
            assert fetch(wire, url, **trust)["connection"] == second["connection"]
            assert fetch(wire, other.url)["connection"] == kept["connection"]
        assert len(connections(far, 3, "/hello.txt")) == 2, "one before and one after"
        assert other.connections == 1
    finally:
        other.stop()


def test_a11_a_link_that_comes_back_with_its_address_costs_nothing(link: Link, near: Daemon, far: Nginx) -> None:
    url = far.http + "/hello.txt"
    # The daemon reports the loss after the time in which a cable can be plugged in again.
    with near.wire() as wire, Watcher(near, lost_after_ms=1_000) as watcher:
        first = fetch(wire, url)
        link.down()
        watcher.until(status="unsatisfied")
        link.up()
        eventually(lambda: near.call("reachability.get")["status"] == "satisfied")
        assert fetch(wire, url)["connection"] == first["connection"]
    assert len(connections(far, 2, "/hello.txt")) == 1


def test_a_request_under_way_is_saved_by_an_address_that_comes_back(link: Link, near: Daemon) -> None:
    origin = link.outside.run(lambda: ScriptedOrigin(address=link.PEER))
    gate = origin.hold("/held")
    try:
        with near.wire() as wire:
            call = wire.request("request.perform", url=origin.url + "/held")
            origin.received(1)
            link.ip(f"addr delete {link.ADDRESS}/24 dev {link.DEVICE}")
            link.ip(f"addr add {link.ADDRESS}/24 dev {link.DEVICE}")
            link.route()
            gate.set()
            assert wire.result(call)["response"]["status"] == 200
        assert origin.connections == 1
    finally:
        origin.stop()


# Families


@pytest.fixture
def hosts(tmp_path: Path) -> Path:
    return tmp_path / "hosts"


def named(link: Link, start: StartDaemon, hosts: Path, *lines: str) -> Daemon:
    """Start a daemon whose /etc/hosts has these lines."""
    hosts.write_text("".join(f"{line}\n" for line in lines))
    return with_file(link.inside, "/etc/hosts", hosts, start)


def connecting_ms(daemon: Daemon, url: str, times: int = 1) -> float:
    """Return the shortest time of `count` connects, without name resolution."""
    taken = []
    with daemon.wire() as wire:
        for _ in range(times):
            wire.call("pool.flush")
            hop = fetch(wire, url)
            assert hop["remote"].startswith("10.77.0.2:") and not hop["reused"]
            taken.append(float(hop["connect_us"] - hop["dns_us"]) / 1_000)
    return min(taken)


def test_a14_a_family_without_a_usable_source_is_left_out(link: Link, start: StartDaemon, hosts: Path) -> None:
    # There is a route, but packets get lost: the kernel uses the link-local address.
    link.peer(f"addr add {link.PEER6}/64 dev p0 nodad")
    eventually(lambda: own_address6(link)["local"].startswith("fe80") and not own_address6(link).get("tentative"))
    link.ip(f"-6 route replace default via fe80::1 dev {link.DEVICE}")
    daemon = named(link, start, hosts, f"{link.PEER} both.test", "2001:db8:1::1 both.test")
    state = daemon.call("reachability.get")
    assert (state["ipv4"]["usable"], state["ipv6"]["usable"]) == (True, False), state["ipv6"]
    origin = link.outside.run(lambda: ScriptedOrigin(address=link.PEER))
    try:
        # The other family would get a head start of 200 ms each time.
        assert connecting_ms(daemon, f"http://both.test:{origin.port}/", times=5) < 100
    finally:
        origin.stop()


def test_a14_a_family_that_leads_nowhere_costs_a_head_start(link: Link, start: StartDaemon, hosts: Path) -> None:
    link.both_families()
    daemon = named(link, start, hosts, f"{link.PEER} both.test", "2001:db8:1::1 both.test")
    assert daemon.call("reachability.get")["ipv6"]["usable"]
    origin = link.outside.run(lambda: ScriptedOrigin(address=link.PEER))
    try:
        assert 190 < connecting_ms(daemon, f"http://both.test:{origin.port}/") < 1_500 * SLOWNESS
    finally:
        origin.stop()


def test_a14_a_neighbour_of_the_useless_family_is_found(link: Link, start: StartDaemon, hosts: Path) -> None:
    # IPv6 has no default route, but a route to a neighbour, and that is the only address of the name.
    link.ip(f"addr add {link.ADDRESS6}/64 dev {link.DEVICE} nodad")
    link.peer(f"addr add {link.PEER6}/64 dev p0 nodad")
    daemon = named(link, start, hosts, f"{link.PEER6} near.test")
    assert not daemon.call("reachability.get")["ipv6"]["usable"]
    origin = link.outside.run(lambda: ScriptedOrigin(address=link.PEER6))
    try:
        with daemon.wire() as wire:
            assert fetch(wire, f"http://near.test:{origin.port}/")["remote"].startswith(f"[{link.PEER6}]:")
    finally:
        origin.stop()


def own_address6(link: Link) -> dict[str, Any]:
    """Return the only IPv6 address of the link; empty while there is none."""
    shown = link.show("-6", "addr", "show", "dev", link.DEVICE)
    found: dict[str, Any] = shown[0]["addr_info"][0] if shown else {"local": ""}
    return found


# Names


def test_names_are_resolved_anew_on_another_network(link: Link, start: StartDaemon, hosts: Path) -> None:
    link.peer("addr add 10.77.0.7/24 dev p0")
    origins = [
        link.outside.run(lambda address=address: ScriptedOrigin(address=address))  # type: ignore[misc]
        for address in (link.PEER, "10.77.0.7")
    ]
    daemon = named(link, start, hosts, f"{link.PEER} moved.test")
    try:
        with daemon.wire() as wire:

            def remote(port: int) -> str:
                record = wire.call("request.perform", url=f"http://moved.test:{port}/")
                return str(record["attempts"][0]["metrics"][0].get("remote") or record["outcome"]["error"]["name"])

            assert remote(origins[0].port).startswith(f"{link.PEER}:")
            hosts.write_text("10.77.0.7 moved.test\n")
            origins[0].close_connections()
            assert not remote(origins[0].port).startswith("10.77.0.7:"), "what was resolved is remembered"
            link.down()
            link.up()
            eventually(lambda: daemon.call("reachability.get")["status"] == "satisfied")
            assert remote(origins[1].port).startswith("10.77.0.7:")
    finally:
        for origin in origins:
            origin.stop()


# A15

CLIENT = """
import carpool, sys
with carpool.Client(sys.argv[1]) as client:
    for _ in range(5):
        assert client.get(sys.argv[2], trust={"ca_file": sys.argv[3]}).status_code == 200
"""


@pytest.mark.parametrize("scheme, first_ms", [("http", 100), ("https", 145), ("https1", 145)])
def test_a15_over_a_long_wire_one_connection_serves_everybody(
    delayed: Link, start: StartDaemon, tmp_path: Path, authority: Authority, scheme: str, first_ms: int
) -> None:
    nginx = delayed.outside.run(lambda: Nginx(tmp_path / "far", authority, 1, delayed.PEER))
    daemon = delayed.inside.run(start)
    daemon.enter()
    url = getattr(nginx, scheme) + "/200.bin"
    try:
        with daemon.wire() as wire:
            hops = [fetch(wire, url, trust={"ca_file": str(authority.ca_file)}) for _ in range(20)]
        times = [hop["end_us"] / 1_000 for hop in hops]
        assert times[0] < 5 * first_ms * SLOWNESS
        assert statistics.median(times[1:]) < 5 * 46 * SLOWNESS
        command = [sys.executable, "-c", CLIENT, str(daemon.socket), url, str(authority.ca_file)]
        for _ in range(4):
            delayed.inside.run(lambda: subprocess.run(command, check=True, timeout=60))
        assert len(connections(nginx, 40, "/200.bin")) == 1, "five programs, one handshake"
    finally:
        nginx.stop()
