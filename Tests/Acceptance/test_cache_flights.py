"""One transfer for identical requests under way (HX-01 to HX-08)."""

from __future__ import annotations

import functools
import hashlib
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from harness.caches import SESSION, cache, connections, counters, entries, failure, get, text, told
from harness.daemon import CARPOOL, Daemon
from harness.flights import FRESH, Gate, crowd, waits_of
from harness.process import begin
from harness.stream import Reader
from harness.waiting import PATIENCE_SECONDS, SLOWNESS, eventually
from harness.wire import Wire
from origins.pages import MAX_AGE, Page
from origins.scripted import Exchange, Handler, ScriptedOrigin

pytestmark = pytest.mark.own_daemon

CROWD = 100
DELAY_SECONDS = 0.5


def processes(variables: Mapping[str, str], lines: list[list[str]], directory: Path) -> list[bytes]:
    """Run the command once for each list of arguments, all at the same time, and return what they print."""
    started = []
    for number, line in enumerate(lines):
        with (directory / str(number)).open("wb") as output:
            started.append(
                begin([CARPOOL, *line], env=dict(variables), stdin=subprocess.DEVNULL, stdout=output, stderr=output)
            )
    for process in started:
        process.wait(PATIENCE_SECONDS * 3)
    printed = [(directory / str(number)).read_bytes() for number in range(len(lines))]
    assert [process.returncode for process in started] == [0] * len(lines), printed[:3]
    return printed


# MARK: Processes


@pytest.fixture
def slow(origin: ScriptedOrigin) -> Callable[[str, Mapping[str, str]], str]:
    """Make a URL that answers after half a second."""

    def make(path: str, fields: Mapping[str, str]) -> str:
        def answer(exchange: Exchange) -> None:
            threading.Event().wait(DELAY_SECONDS)
            exchange.reply(body=b"body of it\n" * 20_000, headers=fields.items())

        return origin.on(path, answer)

    return make


def test_hx_03_a_hundred_processes_and_one_cold_url(
    variables: dict[str, str], wire: Wire, origin: ScriptedOrigin, slow: Callable[..., str], tmp_path: Path
) -> None:
    cache(wire)
    url = slow("/cold", FRESH)
    printed = processes(variables, [["get", "--session", SESSION, url]] * CROWD, tmp_path)
    assert set(printed) == {b"body of it\n" * 20_000}
    assert len(origin.requests) == 1
    counted = counters(wire)
    assert counted["collapsed"] + counted["hits"] == CROWD - 1


def test_hx_02_processes_with_five_tokens(
    variables: dict[str, str], wire: Wire, origin: ScriptedOrigin, slow: Callable[..., str], tmp_path: Path
) -> None:
    cache(wire)
    url = slow("/token", FRESH)
    lines = [
        ["get", "--session", SESSION, "-H", f"Authorization: Bearer {number % 5}", url] for number in range(CROWD // 2)
    ]
    processes(variables, lines, tmp_path)
    tokens = [request.values("Authorization")[0] for request in origin.requests]
    assert set(tokens) == {f"Bearer {number}" for number in range(5)}
    # Less than one in three processes; a process that is late may miss a transfer that has just ended.
    assert len(tokens) <= CROWD // 6


# MARK: Which requests are identical


def test_hx_02_hx_03_requests_at_the_same_time_are_one(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire)
    gate = Gate(origin, "/one", FRESH, b"x" * 100_000)
    records = crowd(daemon, wire, gate, [{"response_body": "inline", "sha256": True}] * CROWD, 1)
    assert gate.count == 1
    assert {record["body"]["sha256"] for record in records} == {hashlib.sha256(b"x" * 100_000).hexdigest()}
    verdicts = [told(record) for record in records]
    assert verdicts.count(("collapsed", "collapsed")) == CROWD - 1
    kinds = [record["metrics"]["resource_fetch_type"] for record in records]
    assert kinds.count("network") == 1


def test_hx_02_a_vary_that_differs_makes_a_hundred(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    """Also when it is not known yet that the origin selects by the field."""
    cache(wire)
    gate = Gate(origin, "/vary", {**FRESH, "Vary": "X-A"})
    params = [{"headers": {"X-A": str(number)}} for number in range(CROWD)]
    records = crowd(daemon, wire, gate, params, CROWD)
    assert gate.count == CROWD
    assert len({text(record) for record in records}) == CROWD


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"headers": {"Authorization": "a"}}, {"headers": {"Authorization": "b"}}),
        ({"headers": {"Authorization": "a"}}, {}),
        ({"headers": {"Cookie": "a=1"}}, {"headers": {"Cookie": "a=2"}}),
        ({"headers": {"Accept": "text/a"}}, {"headers": {"Accept": "text/b"}}),
        ({"decode": True}, {"decode": False}),
        ({}, {"method": "HEAD"}),
        ({}, {"method": "POST", "body": {"text": ""}}),
        ({}, {"cache": "reload_ignoring_cache"}),
        ({}, {"cache": "no_store"}),
        ({}, {"headers": {"Cache-Control": "no-store"}}),
        ({}, {"headers": {"Range": "bytes=0-0"}}),
        ({}, {"headers": {"If-None-Match": '"1"'}}),
        ({}, {"session": "second"}),
    ],
    ids=str,
)
def test_hx_01_hx_02_hx_08_what_is_not_identical(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin, one: dict[str, Any], two: dict[str, Any]
) -> None:
    cache(wire)
    cache(wire, "second")
    gate = Gate(origin, "/two", FRESH)
    crowd(daemon, wire, gate, [one, two], 2)
    assert gate.count == 2


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"headers": {"User-Agent": "a"}}, {"headers": {"User-Agent": "b"}}),
        ({"priority": "low"}, {"priority": "high"}),
        ({"timeout_ms": 50_000}, {"validate": True}),
        ({"cache": "return_cache_else_load"}, {}),
    ],
    ids=str,
)
def test_hx_01_hx_04_what_is_identical(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin, one: dict[str, Any], two: dict[str, Any]
) -> None:
    cache(wire)
    gate = Gate(origin, "/same", FRESH)
    records = crowd(daemon, wire, gate, [one, two], 1)
    assert (gate.count, {text(record) for record in records}) == (1, {"1"})


