"""What the cache does without any setting: the session `default` of a daemon as it is installed."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import StartDaemon
from harness.caches import entries, get, statistics, text, told
from harness.command import OK, Run
from harness.daemon import Daemon
from harness.waiting import eventually
from harness.wire import Wire
from origins.pages import MAX_AGE, STALE, Fields, Page
from origins.scripted import ScriptedOrigin

DEFAULT = "default"


def test_a_file_that_changes_is_fetched_again(run: Run, origin: ScriptedOrigin) -> None:
    """A server of files says nothing about freshness: what was edited is seen at once."""
    page = Page(origin, {"Last-Modified": -864_000, "Content-Type": "text/plain"}, body=b"before")
    for content in (b"before", b"after"):
        page.body, page.fields["Last-Modified"] = content, -864_000 if content == b"before" else -10
        done = run("get", page.url)
        assert (done.returncode, done.stdout) == (OK, content)


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        (MAX_AGE, 1),
        ({"Expires": 3_600}, 1),
        ({}, 2),
        ({"Last-Modified": -864_000}, 2),
        ({"Cache-Control": "no-store"}, 2),
        ({"Cache-Control": "max-age=0"}, 2),
        (STALE, 2),
    ],
    ids=str,
)
def test_explicit_freshness_alone_is_served(
    wire: Wire, run: Run, origin: ScriptedOrigin, fields: Fields, count: int
) -> None:
    """To every program of the user."""
    page = Page(origin, fields)
    assert text(get(wire, page.url, DEFAULT)) == "1"
    assert run("get", page.url).stdout == str(count).encode()
    assert page.count == count


def test_a_session_without_the_setting_has_no_cache(wire: Wire, origin: ScriptedOrigin) -> None:
    page = Page(origin, MAX_AGE)
    wire.call("session.create", name="plain", configuration={})
    for _ in range(2):
        assert "cache" not in get(wire, page.url, "plain")
    assert page.count == 2


def test_default_is_in_memory_alone_and_has_a_store(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start()
    page = Page(origin, MAX_AGE, body=b"in-memory-alone" * 2_000)
    with daemon.wire() as wire:
        get(wire, page.url, DEFAULT)
        assert [row["where"] for row in entries(wire)] == ["memory"]
        assert statistics(wire, DEFAULT)["disk_bytes"] == 0
        shown = wire.call("session.get")["configuration"].get("cache")
        assert shown is None or shown != "no_store"
    daemon.stop()
    for path in (daemon.directory / "cache").rglob("*"):
        assert not path.is_file() or b"in-memory-alone" not in path.read_bytes(), path


@pytest.mark.parametrize("config", [{"cache": "no_store"}])
def test_the_configuration_turns_all_off(start: StartDaemon, origin: ScriptedOrigin, config: dict[str, Any]) -> None:
    daemon = start(config=config)
    page = Page(origin, MAX_AGE)
    with daemon.wire() as wire:
        wire.call("session.create", name="asks", configuration={"cache": {"mode": "private"}})
        for session in (DEFAULT, "asks"):
            count = page.count
            for _ in range(2):
                get(wire, page.url, session)
            assert page.count == count + 2, session


def test_the_memory_of_all_stores_has_a_maximum(start: StartDaemon, origin: ScriptedOrigin) -> None:
    """HS-01: entries of up to a sixteenth; what was not used for the longest time goes first."""
    daemon = start(config={"limits": {"cache_memory_bytes": 1 << 20}})
    pages = [Page(origin, MAX_AGE, body=b"x" * 50_000) for _ in range(40)]
    large = Page(origin, MAX_AGE, body=b"x" * 70_000)
    with daemon.wire() as wire:
        for page in pages:
            get(wire, page.url, DEFAULT)
            get(wire, pages[0].url, DEFAULT)
        found = statistics(wire, DEFAULT)
        assert found["memory_bytes"] <= 1 << 20
        assert 10 <= found["entries"] <= 20
        assert found["counters"]["evicted"] == 40 - found["entries"]
        assert pages[0].count == 1
        assert told(get(wire, pages[-1].url, DEFAULT))[0] == "hit"
        for _ in range(2):
            get(wire, large.url, DEFAULT)
        assert large.count == 2


def test_requests_at_the_same_time_are_apart(daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    with daemon.wire() as one, daemon.wire() as two:
        calls = [(wire, wire.request("request.perform", {"url": f"{origin.url}/held"})) for wire in (one, two)]
        eventually(lambda: len(origin.requests) == 2)
        gate.set()
        for wire, call in calls:
            assert text(wire.result(call)) == "released"
