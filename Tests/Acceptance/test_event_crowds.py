"""Watchers that do not read, that disconnect in the middle, and that are many: other clients are not affected."""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import Callable
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.waiting import eventually
from harness.wire import Wire
from origins.nginx import Nginx

pytestmark = pytest.mark.own_daemon

Start = Callable[..., Daemon]


def make_requests(daemon: Daemon, url: str, count: int) -> None:
    with daemon.wire() as wire:
        calls = [wire.request("request.perform", url=url) for _ in range(count)]
        for _ in calls:
            wire.receive()


def load(daemon: Daemon, nginx: Nginx, count: int) -> None:
    """Make requests, at a time at most the maximum of a connection."""
    for _ in range(count // 200):
        make_requests(daemon, f"{nginx.http}/hello.txt", 200)


def test_a_watcher_that_never_reads_costs_no_more_than_the_journal(start: Start, nginx: Nginx) -> None:
    daemon = start(config={"limits": {"journal_bytes": 1_048_576, "unread_event_bytes": 262_144}})
    with daemon.wire() as silent, daemon.wire() as reader:
        silent.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        silent.call("events.subscribe", types=["*"], scope="all")
        reader.call("events.subscribe", types=["request.did_finish"], scope="all")
        before = 0
        for turn in range(10):
            load(daemon, nginx, 200)
            for _ in range(200):
                assert reader.event("request.did_finish")
            if turn == 2:
                before = daemon.memory_kib()
        stats = daemon.stats()["events"]
        assert stats["dropped"] > 10_000
        assert stats["journal_bytes"] <= 1_048_576
        # 1,400 requests have 6 MB of events.
        assert daemon.memory_kib() - before < 3_000
        lagged = silent.event("lagged")["data"]
        assert lagged["dropped"] > 10_000
        again = silent.call("events.subscribe", scope="all", since=lagged["resume"])
        assert again["gap"] is True
        assert again["snapshot"]["requests"] == []


def test_one_that_stops_for_a_while_resumes_where_the_journal_reaches(start: Start, nginx: Nginx) -> None:
    daemon = start(config={"limits": {"unread_event_bytes": 262_144}})
    with daemon.wire() as wire:
        wire.call("events.subscribe", types=["*"], scope="all")
        load(daemon, nginx, 600)
        seen: list[int] = []
        while (event := wire.receive()["params"])["type"] != "lagged":
            seen.append(number(event))
        answer = wire.call("events.subscribe", types=["*"], scope="all", since=event["data"]["resume"])
        assert "gap" not in answer
        for _ in range(event["data"]["dropped"]):
            seen.append(number(wire.receive()["params"]))
        assert seen == list(range(seen[0], seen[0] + len(seen)))


def number(event: dict[str, Any]) -> int:
    return int(event["cursor"].partition(".")[2])


def test_watchers_that_go_in_the_middle_of_an_event(daemon: Daemon, nginx: Nginx) -> None:
    dice = random.Random(7)
    for _ in range(30):
        with daemon.wire() as wire:
            wire.call("events.subscribe", types=["*"], scope="all")
            wire.request("request.submit", url=f"{nginx.http}/hello.txt")
            wire.some_bytes(dice.randrange(1, 3_000), 1)
            if dice.random() < 0.5:
                # A reset, not an end: bytes in transit are discarded.
                wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    eventually(lambda: daemon.stats()["events"]["subscriptions"] == 0)
    eventually(daemon.is_idle)
    with daemon.wire() as wire:
        wire.call("events.subscribe", types=["request.did_finish"])
        wire.request("request.perform", url=f"{nginx.http}/hello.txt")
        assert wire.event("request.did_finish")


def test_sixty_four_connections_with_thirty_two_subscriptions_each(daemon: Daemon, nginx: Nginx) -> None:
    load(daemon, nginx, 200)
    before = daemon.memory_kib()
    with contextlib.ExitStack() as stack:
        wires: list[Wire] = [stack.enter_context(daemon.wire()) for _ in range(64)]
        for wire in wires:
            for call in [wire.request("events.subscribe", types=["request.did_*"], scope="all") for _ in range(32)]:
                wire.result(call)
        assert daemon.stats()["events"]["subscriptions"] == 64 * 32
        with daemon.wire() as maker:
            for _ in range(5):
                maker.call("request.perform", url=f"{nginx.http}/hello.txt")
        # None of them has read: the queues of 64 connections, their subscriptions, and the journal.
        assert daemon.memory_kib() - before < 64 * 600 + 4_096
        for wire in wires:
            for _ in range(32 * 5):
                assert wire.event("request.did_finish")
    eventually(lambda: daemon.stats()["events"]["subscriptions"] == 0)
