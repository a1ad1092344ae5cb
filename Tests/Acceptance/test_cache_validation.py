"""Validation, HEAD, ranges, and changes that invalidate (RFC 9111, sections 4.3 and 4.4; HV, HR, HI)."""

from __future__ import annotations

import pytest
from harness.caches import SESSION, cache, entries, failure, field, get, text, told
from harness.waiting import eventually
from harness.wire import Wire
from origins.pages import MAX_AGE, STALE, Page
from origins.scripted import Exchange, ScriptedOrigin

HIT, MISS = True, False


@pytest.fixture
def session(wire: Wire) -> str:
    return cache(wire, coalesce=False)


# MARK: Validation (HV)


def test_hv_01_all_tags_of_the_variants_are_sent(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, {**STALE, "Last-Modified": -1_000})
    # Both are for a request with both fields.
    for number, name, headers in (("1", "X-A", {"X-A": "1"}), ("2", "X-B", {"X-A": "2", "X-B": "1"})):
        page.fields |= {"ETag": f'"{number}"', "Vary": name}
        get(wire, page.url, session, headers=headers)
    page.fields["ETag"] = '"1"'
    record = get(wire, page.url, session, headers={"X-A": "1", "X-B": "1"})
    sent = ", ".join(page.last.values("If-None-Match"))
    assert '"1"' in sent
    assert '"2"' in sent
    assert (text(record), told(record)) == ("1", ("revalidated", "validated"))


def test_hv_01_without_a_tag_the_date_is_sent(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, {**STALE, "Last-Modified": -1_000_000})
    record = get(wire, page.url, session)
    page.fields["Last-Modified"] = str(field(record, "Last-Modified"))
    record = get(wire, page.url, session)
    assert page.last.values("If-Modified-Since") == [page.fields["Last-Modified"]]
    assert (text(record), told(record)) == ("1", ("revalidated", "validated"))


OLD_DATES = ["Wed, 01 Jan 2020 00:00:00 GMT", "Thu, 02 Jan 2020 00:00:00 GMT"]


def numbered(origin: ScriptedOrigin, path: str, validators: list[tuple[str, str]], *, of_304: bool = False) -> str:
    """Serve numbers with these fields; to a request with a condition, a 304 with them, or else without."""
    stale = [(name, str(value)) for name, value in STALE.items()]

    def answer(exchange: Exchange) -> None:
        has_condition = any(exchange.request.values(name) for name in ("If-None-Match", "If-Modified-Since"))
        number = str(len(origin.received(1, path))).encode()
        if has_condition:
            exchange.send(b"HTTP/1.1 304 Reason\r\n")
            fields = validators if of_304 else validators[:1]
            exchange.send("".join(f"{name}: {value}\r\n" for name, value in [*stale, *fields]).encode() + b"\r\n")
        else:
            exchange.reply(200, number, [*stale, *(validators[:1] if of_304 else validators)])

    return origin.on(path, answer)


@pytest.mark.parametrize(
    ("name", "values"), [("ETag", ['"a"', '"b"']), ("ETag", ['W/"a"', '"a"', '"a"']), ("Last-Modified", OLD_DATES)]
)
def test_hv_01_validators_that_contradict_each_other_are_none(
    wire: Wire, origin: ScriptedOrigin, session: str, name: str, values: list[str]
) -> None:
    """Which of them is the response's is not known (RFC 9110, section 5.2: such a field occurs once)."""
    url = numbered(origin, "/contradicting", [(name, value) for value in values])
    for number in "12":
        assert text(get(wire, url, session)) == number
    assert not any(field.startswith("If-") for request in origin.requests for field, _ in request.headers)


@pytest.mark.parametrize(("name", "value"), [("ETag", '"a"'), ("Last-Modified", OLD_DATES[0])])
def test_hv_01_a_validator_that_is_repeated_is_one(
    wire: Wire, origin: ScriptedOrigin, session: str, name: str, value: str
) -> None:
    url = numbered(origin, "/repeated", [(name, value)] * 2)
    assert [text(get(wire, url, session)) for _ in "12"] == ["1", "1"]


