"""The rules of HTTP for caches, over the wire: what the origin sees, and what the caller gets (RFC 9111).

What must be stale arrives with an Age, so that no test waits.
"""

from __future__ import annotations

from typing import Any

import pytest
from harness.caches import cache, entries, get, text, told
from harness.wire import Wire
from origins.pages import MAX_AGE, Fields, Page, is_served
from origins.scripted import ScriptedOrigin

HIT, MISS = True, False


@pytest.fixture
def session(wire: Wire) -> str:
    return cache(wire, coalesce=False)


# MARK: Freshness (HF-01 to HF-07)

FRESHNESS: list[tuple[str, Fields, bool]] = [
    ("HF-01", {"Cache-Control": "max-age=3600"}, HIT),
    ("HF-01", {"Cache-Control": "max-age=0"}, MISS),
    ("HF-01", {"Expires": 3_600}, HIT),
    ("HF-01", {"Expires": -3_600}, MISS),
    ("HF-01", {"Expires": 3_600, "Cache-Control": "max-age=0"}, MISS),
    ("HF-01", {"Expires": -3_600, "Cache-Control": "max-age=3600"}, HIT),
    ("HF-01", {"Expires": 3_600, "Date": "-"}, HIT),
    ("HF-01", {"Cache-Control": "s-maxage=3600"}, MISS),
    ("HF-01", {"Cache-Control": "s-maxage=0, max-age=3600"}, HIT),
    ("HF-01", {}, MISS),
    ("HF-02", {"Cache-Control": "MAX-AGE=3600"}, HIT),
    ("HF-02", {"Cache-Control": "max-age=003600"}, HIT),
    ("HF-02", {"Cache-Control": "max-age=99999999999999999999"}, HIT),
    ("HF-02", {"Cache-Control": 'max-age="3600"'}, HIT),
    ("HF-02", {"Cache-Control": "max-age='3600'"}, MISS),
    ("HF-02", {"Cache-Control": "max-age=-3600"}, MISS),
    ("HF-02", {"Cache-Control": "max-age=3600.5"}, MISS),
    ("HF-02", {"Cache-Control": "max-age=a3600"}, MISS),
    ("HF-02", {"Cache-Control": 'extension="max-age=3600"'}, MISS),
    ("HF-02", {"Cache-Control": "max-age=3600, max-age=1"}, MISS),
    ("HF-02", {"Cache-Control": "private\nmax-age=3600"}, HIT),
    ("HF-03", {**MAX_AGE, "Age": "7200"}, MISS),
    ("HF-03", {**MAX_AGE, "Age": "7200, 0"}, MISS),
    ("HF-03", {**MAX_AGE, "Age": "0, 7200"}, HIT),
    ("HF-03", {**MAX_AGE, "Age": "-7200"}, HIT),
    ("HF-03", {**MAX_AGE, "Age": "abc"}, HIT),
    ("HF-04", {"Expires": "0"}, MISS),
    ("HF-04", {"Expires": "Tue, 01 Jan 2999 00:00:00 GMT"}, HIT),
    ("HF-04", {"Expires": "tue, 01 jan 2999 00:00:00 gmt"}, HIT),
    ("HF-04", {"Expires": "Tue Jan  1 00:00:00 2999"}, HIT),
    ("HF-04", {"Expires": "Tue, 01 Jan 2999 00:00:00 UTC"}, MISS),
    ("HF-04", {"Expires": "Tue, 1 Jan 2999 00:00:00 GMT"}, MISS),
    ("HF-04", {"Expires": "Tue, 01-Jan-2999 00:00:00 GMT"}, MISS),
    ("HF-04", {"Expires": "Tue 01 Jan 2999 00:00:00 GMT"}, MISS),
    ("HF-04", {"Expires": "Tue, 01  Jan 2999 00:00:00 GMT"}, MISS),
    ("HF-05", {**MAX_AGE, "Date": -7_200}, MISS),
    ("HF-05", {**MAX_AGE, "Date": 7_200}, HIT),
    ("HF-06", {"Last-Modified": -360_000, "Content-Type": "text/plain"}, HIT),
    ("HF-06", {"Last-Modified": -360_000, "Content-Type": "application/json"}, MISS),
]


@pytest.mark.parametrize(("rule", "fields", "is_hit"), FRESHNESS, ids=str)
def test_hf_01_to_hf_06_freshness(
    wire: Wire, origin: ScriptedOrigin, session: str, rule: str, fields: Fields, is_hit: bool
) -> None:
    assert is_served(wire, Page(origin, fields), session) is is_hit, rule


def test_hf_06_no_heuristic_for_a_query_or_without_the_setting(wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire, "asks")
    cache(wire, "strict", heuristic=False)
    cache(wire, "short", heuristic_max_ms=0)
    fields: Fields = {"Last-Modified": -360_000}
    assert is_served(wire, Page(origin, fields), "asks")
    assert not is_served(wire, Page(origin, fields, query="?a=1"), "asks")
    assert not is_served(wire, Page(origin, fields), "strict")
    assert not is_served(wire, Page(origin, fields), "short")


