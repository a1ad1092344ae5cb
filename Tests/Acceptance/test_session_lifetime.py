"""Sessions that end with the connection that has created them: `"lifetime": "connection"`."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import StartDaemon
from harness.daemon import CARPOOL, Daemon
from harness.process import running
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import RemoteError, Wire
from origins.authority import Authority
from origins.scripted import ScriptedOrigin

OURS = {"name": "ours", "lifetime": "connection"}


def names(daemon: Daemon) -> list[str]:
    return [session["session"] for session in daemon.call("session.list")["sessions"]]


def refusal(wire: Wire, method: str, **params: object) -> str:
    with pytest.raises(RemoteError) as caught:
        wire.call(method, **params)
    return caught.value.name


def test_it_ends_with_its_connection(daemon: Daemon, origin: ScriptedOrigin) -> None:
    with daemon.wire() as wire:
        assert wire.call("session.create", **OURS, configuration={"headers": {"X": "1"}})["changed"]
        assert wire.call("session.get", session="ours")["lifetime"] == "connection"
        assert daemon.call("session.get")["lifetime"] == "daemon"
        # The other connections of the user see it too.
        assert daemon.call("request.perform", url=origin.url, session="ours")["response"]["status"] == 200
        assert origin.requests[0].values("X") == ["1"]
    eventually(lambda: names(daemon) == ["default"])
    with daemon.wire() as wire:
        assert refusal(wire, "request.perform", url=origin.url, session="ours") == "session.not_found"


def test_its_running_requests_finish(daemon: Daemon, origin: ScriptedOrigin) -> None:
    release = origin.hold("/held")
    with daemon.wire() as other:
        with daemon.wire() as wire:
            wire.call("session.create", **OURS)
            call = other.request("request.perform", url=origin.url + "/held", session="ours")
            origin.received(1)
        eventually(lambda: names(daemon) == ["default"])
        release.set()
        assert other.result(call)["response"]["status"] == 200


def test_the_same_call_again_and_that_of_another_connection(daemon: Daemon, wire: Wire) -> None:
    assert wire.call("session.create", **OURS)["changed"]
    assert not wire.call("session.create", **OURS)["changed"]
    assert refusal(wire, "session.create", name="ours") == "session.exists"
    with daemon.wire() as other:
        assert refusal(other, "session.create", **OURS) == "session.exists"
        assert refusal(other, "session.create", name="ours") == "session.exists"
    assert names(daemon) == ["default", "ours"]


def test_an_invalidated_name_is_not_taken_away_from_its_next_owner(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        wire.call("session.create", **OURS)
        wire.call("session.invalidate", session="ours")
        daemon.call("session.create", name="ours")
    with daemon.wire() as wire:
        wire.call("daemon.ping")
    assert names(daemon) == ["default", "ours"]


def test_sessions_that_were_invalidated_take_no_room(wire: Wire) -> None:
    for number in range(1_200):
        wire.call("session.create", name=f"s{number}", lifetime="connection")
        wire.call("session.invalidate", session=f"s{number}")
    assert wire.call("session.create", **OURS)["changed"]


def test_many_end_at_once(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        for number in range(400):
            wire.call("session.create", name=f"s{number}", lifetime="connection")
    eventually(lambda: names(daemon) == ["default"])


def test_its_files_are_read_once(start: StartDaemon, directory: Path) -> None:
    authority, other = Authority(directory), Authority(directory / "other")
    daemon = start()
    origin = ScriptedOrigin(authority.issue("ours"))
    file = directory / "trusted.pem"
    file.write_bytes(authority.ca_file.read_bytes())
    try:
        with daemon.wire() as wire:
            wire.call("session.create", **OURS, configuration={"trust": {"ca_file": str(file)}})
            file.write_bytes(other.ca_file.read_bytes())
            assert wire.call("request.perform", url=origin.url, session="ours")["response"]["status"] == 200
            file.unlink()
            assert wire.call("request.perform", url=origin.url, session="ours")["response"]["status"] == 200
    finally:
        origin.stop()


def test_a_line_of_curl_has_one_for_the_files_that_it_names(
    variables: dict[str, str], daemon: Daemon, directory: Path
) -> None:
    """The daemon reads them once for all requests but the first."""
    authority = Authority(directory)
    origin = ScriptedOrigin(authority.issue("ours"))
    gate = origin.hold("/held")
    arguments = ["--cacert", str(authority.ca_file), origin.url, f"{origin.url}/held"]
    try:
        with running([CARPOOL, "curl", "-sS", *arguments], env=variables) as process:
            origin.received(1, "/held")
            assert f"carpool-curl-{process.pid}-1" in names(daemon)
            gate.set()
            assert process.wait(PATIENCE_SECONDS) == 0
        eventually(lambda: names(daemon) == ["carpool-curl", "default"])
    finally:
        origin.stop()