@pytest.mark.parametrize(("name", "values"), [("ETag", ['"a"', '"b"']), ("Last-Modified", OLD_DATES)])
def test_hv_01_a_304_with_contradicting_validators_validates_nothing(
    wire: Wire, origin: ScriptedOrigin, session: str, name: str, values: list[str]
) -> None:
    """The response is requested again, without a condition."""
    url = numbered(origin, "/unclear", [(name, value) for value in values], of_304=True)
    assert [text(get(wire, url, session)) for _ in "12"] == ["1", "3"]


def test_hv_02_a_304_replaces_fields(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, {**STALE, "ETag": '"1"', "X-A": "1", "X-B": "1"}, body=b"hello")
    get(wire, page.url, session)
    page.not_modified = {**MAX_AGE, "ETag": '"1"', "X-A": "2", "Content-Encoding": "gzip", "Age": "-"}
    for status in ("revalidated", "hit"):
        record = get(wire, page.url, session)
        assert (record["response"]["status"], text(record), record["cache"]["status"]) == (200, "hello", status)
        assert [field(record, name) for name in ("X-A", "X-B", "Content-Encoding", "Content-Length")] == [
            "2", "1", None, "5",
        ]  # fmt: skip
    assert page.count == 2


def test_hv_02_no_cache_is_validated_each_time(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, {"Cache-Control": "no-cache", "ETag": 'W/"1"'})
    for count in (1, 2, 3):
        record = get(wire, page.url, session)
        assert (text(record), page.count) == ("1", count)
    assert page.last.values("If-None-Match") == ['W/"1"']


@pytest.mark.parametrize(
    ("headers", "status", "asked"),
    [
        ({"If-None-Match": '"1"'}, 304, 1),
        ({"If-None-Match": 'W/"1"'}, 304, 1),
        ({"If-None-Match": '"0", "1"'}, 304, 1),
        ({"If-None-Match": "*"}, 304, 1),
        ({"If-None-Match": '"2"'}, 200, 1),
        ({"If-Modified-Since": "Thu, 01 Jan 2026 00:00:00 GMT"}, 304, 1),
        ({"If-Modified-Since": "Thu, 01 Jan 2015 00:00:00 GMT"}, 200, 1),
        ({"If-None-Match": '"2"', "If-Modified-Since": "Thu, 01 Jan 2026 00:00:00 GMT"}, 200, 1),
    ],
    ids=str,
)
def test_hv_04_conditions_of_the_caller_and_a_fresh_entry(
    wire: Wire, origin: ScriptedOrigin, session: str, headers: dict[str, str], status: int, asked: int
) -> None:
    page = Page(origin, {**MAX_AGE, "ETag": '"1"', "Last-Modified": "Wed, 01 Jan 2020 00:00:00 GMT", "X-A": "1"})
    get(wire, page.url, session)
    record = get(wire, page.url, session, headers=headers)
    assert (record["response"]["status"], page.count) == (status, asked)
    if status == 304:
        assert record["body"].get("none") is True
        assert [field(record, name) is not None for name in ("ETag", "Cache-Control", "Date", "Age")] == [True] * 4


def test_hv_04_conditions_of_the_caller_and_nothing_stored(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, {**MAX_AGE, "ETag": '"1"'})
    record = get(wire, page.url, session, headers={"If-None-Match": '"1"'})
    assert (record["response"]["status"], page.count, record["cache"]["stored"]) == (304, 1, False)
    assert page.last.values("If-None-Match") == ['"1"']


def test_hv_04_conditions_of_the_caller_and_a_stale_entry(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, {**STALE, "ETag": '"1"'})
    get(wire, page.url, session)
    record = get(wire, page.url, session, headers={"If-None-Match": '"1"'})
    assert (record["response"]["status"], page.count) == (304, 2)
    record = get(wire, page.url, session, headers={"If-None-Match": '"0"'})
    assert (record["response"]["status"], text(record), page.count) == (200, "1", 3)


