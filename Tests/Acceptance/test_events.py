"""Live events: which subscriptions receive them, in which order, and when they end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from harness.wire import Wire
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

# The steps of a request that succeeds, in the order of the session model.
GET = [
    "request.did_create_initial_url_request",
    "request.did_create_url_request",
    "request.did_create_task",
    "request.did_resume",
    "request.did_resume_task",
    "task.did_receive_response",
    "task.did_receive_data",
    "request.progress",
    "task.did_collect_metrics",
    "request.did_gather_metrics",
    "task.did_complete",
    "request.did_complete_task",
    "request.did_finish",
]


def events_until(wire: Wire, kind: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    while not events or events[-1]["type"] != kind:
        message = wire.receive()
        if message.get("method") == "event":
            events.append(message["params"])
    return events


def test_nothing_is_sent_before_it_is_asked_for(daemon: Daemon, nginx: Nginx) -> None:
    with daemon.wire() as wire:
        wire.call("request.perform", url=f"{nginx.http}/hello.txt")
        wire.finish()
        assert wire.rest() == []


def test_a_request_tells_its_steps_in_order(wire: Wire, nginx: Nginx) -> None:
    subscription = wire.call("events.subscribe", types=["request.*", "task.*"])["sub"]
    call = wire.request("request.perform", url=f"{nginx.http}/hello.txt")
    events = events_until(wire, "request.did_finish")
    assert {event["sub"] for event in events} == {subscription}
    assert {event["session"] for event in events} == {"default"}
    assert len({event["request"] for event in events}) == 1
    assert {event["attempt"] for event in events} == {1}
    kinds = [event["type"] for event in events]
    assert sorted(kinds) == sorted(GET)
    milestones = [GET[0], "request.did_create_task", "task.did_receive_response", "task.did_complete", GET[-1]]
    assert [kinds.index(kind) for kind in milestones] == sorted(kinds.index(kind) for kind in milestones)
    assert wire.result(call)["outcome"]["ok"]


def test_cursors_rise_and_times_are_told(wire: Wire, nginx: Nginx) -> None:
    wire.call("events.subscribe", types=["request.*"])
    wire.request("request.perform", url=f"{nginx.http}/hello.txt")
    events = events_until(wire, "request.did_finish")
    epochs, numbers = zip(*(event["cursor"].split(".") for event in events), strict=True)
    assert len(set(epochs)) == 1
    assert [int(number) for number in numbers] == sorted({int(number) for number in numbers})
    assert [event["time"] for event in events] == sorted(event["time"] for event in events)
    assert all(event["time"].endswith("Z") for event in events)


def test_the_answer_of_subscribe_comes_before_its_events(daemon: Daemon, nginx: Nginx) -> None:
    with daemon.wire() as wire:
        subscribe = {"jsonrpc": "2.0", "id": 1, "method": "events.subscribe", "params": {"types": ["*"]}}
        submit = {"jsonrpc": "2.0", "id": 2, "method": "request.submit", "params": {"url": f"{nginx.http}/hello.txt"}}
        wire.send_bytes(json.dumps(subscribe).encode() + b"\n" + json.dumps(submit).encode() + b"\n")
        first = wire.receive()
        assert (first["id"], "sub" in first["result"]) == (1, True)
        assert wire.event("request.did_finish")["sub"] == first["result"]["sub"]


def test_no_event_comes_after_the_answer_of_unsubscribe(daemon: Daemon, nginx: Nginx) -> None:
    with daemon.wire() as wire:
        subscription = wire.call("events.subscribe", types=["*"])["sub"]
        for _ in range(20):
            wire.request("request.submit", url=f"{nginx.http}/hello.txt")
        last = wire.request("events.unsubscribe", sub=subscription)
        assert wire.answer(last)["result"]["changed"] is True
        assert wire.call("events.unsubscribe", sub=subscription)["changed"] is False
        wire.finish()
        assert [message for message in wire.rest() if "method" in message] == []


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["request.did_finish"], {"request.did_finish"}),
        (["request.did_f*"], {"request.did_finish"}),
        (["*.did_complete", "request.did_finish"], {"task.did_complete", "request.did_finish"}),
        (["task.*", "request.did_finish"], {kind for kind in GET if kind.startswith("task.")} | {"request.did_finish"}),
    ],
)
def test_types_are_chosen_by_globs(wire: Wire, nginx: Nginx, types: list[str], expected: set[str]) -> None:
    wire.call("events.subscribe", types=types)
    wire.request("request.perform", url=f"{nginx.http}/hello.txt")
    assert {event["type"] for event in events_until(wire, "request.did_finish")} == expected


def test_a_type_that_does_not_exist_is_refused(wire: Wire) -> None:
    error = wire.answer(wire.request("events.subscribe", types=["request.*", "request.did_finnish"]))["error"]
    assert (error["code"], error["data"]["path"]) == (-32602, "params.types[1]")


def test_a_scope_decides_whose_events_are_heard(daemon: Daemon, nginx: Nginx) -> None:
    with daemon.wire() as mine, daemon.wire() as everybody, daemon.wire() as session, daemon.wire() as other:
        mine.call("client.hello", name="mine")
        other.call("client.hello", name="other")
        other.call("session.create", name="quiet")
        mine.call("events.subscribe", types=["request.did_finish"], scope="mine")
        everybody.call("events.subscribe", types=["request.did_finish"], scope="all")
        session.call("events.subscribe", types=["request.did_finish"], scope="session:quiet")
        theirs = other.call("request.submit", url=f"{nginx.http}/hello.txt", session="quiet")["request"]
        assert everybody.event("request.did_finish")["request"] == theirs
        assert session.event("request.did_finish")["request"] == theirs
        ours = mine.call("request.submit", url=f"{nginx.http}/hello.txt")["request"]
        assert mine.event("request.did_finish")["request"] == ours
        assert everybody.event("request.did_finish")["request"] == ours


@pytest.mark.own_daemon
def test_the_pool_s_events_tell_of_connections(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("events.subscribe", types=["pool.*"], scope="all")
    wire.request("request.perform", url=origin.url)
    opened = wire.event("pool.connection_opened")["data"]
    origin.received(1)
    origin.close_connections()
    closed = wire.event("pool.connection_closed")["data"]
    assert opened["connection"] == closed["connection"]
    assert opened["origin"] == closed["origin"] == origin.url


def test_a_failure_and_a_cancellation_tell_their_name(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("events.subscribe", types=["request.*"])
    wire.request("request.perform", url="http://127.0.0.1:1/")
    failed = wire.event("request.did_finish")["data"]
    assert (failed["ok"], failed["error"]["name"]) == (False, "session_task_failed.cannot_connect_to_host")
    origin.hold("/held")
    request = wire.call("request.submit", url=f"{origin.url}/held")["request"]
    origin.received(1)
    cancelling = wire.request("request.cancel", request=request)
    kinds: list[str] = []
    while not kinds or kinds[-1] != "request.did_finish":
        message = wire.receive()
        if message.get("method") == "event":
            kinds.append(message["params"]["type"])
        else:
            assert message["id"] == cancelling
    assert kinds.index("request.did_cancel") < kinds.index("request.did_finish")


def test_events_cost_nothing_while_nobody_listens(start: Callable[..., Daemon], nginx: Nginx) -> None:
    daemon = start(config={"limits": {"journal_linger_ms": 0}})
    with daemon.wire() as wire:
        built = 0
        for _ in range(2):
            for _ in range(20):
                wire.call("request.perform", url=f"{nginx.http}/hello.txt")
            assert daemon.stats()["events"]["built"] == built
            subscription = wire.call("events.subscribe", types=["request.*", "task.*"])["sub"]
            for _ in range(20):
                wire.call("request.perform", url=f"{nginx.http}/hello.txt")
            wire.call("events.unsubscribe", sub=subscription)
            now = daemon.stats()["events"]["built"]
            assert now - built in range(280, 290)
            built = now


def test_a_subscription_keeps_a_half_closed_connection_open(daemon: Daemon, nginx: Nginx) -> None:
    with daemon.wire() as wire:
        wire.call("events.subscribe", types=["request.did_finish"], scope="all")
        wire.finish()
        daemon.call("request.perform", url=f"{nginx.http}/hello.txt")
        assert wire.event("request.did_finish")["data"]["status"] == 200


def test_more_subscriptions_than_the_limit_are_refused(wire: Wire) -> None:
    for _ in range(32):
        wire.call("events.subscribe", types=["request.*"])
    error = wire.answer(wire.request("events.subscribe", types=["request.*"]))["error"]
    assert error["data"]["name"]


def test_a_reader_that_falls_behind_is_told_how_much_it_missed(start: Callable[..., Daemon], nginx: Nginx) -> None:
    """Nothing else is lost: the missed events can be read from the last cursor that it received."""
    daemon = start(config={"limits": {"unread_event_bytes": 65_536}})
    with daemon.wire() as slow, daemon.client() as client:
        slow.call("events.subscribe", types=["*"], scope="all")
        while daemon.stats()["events"]["dropped"] < 100:
            client.get(f"{nginx.http}/hello.txt")
        seen: list[int] = []
        while (event := slow.receive()["params"])["type"] != "lagged":
            seen.append(int(event["cursor"].partition(".")[2]))
        dropped, resume = event["data"]["dropped"], event["data"]["resume"]
        assert resume == f"{event['cursor'].partition('.')[0]}.{seen[-1]}"
        slow.call("events.subscribe", types=["request.did_finish"], scope="all")
        request = client.get(f"{nginx.http}/hello.txt").request_id
        assert slow.event("request.did_finish")["request"] == request
        missed: list[int] = []
        with daemon.wire() as again:
            while len(missed) < dropped:
                answer = again.call("events.next", since=resume, scope="all", max=10_000)
                missed += [int(each["cursor"].partition(".")[2]) for each in answer["events"]]
                resume = answer["cursor"]
        assert seen + missed == list(range(seen[0], seen[0] + len(seen) + len(missed)))


@pytest.mark.parametrize("reads", [False, True])
def test_a_reader_that_wants_to_be_closed_when_it_falls_behind(
    start: Callable[..., Daemon], nginx: Nginx, *, reads: bool
) -> None:
    daemon = start(config={"limits": {"unread_event_bytes": 65_536}})
    with daemon.wire() as slow, daemon.client() as client:
        slow.call("events.subscribe", types=["*"], scope="all", on_lag="close")
        while daemon.stats()["events"]["subscriptions"]:
            client.get(f"{nginx.http}/hello.txt")
        if not reads:
            return
        closed = slow.event("subscription.closed")
        assert closed["data"]["reason"] == "lagged"
        assert closed["data"]["dropped"] > 0
        assert "gap" not in slow.call("events.subscribe", scope="all", since=closed["data"]["resume"])


def test_the_python_clients_iterate_over_events(daemon: Daemon, nginx: Nginx) -> None:
    with daemon.client() as client:
        client.subscribe(["request.did_finish"])
        request = client.get(f"{nginx.http}/hello.txt").request_id
        assert next(client.notifications(10)).params["request"] == request

    async def asynchronous() -> str:
        async with carpool.AsyncClient(daemon.socket) as client:
            await client.subscribe(["request.did_finish"])
            response, notification = await asyncio.gather(
                client.get(f"{nginx.http}/hello.txt"), anext(client.notifications(10))
            )
            assert notification.params["request"] == response.request_id
        return "done"

    assert asyncio.run(asynchronous()) == "done"
