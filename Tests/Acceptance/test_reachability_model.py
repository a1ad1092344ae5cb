"""NetworkReachabilityManager as the session model has it, row by row (NR)."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.namespaces import Machine
from harness.waiting import eventually
from harness.watcher import Watcher
from harness.wire import RemoteError
from origins.scripted import ScriptedOrigin

REACHABLE = {"status": "reachable", "connection_type": "ethernet_or_wifi"}
NOT_REACHABLE = {"status": "not_reachable"}
AT_ONCE = {"lost_after_ms": 0, "min_interval_ms": 0}


@pytest.fixture
def online(machine: Machine, start: StartDaemon) -> Daemon:
    machine.connect()
    return machine.run(start)


def toggle(machine: Machine, online: bool) -> None:
    machine.ip(f"route {'add' if online else 'del'} default via {machine.PEER}")


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("satisfied", REACHABLE),
        ("unsatisfied", NOT_REACHABLE),
        ("requires_connection", NOT_REACHABLE),
        ("unknown", {"status": "unknown"}),
    ],
)
def test_nr_01_statuses(start: StartDaemon, override: str, expected: dict[str, str]) -> None:
    daemon = start(config={"reachability": {"override": override}})
    found = daemon.call("reachability.get")
    assert (found["status"], found["model_status"]) == (override, expected)
    assert found["monitor"]["source"] == "override"


def test_nr_02_general_routing(machine: Machine, online: Daemon) -> None:
    assert online.call("reachability.get")["model_status"] == REACHABLE
    toggle(machine, online=False)
    eventually(lambda: online.call("reachability.get")["model_status"] == NOT_REACHABLE)


def test_nr_03_a_host(machine: Machine, online: Daemon) -> None:
    toggle(machine, online=False)
    for host, expected in {machine.PEER: REACHABLE, "localhost": REACHABLE, "203.0.113.7": NOT_REACHABLE}.items():
        assert online.call("reachability.get", host=host)["host"]["model_status"] == expected


def test_nr_04_the_present_status_first_and_then_changes_only(machine: Machine, online: Daemon) -> None:
    with Watcher(online, **AT_ONCE) as watcher:
        assert watcher.first["model_status"] == REACHABLE
        # Flapping that ends where it began: the events are the real transitions, in turns.
        statuses = []
        for _ in range(3):
            toggle(machine, online=False)
            statuses.append(watcher.next()["reachability"]["model_status"])
            toggle(machine, online=True)
            statuses.append(watcher.next()["reachability"]["model_status"])
        assert statuses == [NOT_REACHABLE, REACHABLE] * 3
        evaluations = online.stats()["reachability"]["evaluations"]
        machine.ip("link set eth0 mtu 1400")
        eventually(lambda: online.stats()["reachability"]["evaluations"] > evaluations)
        assert watcher.wire.is_silent()


def test_nr_05_after_its_end_nothing_is_told_and_a_new_watch_begins_anew(machine: Machine, online: Daemon) -> None:
    with Watcher(online, **AT_ONCE) as watcher:
        assert watcher.wire.call("reachability.unwatch", sub=watcher.sub) == {"changed": True, "state": "unsubscribed"}
        assert watcher.wire.call("reachability.unwatch", sub=watcher.sub)["changed"] is False
        toggle(machine, online=False)
        eventually(lambda: online.call("reachability.get")["status"] == "unsatisfied")
        again = watcher.wire.call("reachability.watch", **AT_ONCE)
        assert again["reachability"]["model_status"] == NOT_REACHABLE
        toggle(machine, online=True)
        event = watcher.wire.event("reachability.changed")
        assert event["sub"] == again["sub"]
        assert event["data"]["reachability"]["model_status"] == REACHABLE


def test_nr_06_the_rule_of_the_flags(machine: Machine, start: StartDaemon) -> None:
    machine.connect()
    daemon = machine.run(start, {"eth0": "wwan"})
    found = daemon.call("reachability.get")
    assert set(found["flags"]) == {"reachable", "is_wwan"}
    assert found["model_status"] == {"status": "reachable", "connection_type": "cellular"}


def test_nr_07_properties(online: Daemon) -> None:
    found = online.call("reachability.get")
    assert found["flags"] == ["reachable"]
    assert found["model_status"] == REACHABLE


def test_nr_08_every_watcher_has_its_own_first_status(machine: Machine, online: Daemon) -> None:
    with Watcher(online, **AT_ONCE) as first, Watcher(online, **AT_ONCE) as second:
        assert first.first["status"] == second.first["status"] == "satisfied"
        toggle(machine, online=False)
        assert first.next()["reachability"]["seq"] == second.next()["reachability"]["seq"]


def test_nr_09_a_watch_goes_with_its_connection(machine: Machine, online: Daemon) -> None:
    with Watcher(online), Watcher(online):
        assert online.stats()["reachability"]["watches"] == 2
    eventually(lambda: online.stats()["reachability"]["watches"] == 0)
    toggle(machine, online=False)
    eventually(lambda: online.call("reachability.get")["status"] == "unsatisfied")


def test_nr_09_a_connection_has_so_many_watches_at_most(online: Daemon) -> None:
    with online.wire() as wire:
        for number in range(32):
            wire.call("reachability.watch" if number % 2 else "events.subscribe")
        with pytest.raises(RemoteError) as error:
            wire.call("reachability.watch")
        assert error.value.name == "too_many_in_flight"


def test_nr_10_links_addresses_and_routes(machine: Machine, online: Daemon) -> None:
    losses = {
        "link set eth0 down": ["link set eth0 up", f"route add default via {machine.PEER}"],
        f"route del default via {machine.PEER}": [f"route add default via {machine.PEER}"],
        f"addr del {machine.ADDRESS}/24 dev eth0": [
            f"addr add {machine.ADDRESS}/24 dev eth0",
            f"route add default via {machine.PEER}",
        ],
    }
    with Watcher(online, **AT_ONCE) as watcher:
        for loss, returns in losses.items():
            machine.ip(loss)
            watcher.until(status="unsatisfied")
            machine.ip(*returns)
            watcher.until(status="satisfied")


def test_nr_11_the_first_status_comes_once_and_the_stream_of_events_hears_too(machine: Machine, online: Daemon) -> None:
    with Watcher(online, **AT_ONCE) as watcher, online.wire() as wire:
        wire.call("events.subscribe", types=["reachability.*"], scope="all")
        assert watcher.wire.is_silent()
        toggle(machine, online=False)
        told = watcher.next()["reachability"]
        event = wire.event("reachability.changed")
        assert event["data"]["reachability"]["seq"] == told["seq"]
        assert event["data"]["level"] == "major"


def test_nr_12_requests_are_tried_whatever_it_says(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(config={"reachability": {"override": "unsatisfied"}})
    assert daemon.call("reachability.get")["model_status"] == NOT_REACHABLE
    answer: dict[str, Any] = daemon.call("request.perform", url=f"{origin.url}/")
    assert answer["response"]["status"] == 200


def test_the_configuration_takes_effect_at_once(start: StartDaemon) -> None:
    section: dict[str, Any] = {"override": "unsatisfied", "lost_after_ms": 7}
    daemon = start(config={"reachability": section})
    assert daemon.call("daemon.config")["reachability"]["lost_after_ms"] == 7
    with Watcher(daemon) as watcher:
        daemon.configure({"reachability": {"override": "satisfied"}})
        assert daemon.call("daemon.config_reload")["changed"] == ["reachability"]
        data = watcher.next()
        assert data["causes"] == ["configuration"]
        assert data["reachability"]["status"] == "satisfied"


def test_a_sentinel_must_be_an_address(start: StartDaemon) -> None:
    daemon = start(config={"reachability": {"sentinels": ["example.com"]}})
    assert "configuration.reachability.sentinels[0]" in daemon.launch_status + daemon.log.read_text()
