"""Streams of events against a daemon of a few lines, for both clients."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from both_clients import Asynchronous, Blocking, Connect, OnUvloop, Start

import carpool
from carpool import _link_async
from carpool._events import event_params, initial_events


def event(number: int, **members: Any) -> dict[str, Any]:
    return {"method": "event", "params": {"sub": "s1", "cursor": f"a.{number}", "type": "t", "data": {}, **members}}


def collect(client: Blocking | Asynchronous, *arguments: Any, count: int = -1, **named: Any) -> list[carpool.Event]:
    """Return the first `count` events, or all until the iteration ends."""
    stream = client.client.events(*arguments, **{"timeout": 30, **named})
    if isinstance(stream, carpool.EventStream):
        with stream:
            return list(itertools.islice(stream, count if count >= 0 else None))

    async def first(stream: carpool.AsyncEventStream) -> list[carpool.Event]:
        async with stream:
            found: list[carpool.Event] = []
            while len(found) != count and (event := await anext(stream, None)) is not None:
                found.append(event)
            return found

    assert isinstance(client, Asynchronous)
    return client.loop.run_until_complete(first(stream))


class Script:
    """Answers each subscription with the next list of messages; a None in it ends the connection."""

    def __init__(self, *lists: list[dict[str, Any] | None]) -> None:
        self._lists = list(lists)

    def __call__(self, message: dict[str, Any]) -> Any:
        return self._messages(message)

    def _messages(self, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for entry in self._lists.pop(0):
            if entry is None:
                raise ConnectionError
            yield {**entry, "id": message["id"]} if "result" in entry else entry


def begun(number: int, **members: Any) -> dict[str, Any]:
    return {"result": {"sub": "s1", "cursor": f"a.{number}", **members}}


def test_a_lost_connection_is_made_again_from_the_last_event(start: Start, connect: Connect) -> None:
    daemon = start(
        Script([begun(0), event(1), event(2), None], [begun(2), event(3), event(4, type="bookmark"), event(5)])
    )
    events = collect(connect(daemon.path), ["t*"], count=4, scope="all")
    assert [event.cursor for event in events] == ["a.1", "a.2", "a.3", "a.5"]
    assert [message["params"] for message in daemon.received] == [
        {"types": ["t*"], "scope": "all"},
        {"types": ["t*"], "scope": "all", "since": "a.2"},
    ]


def test_a_bookmark_moves_the_cursor(start: Start, connect: Connect) -> None:
    daemon = start(Script([begun(0), event(9, type="bookmark"), None], [begun(9), event(10)]))
    assert [event.cursor for event in collect(connect(daemon.path), count=1)] == ["a.10"]
    assert daemon.received[1]["params"]["since"] == "a.9"


def test_a_gap_is_an_event(start: Start, connect: Connect) -> None:
    daemon = start(Script([begun(7, gap=True, snapshot={"requests": []}), event(8)]))
    gap, snapshot, after = collect(connect(daemon.path), count=3, since="z.1")
    assert (gap.type, gap.data, gap.cursor, gap.time) == ("gap", {"since": "z.1"}, "a.7", None)
    assert (snapshot.type, snapshot.data) == ("snapshot", {"requests": []})
    assert after.cursor == "a.8"


def test_the_iteration_ends_when_nothing_comes_in_time(start: Start, connect: Connect) -> None:
    daemon = start(Script([begun(0)]))
    assert collect(connect(daemon.path), timeout=0.01) == []


def test_a_loss_is_raised_where_that_is_wanted(start: Start, connect: Connect) -> None:
    daemon = start(Script([begun(0), event(1), None]))
    with pytest.raises(carpool.ConnectionLostError):
        collect(connect(daemon.path), reconnect=False)


def test_a_daemon_that_was_never_there_is_not_waited_for(connect: Connect, tmp_path: Path) -> None:
    with pytest.raises(carpool.DaemonUnreachableError):
        collect(connect(tmp_path / "nobody"))


@pytest.mark.parametrize("kind", [Asynchronous, OnUvloop])
def test_a_feed_reads_little_ahead(start: Start, kind: type[Asynchronous]) -> None:
    many = 6_000
    daemon = start(Script([begun(0), *(event(number) for number in range(1, many + 1))]))

    async def read() -> tuple[list[str | None], int]:
        most = 0
        async with carpool.AsyncClient(daemon.path).events(timeout=30) as events:
            cursors = []
            async for one in events:
                cursors.append(one.cursor)
                link = events._channel.link
                most = max(most, len(link.notifications)) if link else most
                if len(cursors) == many:
                    break
            return cursors, most

    client = kind(daemon.path)
    cursors, most = client.loop.run_until_complete(read())
    client.close()
    assert cursors == [f"a.{number}" for number in range(1, many + 1)]
    # asyncio reads 256 KiB at a time, of which a line takes some 100 bytes.
    assert most < _link_async.MAX_AHEAD + 4_000


def test_seconds_become_milliseconds_and_none_is_left_out() -> None:
    assert event_params("a", "all", snapshot=None, progress_interval=None) == {"types": ["a"], "scope": "all"}
    assert event_params(["a"], "mine", snapshot=True, progress_interval=0.25) == {
        "types": ["a"],
        "scope": "mine",
        "snapshot": True,
        "progress_interval_ms": 250,
    }


def test_the_state_of_a_watch_is_told_as_a_snapshot() -> None:
    answer = {"sub": "s1", "cursor": "a.1", "reachability": {"status": "unknown"}}
    (told,) = initial_events(answer, None)
    assert told == {"sub": "s1", "cursor": "a.1", "type": "snapshot", "data": {"reachability": {"status": "unknown"}}}
    assert initial_events({"sub": "s1", "cursor": "a.1"}, None) == []


def test_an_event_has_its_parts() -> None:
    whole = carpool.Event(
        {"type": "t", "time": "2026-09-30T10:00:00.123456Z", "session": "s", "request": "r", "attempt": 2}
    )
    assert whole.time is not None
    assert (whole.time.isoformat(), whole.session) == ("2026-09-30T10:00:00.123456+00:00", "s")
    assert (whole.request_id, whole.attempt, whole.client, whole.cursor, whole.data) == ("r", 2, None, None, {})