def test_hk_03_sessions_that_name_a_store_share_it(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    for name in (SESSION, "second"):
        cache(wire, name, store=SESSION)
    gate = Gate(origin, "/shared", FRESH)
    with daemon.wire() as two:
        calls = [
            (each, each.request("request.perform", {"url": gate.url, "session": session}))
            for each, session in ((wire, SESSION), (two, "second"))
        ]
        with daemon.wire() as third:
            eventually(lambda: gate.count == 1 and waits_of(third) == 1)
        gate.open()
        assert [text(each.result(call)) for each, call in calls] == ["1", "1"]
    assert gate.count == 1


def test_two_long_polls_do_not_wait_for_each_other_in_default(
    start: Callable[..., Daemon], origin: ScriptedOrigin
) -> None:
    """The session `default` does not share transfers."""
    daemon = start()
    gate = Gate(origin, "/poll", FRESH)
    with daemon.wire() as one, daemon.wire() as two:
        calls = [(wire, wire.request("request.perform", {"url": gate.url})) for wire in (one, two)]
        eventually(lambda: gate.count == 2)
        gate.open()
        for wire, call in calls:
            assert wire.result(call)["outcome"]["ok"]


# MARK: What cannot be shared


def test_hx_03_an_uncacheable_url_makes_no_queue(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    """The waiting ones go at once when the head has come; later ones do not wait."""
    cache(wire)
    gate = Gate(origin, "/never", {"Cache-Control": "no-store"})
    records = crowd(daemon, wire, gate, [{}] * 20, 1)
    assert gate.count == 20
    assert len({text(record) for record in records}) == 20
    gate.close()
    before = waits_of(wire)
    records = crowd(daemon, wire, gate, [{}] * 20, 20)
    assert gate.count == 40
    assert waits_of(wire) == before
    assert {told(record)[1] for record in records} <= {"pass", "no_store", "not_stored"}


def test_hx_04_a_waiting_request_goes_alone_after_its_time(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire, coalesce_wait_ms=50)
    gate = Gate(origin, "/late", FRESH)
    crowd(daemon, wire, gate, [{}] * 3, 3)
    assert gate.count == 3


def test_hx_04_a_waiting_request_keeps_its_own_timeout(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire)
    gate = Gate(origin, "/timeout", FRESH)
    with daemon.wire() as second:
        first = wire.request("request.perform", {"url": gate.url, "session": SESSION})
        eventually(lambda: gate.count == 1)
        record = get(second, gate.url, timeout_ms=300)
        assert "timed_out" in failure(record)
        gate.open()
        assert wire.result(first)["outcome"]["ok"]


# MARK: A leader that fails or goes


def failing_first(count: int, waiting: Callable[[], bool]) -> tuple[Handler, list[int]]:
    """Return a handler that breaks the first connections once enough requests wait."""
    seen: list[int] = []

    def handler(exchange: Exchange) -> None:
        seen.append(1)
        number = len(seen)
        eventually(waiting)
        if number <= count:
            exchange.reset()
        exchange.reply(body=str(number).encode(), headers=FRESH.items())

    return handler, seen


@pytest.mark.parametrize(("failures", "requests"), [(1, 2), (2, 3)])
def test_hx_05_a_leader_that_fails_is_replaced_by_one(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin, failures: int, requests: int
) -> None:
    cache(wire)
    crowd_size = 6
    with connections(daemon, crowd_size) as wires, daemon.wire() as observer:
        lock = threading.Lock()

        def all_wait() -> bool:
            with lock:
                return waits_of(observer) >= crowd_size - 1

        handler, seen = failing_first(failures, all_wait)
        url = origin.on("/fails", handler)
        calls = [each.request("request.perform", {"url": url, "session": SESSION}) for each in wires]
        records = [each.result(call) for each, call in zip(wires, calls, strict=True)]
    assert sum(record["outcome"]["ok"] for record in records) == crowd_size - failures
    assert len(seen) == requests


@pytest.mark.parametrize("how", ["cancel", "disconnect"])
def test_hx_06_a_leader_that_goes_leaves_the_transfer_to_the_others(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin, how: str
) -> None:
    cache(wire)
    gate = Gate(origin, "/leaves", FRESH)
    with daemon.wire() as follower:
        with daemon.wire() as leader:
            # Cancelled with its connection.
            first = leader.request("request.perform", {"url": gate.url, "session": SESSION})
            eventually(lambda: gate.count == 1)
            call = follower.request("request.perform", {"url": gate.url, "session": SESSION})
            eventually(lambda: waits_of(wire) == 1)
            if how == "cancel":
                names = [each["request"] for each in leader.call("request.list", scope="mine")["requests"]]
                leader.call("request.cancel", request=names[0])
                assert "cancelled" in failure(leader.result(first))
        eventually(lambda: daemon.stats()["requests"]["active"] == 1)
        gate.open()
        assert text(follower.result(call)) == "1"
    assert gate.count == 1


def test_hx_06_a_leader_alone_is_cancelled(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire)
    closed: list[bool] = []
    url = origin.on("/alone", lambda exchange: closed.append(exchange.wait_for_peer_to_close()))
    first = wire.call("request.submit", url=url, session=SESSION)["request"]
    origin.received(1)
    wire.call("request.cancel", request=first)
    eventually(lambda: closed == [True])
    assert entries(wire) == []


def test_a_leader_that_is_killed_while_a_process_waits(
    daemon: Daemon, wire: Wire, variables: dict[str, str], origin: ScriptedOrigin
) -> None:
    cache(wire)
    gate = Gate(origin, "/killed", FRESH)
    command = [CARPOOL, "get", "--session", SESSION, gate.url]
    leader = begin(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    eventually(lambda: gate.count == 1)
    follower = begin(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    eventually(lambda: waits_of(wire) == 1)
    leader.kill()
    leader.wait()
    gate.open()
    printed, _ = follower.communicate(timeout=PATIENCE_SECONDS)
    assert (printed, gate.count) == (b"1", 1)


# MARK: Bodies


def test_hx_01_a_body_beyond_every_limit_is_shared_whole(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    """It is not stored, and each gets it whole and once."""
    cache(wire, max_entry_bytes=1_000, coalesce=True)
    body = bytes(range(256)) * 80_000
    gate = Gate(origin, "/large", FRESH, body)
    records = crowd(daemon, wire, gate, [{"sha256": True}] * 5, 1)
    assert {record["body"]["sha256"] for record in records} == {hashlib.sha256(body).hexdigest()}
    assert {record["body"]["size_bytes"] for record in records} == {len(body)}
    assert gate.count == 1
    assert entries(wire, session=SESSION) == []
    for record in records:
        assert record["cache"]["stored"] is False


@pytest.mark.parametrize("paused", [0, 1, 2])
def test_hs_07_a_paused_request_delays_no_other(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin, paused: int
) -> None:
    """A leader, or one that waits, that takes no more of the body; purged meanwhile, it gets the rest."""
    cache(wire)
    body = bytes(range(256)) * 8_000
    gate = Gate(origin, "/paused", FRESH, body)

    def is_waiting(others: int) -> bool:
        return gate.count == 1 and waits_of(wire) == others

    with connections(daemon, 3) as wires:
        calls = []
        for number, each in enumerate(wires):
            more = {"hold_for_headers": True} if number == paused else {}
            params = {"url": gate.url, "session": SESSION, "sha256": True, **more}
            calls.append(each.request("request.perform", params))
            eventually(functools.partial(is_waiting, number))
        gate.open()
        expected = hashlib.sha256(body).hexdigest()
        held = wires[paused].result(calls[paused])
        assert held["held"] is True
        for number in {0, 1, 2} - {paused}:
            assert wires[number].result(calls[number])["body"]["sha256"] == expected
        wire.call("cache.purge", all=True)
        wires[paused].call("request.resume", request=held["request"])
        record = wires[paused].call("request.wait", request=held["request"])
        assert record["body"]["sha256"] == expected
    assert gate.count <= 2


def test_streams_are_transfers_of_their_own(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire)
    gate = Gate(origin, "/stream", FRESH)
    names = [wire.call("request.submit", url=gate.url, session=SESSION, kind="stream")["request"] for _ in range(2)]
    eventually(lambda: gate.count == 2)
    gate.open()
    for name in names:
        with daemon.wire() as reader:
            each = Reader(reader, name)
            each.complete()
            assert each.size == 1
    assert entries(wire) == []


def test_a_hit_is_quick_beside_a_slow_validation(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    """Requests that wait for an origin hold up no request that needs none."""
    cache(wire)
    gate, page = Gate(origin, "/slow", FRESH), Page(origin, MAX_AGE)
    get(wire, page.url)
    with daemon.wire() as second:
        call = second.request("request.perform", {"url": gate.url, "session": SESSION})
        eventually(lambda: gate.count == 1)
        record = get(wire, page.url)
        assert told(record) == ("hit", "fresh")
        assert record["metrics"]["duration_us"] < 1_000_000 * SLOWNESS
        gate.open()
        second.result(call)
