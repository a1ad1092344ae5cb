"""One user of a daemon can neither learn anything of another nor affect it, with any names."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.daemon import CARPOOL, Daemon
from harness.users import NOBODY, as_root, wire_as
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import RemoteError, Wire
from origins.scripted import ScriptedOrigin

SECRET = "Bearer of-the-owner"


def shared(start: StartDaemon, role: str = "submit", **config: Any) -> Daemon:
    daemon = start(config={"access": {"uids": {str(NOBODY): role}}, **config})
    daemon.directory.chmod(0o755)
    return daemon


def refusal(wire: Wire, method: str, **params: Any) -> str:
    with pytest.raises(RemoteError) as caught:
        wire.call(method, **params)
    return caught.value.name


@as_root
def test_a2_another_user_cannot_use_a_session(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = shared(start)
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        owner.call("session.create", name="api", configuration={"headers": {"Authorization": SECRET}})
        attempts: list[tuple[str, dict[str, Any]]] = [
            ("request.perform", {"url": origin.url, "session": "api"}),
            ("request.submit", {"url": origin.url, "session": "api"}),
            ("stream.open", {"host": "127.0.0.1", "port": origin.port, "tls": False, "session": "api"}),
            ("session.get", {"session": "api"}),
            ("session.cancel_requests", {"session": "api"}),
            ("session.set_credential", {"session": "api", "credential": None}),
            ("session.invalidate", {"session": "api"}),
        ]
        for method, params in attempts:
            assert refusal(other, method, **params) == "session.not_found", method
        assert [session["session"] for session in other.call("session.list")["sessions"]] == ["default"]
        assert origin.requests == [] and origin.connections == 0


@as_root
def test_a2_a_name_that_another_user_has_is_free(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = shared(start)
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        theirs = {"headers": {"Authorization": "Bearer of-the-other"}}
        assert other.call("session.create", name="api", configuration=theirs)["changed"] is True
        mine = {"headers": {"Authorization": SECRET}}
        assert owner.call("session.create", name="api", configuration=mine)["changed"] is True
        owner.call("request.perform", url=origin.url, session="api")
        assert origin.received(1)[0].values("Authorization") == [SECRET]
        assert other.call("session.invalidate", session="api")["changed"] is True
        assert owner.call("session.get", session="api")["state"] == "valid"


@as_root
def test_a2_each_user_has_a_default_session(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = shared(start)
    gate = origin.hold("/held")
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        call = owner.request("request.perform", url=f"{origin.url}/held")
        origin.received(1)
        assert other.call("session.get")["active"] == 0
        assert other.call("session.cancel_requests") == {"cancelled": 0}
        gate.set()
        assert owner.result(call)["outcome"]["ok"]
        assert other.call("session.get")["requests"] == 0


@as_root
def test_a2_users_share_no_connection(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = shared(start)
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        for wire in (owner, other, owner, other):
            assert wire.call("request.perform", url=origin.url)["outcome"]["ok"]
    assert [request.connection for request in origin.requests] == [1, 2, 1, 2]


@as_root
def test_a2_another_user_sees_no_request_connection_or_event(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = shared(start)
    with (
        daemon.wire() as owner,
        wire_as(NOBODY, daemon.socket) as other,
        wire_as(NOBODY, daemon.socket) as listener,
    ):
        for scope in ("all", "session:default", "mine"):
            listener.call("events.subscribe", scope=scope)
        request = owner.call("request.submit", url=f"{origin.url}/secret-path", tags={"a": "b"})["request"]
        owner.call("request.wait", request=request)
        for method in ("get", "wait", "response", "cancel", "suspend", "resume", "curl", "dismiss", "read", "attach"):
            assert refusal(other, f"request.{method}", request=request) == "request.not_found", method
        for method in ("read", "open", "put"):
            assert refusal(other, f"body.{method}", request=request) == "request.not_found", method
        assert other.call("request.list", scope="all")["requests"] == []
        assert other.call("pool.stats")["origins"] == []
        assert {client["uid"] for client in other.call("client.list")["clients"]} == {NOBODY}
        past = other.call("events.next", scope="all", since=f"{daemon.call('client.hello')['cursor'].split('.')[0]}.0")
        assert "secret-path" not in str(past)
        snapshot = other.call("events.subscribe", scope="all", snapshot=True)["snapshot"]
        assert snapshot["requests"] == [] and snapshot["pool"]["connections"] == 0
        # The first events of the other user's subscriptions are those of its own request.
        own = other.call("request.submit", url=f"{origin.url}/own")["request"]
        heard = [listener.receive()["params"] for _ in range(8)]
        assert {event.get("request", own) for event in heard} == {own}


@as_root
def test_a2_an_administrator_sees_that_requests_exist_and_may_end_them(
    start: StartDaemon, origin: ScriptedOrigin
) -> None:
    daemon = shared(start, "admin")
    gate = origin.hold("/held")
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as admin:
        owner.call("session.create", name="api", configuration={"headers": {"Authorization": SECRET}})
        held = owner.call("request.submit", url=f"{origin.url}/held", tags={"for": "the owner"})["request"]
        done = owner.call("request.submit", url=origin.url)["request"]
        owner.call("request.wait", request=done)
        listed = admin.call("request.list", scope="all")["requests"]
        assert [(entry["request"], entry["uid"]) for entry in listed] == [(held, 0), (done, 0)]
        assert all("tags" not in entry for entry in listed)
        assert owner.call("request.list")["requests"][0]["tags"] == {"for": "the owner"}
        for method in ("request.get", "request.response", "request.curl", "body.read", "request.dismiss"):
            assert refusal(admin, method, request=done) == "request.not_found", method
        assert refusal(admin, "request.perform", url=origin.url, session="api") == "session.not_found"
        assert {client["uid"] for client in admin.call("client.list")["clients"]} == {0, NOBODY}
        assert admin.call("request.cancel", request=held) == {"changed": True, "state": "cancelled"}
        assert owner.call("request.wait", request=held)["state"] == "cancelled"
        gate.set()


@as_root
def test_a2_a_callback_is_answered_by_its_own_user_alone(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = shared(start)
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        other.call("client.hello", callbacks=["sign"])
        configuration = {"interceptor": [{"callback": {"name": "sign", "deadline_ms": 2000}}]}
        owner.call("session.create", name="signed", configuration=configuration)
        record = owner.call("request.perform", url=origin.url, session="signed")
        assert record["outcome"]["error"]["name"] == "request_adaptation_failed"
        assert origin.requests == []


@as_root
def test_b6_open_callbacks_of_one_user_leave_room_for_others(start: StartDaemon, origin: ScriptedOrigin) -> None:
    limits = {"callbacks": 6, "callbacks_per_user": 4, "callbacks_per_client": 2}
    daemon = shared(start, limits=limits)
    question = {"callback": {"name": "c", "deadline_ms": 60_000}}

    def ask(wire: Wire) -> int:
        return wire.request("request.perform", url=origin.url, validate=[question])

    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        held: list[int] = []
        for number in range(4):
            # Open callbacks count for the client that made the request, under its name at that time.
            other.call("client.hello", name=f"made-up-{number // 2}")
            held.append(ask(other))
            other.question("validate")
        for name, limit, holder in (("made-up-1", "per_client", "client"), ("made-up-9", "per_user", "user")):
            other.call("client.hello", name=name)
            error = other.result(ask(other))["outcome"]["error"]["details"]
            assert error["reason"] == "too_many"
            assert (error["limit_name"], error["holder"]) == (f"callbacks_{limit}", holder)
        call = ask(owner)
        owner.reply(owner.question("validate"), valid=True)
        assert owner.result(call)["outcome"]["ok"]
        for call in held:
            other.call("rpc.cancel", id=call)


@as_root
def test_b6_events_of_one_user_leave_the_journal_to_others(start: StartDaemon) -> None:
    daemon = shared(start, limits={"journal_bytes": 65_536})
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        # The owner is an administrator, whose scope "all" would be the events of all users.
        cursors = [wire.call("events.next", scope="mine", timeout_ms=0)["cursor"] for wire in (owner, other)]
        request = owner.call("request.perform", url="http://127.0.0.1:1/")["request"]
        for number in range(200):
            other.call("request.perform", url=f"http://127.0.0.1:1/{number}")
        mine = owner.call("events.next", since=cursors[0], scope="mine", timeout_ms=0)
        assert "gap" not in mine
        assert {event["request"] for event in mine["events"] if "request" in event} == {request}
        assert other.call("events.next", since=cursors[1], scope="mine", timeout_ms=0)["gap"] is True
        assert daemon.stats()["events"]["journal_bytes"] <= 65_536


@as_root
def test_a2_a_key_is_its_own_user_s(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = shared(start)
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        for wire in (owner, other):
            wire.call("client.hello", name="the-same")
        first = owner.call("request.submit", url=origin.url, key="once")
        second = other.call("request.submit", url=origin.url, key="once")
        assert first["request"] != second["request"]
        assert "deduplicated" not in second
        assert owner.call("request.submit", url=origin.url, key="once")["deduplicated"] is True


@as_root
def test_a2_the_sessions_of_one_user_leave_room_for_others(start: StartDaemon) -> None:
    daemon = shared(start, limits={"sessions": 4, "sessions_per_user": 2})
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        for number in range(2):
            other.call("session.create", name=f"s{number}")
        with pytest.raises(RemoteError) as caught:
            other.call("session.create", name="one-more")
        assert caught.value.name == "queue_full"
        assert "sessions_per_user" in str(caught.value.error)
        assert owner.call("session.create", name="s0")["changed"] is True


@as_root
def test_b6_made_up_names_take_no_room_from_another_user(start: StartDaemon, origin: ScriptedOrigin) -> None:
    limits = {"queued_requests": 12, "queued_requests_per_user": 6, "queued_requests_per_client": 4}
    daemon = shared(start, limits=limits)
    gate = origin.hold("/held")
    url = f"{origin.url}/held"
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        made, refused = 0, []
        for number in range(40):
            other.call("client.hello", name=f"made-up-{number}")
            try:
                other.call("request.submit", url=url)
                made += 1
            except RemoteError as error:
                refused.append(error.error["data"])
        assert made <= 6
        assert {data["name"] for data in refused} == {"queue_full"}
        assert {(data["limit_name"], data["holder"]) for data in refused} <= {
            ("queued_requests_per_user", "user"),
            ("queued_requests_per_user", "client"),
        }
        for _ in range(4):
            owner.call("request.submit", url=url)
        with pytest.raises(RemoteError) as caught:
            owner.call("request.submit", url=url)
        data = caught.value.error["data"]
        assert (data["limit_name"], data["limit"], data["holder"]) == ("queued_requests_per_client", 4, "client")
        gate.set()


@pytest.mark.parametrize(
    ("limits", "name", "holder"),
    [
        ({"connections_per_client": 3}, "connections_per_client", "client"),
        ({"connections_per_user": 3}, "connections_per_user", "user"),
        ({"connections": 3}, "connections", "all"),
    ],
)
def test_b6_a_refused_connection_is_told_whose_limit_it_was(
    start: StartDaemon, limits: dict[str, int], name: str, holder: str
) -> None:
    daemon = start(config={"limits": limits})
    wires = [daemon.wire() for _ in range(3)]
    for wire in wires:
        wire.call("daemon.ping")
    with daemon.wire() as refused:
        data = refused.receive()["error"]["data"]
    assert (data["limit_name"], data["limit"], data["holder"]) == (name, 3, holder)
    for wire in wires:
        wire.close()

    def serves() -> bool:
        try:
            return bool(daemon.call("daemon.ping")["pong"])
        except carpool.CarpoolError:
            return False

    eventually(serves)


def test_b6_subscriptions_of_many_connections_have_an_end(start: StartDaemon) -> None:
    daemon = start(config={"limits": {"subscriptions_per_client": 5}})
    with daemon.wire() as first, daemon.wire() as second:
        for wire in (first, second, first, second):
            wire.call("events.subscribe", scope="all")
        kept = second.call("reachability.watch")["sub"]
        for method in ("events.subscribe", "reachability.watch"):
            with pytest.raises(RemoteError) as caught:
                first.call(method)
            assert caught.value.error["data"]["limit_name"] == "subscriptions_per_client"
        second.call("reachability.unwatch", sub=kept)
        assert first.call("events.subscribe")["sub"]


def test_clients_without_a_name_are_told_apart_by_their_session(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start()
    variables = {**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket)}

    def submitted(new_session: bool, **more: str) -> dict[str, Any]:
        """Make a request with a key by the command."""
        done = subprocess.run(
            [CARPOOL, "call", "request.submit", f"url={origin.url}", "key=once"],
            env={**variables, **more},
            start_new_session=new_session,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    first, again = submitted(False), submitted(False)
    assert again["deduplicated"] is True
    apart = submitted(True)
    named = [submitted(new_session, CARPOOL_CLIENT="nightly") for new_session in (True, False, True)]
    assert len({answer["request"] for answer in (first, apart, *named)}) == 3
    with daemon.wire() as wire:
        assert wire.call("client.hello")["peer"]["identity"] == f"session:{os.getsid(0)}"
        names = [entry["client"] for entry in wire.call("request.list", scope="all")["requests"]]
        assert names == ["carpool", "carpool", "nightly"]
    agents = [request.values("User-Agent")[0].split("/")[0] for request in origin.received(3)]
    assert sorted(agents) == ["carpool", "carpool", "nightly"]
