"""The eight notifications, events of one request, throttled progress, and secrets."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.story import Story
from harness.wire import RemoteError, Wire
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

Event = dict[str, Any]


def events_of(wire: Wire, call: int) -> tuple[list[Event], Any]:
    """The events until a call is answered, and its result."""
    events: list[Event] = []
    while (message := wire.receive()).get("id") != call:
        if message.get("method") == "event":
            events.append(message["params"])
    return events, message["result"]


def until_closed(wire: Wire) -> list[Event]:
    """The events until a subscription is closed."""
    events: list[Event] = []
    while not events or events[-1]["type"] != "subscription.closed":
        message = wire.receive()
        if message.get("method") == "event":
            events.append(message["params"])
    return events


def kinds(events: list[Event]) -> list[str]:
    return [event["type"] for event in events]


# Notifications (NO-01 to NO-10)


def test_no_01_to_no_09_each_follows_its_step_and_tells_the_request(wire: Wire, origin: ScriptedOrigin) -> None:
    story = Story(wire, ["notification.*"])
    gate = origin.hold("/held")
    url = f"{origin.url}/held"
    request = story.submit(url)
    origin.received(1)
    story.call("request.suspend", request=request)
    story.call("request.resume", request=request)
    gate.set()
    story.wait(request)
    cancelled = story.submit(url, start="manual")
    story.call("request.cancel", request=cancelled)
    story.wait(cancelled)
    assert [(event["type"].removeprefix("notification."), event["request"]) for event in story.events] == [
        *[(kind, request) for kind in (
            "did_resume", "did_resume_task", "did_suspend", "did_suspend_task", "did_resume", "did_resume_task",
            "did_complete_task", "did_finish",
        )],
        ("did_cancel", cancelled), ("did_finish", cancelled),
    ]  # fmt: skip
    descriptions = [event["data"]["description"] for event in story.events]
    assert (descriptions[0], descriptions[6]) == (f"GET {url}", f"GET {url} (200)")


def test_no_03_a_hundred_cancellations_are_one_notification(wire: Wire, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    wire.call("events.subscribe", types=["notification.did_cancel*", "request.did_parse_response"])
    request = wire.call("request.submit", url=f"{origin.url}/held")["request"]
    origin.received(1)
    calls = [wire.request("request.cancel", request=request) for _ in range(100)]
    events, _ = events_of(wire, calls[-1])
    while "request.did_parse_response" not in kinds(events):
        events.append(wire.receive()["params"])
    assert kinds(events) == [
        "notification.did_cancel", "notification.did_cancel_task", "request.did_parse_response",
    ]  # fmt: skip


def test_no_04_a_value_that_is_tried_twice_finishes_twice(wire: Wire, origin: ScriptedOrigin) -> None:
    bodies = [b"no json", b"[1]"]
    url = origin.on("/json", lambda exchange: exchange.reply(body=bodies.pop(0)))
    wire.call("events.subscribe", types=["notification.did_finish", "notification.did_complete_task"])
    retry = [{"retry_policy": {"scale_ms": 1, "statuses": [200]}}]
    events, _ = events_of(wire, wire.request("request.perform", url=url, interceptor=retry, serialize="json"))
    assert kinds(events) == ["notification.did_complete_task", "notification.did_finish"] * 2


@pytest.mark.parametrize("types", [["*"], ["*.did_resume"], ["request.*", "task.*"]])
def test_no_10_who_does_not_ask_for_notifications_hears_none(
    daemon: Daemon, wire: Wire, nginx: Nginx, types: list[str]
) -> None:
    with daemon.wire() as other:
        other.call("events.subscribe", types=["notification.*"], scope="all")
        wire.call("events.subscribe", types=types)
        events, _ = events_of(wire, wire.request("request.perform", url=f"{nginx.http}/hello.txt"))
        assert events and not [kind for kind in kinds(events) if kind.startswith("notification.")]
        assert other.event("notification.did_finish")


# The events of one request


def test_a_submitted_request_is_followed_from_its_first_event_to_its_last(wire: Wire, nginx: Nginx) -> None:
    other = wire.request("request.submit", url=f"{nginx.http}/hello.txt")
    call = wire.request("request.submit", url=f"{nginx.http}/hello.txt", events={})
    wire.result(other)
    before, answer = events_of(wire, call)
    assert before == []
    events = until_closed(wire)
    assert {event["sub"] for event in events} == {answer["sub"]}
    assert {event["request"] for event in events[:-1]} == {answer["request"]}
    assert kinds(events)[0] == "request.did_resume"
    assert kinds(events)[-2:] == ["request.did_parse_response", "subscription.closed"]
    assert events[-1]["data"] == {"reason": "request_finished"}
    assert len(events) == 15
    assert wire.call("events.unsubscribe", sub=answer["sub"])["changed"] is False


def test_a_performed_request_is_followed_before_its_answer(wire: Wire, nginx: Nginx) -> None:
    events, record = events_of(
        wire, wire.request("request.perform", url=f"{nginx.http}/hello.txt", events={"types": ["task.*"]})
    )
    assert kinds(events) == [
        "task.did_receive_response", "task.did_receive_data", "task.did_collect_metrics", "task.did_complete",
        "subscription.closed",
    ]  # fmt: skip
    assert {event["sub"] for event in events} == {record["sub"]}
    assert record["outcome"]["ok"]


def test_a_request_that_fails_at_once_is_followed(wire: Wire) -> None:
    wire.call("request.submit", url="", events={})
    assert kinds(until_closed(wire)) == [
        "request.did_resume", "request.did_fail_to_create_url_request", "request.did_finish",
        "request.did_parse_response", "subscription.closed",
    ]  # fmt: skip


def test_what_the_events_of_a_request_ask_for_is_checked_before_it_is_made(wire: Wire, origin: ScriptedOrigin) -> None:
    with pytest.raises(RemoteError) as failure:
        wire.call("request.perform", url=origin.url, events={"types": ["request.did_finnish"]})
    assert failure.value.error["data"]["path"] == "params.events.types[0]"
    assert origin.requests == []


# Secrets


def test_secrets_are_for_the_client_that_made_the_request(daemon: Daemon, origin: ScriptedOrigin) -> None:
    url = origin.on("/cookie", lambda exchange: exchange.reply(headers=[("Set-Cookie", "id=geheim")]))
    types = ["request.did_create_url_request", "task.did_receive_response", "request.did_finish"]
    with daemon.wire() as mine, daemon.wire() as other:
        mine.call("client.hello", name="mine")
        other.call("client.hello", name="other")
        begin = mine.call("events.subscribe", types=types)["cursor"]
        other.call("events.subscribe", types=types, scope="all")
        headers = {"Authorization": "Bearer geheim", "X-Plain": "open"}
        events, _ = events_of(mine, mine.request("request.perform", url=url, headers=headers))
        theirs = [other.event(kind) for kind in types]
        again = mine.call("events.next", since=begin, types=types)["events"]
        elsewhere = other.call("events.next", since=begin, types=types, scope="all")["events"]
    assert ["Authorization", "Bearer geheim"] in events[0]["data"]["headers"]
    assert ["Authorization", "(hidden)"] in theirs[0]["data"]["headers"]
    assert ["X-Plain", "open"] in theirs[0]["data"]["headers"]
    assert ["Set-Cookie", "id=geheim"] in events[1]["data"]["response"]["headers"]
    assert ["Set-Cookie", "(hidden)"] in theirs[1]["data"]["response"]["headers"]
    assert [event["cursor"] for event in events] == [event["cursor"] for event in theirs]
    assert "geheim" in str(again) and "geheim" not in str(elsewhere)


# Progress


class SlowBody:
    """A body that comes byte by byte until enough progress events have been seen, and then at once."""

    size = 100_000

    def __init__(self) -> None:
        self.seen = threading.Event()

    def __call__(self, exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % self.size)
        left = self.size
        while left > 1 and not self.seen.wait(0.005):
            exchange.send(b"x")
            left -= 1
        exchange.send(b"x" * left)
        exchange.close()


def test_progress_is_thinned_out_and_ends_with_the_whole(wire: Wire, origin: ScriptedOrigin, daemon: Daemon) -> None:
    body = SlowBody()
    url = origin.on("/slow", body)
    events_parameter = {"types": ["request.progress", "request.did_complete_task"], "progress_interval_ms": 600_000}
    with daemon.wire() as full:
        full.call("events.subscribe", types=["request.progress"], scope="all")
        call = wire.request("request.perform", url=url, kind="download", events=events_parameter)
        all_steps: list[int] = []
        while not all_steps or all_steps[-1] < body.size:
            all_steps.append(full.event("request.progress")["data"]["received_bytes"])
            if len(all_steps) == 4:
                body.seen.set()
        events, _ = events_of(wire, call)
    steps = [event["data"]["received_bytes"] for event in events if event["type"] == "request.progress"]
    assert len(steps) == 2 and steps[-1] == body.size
    assert kinds(events)[-2:] == ["request.did_complete_task", "subscription.closed"]
    positions = [int(event["cursor"].partition(".")[2]) for event in events]
    assert positions == sorted(positions)


@pytest.mark.parametrize("kind", ["data", "upload"])
def test_rl_23_dr_02_the_progress_of_any_body(wire: Wire, origin: ScriptedOrigin, kind: str) -> None:
    slow = SlowBody()
    url = origin.on("/slow", slow)
    body = {"body": {"text": "x"}} if kind == "upload" else {}
    call = wire.request("request.perform", url=url, kind=kind, events={"types": ["request.progress"]}, **body)
    steps = [wire.event("request.progress")["data"] for _ in range(3)]
    slow.seen.set()
    events, _ = events_of(wire, call)
    steps += [event["data"] for event in events[:-1]]
    received = [step["received_bytes"] for step in steps]
    assert received == sorted(received)
    assert steps[-1] == {"received_bytes": slow.size, "total_bytes": slow.size}


@pytest.mark.parametrize("size", [1, 100_000])
def test_f10_the_last_step_of_a_body_that_comes_at_once_is_told(wire: Wire, origin: ScriptedOrigin, size: int) -> None:
    url = origin.on("/fast", lambda exchange: exchange.reply(body=b"x" * size))
    events, _ = events_of(wire, wire.request("request.perform", url=url, events={"types": ["request.progress"]}))
    steps = [event["data"] for event in events if event["type"] == "request.progress"]
    assert steps[-1] == {"received_bytes": size, "total_bytes": size}


def test_f10_of_no_body_there_is_no_progress(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/empty", lambda exchange: exchange.reply(204))
    events, _ = events_of(wire, wire.request("request.perform", url=url, events={"types": ["request.progress"]}))
    assert "request.progress" not in kinds(events)
