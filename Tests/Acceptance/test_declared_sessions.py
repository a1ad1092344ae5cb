"""Sessions that the configuration file declares: calls that name them, and reloads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.declared import declaring, refusal, refused, reload, sessions, write
from harness.waiting import PATIENCE_SECONDS
from harness.wire import Wire
from origins.authority import Authority
from origins.scripted import ScriptedOrigin

SECRET = "s3cret-of-a-file"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file with a secret."""
    return write(tmp_path / "token", SECRET + "\n")


# They are there


def test_a_declared_session_exists_after_an_idle_exit(start: StartDaemon, origin: ScriptedOrigin) -> None:
    config = declaring(api={"headers": {"X-Session": "api"}})
    for _ in range(2):
        daemon = start(config=config)
        daemon.call("request.perform", url=origin.url, session="api")
        assert reload(daemon, config | {"idle_exit_ms": 1}) == ["idle_exit_ms"]
        assert daemon.process.wait(PATIENCE_SECONDS) == 0
    assert [request.values("X-Session") for request in origin.requests] == [["api"], ["api"]]


def test_a_declared_session_exists_after_a_restart(start: StartDaemon, origin: ScriptedOrigin) -> None:
    config = declaring(api={"headers": {"X-Session": "api"}, "timeout_ms": 5_000})
    for _ in range(2):
        daemon = start(config=config)
        assert daemon.call("request.perform", url=origin.url, session="api")["outcome"]["ok"]
        session = daemon.call("session.get", session="api")
        assert (session["declared"], session["configuration"]["timeout_ms"]) == (True, 5_000)
        assert sessions(daemon)["default"]["declared"] is False
        daemon.stop()
    assert [request.values("X-Session") for request in origin.requests] == [["api"], ["api"]]


def test_a_created_session_says_that_it_is_not_declared(wire: Wire) -> None:
    wire.call("session.create", name="own")
    assert wire.call("session.get", session="own")["declared"] is False


def test_default_may_be_declared(start: StartDaemon, origin: ScriptedOrigin) -> None:
    """The languages stay `en` unless the file says otherwise; after its removal `default` is as it always was."""
    daemon = start(config=declaring(default={"headers": {"X-Session": "default"}}))
    for _ in range(2):
        daemon.call("request.perform", url=origin.url)
        assert origin.requests[-1].values("X-Session") == ["default"]
        assert origin.requests[-1].values("Accept-Language") == ["en;q=1.0"]
    assert sessions(daemon)["default"]["declared"] is True
    assert reload(daemon, declaring(default={"languages": ["de"]})) == ["sessions.default"]
    daemon.call("request.perform", url=origin.url)
    assert origin.requests[-1].values("Accept-Language") == ["de;q=1.0"]
    assert reload(daemon, {}) == ["sessions.default"]
    daemon.call("request.perform", url=origin.url)
    assert origin.requests[-1].values("X-Session") == []
    assert sessions(daemon)["default"]["declared"] is False


def test_a_callback_of_a_declared_session_is_answered_by_who_declared_the_name(
    start: StartDaemon, origin: ScriptedOrigin
) -> None:
    daemon = start(config=declaring(judged={"validate": [{"callback": {"name": "judge"}}]}))
    with daemon.wire() as judge, daemon.wire() as user:
        record = user.call("request.perform", url=origin.url, session="judged")
        assert record["outcome"]["error"]["details"]["reason"] == "no_responder"
        judge.call("client.hello", callbacks=["judge"])
        call = user.request("request.perform", url=origin.url, session="judged")
        question = judge.question("validate")
        assert question["params"]["session"] == "judged"
        judge.reply(question, valid=True)
        assert user.result(call)["outcome"]["ok"]


def test_a_declared_session_has_the_settings_of_a_created_one(start: StartDaemon, origin: ScriptedOrigin) -> None:
    addresses = {"resolve": [f"declared.test:{origin.port}:127.0.0.1"]}
    daemon = start(config=declaring(api={"addresses": addresses, "tls": {"min_version": "1.3"}}))
    assert daemon.call("request.perform", url=f"http://declared.test:{origin.port}/", session="api")["outcome"]["ok"]
    assert sessions(daemon)["api"]["configuration"]["addresses"] == addresses
    message = refusal(daemon, declaring(api={"addresses": {"resolve": ["declared.test"]}}))
    assert "configuration.sessions.api.addresses.resolve[0]" in message


