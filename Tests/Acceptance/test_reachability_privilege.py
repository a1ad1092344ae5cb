"""Watching the network needs no privilege, and without the kernel's messages everything else works."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import StartDaemon
from harness import daemon as harness_daemon
from harness.confined import as_nobody, without_netlink
from harness.daemon import CARPOOLD
from harness.namespaces import Machine
from harness.watcher import Watcher
from origins.scripted import ScriptedOrigin


def test_a16_another_user_without_capabilities(
    machine: Machine, start: StartDaemon, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.connect()
    machine.ip("route add prohibit 198.51.100.2")
    (directory / "runtime").mkdir(mode=0o700)
    monkeypatch.setattr(harness_daemon, "CARPOOLD", str(as_nobody(CARPOOLD, directory)))
    daemon = machine.run(start)
    assert daemon.call("daemon.info")["uid"] == 65_534
    with Watcher(daemon, lost_after_ms=0) as watcher:
        assert watcher.first["monitor"]["source"] == "rtnetlink"
        found = daemon.call("reachability.get", fresh=True, host="198.51.100.2")
        assert found["host"]["addresses"][0]["reason"] == "prohibited"
        machine.ip("link set eth0 down")
        assert watcher.next()["reachability"]["status"] == "unsatisfied"


def test_a16_netlink_is_forbidden(
    machine: Machine, start: StartDaemon, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.connect()
    monkeypatch.setattr(harness_daemon, "CARPOOLD", str(without_netlink(CARPOOLD, directory)))
    daemon = machine.run(start)
    found = daemon.call("reachability.get", fresh=True)
    assert found["status"] == "unknown"
    assert found["model_status"] == {"status": "unknown"}
    assert "flags" not in found
    assert found["monitor"]["source"] == "poll"
    assert (found["ipv4"]["usable"], found["ipv4"]["source"]) == (True, machine.ADDRESS)
    assert found["ipv6"] == {"usable": False, "reason": "no_route"}
    assert daemon.call("reachability.get", host="203.0.113.7")["host"]["status"] == "unknown"
    origin = machine.run(ScriptedOrigin)
    try:
        assert daemon.call("request.perform", url=f"{origin.url}/")["response"]["status"] == 200
    finally:
        origin.stop()
    told = [
        line for line in daemon.log.read_text().splitlines() if "the state of the network cannot be observed" in line
    ]
    assert len(told) == 1
