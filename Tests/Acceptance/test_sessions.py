"""Sessions, and the life of requests that are submitted, waited for, listed, cancelled and dismissed."""

from __future__ import annotations

import itertools
from pathlib import Path

import carpool
import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.waiting import eventually
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin


def test_the_default_session_is_there_and_stays(client: carpool.Client) -> None:
    sessions = client.call("session.list")["sessions"]
    assert [session["session"] for session in sessions] == ["default"]
    with pytest.raises(carpool.RPCError):
        client.call("session.invalidate", session="default")
    assert client.call("session.get", session="default")["state"] == "valid"


def test_a_session_s_configuration_is_that_of_its_requests(client: carpool.Client, origin: ScriptedOrigin) -> None:
    configuration = {
        "headers": [["X-Team", "a"], ["X-Both", "session"]],
        "timeout_ms": 200,
        "redirect": "do_not_follow",
        "decode": False,
    }
    assert client.call("session.create", name="api", configuration=configuration)["changed"] is True
    client.get(origin.url, session="api", headers={"X-Both": "request"})
    seen = origin.received(1)[0]
    assert (seen.values("X-Team"), seen.values("X-Both")) == (["a"], ["request"])
    assert seen.values("Accept-Encoding") == []
    origin.hold("/held")
    with pytest.raises(carpool.RequestTimeoutError):
        client.get(f"{origin.url}/held", session="api")
    url = origin.on("/moved", lambda exchange: exchange.reply(302, headers=[("Location", "/")]))
    assert client.get(url, session="api").status_code == 302
    assert client.get(url).status_code == 200


def test_making_a_session_again_changes_nothing_if_it_is_the_same(client: carpool.Client) -> None:
    configuration = {"timeout_ms": 1000, "headers": {"X-A": "1"}}
    assert client.call("session.create", name="api", configuration=configuration)["changed"] is True
    assert client.call("session.create", name="api", configuration=configuration)["changed"] is False
    with pytest.raises(carpool.ObjectError) as caught:
        client.call("session.create", name="api", configuration={"timeout_ms": 2000})
    assert (caught.value.code, caught.value.name) == (1105, "session.exists")


def test_an_unknown_session_is_told(client: carpool.Client, origin: ScriptedOrigin) -> None:
    with pytest.raises(carpool.ObjectError) as caught:
        client.get(origin.url, session="none")
    assert caught.value.name == "session.not_found"
    assert origin.requests == []


@pytest.mark.parametrize("configuration", [{"timeout": 1}, {"timeout_ms": "1"}, {"headers": {"Connection": "close"}}])
def test_a_wrong_configuration_makes_no_session(client: carpool.Client, configuration: dict[str, object]) -> None:
    with pytest.raises(carpool.InvalidParamsError) as caught:
        client.call("session.create", name="api", configuration=configuration)
    assert caught.value.data["path"].startswith("params.configuration")
    assert len(client.call("session.list")["sessions"]) == 1


@pytest.mark.parametrize(("mode", "ok"), [("finish", True), ("cancel", False)])
def test_invalidating_a_session_finishes_or_cancels_its_requests(
    client: carpool.Client, origin: ScriptedOrigin, mode: str, ok: bool
) -> None:
    gate = origin.hold("/held")
    client.call("session.create", name="api")
    request = client.call("request.submit", url=f"{origin.url}/held", session="api")["request"]
    origin.received(1)
    client.call("session.invalidate", session="api", mode=mode)
    with pytest.raises(carpool.RPCError):
        client.get(origin.url, session="api")
    gate.set()
    record = client.call("request.wait", request=request)
    assert record["outcome"]["ok"] is ok
    if not ok:
        assert record["outcome"]["error"]["name"] in {"session_invalidated", "explicitly_cancelled"}


