"""What a cache stores and what it does not (RFC 9111, section 3; HC-01 to HC-10, HK-07), and invalidation (HI)."""

from __future__ import annotations

import pytest
from harness.caches import SESSION, cache, entries, failure, field, get, text, told
from harness.wire import Wire
from origins.pages import MAX_AGE, Fields, Page, is_served
from origins.scripted import Exchange, ScriptedOrigin

HIT, MISS = True, False


@pytest.fixture
def session(wire: Wire) -> str:
    return cache(wire, coalesce=False)


# MARK: Storing (HC)

STORING: list[tuple[str, int, Fields, bool]] = [
    ("no_store", 200, {"Cache-Control": "max-age=3600, no-store"}, MISS),
    ("", 200, {"Cache-Control": "private, max-age=3600"}, HIT),
    ("", 200, {"Cache-Control": "max-age=3600", "Set-Cookie": "a=1"}, HIT),
    ("", 404, MAX_AGE, HIT),
    ("", 500, MAX_AGE, HIT),
    ("", 599, MAX_AGE, HIT),
    ("", 599, {"Cache-Control": "max-age=3600, must-understand"}, MISS),
    ("", 200, {"Cache-Control": "max-age=3600, no-store, must-understand"}, HIT),
    ("", 206, {**MAX_AGE, "Content-Range": "bytes 0-0/2"}, MISS),
    ("", 302, {"Location": "/"}, MISS),
    ("vary_star", 200, {**MAX_AGE, "Vary": "*"}, MISS),
    ("vary_star", 200, {**MAX_AGE, "Vary": "Accept, *"}, MISS),
]


@pytest.mark.parametrize(("reason", "status", "fields", "is_hit"), STORING, ids=str)
def test_hc_01_hc_02_what_is_stored(
    wire: Wire, origin: ScriptedOrigin, session: str, reason: str, status: int, fields: Fields, is_hit: bool
) -> None:
    page = Page(origin, fields, status=status)
    first = get(wire, page.url, session, redirect="do_not_follow")
    second = get(wire, page.url, session, redirect="do_not_follow")
    assert (page.count == 1) is is_hit, (told(first), told(second))
    assert second["response"]["status"] == status
    if reason and not first["cache"]["stored"]:
        assert first["cache"]["reason"] == reason


def test_hc_01_a_body_that_is_cut_is_not_stored(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    def cut(exchange: Exchange) -> None:
        exchange.reply(body=b"half", headers=[("Cache-Control", "max-age=3600")], length=8)
        exchange.close()

    url = origin.on("/cut", cut)
    for _ in range(2):
        assert "network_connection_lost" in failure(get(wire, url, session))
    assert entries(wire) == []
    assert len(origin.requests) == 2


SHARED: list[tuple[Fields, dict[str, str], bool]] = [
    ({"Cache-Control": "private, max-age=3600"}, {}, MISS),
    ({"Cache-Control": "s-maxage=3600, max-age=0"}, {}, HIT),
    ({"Cache-Control": "s-maxage=0, max-age=3600"}, {}, MISS),
    (MAX_AGE, {"Authorization": "a"}, MISS),
    ({"Cache-Control": "max-age=3600, public"}, {"Authorization": "a"}, HIT),
    ({"Cache-Control": "max-age=3600, must-revalidate"}, {"Authorization": "a"}, HIT),
    ({"Cache-Control": "s-maxage=3600"}, {"Authorization": "a"}, HIT),
]


@pytest.mark.parametrize(("fields", "headers", "is_hit"), SHARED, ids=str)
def test_hc_03_a_shared_store(
    wire: Wire, origin: ScriptedOrigin, fields: Fields, headers: dict[str, str], is_hit: bool
) -> None:
    cache(wire, mode="shared", coalesce=False)
    page = Page(origin, fields)
    assert is_served(wire, page, headers=headers) is is_hit


def test_hk_07_in_a_store_that_sessions_share_other_fields_select(wire: Wire, origin: ScriptedOrigin) -> None:
    """What an origin reads without saying so in Vary cannot poison another program's answers."""
    cache(wire, store="common", coalesce=False)
    cache(wire, "own", coalesce=False)
    for session, count in ((SESSION, 2), ("own", 1)):
        page = Page(origin, MAX_AGE)
        for host in ("evil.example", "good.example"):
            get(wire, page.url, session, headers={"X-Forwarded-Host": host, "User-Agent": host})
        assert page.count == count, session


def test_hc_04_hc_05_fields_that_are_not_stored(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(
        origin,
        {
            "Cache-Control": 'max-age=3600, no-cache="X-C"',
            "Connection": "X-A, keep-alive",
            "X-A": "1",
            "X-B": "1",
            "X-C": "1",
            "Set-Cookie": "a=1",
        },
    )
    first, second = (get(wire, page.url, session) for _ in range(2))
    names = ["X-A", "X-B", "X-C", "Set-Cookie", "Connection"]
    assert [field(first, name) is not None for name in names] == [True] * 5
    assert page.count == 1
    assert [field(second, name) is not None for name in names] == [False, True, False, True, False]


def test_hc_06_an_answer_with_no_store_removes_the_older(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, MAX_AGE)
    get(wire, page.url, session)
    page.fields = {"Cache-Control": "no-store"}
    get(wire, page.url, session, cache="reload_ignoring_cache")
    assert text(get(wire, page.url, session)) == "3"


def test_hc_08_an_answer_that_is_too_large(wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire, max_entry_bytes=1_000, coalesce=False)
    for size, is_hit in ((1_000, HIT), (1_001, MISS)):
        page = Page(origin, MAX_AGE, body=b"x" * size)
        record = get(wire, page.url)
        assert record["cache"]["stored"] is is_hit
        assert is_hit or told(record)[1] == "too_large"
        assert text(get(wire, page.url)) == "x" * size
        assert (page.count == 1) is is_hit


def test_hc_09_downloads(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page, stored = Page(origin, MAX_AGE, body=b"content" * 10_000), Page(origin, MAX_AGE)
    for _ in range(2):
        get(wire, page.url, session, kind="download")
    assert page.count == 2
    # A download is not decoded, and neither is what had no encoding.
    get(wire, page.url, session)
    record = get(wire, page.url, session, kind="download")
    assert (page.count, told(record)[0], record["body"]["size_bytes"]) == (3, "hit", 70_000)
    get(wire, stored.url, session, kind="download", cache={"store_downloads": True})
    assert (text(get(wire, stored.url, session)), stored.count) == ("1", 1)


def test_hc_10_a_stored_cookie_does_not_touch_the_jar_again(wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire, SESSION, {"cookies": {}}, coalesce=False)
    page, other = Page(origin, {**MAX_AGE, "Set-Cookie": "a=1; Path=/"}), Page(origin)
    get(wire, page.url)
    get(wire, other.url)
    assert other.last.values("Cookie") == ["a=1"]
    wire.call("cookies.remove", session=SESSION)
    record = get(wire, page.url)
    assert (field(record, "Set-Cookie"), page.count) == ("a=1; Path=/", 1)
    get(wire, other.url)
    assert other.last.values("Cookie") == []
