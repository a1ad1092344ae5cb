"""Stores and the sessions that use them: sharing, ends, and stores of earlier runs."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.caches import SESSION, cache, entries, get, statistics, told
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import RemoteError, Wire
from origins.pages import MAX_AGE, Page
from origins.scripted import Exchange, ScriptedOrigin

pytestmark = pytest.mark.own_daemon


def test_hk_03_sessions_that_share_a_store_agree_on_its_settings(wire: Wire) -> None:
    cache(wire, "one", store="common")
    with pytest.raises(RemoteError) as refused:
        cache(wire, "two", store="common", disk_bytes=0)
    assert refused.value.error["data"]["path"] == "params.configuration.cache"
    with pytest.raises(RemoteError):
        wire.call("session.create", name="two", configuration={"ephemeral": True, "cache": {"store": "common"}})
    cache(wire, "two", store="common")
    # With the last session its settings go.
    for name in ("one", "two"):
        wire.call("session.invalidate", session=name)
    cache(wire, "three", store="common", disk_bytes=0)


def test_a_store_ends_with_its_session(wire: Wire, origin: ScriptedOrigin) -> None:
    page = Page(origin, MAX_AGE)
    for _ in range(3):
        cache(wire, SESSION, disk_bytes=0)
        get(wire, page.url)
        wire.call("session.invalidate", session=SESSION)
    assert page.count == 3
    assert SESSION not in {row["store"] for row in wire.call("cache.stats")["stores"]}


def test_what_is_on_disk_is_there_for_the_next_session_of_the_name(wire: Wire, origin: ScriptedOrigin) -> None:
    page = Page(origin, MAX_AGE)
    for turn in range(4):
        cache(wire, SESSION)
        assert told(get(wire, page.url))[0] == ("hit" if turn else "miss")
        eventually(lambda: entries(wire, session=SESSION)[0]["where"] == "disk")
        wire.call("session.invalidate", session=SESSION, forget=turn == 3)
    cache(wire, SESSION)
    assert told(get(wire, page.url))[0] == "miss"


def test_a_purge_and_a_list_reach_stores_of_earlier_runs(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start()
    page = Page(origin, MAX_AGE)
    with daemon.wire() as wire:
        cache(wire, SESSION)
        get(wire, page.url)
        eventually(lambda: entries(wire, session=SESSION)[0]["where"] == "disk")
    daemon.stop()
    daemon = start()
    with daemon.wire() as wire:
        assert [row["url"] for row in entries(wire)] == [page.url]
        assert wire.call("cache.purge", all=True) == {"changed": True, "purged": 1}
        cache(wire, SESSION)
        assert told(get(wire, page.url))[0] == "miss"
        eventually(lambda: statistics(wire)["entries"] == 1)


def test_hs_01_stores_of_sessions_that_are_over_have_a_maximum(start: StartDaemon, origin: ScriptedOrigin) -> None:
    most = 2_000_000
    daemon = start(config={"limits": {"cache_disk_bytes": most}})
    pages = [Page(origin, MAX_AGE, path=f"/{number}", body=bytes([number]) * 60_000) for number in range(5)]
    with daemon.wire() as wire:
        for number in range(12):
            name = cache(wire, f"short{number}", disk_bytes=1_000_000, max_entry_bytes=100_000, coalesce=False)
            for page in pages:
                get(wire, page.url, name)
            eventually(functools.partial(has_stored, wire, name, 300_000))
            wire.call("session.invalidate", session=name)
        (place,) = (daemon.directory / "cache/carpool").glob("responses*")
        eventually(lambda: size(place) <= most)
        # The last ones stay.
        cache(wire, "short11", disk_bytes=1_000_000, max_entry_bytes=100_000, coalesce=False)
        assert told(get(wire, pages[0].url, "short11"))[0] == "hit"


def has_stored(wire: Wire, store: str, count: int) -> bool:
    return bool(statistics(wire, store)["disk_bytes"] > count)


@pytest.mark.parametrize("more", [{"ephemeral": True}, {"cache": {"disk_bytes": 0}}], ids=["ephemeral", "memory"])
def test_se_04_a_store_of_an_earlier_run_is_not_used_by_a_session_without_a_disk(
    start: StartDaemon, origin: ScriptedOrigin, more: dict[str, Any]
) -> None:
    daemon = start()
    page, empty = Page(origin, MAX_AGE), Page(origin, MAX_AGE, path="/secret-path", status=204, body=b"")
    with daemon.wire() as wire:
        cache(wire, SESSION)
        get(wire, page.url)
        eventually(lambda: entries(wire, session=SESSION)[0]["where"] == "disk")
    daemon.stop()
    daemon = start()
    with daemon.wire() as wire:
        wire.call("cache.stats")
        wire.call("session.create", name=SESSION, configuration={"cache": {}, **more})
        for _ in range(2):
            get(wire, empty.url)
        assert {row["where"] for row in entries(wire, session=SESSION)} == {"memory"}
    daemon.stop()
    content = b"".join(path.read_bytes() for path in (daemon.directory / "cache").rglob("index.db*"))
    assert b"secret-path" not in content


def test_a_request_under_way_does_not_bring_back_the_store_of_its_session(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin
) -> None:
    gate = threading.Event()
    page = Page(origin, MAX_AGE, path="/target")

    def redirect(exchange: Exchange) -> None:
        gate.wait(PATIENCE_SECONDS)
        exchange.reply(302, headers=[("Location", page.url)])

    url = origin.on("/redirect", redirect)
    cache(wire, SESSION, disk_bytes=0)
    call = wire.request("request.perform", {"url": url, "session": SESSION})
    with daemon.wire() as other:
        eventually(lambda: other.call("daemon.stats")["transfers"]["active"] == 1)
        other.call("session.invalidate", session=SESSION, forget=True)
        gate.set()
        assert wire.result(call)["outcome"]["ok"]
        assert SESSION not in {row["store"] for row in other.call("cache.stats")["stores"]}


def size(place: Path) -> int:
    """Return the bytes of the files below a folder, in which others are removed meanwhile."""
    total = 0
    for folder, _, names in os.walk(place):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += (Path(folder) / name).stat().st_size
    return total


def test_a_request_for_a_cache_that_is_not_there_is_refused(wire: Wire, origin: ScriptedOrigin) -> None:
    page = Page(origin, MAX_AGE)
    wire.call("session.create", name="bare", configuration={})
    for wish in ("return_cache_dont_load", {"ttl_ms": 1_000}):
        with pytest.raises(RemoteError) as refused:
            get(wire, page.url, "bare", cache=wish)
        assert refused.value.name == "cache.unavailable"
    get(wire, page.url, "bare", cache="no_store")
    assert page.count == 1
