"""The verdict in nineteen situations, each set up in a machine of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from conftest import StartDaemon
from harness.namespaces import Machine, Tunnel
from harness.waiting import eventually

ADDRESS = "addr add 10.1.0.2/24 dev eth0"
DEFAULT = "route add default via 10.1.0.1"
DEFAULT_6 = "-6 route add default via fe80::1 dev eth0"
PLUGGED = "plugged"
PULLED = "pulled"
TUNNEL = "tunnel"
BRIDGE = (
    "link add docker0 type bridge",
    "addr add 172.17.0.1/16 dev docker0",
    "link set docker0 up",
    "link add vc0 type veth peer name vc1",
    "link set vc0 master docker0",
    "link set vc0 up",
    "link set vc1 up",
)
OPENVPN = (
    "tuntap add tun0 mode tun",
    "link set tun0 up",
    "addr add 10.8.0.2 peer 10.8.0.1/32 dev tun0",
    "route add 0.0.0.0/1 via 10.8.0.1",
    "route add 128.0.0.0/1 via 10.8.0.1",
)
WG_QUICK = (
    "tuntap add tun0 mode tun",
    "link set tun0 up",
    "addr add 10.8.0.2 peer 10.8.0.1/32 dev tun0",
    "route add default dev tun0 table 51820",
    "rule add not fwmark 51820 table 51820 pref 100",
)


@dataclass(frozen=True)
class Situation:
    """What is done to a machine, and the verdict that its daemon reports."""

    name: str
    steps: tuple[str, ...]
    status: str
    expected: dict[str, Any] = field(default_factory=dict)
    device: str = ""
    connection: str = "ethernet_or_wifi"


SITUATIONS = [
    Situation("V01 nothing up", ("link set lo down",), "unsatisfied", {"unsatisfied_reason": "no_interface"}),
    Situation("V02 loopback only", (), "unsatisfied", {"unsatisfied_reason": "no_interface"}),
    Situation("V03 link-local IPv6 only", (PLUGGED,), "unsatisfied", {"unsatisfied_reason": "no_address"}),
    Situation(
        "V04 an address without a default route", (PLUGGED, ADDRESS), "unsatisfied", {"unsatisfied_reason": "no_route"}
    ),
    Situation(
        "V05 IPv4",
        (PLUGGED, ADDRESS, DEFAULT),
        "satisfied",
        {"interface": "eth0", "type": "wired_ethernet", "supports_ipv4": True, "supports_ipv6": False},
    ),
    Situation(
        "V06 cable pulled, route stays",
        (PLUGGED, ADDRESS, DEFAULT, PULLED),
        "unsatisfied",
        {"unsatisfied_reason": "no_carrier"},
    ),
    Situation("V07 cable back", (PLUGGED, ADDRESS, DEFAULT, PULLED, PLUGGED), "satisfied", {"interface": "eth0"}),
    Situation(
        "V08 a bridge of containers beside an uplink",
        (PLUGGED, ADDRESS, DEFAULT, *BRIDGE),
        "satisfied",
        {"interface": "eth0"},
    ),
    Situation(
        "V09 a bridge of containers, no default route",
        (PLUGGED, ADDRESS, *BRIDGE),
        "unsatisfied",
        {"unsatisfied_reason": "no_route"},
    ),
    Situation(
        "V10 a bridge of containers, uplink down",
        (PLUGGED, ADDRESS, DEFAULT, *BRIDGE, "link set eth0 down"),
        "unsatisfied",
        {"unsatisfied_reason": "no_route"},
    ),
    Situation(
        "V11 OpenVPN's routes, its process gone",
        (PLUGGED, ADDRESS, DEFAULT, *OPENVPN),
        "unsatisfied",
        {"unsatisfied_reason": "no_carrier"},
    ),
    Situation(
        "V12 OpenVPN's routes, its process alive",
        (PLUGGED, ADDRESS, DEFAULT, *OPENVPN, TUNNEL),
        "satisfied",
        {"interface": "tun0", "type": "other", "tunnel": {"interface": "tun0", "underlying": True}},
    ),
    Situation(
        "V13 policy routing as wg-quick has it, no default route in main",
        (PLUGGED, ADDRESS, *WG_QUICK, TUNNEL),
        "satisfied",
        {"interface": "tun0", "type": "other"},
    ),
    Situation(
        "V14 an IPv6 address that is still tentative",
        (PLUGGED, ADDRESS, DEFAULT, "sysctl dad_transmits 100", "-6 addr add 2001:db8:5::2/64 dev eth0", DEFAULT_6),
        "satisfied",
        {"supports_ipv4": True, "supports_ipv6": False},
    ),
    Situation(
        "V15 duplicate address detection done",
        (PLUGGED, ADDRESS, DEFAULT, "-6 addr add 2001:db8:5::2/64 dev eth0", DEFAULT_6),
        "satisfied",
        {"supports_ipv4": True, "supports_ipv6": True},
    ),
    Situation(
        "V16 IPv6 only",
        (PLUGGED, "-6 addr add 2001:db8:5::2/64 dev eth0 nodad", DEFAULT_6),
        "satisfied",
        {"supports_ipv4": False, "supports_ipv6": True, "gateways": ["fe80::1%eth0"]},
    ),
    Situation(
        "V17 an unreachable default is preferred",
        (
            PLUGGED,
            "-6 addr add 2001:db8:5::2/64 dev eth0 nodad",
            DEFAULT_6,
            "-6 route add unreachable default metric 1",
        ),
        "unsatisfied",
        {"unsatisfied_reason": "unreachable"},
    ),
    Situation(
        "V18 an IPv6 default, a link-local source only",
        (PLUGGED, DEFAULT_6),
        "unsatisfied",
        {"unsatisfied_reason": "link_local_only"},
    ),
    Situation(
        "V19 a wireless interface",
        (PLUGGED, ADDRESS, DEFAULT),
        "satisfied",
        {"type": "wifi", "is_expensive": False},
        device="wlan",
    ),
    Situation(
        "V19 a modem",
        (PLUGGED, ADDRESS, DEFAULT),
        "satisfied",
        {"type": "cellular", "is_expensive": True},
        device="wwan",
        connection="cellular",
    ),
]


@contextmanager
def prepared(machine: Machine, steps: tuple[str, ...]) -> Iterator[None]:
    """Set up a situation; its processes end with it."""
    tunnels = []
    is_plugged = False
    for step in steps:
        if step == PLUGGED and is_plugged:
            machine.peer("link set p0 up")
            machine.settle()
        elif step == PLUGGED:
            machine.plug()
            is_plugged = True
        elif step == PULLED:
            machine.peer("link set p0 down")
        elif step == TUNNEL:
            tunnels.append(Tunnel(machine, "tun0"))
        elif step.startswith("sysctl dad_transmits"):
            machine.set("net/ipv6/conf/eth0/dad_transmits", step.split()[-1])
        else:
            machine.ip(step)
    yield
    for tunnel in tunnels:
        tunnel.end()


def model(flags: list[str] | None) -> dict[str, str]:
    """Alamofire's rule, applied to the flags."""
    if flags is None:
        return {"status": "unknown"}
    if "reachable" not in flags or "connection_required" in flags:
        return {"status": "not_reachable"}
    return {"status": "reachable", "connection_type": "cellular" if "is_wwan" in flags else "ethernet_or_wifi"}


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_a8_the_verdict(machine: Machine, start: StartDaemon, situation: Situation) -> None:
    with prepared(machine, situation.steps):
        daemon = machine.run(start, {"eth0": situation.device} if situation.device else None)
        with daemon.client() as client:
            found: dict[str, Any] = {}

            def is_right() -> bool:
                # The kernel may take a moment for a carrier or an address.
                found.clear()
                found.update(client.call("reachability.get", fresh=True))
                found["type"] = next((each["type"] for each in found["interfaces"] if each["on_path"]), None)
                return found["status"] == situation.status and all(
                    found.get(name) == value for name, value in situation.expected.items()
                )

            eventually(is_right)
    if situation.status == "satisfied":
        assert found["model_status"] == {"status": "reachable", "connection_type": situation.connection}
    else:
        assert found["model_status"] == {"status": "not_reachable"}
        assert "interface" not in found
        assert found["gateways"] == []
    assert model(found.get("flags")) == found["model_status"]