@pytest.mark.parametrize(("more", "asked"), [({}, 1), ({"Age": "7200"}, 2)], ids=["fresh", "stale"])
def test_hf_07_immutable_is_not_asked_again_while_fresh(
    wire: Wire, origin: ScriptedOrigin, session: str, more: Fields, asked: int
) -> None:
    page = Page(origin, {"Cache-Control": "max-age=3600, immutable", "ETag": '"1"', **more})
    get(wire, page.url, session)
    record = get(wire, page.url, session, cache="reload_revalidating")
    assert (page.count, text(record)) == (asked, "1")
    assert told(record) == (("hit", "immutable") if asked == 1 else ("revalidated", "validated"))


REQUEST_DIRECTIVES = [
    # The field of the request, that of the response, its age, whether it is served.
    ("max-age=600", "max-age=3600", 100, HIT),
    ("max-age=60", "max-age=3600", 100, MISS),
    ("max-age=0", "max-age=3600", 0, MISS),
    ("min-fresh=600", "max-age=3600", 0, HIT),
    ("min-fresh=7200", "max-age=3600", 0, MISS),
    ("max-stale", "max-age=60", 1_000, HIT),
    ("max-stale=3600", "max-age=60", 1_000, HIT),
    ("max-stale=60", "max-age=60", 1_000, MISS),
    ("max-stale=3600", "max-age=60, must-revalidate", 1_000, MISS),
    ("no-cache", "max-age=3600", 0, MISS),
    ("no-store", "max-age=3600", 0, MISS),
]


@pytest.mark.parametrize(("request_field", "field_", "age", "is_hit"), REQUEST_DIRECTIVES)
def test_hf_09_directives_of_the_request(
    wire: Wire, origin: ScriptedOrigin, session: str, request_field: str, field_: str, age: int, is_hit: bool
) -> None:
    page = Page(origin, {"Cache-Control": field_, "Age": str(age)})
    get(wire, page.url, session)
    record = get(wire, page.url, session, headers={"Cache-Control": request_field})
    assert (page.count == 1) is is_hit, told(record)


def test_hf_09_only_if_cached_and_pragma(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, MAX_AGE)
    record = get(wire, page.url, session, headers={"Cache-Control": "only-if-cached"})
    assert (record["response"]["status"], told(record)[1], origin.connections) == (504, "only_if_cached", 0)
    get(wire, page.url, session)
    assert text(get(wire, page.url, session, headers={"Cache-Control": "only-if-cached"})) == "1"
    assert text(get(wire, page.url, session, headers={"Pragma": "no-cache"})) == "2"
    assert text(get(wire, page.url, session, headers={"Pragma": "no-cache", "Cache-Control": "max-stale"})) == "2"


# MARK: Keys and variants (HK)


def test_hk_01_the_url_is_the_key(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, MAX_AGE, path="/Key")
    get(wire, page.url, session)
    for suffix, is_hit in (("#fragment", HIT), ("?", MISS), ("?a=1&b=2", MISS), ("?b=2&a=1", MISS), ("?a=1&b=2", HIT)):
        count = page.count
        get(wire, page.url + suffix, session)
        assert (page.count == count) is is_hit, suffix


VARY = [
    ("X-A", {"X-A": "1"}, {"X-A": "1"}, HIT),
    ("X-A", {"X-A": "1"}, {"X-A": "2"}, MISS),
    ("X-A", {"X-A": "1"}, {"X-A": "1", "X-B": "2"}, HIT),
    ("x-a, X-B", {"X-A": "1"}, {"X-A": "1", "X-B": ""}, MISS),
    ("X-A", {"X-A": "a,b"}, {"X-A": "a ,  b"}, HIT),
    ("X-A", {"X-A": "a, b"}, {"X-A": ["a", "b"]}, HIT),
    ("X-A", {"X-A": "a"}, {"X-A": "A"}, MISS),
    ("X-A", {}, {}, HIT),
    ("X-A", {}, {"X-A": "1"}, MISS),
]


@pytest.mark.parametrize(("vary", "first", "second", "is_hit"), VARY, ids=str)
def test_hk_05_variants(
    wire: Wire, origin: ScriptedOrigin, session: str, vary: str, first: Any, second: Any, is_hit: bool
) -> None:
    page = Page(origin, {**MAX_AGE, "Vary": vary})
    get(wire, page.url, session, headers=first)
    record = get(wire, page.url, session, headers=second)
    assert (page.count == 1) is is_hit
    if not is_hit:
        assert (told(record), record["cache"]["fwd"]) == (("miss", "vary"), "vary-miss")
        assert text(get(wire, page.url, session, headers=first)) == "1"


def test_hk_05_a_url_has_sixteen_variants(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, {**MAX_AGE, "Vary": "X-A"})
    for number in [*range(16), 0, 16]:
        get(wire, page.url, session, headers={"X-A": str(number)})
    assert page.count == 17
    assert len(entries(wire, session=session)) == 16
    # The one that was used again is there, the one that was used least recently is not.
    get(wire, page.url, session, headers={"X-A": "0"})
    assert page.count == 17
    get(wire, page.url, session, headers={"X-A": "1"})
    assert page.count == 18
