"""The methods of the cache (stats, list, get, purge), the errors in the words of the wire, and what is on disk."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import StartDaemon
from harness.caches import (
    SESSION,
    cache,
    counters,
    entries,
    get,
    refusal,
    statistics,
    text,
    told,
    would,
)  # fmt: skip
from harness.daemon import Daemon
from harness.waiting import eventually
from harness.wire import Wire
from origins.pages import MAX_AGE, STALE, Page
from origins.scripted import ScriptedOrigin

INVALID_PARAMS = -32602
UNAVAILABLE = "session_task_failed.resource_unavailable"


@pytest.fixture
def page(wire: Wire, origin: ScriptedOrigin) -> Page:
    """A page that is fresh for an hour, and a session with a cache."""
    cache(wire, coalesce=False)
    return Page(origin, MAX_AGE)


# MARK: Methods


def test_ch_11_stores_have_sizes_and_can_be_emptied(wire: Wire, page: Page) -> None:
    for _ in range(3):
        get(wire, page.url)
    found = statistics(wire)
    assert (found["session"], found["shared"], found["entries"]) == (SESSION, False, 1)
    assert found["memory_bytes"] > 0
    counted = found["counters"]
    assert {name: counted[name] for name in ("hits", "misses", "stored", "saved_bytes")} == {
        "hits": 2, "misses": 1, "stored": 1, "saved_bytes": 2,
    }  # fmt: skip
    assert counted["reasons"] == {"not_stored": 1}
    assert wire.call("cache.purge", all=True) == {"changed": True, "purged": 1}
    assert wire.call("cache.purge", all=True) == {"changed": False, "purged": 0}
    assert statistics(wire)["entries"] == 0
    assert text(get(wire, page.url)) == "2"


def test_a_list_has_a_row_for_each_entry(wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire, disk_bytes=0)
    fields = {**MAX_AGE, "ETag": '"7"', "Last-Modified": -1_000, "Vary": "X-A, Accept"}
    page = Page(origin, fields, body=b"hello")
    for _ in range(2):
        get(wire, page.url, headers={"X-A": "1", "Accept": "text/plain"})
    (row,) = entries(wire, session=SESSION)
    assert (row["url"], row["status"], row["size_bytes"], row["where"], row["hits"]) == (page.url, 200, 5, "memory", 1)
    assert row["validators"]["etag"] == '"7"'
    assert row["validators"]["last_modified"].endswith(" GMT")
    assert sorted(name.lower() for name in row["vary"]) == ["accept", "x-a"]
    assert 3_500_000 < row["fresh_for_ms"] <= 3_600_000
    assert 0 <= row["age_ms"] < 100_000
    assert row["stored_at"].endswith("Z")


def test_a_list_has_pages_and_filters(wire: Wire, origin: ScriptedOrigin, other: ScriptedOrigin) -> None:
    cache(wire, coalesce=False)
    cache(wire, "second")
    urls = [Page(origin, MAX_AGE, path=f"/list/{number}").url for number in range(25)]
    for url in urls:
        get(wire, url)
    elsewhere = Page(other, MAX_AGE).url
    get(wire, elsewhere, "second")
    assert sorted(row["url"] for row in entries(wire, limit=4)) == sorted([*urls, elsewhere])
    assert len(wire.call("cache.list", limit=4)["entries"]) <= 4
    assert sorted(row["url"] for row in entries(wire, url=f"{origin.url}/list/1")) == sorted([urls[1], *urls[10:20]])
    for params in ({"origin": other.url}, {"session": "second"}):
        assert [row["url"] for row in entries(wire, **params)] == [elsewhere]


def test_get_says_what_would_happen_and_does_nothing(wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire)
    fresh, stale = Page(origin, {**MAX_AGE, "Vary": "X-A"}), Page(origin, {**STALE, "ETag": '"1"'})
    assert would(wire, fresh.url) == ("forward", "not_stored")
    for page in (fresh, stale):
        get(wire, page.url, headers={"X-A": "1"})
    assert would(wire, fresh.url, headers={"X-A": "1"}) == ("serve", "fresh")
    assert would(wire, fresh.url, headers={"X-A": "2"}) == ("forward", "vary")
    assert would(wire, fresh.url, method="POST") == ("forward", "method")
    assert would(wire, stale.url, headers={"X-A": "1"}) == ("revalidate", "expired")
    answer = wire.call("cache.get", url=fresh.url, session=SESSION, headers={"X-A": "1"})
    assert answer["entry"]["url"] == fresh.url
    assert (fresh.count, stale.count) == (1, 1)
    assert counters(wire)["hits"] == 0


@pytest.mark.parametrize(
    ("selection", "left"),
    [
        ({"url": "{origin}/a/1"}, ["/a/2", "/b/1"]),
        ({"prefix": "{origin}/a/"}, ["/b/1"]),
        ({"origin": "{origin}"}, []),
        ({"origin": "http://other.example"}, ["/a/1", "/a/2", "/b/1"]),
        ({"older_than_ms": 0}, []),
        ({"older_than_ms": 3_600_000}, ["/a/1", "/a/2", "/b/1"]),
        ({"all": True}, []),
        ({"all": True, "session": "second"}, ["/a/1", "/a/2", "/b/1"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("soft", [False, True])
def test_a_purge_takes_what_it_says(
    wire: Wire, origin: ScriptedOrigin, selection: dict[str, Any], left: list[str], soft: bool
) -> None:
    cache(wire, coalesce=False)
    cache(wire, "second")
    pages = [Page(origin, {**MAX_AGE, "ETag": '"1"'}, path=path) for path in ("/a/1", "/a/2", "/b/1")]
    for page in pages:
        get(wire, page.url)
    # Of a clock with milliseconds.
    eventually(lambda: all(row["age_ms"] > 0 for row in entries(wire)) or "older_than_ms" not in selection)
    params = json.loads(json.dumps(selection).replace("{origin}", origin.url))
    gone = len(pages) - len(left)
    assert wire.call("cache.purge", **params, **({"soft": True} if soft else {})) == {
        "changed": gone > 0, "purged": gone,
    }  # fmt: skip
    for page in pages:
        status, _ = told(get(wire, page.url))
        assert status == ("hit" if page.path in left else "revalidated" if soft else "miss"), page.path


def test_a_purge_reaches_what_is_under_way(wire: Wire, daemon: Daemon, origin: ScriptedOrigin) -> None:
    """An answer that was asked for before the purge is not stored after it."""
    cache(wire, ttl_ms=600_000)
    gate = origin.hold("/held")
    call = wire.request("request.perform", url=f"{origin.url}/held", session=SESSION)
    origin.received(1, "/held")
    with daemon.wire() as second:
        assert second.call("cache.purge", all=True)["purged"] == 0
    gate.set()
    record = wire.result(call)
    assert (text(record), record["cache"]["stored"]) == ("released", False)
    assert entries(wire) == []


# MARK: Errors


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("often", "use_protocol"),
        ({"policy": "often"}, "policy"),
        ({"mode": "shared"}, "session"),
        ({"store": "x"}, "session"),
        ({"disk_bytes": 1}, "session"),
        ({"coalesce": False}, "session"),
        ({"ttl_ms": -1}, "ttl_ms"),
        ({"handler": "often"}, "handler"),
        ({"handler": {"modify": {"ttl_ms": "1"}}}, "ttl_ms"),
        ({"colour": 1}, "colour"),
    ],
    ids=str,
)
def test_a_wrong_cache_of_a_request_is_refused(wire: Wire, origin: ScriptedOrigin, value: Any, word: str) -> None:
    code, message = refusal(wire, "request.perform", url=origin.url, cache=value)
    assert code == INVALID_PARAMS
    assert "params.cache" in message
    assert word in message
    assert origin.connections == 0


@pytest.mark.parametrize(
    "value",
    [{"mode": "public"}, {"memory_bytes": 1}, {"disk_bytes": -1}, {"store": ""}, {"heuristic": 1}, {"policy": None}, 7],
    ids=str,
)
def test_a_wrong_cache_of_a_session_is_refused(wire: Wire, value: Any) -> None:
    code, message = refusal(wire, "session.create", name="wrong", configuration={"cache": value})
    assert code == INVALID_PARAMS
    assert "params.configuration.cache" in message


def test_the_methods_refuse_what_does_not_exist(wire: Wire) -> None:
    wire.call("session.create", name="plain", configuration={})
    for params in ({"session": "plain"}, {"store": "nothing"}):
        name = "cache.get" if "session" in params else "cache.purge"
        more = {"url": "http://h/"} if name == "cache.get" else {"all": True}
        code, _ = refusal(wire, name, **params, **more)
        assert code == 1206, params
    assert refusal(wire, "cache.list", session="absent")[0] == 1107
    for wrong in ({}, {"all": True, "url": "http://h/"}, {"all": False}, {"older_than_ms": -1}):
        assert refusal(wire, "cache.purge", **wrong)[0] == INVALID_PARAMS, wrong


def test_the_configuration_of_a_session_is_returned(wire: Wire) -> None:
    settings = {"policy": "return_cache_else_load", "mode": "shared", "disk_bytes": 0, "coalesce": False}
    cache(wire, SESSION, **settings)
    shown = wire.call("session.get", session=SESSION)["configuration"]["cache"]
    assert {name: shown[name] for name in settings} == settings


def test_se_04_an_ephemeral_session_stores_nothing_on_disk(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start()
    page = Page(origin, MAX_AGE, body=b"of-an-ephemeral-session" * 4_000)
    with daemon.wire() as wire:
        cache(wire, SESSION, {"ephemeral": True})
        for _ in range(2):
            assert get(wire, page.url)["body"]["size_bytes"] == 92_000
        assert page.count == 1
        assert entries(wire)[0]["where"] == "memory"
    daemon.stop()
    for path in daemon.directory.rglob("*"):
        assert not path.is_file() or b"of-an-ephemeral-session" not in path.read_bytes(), path
