from __future__ import annotations

import base64
from typing import Any

import pytest
from daemon import record

import carpool
from carpool import Headers, Response


def response(body: dict[str, Any] | None = None, *, status: int = 200, content_type: str | None = None) -> Response:
    headers = [] if content_type is None else [["Content-Type", content_type]]
    answer = {"status": status, "http_version": "http/1.1", "url": "http://a/", "headers": headers}
    return Response(record(body, response=answer))


def test_headers_keep_order_case_and_duplicates_and_compare_without_case() -> None:
    headers = Headers([["Set-Cookie", "a=1"], ["ETag", '"x"'], ["set-cookie", "b=2"]])
    assert headers["etag"] == '"x"'
    assert headers["SET-COOKIE"] == "a=1, b=2"
    assert headers.get_list("Set-Cookie") == ["a=1", "b=2"]
    assert headers.pairs == [("Set-Cookie", "a=1"), ("ETag", '"x"'), ("set-cookie", "b=2")]
    assert list(headers) == ["set-cookie", "etag"]
    assert len(headers) == 2
    assert "Etag" in headers
    assert headers.get("missing") is None
    assert "ETag" in repr(headers)
    with pytest.raises(KeyError):
        headers["missing"]


def test_a_header_value_that_is_not_utf_8_is_latin_1() -> None:
    headers = Headers([["X", {"base64": base64.b64encode(b"caf\xe9").decode()}], ["Y", {"base64": "!"}]])
    assert headers["x"] == "café"
    assert headers["y"] == ""


def test_a_header_name_that_is_not_utf_8_is_latin_1() -> None:
    name = {"base64": base64.b64encode(b"X-\xc4").decode()}
    headers = Headers([["A", "1"], [name, "2"], [name, {"base64": base64.b64encode(b"\xff").decode()}]])
    assert headers.pairs == [("A", "1"), ("X-Ä", "2"), ("X-Ä", "\xff")]
    assert (list(headers), len(headers)) == (["a", "x-ä"], 2)
    assert (headers["a"], headers["X-ä"], "b" in headers) == ("1", "2, \xff", False)


@pytest.mark.parametrize(
    ("body", "content"),
    [
        ({"text": "é"}, "é".encode()),
        ({"base64": "AP8="}, b"\x00\xff"),
        ({"json": {"a": 1}}, b'{"a": 1}'),
        ({"none": True}, b""),
    ],
)
def test_the_body_comes_from_each_of_its_forms(body: dict[str, Any], content: bytes) -> None:
    assert response(body).content == content


def test_a_spooled_body_wins() -> None:
    assert Response(record({"file": "/spool/1"}), b"spooled").content == b"spooled"


@pytest.mark.parametrize(
    ("content_type", "text"),
    [
        (None, "�"),
        ("text/plain; charset=iso-8859-1", "é"),
        ('text/plain; format=flowed; Charset="latin-1"', "é"),
        ("text/plain; charset=none-such", "�"),
        ("text/plain; charset=base64", "�"),
        ("text/plain; charset=punycode", "�"),
        ("text/plain; charset=undefined", "�"),
    ],
)
def test_text_goes_by_the_charset(content_type: str | None, text: str) -> None:
    assert response({"base64": "6Q=="}, content_type=content_type).text == text


def test_json_is_read_out_of_text_and_out_of_json() -> None:
    assert response({"text": "[1]"}).json() == [1]
    assert response({"json": None}).json() is None
    with pytest.raises(ValueError, match="Expecting value"):
        response({"text": "no"}).json()


def test_the_record_is_told_by_names() -> None:
    answer = response()
    assert (answer.request_id, answer.status_code, answer.http_version, answer.url) == (
        "r_1",
        200,
        "http/1.1",
        "http://a/",
    )
    assert answer.metrics == [{"end_us": 7}]
    assert len(answer.attempts) == 1
    assert Response(record(attempts=[])).metrics == []
    assert answer.ok
    assert answer.raise_for_status() is answer


def test_the_history_has_no_other_hops() -> None:
    heads = [{"url": "http://a/", "status": status, "headers": [["Location", "b"]]} for status in (300, 304, 308)]
    [hop] = Response(record(redirects=heads)).history
    assert (hop.status_code, hop.url, hop.headers["location"], hop.content) == (308, "http://a/", "b", b"")
    assert hop.finished
    assert response().history == []