def test_a_submitted_request_is_answered_at_once_and_kept(daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    with daemon.client() as first:
        submitted = first.call("request.submit", url=f"{origin.url}/held", tags={"job": "7"})
    assert set(submitted) == {"request", "state", "cursor"}
    origin.received(1)
    with daemon.client() as second:
        assert second.call("request.get", request=submitted["request"])["finished"] is False
        gate.set()
        record = second.call("request.wait", request=submitted["request"])
        assert record["body"]["text"] == "released"
        assert second.call("request.get", request=submitted["request"])["body"] == record["body"]
        (listed,) = second.call("request.list")["requests"]
        assert (listed["request"], listed["tags"], listed["status"]) == (submitted["request"], {"job": "7"}, 200)
        assert second.call("request.dismiss", request=submitted["request"])["changed"] is True
        with pytest.raises(carpool.ObjectError):
            second.call("request.get", request=submitted["request"])


def test_a_performed_request_is_gone_with_its_answer(client: carpool.Client, nginx: Nginx) -> None:
    request = client.get(f"{nginx.http}/hello.txt").request_id
    with pytest.raises(carpool.ObjectError):
        client.call("request.get", request=request)
    assert client.call("request.list")["requests"] == []


def test_a_cancelled_request_says_so_to_everybody_who_waits(daemon: Daemon, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    with daemon.wire() as wire, daemon.client() as client:
        request = client.call("request.submit", url=f"{origin.url}/held")["request"]
        waits = [wire.request("request.wait", request=request) for _ in range(3)]
        origin.received(1)
        assert client.call("request.cancel", request=request) == {"changed": True, "state": "cancelled"}
        for wait in waits:
            record = wire.result(wait)
            assert (record["state"], record["outcome"]["error"]["name"]) == ("cancelled", "explicitly_cancelled")
        assert client.call("request.cancel", request=request)["changed"] is False


def test_a_call_that_is_cancelled_does_not_touch_its_request(daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    with daemon.wire() as wire:
        request = wire.call("request.submit", url=f"{origin.url}/held")["request"]
        for method in ("rpc.cancel", "$/cancelRequest"):
            wait = wire.request("request.wait", request=request)
            wire.send({"jsonrpc": "2.0", "method": method, "params": {"id": wait}})
            assert wire.answer(wait)["error"]["code"] == -32800
        gate.set()
        assert wire.call("request.wait", request=request)["outcome"]["ok"]


def test_a_key_makes_a_request_once(client: carpool.Client, origin: ScriptedOrigin) -> None:
    first = client.call("request.submit", url=origin.url, method="POST", body={"text": "pay"}, key="order-1")
    again = client.call("request.submit", url=origin.url, method="POST", body={"text": "pay"}, key="order-1")
    assert (again["request"], again["deduplicated"]) == (first["request"], True)
    with pytest.raises(carpool.ObjectError) as caught:
        client.call("request.submit", url=origin.url, method="POST", body={"text": "more"}, key="order-1")
    assert caught.value.name == "key_conflict"
    client.call("request.wait", request=first["request"])
    assert len(origin.requests) == 1


def test_lists_come_in_pages(client: carpool.Client, nginx: Nginx) -> None:
    made = [client.call("request.submit", url=f"{nginx.http}/hello.txt")["request"] for _ in range(25)]
    for request in made:
        client.call("request.wait", request=request)
    found, following = [], None
    for _ in itertools.count():
        page = client.call("request.list", limit=10, **({"next": following} if following else {}))
        found += [entry["request"] for entry in page["requests"]]
        if (following := page["next"]) is None:
            break
    assert found == made
    assert client.call("request.list", state="finished", limit=100)["requests"]
    assert client.call("request.list", state="resumed")["requests"] == []


def test_a_kept_large_body_goes_when_it_is_dismissed(daemon: Daemon, client: carpool.Client, nginx: Nginx) -> None:
    request = client.call("request.submit", url=f"{nginx.http}/1m.bin")["request"]
    record = client.call("request.wait", request=request)
    assert daemon.spooled() == [Path(record["body"]["file"])]
    client.call("request.dismiss", request=request)
    eventually(lambda: daemon.spooled() == [])


def test_a_spool_that_is_full_fails_the_request_by_name(start: StartDaemon, nginx: Nginx) -> None:
    daemon = start(config={"limits": {"spool_bytes": 500_000}})
    with daemon.client() as client:
        with pytest.raises(carpool.RequestError) as caught:
            client.get(f"{nginx.http}/1m.bin")
        assert "spool_full" in caught.value.name
        assert client.get(f"{nginx.http}/100k.bin").ok
    eventually(lambda: daemon.spooled() == [])


@pytest.mark.own_daemon
def test_the_pool_tells_its_connections_and_gives_the_idle_ones_up(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    client.get(origin.url)
    (pooled,) = client.call("pool.stats")["origins"]
    assert (pooled["origin"], pooled["connections"], pooled["idle"], pooled["active"]) == (origin.url, 1, 1, 0)
    flushed = client.call("pool.flush")
    assert (flushed["changed"], flushed["closed"]) == (True, 1)
    eventually(lambda: sum(entry["connections"] for entry in client.call("pool.stats")["origins"]) == 0)
    client.get(origin.url)
    assert origin.connections == 2


def test_draining_refuses_new_requests_and_finishes_the_old(daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    with daemon.wire() as wire:
        call = wire.request("request.perform", url=f"{origin.url}/held")
        origin.received(1)
        assert wire.call("daemon.drain")["changed"] is True
        assert wire.answer(wire.request("request.perform", url=origin.url))["error"]["code"] == 1006
        gate.set()
        assert wire.result(call)["body"]["text"] == "released"
        assert wire.is_ended()
    assert daemon.process.wait(10) == 0


def test_a_misspelled_session_is_answered_with_the_nearest_name(client: carpool.Client) -> None:
    client.call("session.create", name="reports")
    with pytest.raises(carpool.RPCError) as caught:
        client.get("http://127.0.0.1:1/", session="reprots")
    assert (caught.value.name, caught.value.data["did_you_mean"]) == ("session.not_found", "reports")
    assert caught.value.hint == "Did you mean reports?"