def test_a8_a_tunnel_over_nothing(machine: Machine, start: StartDaemon) -> None:
    with prepared(machine, (PLUGGED, ADDRESS, DEFAULT, *OPENVPN, TUNNEL)):
        daemon = machine.run(start)
        machine.peer("link set p0 down")

        def look() -> bool:
            found = daemon.call("reachability.get", fresh=True)
            return (found["status"], found.get("unsatisfied_reason")) == ("unsatisfied", "vpn_inactive")

        eventually(look)


def test_a8_an_interface_that_waits_for_an_authentication(machine: Machine, start: StartDaemon) -> None:
    machine.connect()
    machine.ip("link set eth0 mode dormant", "link set eth0 down", "link set eth0 up")
    machine.ip(DEFAULT.replace("10.1.0.1", machine.PEER))
    daemon = machine.run(start)
    eventually(lambda: daemon.call("reachability.get", fresh=True)["status"] == "requires_connection")
    found = daemon.call("reachability.get")
    assert found["flags"][:2] == ["reachable", "connection_required"]
    assert found["model_status"] == {"status": "not_reachable"}
    machine.ip("link set eth0 state UP")
    eventually(lambda: daemon.call("reachability.get")["status"] == "satisfied")


def test_a8_interfaces_that_cost_by_name(machine: Machine, start: StartDaemon) -> None:
    machine.connect()
    section = {"expensive_interfaces": ["usb*", "eth*"], "constrained_interfaces": ["eth1"]}
    daemon = machine.run(lambda: start(config={"reachability": section}))
    found = daemon.call("reachability.get")
    assert (found["is_expensive"], found["is_constrained"]) == (True, False)
    assert found["model_status"]["connection_type"] == "ethernet_or_wifi"
