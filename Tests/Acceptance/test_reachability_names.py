"""The list of name servers, however it is replaced."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import StartDaemon
from harness.namespaces import Machine
from harness.waiting import SLOWNESS
from harness.watcher import Watcher

SLACK = 5 * SLOWNESS


def in_place(link: Path, _: Path, text: str) -> None:
    link.write_text(text)


def rename_over(link: Path, _: Path, text: str) -> None:
    new = link.with_name("new")
    new.write_text(text)
    new.rename(link)


def symlink_swap(link: Path, _: Path, text: str) -> None:
    target = link.with_name("other-target")
    target.write_text(text)
    new = link.with_name("new")
    new.symlink_to(target)
    new.rename(link)


def at_the_target(_: Path, target: Path, text: str) -> None:
    new = target.with_name("new")
    new.write_text(text)
    new.rename(target)


@pytest.mark.parametrize("change", [in_place, rename_over, symlink_swap, at_the_target])
def test_a18_name_servers(
    machine: Machine, start: StartDaemon, tmp_path: Path, change: Callable[[Path, Path, str], None]
) -> None:
    machine.connect()
    (tmp_path / "etc").mkdir()
    (tmp_path / "run").mkdir()
    link, target = tmp_path / "etc" / "resolv.conf", tmp_path / "run" / "stub.conf"
    target.write_text(f"nameserver {machine.PEER}\n")
    link.symlink_to("../run/stub.conf")
    daemon = machine.run(lambda: start(config={"reachability": {"resolv_conf": str(link)}}))
    with Watcher(daemon, level="minor") as watcher, Watcher(daemon) as other:
        assert watcher.first["dns"] == {"servers": [machine.PEER], "source": str(link)}
        assert watcher.first["supports_dns"] is True
        for last in [3, 4]:
            began = time.monotonic()
            change(link, target, f"# by a test\nnameserver 10.77.0.{last}\nnameserver 127.0.0.53\n")
            data = watcher.next()
            assert data["arrived"] - began <= 0.2 * SLACK
            assert (data["level"], data["changed"], data["causes"]) == ("minor", ["dns"], ["dns"])
            assert data["reachability"]["dns"]["servers"] == [f"10.77.0.{last}", "127.0.0.53"]
        # One event for each change, and none for watchers without minor changes.
        machine.ip("link set eth0 down")
        assert watcher.next()["reachability"]["status"] == "unsatisfied"
        assert other.next()["reachability"]["status"] == "unsatisfied"