# Calls that would change one


def test_a_declared_session_cannot_be_invalidated(start: StartDaemon) -> None:
    daemon = start(config=declaring(api={}, default={}))
    with daemon.wire() as wire:
        for name in ["api", "default"]:
            error = refused(wire, "session.invalidate", session=name)
            assert (error.name, error.error["data"]["session"]) == ("wrong_state", name)
            assert "config.json" in error.error["data"]["hint"]
            assert wire.call("session.get", session=name)["state"] == "valid"


def test_creating_a_declared_session_changes_nothing(
    start: StartDaemon, authority: Authority, secret: Path, tmp_path: Path
) -> None:
    file = write(tmp_path / "ca.pem", authority.ca_file.read_bytes(), 0o644)
    same: dict[str, Any] = {"timeout_ms": 7, "trust": {"ca_file": str(file)}}
    hidden = {"headers": {"X-Token": {"file": str(secret)}}}
    daemon = start(config=declaring(api=same, empty={}, hidden=hidden))
    with daemon.wire() as wire:
        assert wire.call("session.create", name="api", configuration=same)["changed"] is False
        assert wire.call("session.create", name="empty")["changed"] is False
        for name, other in [("api", {"timeout_ms": 7}), ("hidden", {"headers": {"X-Token": SECRET}}), ("api", {})]:
            error = refused(wire, "session.create", name=name, configuration=other)
            assert (error.code, error.name) == (1105, "session.exists")
            assert "config.json" in error.error["data"]["hint"]
        # A changed file is another configuration, though its path is the same.
        file.write_text(authority.ca_file.read_text() * 2)
        assert refused(wire, "session.create", name="api", configuration=same).name == "session.exists"


