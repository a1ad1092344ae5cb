"""Requests that follow one another on a connection: the parameter `after` of `request.perform`."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import RemoteError, Wire
from origins.scripted import Exchange, ScriptedOrigin


def perform(wire: Wire, url: str, **params: Any) -> int:
    return wire.request("request.perform", url=url, **params)


def skipped(wire: Wire, call: int) -> bool:
    with pytest.raises(RemoteError) as caught:
        wire.result(call)
    return (caught.value.name, caught.value.code) == ("request.skipped", 1112)


def paths(origin: ScriptedOrigin) -> list[str]:
    return [request.target for request in origin.requests]


def replying(origin: ScriptedOrigin, status: int) -> str:
    return origin.on(f"/{status}", lambda exchange: exchange.reply(status, headers=[("Location", "/elsewhere")]))


def test_a_follower_is_sent_when_the_call_before_has_succeeded(wire: Wire, origin: ScriptedOrigin) -> None:
    release = origin.hold("/first")
    first = perform(wire, origin.url + "/first")
    second = perform(wire, origin.url + "/second", after=first)
    third = perform(wire, origin.url + "/third", after=second)
    origin.received(1)
    assert wire.is_silent()
    assert paths(origin) == ["/first"]
    release.set()
    assert [wire.result(call)["response"]["status"] for call in (first, second, third)] == [200, 200, 200]
    assert paths(origin) == ["/first", "/second", "/third"]
    assert origin.connections == 1


def test_without_waiting_for_the_client(wire: Wire, origin: ScriptedOrigin) -> None:
    calls = [perform(wire, origin.url + "/0")]
    for number in range(1, 100):
        calls.append(perform(wire, f"{origin.url}/{number}", after=calls[-1]))
    origin.received(100)
    assert [wire.result(call)["response"]["status"] for call in calls] == [200] * 100
    assert paths(origin) == [f"/{number}" for number in range(100)]


@pytest.mark.parametrize("status", [200, 404])
def test_many_calls_follow_one(wire: Wire, origin: ScriptedOrigin, status: int) -> None:
    release = threading.Event()

    def hold(exchange: Exchange) -> None:
        release.wait(PATIENCE_SECONDS)
        exchange.reply(status)

    first = perform(wire, origin.on("/first", hold))
    followers = [perform(wire, origin.url + "/next", after=first) for _ in range(200)]
    assert wire.is_silent()
    release.set()
    assert wire.result(first)["response"]["status"] == status
    for follower in followers:
        assert wire.result(follower)["response"]["status"] == 200 if status == 200 else skipped(wire, follower)
    assert paths(origin) == ["/first"] + ["/next"] * (200 if status == 200 else 0)


@pytest.mark.parametrize("status", [302, 404, 503])
def test_after_a_response_from_300_on_all_followers_are_skipped(
    wire: Wire, origin: ScriptedOrigin, status: int
) -> None:
    origin.hold("/held")
    first = perform(wire, replying(origin, status), redirect="do_not_follow")
    second = perform(wire, origin.url + "/second", after=first)
    third = perform(wire, origin.url + "/third", after=second)
    assert wire.result(first)["response"]["status"] == status
    assert skipped(wire, second)
    assert skipped(wire, third)
    assert wire.call("request.perform", url=origin.url + "/fourth")["response"]["status"] == 200
    assert paths(origin) == [f"/{status}", "/fourth"], "what was skipped is not sent later either"
    assert wire.call("request.list")["requests"] == []


def test_after_a_failure(wire: Wire, origin: ScriptedOrigin) -> None:
    first = perform(wire, origin.on("/reset", Exchange.reset), method="POST")
    second = perform(wire, origin.url, after=first)
    assert wire.result(first)["outcome"]["ok"] is False
    assert skipped(wire, second)
    assert "/" not in paths(origin)


def test_a_call_that_was_refused_has_not_succeeded(wire: Wire, origin: ScriptedOrigin) -> None:
    first = perform(wire, origin.url, session="none")
    second = perform(wire, origin.url, after=first)
    with pytest.raises(RemoteError):
        wire.result(first)
    assert skipped(wire, second)
    assert origin.requests == []


def test_a_late_follower_of_the_last_success_is_sent_at_once(wire: Wire, origin: ScriptedOrigin) -> None:
    first = perform(wire, origin.url)
    assert wire.result(first)["response"]["status"] == 200
    assert wire.result(perform(wire, origin.url, after=first))["response"]["status"] == 200
    second = perform(wire, replying(origin, 404))
    wire.result(second)
    assert skipped(wire, perform(wire, origin.url, after=second))


@pytest.mark.parametrize("predecessor", [4_711, "never", 2])
def test_a_call_that_never_was_has_not_succeeded(wire: Wire, origin: ScriptedOrigin, predecessor: int | str) -> None:
    assert wire.call("request.perform", url=origin.url)["response"]["status"] == 200
    call = perform(wire, origin.url, after=predecessor)
    assert call == 2, "the last of the cases follows itself"
    assert skipped(wire, call)
    assert len(origin.requests) == 1


def test_an_id_that_is_used_again_counts_for_its_last_call(wire: Wire, origin: ScriptedOrigin) -> None:
    def send(path: str, **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": "x", "method": "request.perform"}
        wire.send(message | {"params": {"url": origin.url + "/" + path, **params}})
        return wire.answer("x")["result"]

    origin.on("/404", lambda exchange: exchange.reply(404))
    assert send("ok")["response"]["status"] == 200
    assert send("404")["response"]["status"] == 404
    assert skipped(wire, perform(wire, origin.url, after="x"))


def test_an_earlier_success_is_not_that_of_the_call_under_way(wire: Wire, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    for path in ["/ok", "/held"]:
        wire.send({"jsonrpc": "2.0", "id": "x", "method": "request.perform", "params": {"url": origin.url + path}})
        if path == "/ok":
            assert wire.answer("x")["result"]["response"]["status"] == 200
    origin.received(2)
    follower = perform(wire, origin.url + "/next", after="x")
    wire.call("rpc.cancel", id="x", request=True)
    assert skipped(wire, follower)
    assert paths(origin) == ["/ok", "/held"]


def test_a_call_whose_files_are_opened_first_does_not_wait_for_itself(
    wire: Wire, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    (tmp_path / "body").write_text("text")
    call = perform(wire, origin.url, after=1, method="POST", body={"file": str(tmp_path / "body")})
    assert call == 1, "it follows itself"
    assert skipped(wire, call)
    assert origin.requests == []


def test_a_follower_that_starts_by_hand_is_not_started(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("session.create", name="manual", configuration={"start": "manual"})
    release = origin.hold("/first")
    first = perform(wire, origin.url + "/first")
    second = perform(wire, origin.url + "/second", after=first, session="manual")
    origin.received(1)
    release.set()
    assert wire.result(first)["response"]["status"] == 200
    (entry,) = wire.call("request.list", session="manual")["requests"]
    assert entry["state"] == "initialized"
    assert paths(origin) == ["/first"]
    wire.call("request.resume", request=entry["request"])
    assert wire.result(second)["response"]["status"] == 200


def test_another_connection_has_ids_of_its_own(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    first = perform(wire, origin.url)
    wire.result(first)
    with daemon.wire() as other:
        assert skipped(other, perform(other, origin.url, after=first))


def test_a_cancelled_follower_is_never_sent(wire: Wire, origin: ScriptedOrigin) -> None:
    release = origin.hold("/first")
    first = perform(wire, origin.url + "/first")
    second = perform(wire, origin.url + "/second", after=first)
    third = perform(wire, origin.url + "/third", after=second)
    origin.received(1)
    wire.call("rpc.cancel", id=second, request=True)
    assert wire.answer(second)["error"]["code"] == -32_800
    assert skipped(wire, third)
    release.set()
    assert wire.result(first)["response"]["status"] == 200
    assert wire.call("request.list")["requests"] == []
    assert paths(origin) == ["/first"]


def test_nothing_is_sent_for_a_connection_that_is_lost(daemon: Daemon, origin: ScriptedOrigin) -> None:
    release = origin.hold("/first")
    with daemon.wire() as wire:
        first = perform(wire, origin.url + "/first")
        perform(wire, origin.url + "/second", after=first)
        origin.received(1)
    release.set()
    eventually(lambda: daemon.call("request.list", scope="all")["requests"] == [])
    assert daemon.call("request.perform", url=origin.url + "/third")["response"]["status"] == 200
    assert paths(origin) == ["/first", "/third"]


def test_as_many_followers_as_calls_may_be_in_flight(wire: Wire, origin: ScriptedOrigin) -> None:
    release = threading.Event()

    def fail(exchange: Exchange) -> None:
        release.wait(PATIENCE_SECONDS)
        exchange.reset()

    calls = [perform(wire, origin.on("/first", fail), method="POST")]
    while len(calls) < 256:
        calls.append(perform(wire, origin.url + "/next", after=calls[-1]))
    release.set()
    assert wire.result(calls[0])["outcome"]["ok"] is False
    assert all(skipped(wire, call) for call in calls[1:])
    assert paths(origin) == ["/first"]


def waiting(wire: Wire, path: str) -> str:
    """Return the name of the request that waits for its turn."""
    found = [entry for entry in wire.call("request.list")["requests"] if entry["url"].endswith(path)]
    assert [entry["state"] for entry in found] == ["initialized"]
    return str(found[0]["request"])


@pytest.mark.parametrize("status", [200, 404])
def test_a_follower_that_was_resumed_before_its_turn_is_sent_and_not_skipped(
    wire: Wire, origin: ScriptedOrigin, status: int
) -> None:
    release = threading.Event()

    def hold(exchange: Exchange) -> None:
        release.wait(PATIENCE_SECONDS)
        exchange.reply(status)

    first = perform(wire, origin.on("/first", hold))
    second = perform(wire, origin.url + "/second", after=first)
    origin.received(1)
    wire.call("request.resume", request=waiting(wire, "/second"))
    assert wire.result(second)["response"]["status"] == 200
    release.set()
    assert wire.result(first)["response"]["status"] == status
    assert paths(origin).count("/second") == 1


@pytest.mark.parametrize("status", [200, 404])
def test_a_follower_that_was_suspended_before_its_turn_waits_or_is_skipped(
    wire: Wire, origin: ScriptedOrigin, status: int
) -> None:
    release = threading.Event()

    def hold(exchange: Exchange) -> None:
        release.wait(PATIENCE_SECONDS)
        exchange.reply(status)

    first = perform(wire, origin.on("/first", hold))
    second = perform(wire, origin.url + "/second", after=first)
    origin.received(1)
    request = waiting(wire, "/second")
    wire.call("request.suspend", request=request)
    release.set()
    assert wire.result(first)["response"]["status"] == status
    if status == 404:
        assert skipped(wire, second)
    else:
        assert wire.is_silent()
        assert paths(origin) == ["/first"]
        wire.call("request.resume", request=request)
        assert wire.result(second)["response"]["status"] == 200
    assert paths(origin) == ["/first"] + ["/second"] * (status == 200)


def test_a_follower_that_was_sent_and_suspended_is_not_skipped(wire: Wire, origin: ScriptedOrigin) -> None:
    release = threading.Event()

    def refuse(exchange: Exchange) -> None:
        release.wait(PATIENCE_SECONDS)
        exchange.reply(404)

    go_on = origin.hold("/second")
    first = perform(wire, origin.on("/first", refuse))
    second = perform(wire, origin.url + "/second", after=first)
    origin.received(1)
    request = waiting(wire, "/second")
    wire.call("request.resume", request=request)
    origin.received(2)
    wire.call("request.suspend", request=request)
    release.set()
    assert wire.result(first)["response"]["status"] == 404
    wire.call("request.resume", request=request)
    go_on.set()
    assert wire.result(second)["response"]["status"] == 200


def test_a_manual_follower_waits_for_its_start(wire: Wire, origin: ScriptedOrigin) -> None:
    release = origin.hold("/first")
    first = perform(wire, origin.url + "/first")
    second = perform(wire, origin.url + "/second", after=first, start="manual")
    origin.received(1)
    release.set()
    assert wire.result(first)["response"]["status"] == 200
    request = waiting(wire, "/second")
    assert paths(origin) == ["/first"]
    wire.call("request.resume", request=request)
    assert wire.result(second)["response"]["status"] == 200


@pytest.mark.parametrize("detached", [{"on_disconnect": "detach"}, {"key": "k"}])
def test_a_request_that_continues_without_its_caller_follows_no_call(
    wire: Wire, origin: ScriptedOrigin, detached: dict[str, Any]
) -> None:
    first = perform(wire, origin.url)
    with pytest.raises(RemoteError) as caught:
        wire.result(perform(wire, origin.url, after=first, **detached))
    assert (caught.value.name, caught.value.error["data"]["path"]) == ("invalid_params", "params.after")
    wire.result(first)
    assert len(origin.requests) == 1


def test_after_a_call_that_is_answered_with_the_head(wire: Wire, origin: ScriptedOrigin) -> None:
    head = perform(wire, origin.url + "/head", hold_for_headers=True)
    follower = perform(wire, origin.url + "/next", after=head)
    assert wire.result(head)["response"]["status"] == 200
    assert wire.result(follower)["response"]["status"] == 200
    assert paths(origin) == ["/head", "/next"]


def test_after_a_call_whose_request_was_made_before(wire: Wire, origin: ScriptedOrigin) -> None:
    for _ in range(2):
        keyed = perform(wire, origin.url + "/keyed", key="k")
        follower = perform(wire, origin.url + "/last", after=keyed)
        assert wire.result(keyed)["response"]["status"] == 200
        assert wire.result(follower)["response"]["status"] == 200
    assert paths(origin) == ["/keyed", "/last", "/last"]