def test_the_elapsed_time_is_that_of_what_was_sent() -> None:
    assert Response(record(metrics={"duration_us": 1500})).elapsed.total_seconds() == 0.0015
    assert Response(record(metrics=None)).elapsed.total_seconds() == 0
    with pytest.raises(carpool.CarpoolError, match="has not finished"):
        _ = Response({"request": "r_1", "state": "resumed", "finished": False}).elapsed


def test_what_the_cache_did_is_told() -> None:
    assert response().cache is None
    hit = Response(record(cache={"status": "hit", "reason": "fresh", "age_ms": 500, "ttl_ms": -1500, "stored": False}))
    assert hit.cache is not None
    assert (hit.cache.status, hit.cache.reason, hit.cache.forward) == ("hit", "fresh", None)
    assert (hit.cache.age, hit.cache.ttl, hit.cache.is_stored, hit.cache.is_from_store) == (0.5, -1.5, False, True)
    miss = carpool.CacheOutcome({"status": "miss", "fwd": "uri-miss", "reason": "not_stored", "stored": True})
    assert (miss.forward, miss.age, miss.ttl) == ("uri-miss", None, None)
    assert (miss.is_stored, miss.is_from_store) == (True, False)


def test_what_was_made_of_the_body_is_told() -> None:
    values = [{"serializer": "json", "ok": True, "value": [1]}, {"serializer": "plist", "ok": False, "error": {}}]
    answer = Response(record(outcome={"ok": True, "value": [1], "values": values}, timeline={"latency_us": 3}))
    assert (answer.value, answer.values, answer.timeline) == ([1], values, {"latency_us": 3})
    assert answer.finished
    assert answer.error is None
    assert answer.raise_for_outcome() is answer
    assert (response().value, response().values) == (None, [])


@pytest.mark.parametrize("name", ["attempts", "metrics", "timeline"])
def test_what_a_short_record_has_not_is_an_error_with_advice(name: str) -> None:
    short = Response({key: value for key, value in record().items() if key != "attempts"})
    with pytest.raises(carpool.CarpoolError, match="the record of r_1 is short; pass detail='full' with the request"):
        getattr(short, name)
    under_way = Response({"request": "r_1", "state": "resumed", "finished": False})
    assert getattr(under_way, name) == (None if name == "timeline" else [])


def test_a_failed_outcome_is_raised_when_asked_for() -> None:
    failed = {"ok": False, "error": {"name": "session_task_failed.timed_out", "message": "too slow"}}
    answer = Response(record(outcome=failed, response=None, body=None))
    assert isinstance(answer.error, carpool.RequestTimeoutError)
    assert answer.content == b""
    with pytest.raises(carpool.RequestTimeoutError, match="too slow"):
        answer.raise_for_outcome()
    with pytest.raises(carpool.RequestTimeoutError):
        answer.status_code  # noqa: B018


def test_a_request_that_waits_with_its_headers_is_not_finished() -> None:
    head = {"status": 200, "http_version": "h2", "url": "https://a.example/", "headers": []}
    held = Response({"request": "r_1", "state": "resumed", "finished": False, "held": True, "response": head})
    assert (held.finished, held.status_code, held.value, held.error) == (False, 200, None, None)
    with pytest.raises(carpool.CarpoolError, match="the body of r_1 has not been received yet"):
        held.content  # noqa: B018
    assert held.raise_for_outcome() is held
    with pytest.raises(carpool.CarpoolError, match="not answered yet"):
        Response({"request": "r_1", "state": "resumed", "finished": False}).headers  # noqa: B018


def test_an_error_status_is_raised_when_asked_for() -> None:
    answer = response(status=404)
    assert not answer.ok
    with pytest.raises(carpool.HTTPStatusError, match="answered 404") as caught:
        answer.raise_for_status()
    assert caught.value.response is answer


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({}, "<Response 200 https://a.example/>"),
        (
            {"body": {"text": "x" * 9000, "size_bytes": 9000}, "method": "GET"},
            "<Response 200 GET https://a.example/ 9000 bytes>",
        ),
        ({"response": None, "state": "cancelled"}, "<Response r_1 cancelled>"),
        ({"method": None}, "<Response 200 https://a.example/>"),
    ],
)
def test_the_repr_of_a_response_is_one_short_line(members: dict[str, Any], expected: str) -> None:
    assert repr(carpool.Response(record(**members))) == expected