def test_the_requests_of_a_declared_session_can_be_cancelled(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(config=declaring(api={}))
    origin.hold("/held")
    with daemon.wire() as wire:
        call = wire.request("request.perform", url=f"{origin.url}/held", session="api")
        origin.received(1)
        assert wire.call("session.cancel_requests", session="api") == {"cancelled": 1}
        assert wire.result(call)["outcome"]["error"]["name"] == "explicitly_cancelled"


# Reloads


def test_a_reload_replaces_what_has_changed_and_nothing_else(
    start: StartDaemon, origin: ScriptedOrigin, authority: Authority, secret: Path, tmp_path: Path
) -> None:
    file = write(tmp_path / "ca.pem", authority.ca_file.read_bytes())
    config = declaring(
        same={"headers": {"X": "1"}},
        header={"headers": {"X": "1"}},
        token={"headers": {"X": {"file": str(secret)}}},
        trust={"trust": {"ca_file": str(file)}},
        gone={},
    )
    daemon = start(config=config)
    for name in config["sessions"]:
        daemon.call("request.perform", url=origin.url, session=name)
    assert reload(daemon, config) == []
    config["sessions"]["header"] = {"headers": {"X": "2"}}
    del config["sessions"]["gone"]
    config["sessions"]["new"] = {}
    write(secret, "another\n")
    file.write_text(authority.ca_file.read_text() * 2)
    changed = [f"sessions.{name}" for name in ["gone", "header", "new", "token", "trust"]]
    assert reload(daemon, config) == changed
    assert {name: session["requests"] for name, session in sessions(daemon).items()} == {
        "default": 0, "header": 0, "new": 0, "same": 1, "token": 0, "trust": 0,
    }  # fmt: skip
    daemon.call("request.perform", url=origin.url, session="token")
    assert origin.requests[-1].values("X") == ["another"]
    with daemon.wire() as wire:
        assert refused(wire, "request.perform", url=origin.url, session="gone").name == "session.not_found"


def test_requests_under_way_keep_the_session_that_they_were_made_in(start: StartDaemon, origin: ScriptedOrigin) -> None:
    """Also those that have not begun, and those that wait for a callback."""
    ask = {"callback": {"name": "adapt", "handles": ["adapt"]}}
    daemon = start(config=declaring(api={"headers": {"X": "old"}, "interceptor": [ask]}))
    gate = origin.hold("/held")
    with daemon.wire() as wire, daemon.wire() as other, daemon.wire() as watcher:
        other.call("client.hello", callbacks=["adapt"])
        watcher.call("events.subscribe", types=["session.*"])
        manual = wire.call("request.submit", url=f"{origin.url}/manual", session="api", start="manual")["request"]
        held = wire.request("request.perform", url=f"{origin.url}/held", session="api")
        other.reply(other.question("adapt"))
        origin.received(1)
        asked = wire.request("request.perform", url=f"{origin.url}/asked", session="api")
        question = other.question("adapt")
        assert reload(daemon, declaring(api={"headers": {"X": "new"}})) == ["sessions.api"]
        assert reload(daemon, {}) == ["sessions.api"]
        assert refused(wire, "session.get", session="api").name == "session.not_found"
        other.reply(question)
        assert wire.result(asked)["outcome"]["ok"]
        gate.set()
        assert wire.result(held)["outcome"]["ok"]
        # The second one, which had no requests.
        assert watcher.event("session.did_become_invalid")["session"] == "api"
        assert watcher.is_silent()
        wire.call("request.resume", request=manual)
        other.reply(other.question("adapt"))
        assert wire.call("request.wait", request=manual)["outcome"]["ok"]
        assert watcher.event("session.did_become_invalid")["session"] == "api"
    assert [(request.target, request.values("X")) for request in origin.requests] == [
        ("/held", ["old"]), ("/asked", ["old"]), ("/manual", ["old"]),
    ]  # fmt: skip


def test_a_session_that_stays_keeps_its_credential(start: StartDaemon, origin: ScriptedOrigin) -> None:
    config = declaring(api={"interceptor": [{"oauth2": {"token_url": f"{origin.url}/token"}}]})
    daemon = start(config=config)
    daemon.call("session.set_credential", session="api", credential={"access_token": "given"})
    assert reload(daemon, config | {"drain_ms": 1}) == ["drain_ms"]
    daemon.call("request.perform", url=origin.url, session="api")
    assert origin.requests[0].values("Authorization") == ["Bearer given"]


def test_the_file_takes_the_name_of_a_created_session(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(config={"limits": {"sessions_per_client": 1}})
    gate = origin.hold("/held")
    with daemon.wire() as wire:
        wire.call("session.create", name="api", configuration={"headers": {"X": "created"}})
        call = wire.request("request.perform", url=f"{origin.url}/held", session="api")
        origin.received(1)
        assert reload(daemon, declaring(api={"headers": {"X": "declared"}}) | {"limits": {"sessions_per_client": 1}})
        gate.set()
        assert wire.result(call)["outcome"]["ok"]
        wire.call("request.perform", url=origin.url, session="api")
        assert [request.values("X") for request in origin.requests] == [["created"], ["declared"]]
        # A declared session takes no one's share.
        assert wire.call("session.create", name="other")["changed"] is True


def test_the_event_of_a_reload_lists_the_sessions(start: StartDaemon) -> None:
    daemon = start(config=declaring(a={}))
    with daemon.wire() as wire:
        wire.call("events.subscribe", types=["daemon.*"])
        assert reload(daemon, declaring(b={}) | {"drain_ms": 1}) == ["drain_ms", "sessions.a", "sessions.b"]
        changed = [wire.event("daemon.config_reloaded")["data"]["changed"] for _ in range(2)]
    assert changed == [["drain_ms"], ["sessions.a", "sessions.b"]]


@pytest.mark.parametrize(
    "configuration",
    [
        {"client_certificate": {"file": "/nonexistent", "password": 271828}},
        {"interceptor": [{"basic_auth": {"username": "u", "password": 271828}}]},
        {"interceptor": [{"bearer": {"token": 271828.5}}]},
        {"headers": {"Authorization": 271828}},
    ],
    ids=["client_certificate", "basic_auth", "bearer", "headers"],
)
def test_a_secret_without_quotation_marks_is_not_in_the_error(start: StartDaemon, configuration: Any) -> None:
    message = refusal(start(), declaring(api=configuration))
    assert "271828" not in message
    assert "found a number" in message or "string" in message, message
