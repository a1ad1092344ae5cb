"""Two users of one daemon: neither sees, uses or infers what the other's settings have made."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.users import NOBODY, as_root, wire_as
from harness.wire import RemoteError, Wire
from origins.authority import Authority
from origins.mutual import MutualNginx
from origins.scripted import ScriptedOrigin

UNKNOWN_ROOT = "session_task_failed.server_certificate_has_unknown_root"


def shared(start: StartDaemon, role: str = "submit", **config: Any) -> Daemon:
    daemon = start(config={"access": {"uids": {str(NOBODY): role}}, **config})
    daemon.directory.chmod(0o755)
    return daemon


def error(wire: Wire, url: str, **params: Any) -> str | None:
    outcome = wire.call("request.perform", url=url, **params)["outcome"]
    return None if outcome["ok"] else str(outcome["error"]["name"])


def refusal(wire: Wire, method: str, **params: Any) -> str:
    with pytest.raises(RemoteError) as caught:
        wire.call(method, **params)
    return caught.value.name


@as_root
def test_equal_settings_of_two_users_share_no_connection(
    start: StartDaemon, authority: Authority, mutual: MutualNginx
) -> None:
    """Equal in trust, certificate, versions, addresses and Host."""
    daemon = shared(start)
    person = authority.issue("shared-person")
    settings = {
        "trust": {"ca_pem": authority.ca_file.read_text(), "evaluators": {"*": "default"}},
        "client_certificate": {"pem": person.chain.read_text(), "key_pem": person.key.read_text()},
        "tls": {"min_version": "1.3"},
        "addresses": {"local_address": "127.0.0.2"},
    }
    for kind, version in (("optional", "1.1"), ("optional2", "2")):
        target = f"/users-{version}"
        with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
            users = {"owner": owner, "other": other}
            calls: list[tuple[Wire, str]] = []
            for name, wire in users.items():
                headers = {"Host": "users.example", "X-Session": name}
                configuration = {**settings, "headers": headers, "http_version": version}
                assert wire.call("session.create", name=f"same-{version}", configuration=configuration)["changed"]
            for _ in range(100):
                for wire in users.values():
                    url = getattr(mutual, kind) + target
                    made = wire.call("request.submit", url=url, session=f"same-{version}")
                    calls.append((wire, made["request"]))
            for wire, request in calls:
                assert wire.call("request.wait", request=request)["outcome"]["ok"]
        entries = mutual.log(target, 200)
        connections = {name: {entry["connection"] for entry in entries if entry["session"] == name} for name in users}
        assert len(entries) == 200
        assert connections["owner"] & connections["other"] == set()
        assert 0 < len(connections["owner"]) <= 6 and 0 < len(connections["other"]) <= 6
        assert {(entry["certificate"], entry["address"]) for entry in entries} == {("CN=shared-person", "127.0.0.2")}


@as_root
@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_no_tls_session_of_another_user_is_resumed(
    start: StartDaemon, authority: Authority, mutual: MutualNginx, version: str
) -> None:
    daemon = shared(start)
    trust = {"ca_pem": authority.ca_file.read_text()}
    url, tls = f"{mutual.optional}/resumed-{version}", {"max_version": version}
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        assert error(owner, mutual.optional, trust={"verify": False}, tls=tls) is None
        assert error(other, mutual.optional, tls=tls) == UNKNOWN_ROOT
        for wire in (owner, other, owner, other):
            assert error(wire, url, trust=trust, tls=tls) is None
            owner.call("pool.flush")
    first, second, again, last = (entry["resumed"] for entry in mutual.log(url.removeprefix(mutual.optional), 4))
    assert (first, second) == (".", ".")
    # Each resumes its own, where libcurl keeps them.
    assert again == last


@as_root
def test_no_name_is_known_from_another_user(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = shared(start)
    url = f"http://split.example:{origin.port}/"
    addresses = {"resolve": [f"split.example:{origin.port}:127.0.0.1"]}
    elsewhere = {"resolve": [f"split.example:{origin.port}:127.0.0.9"]}
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        owner.call("session.create", name="split", configuration={"addresses": addresses})
        for count in range(1, 4):
            assert error(owner, url, session="split") is None
            assert error(other, url) == "session_task_failed.cannot_find_host"
            assert error(other, url, addresses=elsewhere) == "session_task_failed.cannot_connect_to_host"
            assert refusal(other, "request.perform", url=url, session="split") == "session.not_found"
            assert len(origin.requests) == count


@as_root
def test_a_declared_session_s_certificate_is_used_by_its_user_alone(
    start: StartDaemon, authority: Authority, mutual: MutualNginx
) -> None:
    person = authority.issue("declared-person")
    person.key.chmod(0o600)
    declared = {
        "client_certificate": {"file": str(person.chain), "key_file": str(person.key)},
        "trust": {"ca_file": str(authority.ca_file)},
    }
    daemon = shared(start, sessions={"declared": declared})
    trust = {"ca_pem": authority.ca_file.read_text()}
    url = mutual.optional2
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        for _ in range(2):
            mine = owner.call("request.perform", url=url, session="declared")["body"]["text"]
            assert mine.startswith("CN=declared-person ")
            for method in ("session.get", "session.invalidate", "session.cancel_requests"):
                assert refusal(other, method, session="declared") == "session.not_found"
            assert refusal(other, "request.perform", url=url, session="declared") == "session.not_found"
            assert other.call("request.perform", url=url, trust=trust)["body"]["text"].startswith(" ")
        # The name is free for the other user, and says nothing of the owner's.
        assert other.call("session.create", name="declared", configuration={"trust": trust})["changed"] is True
        assert other.call("request.perform", url=url, session="declared")["body"]["text"].startswith(" ")
        for member in ("file", "key_file"):
            given = {**declared["client_certificate"], member: str(person.key)}
            name = refusal(other, "request.perform", url=url, trust=trust, client_certificate=given)
            assert name.startswith("file."), name


@as_root
@pytest.mark.parametrize("role", ["submit", "admin"])
def test_the_pool_of_another_user_is_for_administrators(
    start: StartDaemon, authority: Authority, mutual: MutualNginx, role: str
) -> None:
    daemon = shared(start, role)
    trust = {"ca_pem": authority.ca_file.read_text()}
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        before = other.call("pool.stats")
        cursor = other.call("events.next", scope="all", timeout_ms=0)["cursor"]
        for params in ({}, {"tls": {"min_version": "1.3"}}, {"headers": {"Host": "secret.example"}}):
            assert error(owner, f"{mutual.optional2}/secret-path", trust=trust, **params) is None
        after = other.call("pool.stats")
        events = other.call("events.next", scope="all", since=cursor, timeout_ms=0)["events"]
        if role == "admin":
            assert {entry.get("uid", 0) for entry in after["origins"]} == {0}
            assert sum(entry["connections"] for entry in after["origins"]) == 3
            assert any("request" in event for event in events)
            assert other.call("pool.flush")["closed"] == 3
        else:
            assert (after["origins"], after["total"]) == (before["origins"], before["total"])
            assert events == []
            assert refusal(other, "pool.flush") == "forbidden"
            assert sum(entry["connections"] for entry in owner.call("pool.stats")["origins"]) == 3


@as_root
def test_the_counters_of_the_pool_are_the_user_s_own(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}})
    daemon.directory.chmod(0o755)
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        before = other.call("pool.stats")
        for host in ("a.example", "b.example", "a.example"):
            owner.call("request.perform", url=origin.url, headers={"Host": host})
        # opened 0 -> 2, finished 0 -> 3, reused 0 -> 1, partitions 0 -> 2
        assert other.call("pool.stats") == before