@pytest.mark.parametrize(("status", "window"), [(500, 3_600), (503, 3_600), (503, 60), (404, 3_600)])
def test_hv_05_stale_if_error(wire: Wire, origin: ScriptedOrigin, session: str, status: int, window: int) -> None:
    page = Page(origin, {"Cache-Control": f"max-age=60, stale-if-error={window}", "Age": "1000", "ETag": '"1"'})
    get(wire, page.url, session)
    page.status, page.fields = status, {}
    record = get(wire, page.url, session)
    if status >= 500 and window == 3_600:
        assert (record["response"]["status"], text(record), told(record)) == (200, "1", ("stale", "stale_if_error"))
    else:
        assert (record["response"]["status"], text(record)) == (status, "2")


@pytest.mark.parametrize("setting", ["stale_if_error_ms", "stale_if_offline_ms"])
def test_hv_07_hv_08_an_origin_that_is_out_of_reach(wire: Wire, other: ScriptedOrigin, setting: str) -> None:
    cache(wire, **{setting: 3_600_000})
    cache(wire, "strict")
    page, forbids = Page(other, STALE), Page(other, {**STALE, "Cache-Control": "max-age=60, must-revalidate"})
    for session in (SESSION, "strict"):
        for each in (page, forbids):
            get(wire, each.url, session)
    # Its port stays bound to nothing.
    other.on(page.path, Exchange.reset)
    other.on(forbids.path, Exchange.reset)
    record = get(wire, page.url)
    assert record["outcome"]["ok"]
    reasons = {"stale_if_error_ms": "stale_if_error", "stale_if_offline_ms": "stale_if_offline"}
    assert told(record) == ("stale", reasons[setting])
    assert failure(get(wire, page.url, "strict"))
    assert failure(get(wire, forbids.url))


def test_hv_09_stale_while_revalidate(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, {"Cache-Control": "max-age=60, stale-while-revalidate=3600", "Age": "1000", "ETag": '"1"'})
    get(wire, page.url, session)
    page.fields = {**MAX_AGE, "ETag": '"2"'}
    record = get(wire, page.url, session)
    assert (text(record), told(record)) == ("1", ("stale", "stale_while_revalidate"))
    eventually(lambda: page.count == 2)
    assert page.last.values("If-None-Match") == ['"1"']
    eventually(lambda: any(row["validators"].get("etag") == '"2"' for row in entries(wire, session=session)))
    assert (text(get(wire, page.url, session)), page.count) == ("2", 2)


# MARK: HEAD, ranges, invalidation


def test_hv_06_head_is_answered_from_a_get(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, {**MAX_AGE, "ETag": '"1"'}, body=b"hello")
    get(wire, page.url, session)
    record = get(wire, page.url, session, method="HEAD")
    assert (page.count, field(record, "Content-Length"), record["body"].get("none")) == (1, "5", True)
    assert told(record) == ("hit", "fresh")


def test_hv_06_head_creates_no_entry_and_reveals_a_change(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, {**MAX_AGE, "ETag": '"1"'})
    get(wire, page.url, session, method="HEAD")
    assert entries(wire, session=session) == []
    get(wire, page.url, session)
    page.fields["ETag"] = '"2"'
    get(wire, page.url, session, method="HEAD", cache="reload_ignoring_cache")
    count = page.count
    assert text(get(wire, page.url, session)) == str(count + 1)


RANGES = [
    ("bytes=0-3", 206, "0123", "bytes 0-3/10"),
    ("bytes=5-", 206, "56789", "bytes 5-9/10"),
    ("bytes=-3", 206, "789", "bytes 7-9/10"),
    ("bytes=0-99", 206, "0123456789", "bytes 0-9/10"),
    ("bytes=10-", 416, "", "bytes */10"),
]


