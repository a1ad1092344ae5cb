"""The journal of events: a reader that reconnects gets the events that it has missed, or a gap."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.waiting import eventually
from harness.wire import RemoteError, Wire
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

pytestmark = pytest.mark.own_daemon

Start = Callable[..., Daemon]
Event = dict[str, Any]


def numbers(events: list[Event]) -> list[int]:
    return [int(event["cursor"].partition(".")[2]) for event in events]


def plain(event: Event) -> Event:
    """An event without the subscription that it came for."""
    return {name: value for name, value in event.items() if name != "sub"}


def read(wire: Wire, count: int) -> list[Event]:
    """The next events of a connection."""
    events: list[Event] = []
    while len(events) < count:
        message = wire.receive()
        if message.get("method") == "event":
            events.append(plain(message["params"]))
    return events


@pytest.fixture
def watched(daemon: Daemon) -> Daemon:
    """A daemon that records, because a client has read events."""
    daemon.call("events.next", timeout_ms=0)
    return daemon


def test_since_replays_what_has_happened_meanwhile_and_goes_on(watched: Daemon, nginx: Nginx) -> None:
    with watched.wire() as first:
        cursor = first.call("events.subscribe", scope="all")["cursor"]
        first.call("request.perform", url=f"{nginx.http}/hello.txt")
    with watched.wire() as witness:
        told = witness.call("events.next", since=cursor, scope="all", max=10_000)["events"]
    assert len([event for event in told if event.get("request")]) == 14
    with watched.wire() as second:
        answer = second.call("events.subscribe", scope="all", since=cursor)
        assert "gap" not in answer and "snapshot" not in answer
        assert answer["cursor"] == cursor
        assert read(second, len(told)) == told
        second.request("request.perform", url=f"{nginx.http}/hello.txt")
        later = read(second, 14)
    assert numbers(told + later) == sorted(set(numbers(told + later)))


def test_a_replay_is_filtered(watched: Daemon, nginx: Nginx) -> None:
    cursor = watched.call("events.next", timeout_ms=0)["cursor"]
    with watched.client() as client:
        names = [client.get(f"{nginx.http}/hello.txt").request_id for _ in range(3)]
    with watched.wire() as wire:
        wire.call("events.subscribe", types=["request.did_finish"], scope="all", since=cursor)
        assert [event["request"] for event in read(wire, 3)] == names


@pytest.mark.parametrize("cursor", ["zzzz.5", "0.0"])
def test_a_cursor_of_another_daemon_is_a_gap(daemon: Daemon, origin: ScriptedOrigin, cursor: str) -> None:
    origin.hold("/held")
    with daemon.wire() as wire:
        request = wire.call("request.submit", url=f"{origin.url}/held")["request"]
        origin.received(1)
        answer = wire.call("events.subscribe", since=cursor)
        assert answer["gap"] is True
        snapshot = answer["snapshot"]
        assert [(entry["request"], entry["state"]) for entry in snapshot["requests"]] == [(request, "resumed")]
        assert {"session": "default", "active": 1} in snapshot["sessions"]
        assert snapshot["pool"]["active"] == 1
        wire.call("request.cancel", request=request)
        assert wire.event("request.did_finish")["request"] == request


def test_a_cursor_from_before_the_recording_is_a_gap(daemon: Daemon, nginx: Nginx) -> None:
    """Nothing is recorded without a reader, and the answer reports a gap instead of an empty list."""
    cursor = daemon.call("request.submit", url=f"{nginx.http}/hello.txt")["cursor"]
    answer = daemon.call("events.next", since=cursor, timeout_ms=0)
    assert answer["gap"] is True
    assert "gap" not in daemon.call("events.next", since=answer["cursor"], timeout_ms=0)


def test_the_steps_of_bodies_are_recorded_only_if_a_reader_asks(daemon: Daemon, nginx: Nginx) -> None:
    def poll(types: list[str], since: str | None = None) -> Any:
        cursor = {} if since is None else {"since": since}
        return daemon.call("events.next", types=types, scope="all", timeout_ms=0, max=10_000, **cursor)

    steps = ["task.did_receive_data"]
    before = poll(["request.did_finish"])["cursor"]
    daemon.call("request.perform", url=f"{nginx.http}/16m.bin")
    assert daemon.stats()["events"]["built"] < 30
    assert poll(["request.did_finish"], before)["events"]
    answer = poll(steps, before)
    assert (answer["gap"], answer["events"]) == (True, [])
    daemon.call("request.perform", url=f"{nginx.http}/16m.bin")
    assert poll(steps, answer["cursor"])["events"]


@pytest.mark.parametrize("method", ["request.perform", "request.submit"])
def test_nothing_is_recorded_after_a_request_that_ends_with_its_connection(
    daemon: Daemon, nginx: Nginx, method: str
) -> None:
    for _ in range(3):
        with daemon.wire() as wire:
            wire.call(method, url=f"{nginx.http}/hello.txt", events={"types": ["task.*"]}, on_disconnect="cancel")
            if method == "request.submit":
                while wire.receive()["params"]["type"] != "subscription.closed":
                    pass
    eventually(lambda: daemon.stats()["events"]["journal_bytes"] == 0)
    built = daemon.stats()["events"]["built"]
    daemon.call("request.perform", url=f"{nginx.http}/hello.txt")
    assert daemon.stats()["events"]["built"] == built


def test_a_detached_request_may_be_followed_on_another_connection(daemon: Daemon, nginx: Nginx) -> None:
    with daemon.wire() as wire:
        wire.call("request.submit", url=f"{nginx.http}/hello.txt", events={}, on_disconnect="detach")
        cursor = wire.event("request.did_resume")["cursor"]
    events = daemon.call("events.next", since=cursor, types=["request.*"], scope="all", max=10_000)["events"]
    assert events[-1]["type"].startswith("request.")


def test_a_cursor_of_the_future_is_a_gap(watched: Daemon) -> None:
    epoch = watched.call("daemon.info")["server"]["epoch"]
    assert watched.call("events.next", since=f"{epoch}.999999", timeout_ms=0)["gap"] is True


@pytest.mark.parametrize("cursor", ["", "nonsense", "k3f9.", "k3f9.-1", "k3f9.x", ".5", "K3F9.5", "k3f9.5.5"])
def test_what_no_daemon_gives_is_a_mistake(wire: Wire, cursor: str) -> None:
    with pytest.raises(RemoteError) as failure:
        wire.call("events.subscribe", since=cursor)
    assert (failure.value.code, failure.value.error["data"]["path"]) == (-32602, "params.since")


def test_a_snapshot_can_be_had_without_a_gap(wire: Wire) -> None:
    answer = wire.call("events.subscribe", snapshot=True)
    assert "gap" not in answer
    assert answer["snapshot"]["requests"] == []


def test_a_killed_daemon_leaves_a_gap_and_a_right_snapshot(start: Start, origin: ScriptedOrigin) -> None:
    first = start()
    with first.wire() as wire:
        wire.call("events.subscribe")
        wire.call("request.submit", url=origin.url)
        cursor = wire.event("request.did_finish")["cursor"]
    first.kill()
    second = start()
    origin.hold("/held")
    with second.wire() as wire:
        request = wire.call("request.submit", url=f"{origin.url}/held")["request"]
        answer = wire.call("events.subscribe", since=cursor)
        assert answer["gap"] is True
        assert [entry["request"] for entry in answer["snapshot"]["requests"]] == [request]
        assert answer["cursor"].partition(".")[0] != cursor.partition(".")[0]
        wire.call("request.cancel", request=request)
        assert wire.event("request.did_finish")["request"] == request


def test_a_full_journal_forgets_the_oldest(start: Start, nginx: Nginx) -> None:
    daemon = start(config={"limits": {"journal_bytes": 65_536}})
    with daemon.wire() as wire, daemon.client() as client:
        begin = wire.call("events.next", timeout_ms=0)["cursor"]
        for _ in range(40):
            client.get(f"{nginx.http}/hello.txt")
        assert wire.call("events.next", since=begin, timeout_ms=0)["gap"] is True
        stats = daemon.stats()["events"]
        assert 0 < stats["journal_bytes"] <= 65_536
        assert stats["journal_events"] < stats["built"]
        client.get(f"{nginx.http}/hello.txt")
        recent = wire.call("events.next", timeout_ms=0)["cursor"]
        client.get(f"{nginx.http}/hello.txt")
        answer = wire.call("events.next", since=recent, scope="all")
        assert len([event for event in answer["events"] if event.get("request")]) == 14


def test_the_journal_ends_a_while_after_the_last_listener(start: Start, nginx: Nginx) -> None:
    daemon = start(config={"limits": {"journal_linger_ms": 100}})
    with daemon.wire() as wire:
        wire.call("events.subscribe")
        wire.call("request.perform", url=f"{nginx.http}/hello.txt")
        assert daemon.stats()["events"]["journal_events"] > 0
    eventually(lambda: daemon.stats()["events"]["journal_bytes"] == 0)
    built = daemon.stats()["events"]["built"]
    with daemon.client() as client:
        for _ in range(5):
            client.get(f"{nginx.http}/hello.txt")
    assert daemon.stats()["events"]["built"] == built


# Reading on


def test_next_waits_for_an_event_and_gives_a_cursor_to_go_on_with(daemon: Daemon, nginx: Nginx) -> None:
    with daemon.wire() as reader, daemon.wire() as maker:
        cursor = reader.call("events.next", timeout_ms=0)["cursor"]
        waiting = reader.request("events.next", since=cursor, types=["request.did_finish"], scope="all")
        eventually(lambda: daemon.stats()["events"]["waiting"] == 1)
        request = maker.call("request.perform", url=f"{nginx.http}/hello.txt")["request"]
        answer = reader.result(waiting)
        assert [event["request"] for event in answer["events"]] == [request]
        assert "sub" not in answer["events"][0]
        again = reader.call(
            "events.next", since=answer["cursor"], types=["request.did_finish"], scope="all", timeout_ms=0
        )
        assert again["events"] == []


def test_next_gives_no_more_than_was_asked_for_and_loses_none(watched: Daemon, nginx: Nginx) -> None:
    cursor = watched.call("events.next", timeout_ms=0)["cursor"]
    with watched.client() as client:
        for _ in range(3):
            client.get(f"{nginx.http}/hello.txt")
    events: list[Event] = []
    with watched.wire() as wire:
        while True:
            answer = wire.call("events.next", since=cursor, types=["request.*"], scope="all", max=4, timeout_ms=0)
            if not answer["events"]:
                break
            assert len(answer["events"]) <= 4
            events += answer["events"]
            cursor = answer["cursor"]
    assert len(events) == 30
    assert numbers(events) == sorted(set(numbers(events)))


def test_a_page_of_events_fits_the_line(watched: Daemon, nginx: Nginx) -> None:
    cursor = watched.call("events.next", timeout_ms=0)["cursor"]
    with watched.client() as client:
        for _ in range(30):
            client.get(f"{nginx.http}/hello.txt")
    with watched.wire() as wire:
        wire.request("events.next", since=cursor, scope="all", max=10_000)
        line = wire.receive_bytes()
    assert 32_000 < len(line) <= 65_536


def test_next_can_be_cancelled(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        waiting = wire.request("events.next")
        wire.call("rpc.cancel", id=waiting)
        assert daemon.stats()["events"]["waiting"] == 0


# Exactly once


def received(wire: Wire, count: int) -> list[Event]:
    """Return the complete events among the next `count` bytes of a connection; an incomplete one is lost."""
    data = b""
    while len(data) < count and (more := wire.some_bytes(count - len(data), 0.001)):
        data += more
    messages = [json.loads(line) for line in data.split(b"\n")[:-1]]
    return [plain(message["params"]) for message in messages]


def test_a_reader_that_comes_back_a_thousand_times_sees_every_event_once(watched: Daemon, nginx: Nginx) -> None:
    """It stops at any byte, and resumes from the last event that it has read completely."""
    dice = random.Random(20260930)
    begin = cursor = watched.call("events.next", timeout_ms=0)["cursor"]
    seen: list[Event] = []
    with watched.wire() as maker:
        for turn in range(1_000):
            if turn % 3 == 0:
                maker.request("request.submit", url=f"{nginx.http}/hello.txt")
            with watched.wire() as wire:
                assert "gap" not in wire.call("events.subscribe", scope="all", since=cursor)
                seen += received(wire, dice.randrange(8_000))
            cursor = seen[-1]["cursor"] if seen else begin
    eventually(watched.is_idle)
    expected: list[Event] = []
    with watched.wire() as wire:
        position = begin
        while events := wire.call("events.next", since=position, scope="all", max=10_000, timeout_ms=0)["events"]:
            expected += events
            position = events[-1]["cursor"]
    with watched.wire() as wire:
        wire.call("events.subscribe", scope="all", since=cursor)
        seen += read(wire, len(expected) - len(seen))
    assert len(seen) > 4_000
    assert seen == expected