@pytest.mark.parametrize(("asked", "status", "body", "content_range"), RANGES)
def test_hr_01_a_range_is_cut_from_an_entry(
    wire: Wire, origin: ScriptedOrigin, session: str, asked: str, status: int, body: str, content_range: str
) -> None:
    page = Page(origin, {**MAX_AGE, "ETag": '"1"'}, body=b"0123456789")
    get(wire, page.url, session)
    record = get(wire, page.url, session, headers={"Range": asked})
    assert (record["response"]["status"], text(record), page.count) == (status, body, 1)
    assert field(record, "Content-Range") == content_range
    if status == 206:
        assert field(record, "Content-Length") == str(len(body))


def test_hr_01_hr_02_what_is_not_cut(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, {**MAX_AGE, "ETag": '"1"'}, body=b"0123456789")
    get(wire, page.url, session)
    get(wire, page.url, session, headers={"Range": "bytes=0-1, 4-5"})
    assert page.count == 2
    for tag, status in (('"1"', 206), ('"2"', 200), ('W/"1"', 200)):
        record = get(wire, page.url, session, headers={"Range": "bytes=0-1", "If-Range": tag})
        assert (record["response"]["status"], page.count) == (status, 2), tag
    absent = Page(origin, MAX_AGE)
    get(wire, absent.url, session, headers={"Range": "bytes=0-0"})
    assert absent.last.values("Range") == ["bytes=0-0"]


INVALIDATION = [
    ("POST", 200, True),
    ("PUT", 204, True),
    ("DELETE", 302, True),
    ("PATCH", 200, True),
    ("M-SEARCH", 200, True),
    ("POST", 404, False),
    ("POST", 500, False),
    ("OPTIONS", 200, False),
]


@pytest.mark.parametrize(("method", "status", "invalidates"), INVALIDATION)
def test_hi_01_hi_02_a_change_invalidates(
    wire: Wire, origin: ScriptedOrigin, session: str, method: str, status: int, invalidates: bool
) -> None:
    page = Page(origin, MAX_AGE)
    get(wire, page.url, session)
    page.status = status
    get(wire, page.url, session, method=method, redirect="do_not_follow")
    page.status = 200
    assert text(get(wire, page.url, session)) == ("3" if invalidates else "1")


@pytest.mark.parametrize("name", ["Location", "Content-Location"])
def test_hi_01_what_a_change_names_is_invalid_on_the_same_origin(
    wire: Wire, origin: ScriptedOrigin, other: ScriptedOrigin, session: str, name: str
) -> None:
    near, far = Page(origin, MAX_AGE), Page(other, MAX_AGE)
    changed = Page(origin)
    for target, count in ((near, 2), (far, 1)):
        get(wire, target.url, session)
        changed.fields = {name: target.url}
        get(wire, changed.url, session, method="POST")
        get(wire, target.url, session)
        assert target.count == count


def test_a_redirect_is_stored_per_hop(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    end = Page(origin, MAX_AGE)
    begin = Page(origin, {**MAX_AGE, "Location": end.path}, status=301)
    for _ in range(2):
        record = get(wire, begin.url, session)
        assert (text(record), record["response"]["url"]) == ("1", end.url)
    assert (begin.count, end.count) == (1, 1)
    assert len(record["attempts"][0]["metrics"]) == 2
    wire.call("cache.purge", url=begin.url, session=session)
    get(wire, begin.url, session)
    assert (begin.count, end.count) == (2, 1)


def test_a_retry_does_not_read_what_was_refused(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    """An answer that validation refuses was stored already; the retry asks the origin."""
    page = Page(origin, MAX_AGE, status=404)
    policy = {"retry_policy": {"limit": 1, "scale_ms": 0, "statuses": [404]}}
    get(wire, page.url, session, validate=True, interceptor=[policy])
    assert page.count == 2


def test_hv_08_retriers_see_a_success(wire: Wire, origin: ScriptedOrigin, session: str) -> None:
    page = Page(origin, {"Cache-Control": "max-age=60, stale-if-error=3600", "Age": "1000"})
    get(wire, page.url, session)
    page.status = 503
    record = get(wire, page.url, session, validate=True, interceptor=["retry_policy"])
    assert (text(record), record.get("retry_count", 0), page.count) == ("1", 0, 2)
