"""`request.response`: everything that is known of a request, whether it went well or not (records, timeline)."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.wire import RemoteError, Wire
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

MEMBERS = {
    "request",
    "state",
    "outcome",
    "response",
    "body",
    "metrics",
    "method",
    "url",
    "attempts",
    "timeline",
    "cache",
}
TIMES = ["request_start", "initial_response", "request_completed", "serialization_completed"]
SPANS = {"latency_us", "request_duration_us", "serialization_duration_us", "total_duration_us"}
STEPS = ["queued_us", "dns_us", "connect_us", "tls_us", "request_us", "first_byte_us", "end_us"]


def whole(wire: Wire, params: dict[str, Any], **asked: Any) -> dict[str, Any]:
    request = wire.call("request.submit", **params)["request"]
    record: dict[str, Any] = wire.call("request.response", request=request, **asked)
    return record


def statuses(origin: ScriptedOrigin, *values: int, body: bytes = b"") -> str:
    remaining = iter(values)

    def handler(exchange: Exchange) -> None:
        status = next(remaining)
        exchange.reply(status, body, [("X-Status", str(status))])

    return origin.on("/statuses", handler)


def test_a_record_has_every_field(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/a", lambda exchange: exchange.reply(201, b'{"a": 1}', [("X-A", "b")]))
    record = whole(wire, {
        "url": url, "method": "PUT", "headers": [["X-Mine", "1"], ["x-mine", "2"]], "body": {"text": "hello"},
        "serialize": "json",
    })  # fmt: skip
    assert set(record) == MEMBERS
    assert record["outcome"] == {"ok": True, "value": {"a": 1}}
    assert record["body"] == {"text": '{"a": 1}', "size_bytes": 8}
    assert record["metrics"] | {"start": 0, "duration_us": 0} == {
        "start": 0, "duration_us": 0, "attempts": 1, "redirects": 0, "reused": False, "resource_fetch_type": "network",
    }  # fmt: skip
    (attempt,) = record["attempts"]
    assert set(attempt) == {"request", "response", "metrics"}
    assert attempt["response"] == record["response"]
    assert (attempt["response"]["status"], attempt["response"]["url"]) == (201, url)
    assert ["X-A", "b"] in attempt["response"]["headers"]
    assert (attempt["request"]["method"], attempt["request"]["url"]) == ("PUT", url)
    (seen,) = origin.requests
    framing = {"host", "content-length", "accept-encoding"}
    told = [tuple(pair) for pair in attempt["request"]["headers"]]
    assert [pair for pair in told if pair[0].lower() not in framing] == [
        pair for pair in seen.headers if pair[0].lower() not in framing
    ]


def test_the_timeline_is_in_order_and_its_spans_add_up(wire: Wire, origin: ScriptedOrigin) -> None:
    timeline = whole(wire, {"url": origin.url, "serialize": "string"})["timeline"]
    assert set(timeline) == {*TIMES, *SPANS}
    times = [datetime.fromisoformat(timeline[name]) for name in TIMES]
    assert times == sorted(times)

    def span(first: int, last: int) -> int:
        return round((times[last] - times[first]).total_seconds() * 1e6)

    assert timeline["latency_us"] == span(0, 1)
    assert timeline["request_duration_us"] == span(0, 2)
    assert timeline["serialization_duration_us"] == span(2, 3)
    assert timeline["total_duration_us"] == span(0, 3)


def test_a_hop_has_its_times_sizes_and_ends(wire: Wire, nginx: Nginx, authority: Authority) -> None:
    record = whole(wire, {"url": f"{nginx.https1}/moved", "trust": {"ca_file": str(authority.ca_file)}})
    (attempt,) = record["attempts"]
    first, second = attempt["metrics"]
    assert [(hop["url"], hop["status"]) for hop in (first, second)] == [
        (f"{nginx.https1}/moved", 302), (f"{nginx.https1}/hello.txt", 200),
    ]  # fmt: skip
    times = [first[step] for step in STEPS if first[step] is not None]
    assert times == sorted(times)
    assert [second[step] for step in ("dns_us", "connect_us", "tls_us")] == [None] * 3
    assert [hop["reused"] for hop in (first, second)] == [False, True]
    assert first["connection"] == second["connection"]
    for hop in (first, second):
        assert hop["remote"] == nginx.https1.removeprefix("https://")
        assert hop["local"].startswith("127.0.0.1:")
        assert (hop["http_version"], hop["tls"]["version"]) == ("http/1.1", "TLSv1.3")
        assert hop["tls"]["cipher"].startswith("TLS_")
        assert hop["request_header_bytes"] > 40
        assert hop["response_header_bytes"] > 40
    assert second["response_body_bytes"] == second["decoded_body_bytes"] == 13
    assert first["fetch_start"] <= second["fetch_start"]
    assert record["metrics"]["start"] == first["fetch_start"]
    assert record["metrics"]["duration_us"] >= second["end_us"]


def test_rl_19_every_attempt_has_its_request_response_error_and_metrics(wire: Wire, origin: ScriptedOrigin) -> None:
    url = statuses(origin, 500, 503, 200)
    policy = {"retry_policy": {"scale_ms": 1}}
    record = whole(wire, {"url": url, "validate": True, "interceptor": [policy, {"bearer": {"token": "t"}}]})
    assert record["outcome"] == {"ok": True}
    assert [attempt["response"]["status"] for attempt in record["attempts"]] == [500, 503, 200]
    assert [["X-Status", str(status)] in attempt["response"]["headers"]
            for status, attempt in zip((500, 503, 200), record["attempts"], strict=True)] == [True] * 3  # fmt: skip
    refused = "response_validation_failed.unacceptable_status_code"
    assert [attempt.get("error") for attempt in record["attempts"]] == [refused, refused, None]
    assert [len(attempt["metrics"]) for attempt in record["attempts"]] == [1, 1, 1]
    assert all(["Authorization", "Bearer t"] in attempt["request"]["headers"] for attempt in record["attempts"])
    assert record["metrics"]["attempts"] == 3
    assert record["response"]["status"] == 200


def test_a_failure_has_metrics_and_the_request_too(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/cut", lambda exchange: exchange.close())
    record = whole(wire, {"url": url, "headers": {"X-A": "b"}, "method": "POST", "body": {"text": "b"}})
    assert set(record) == MEMBERS
    assert record["response"] is None
    assert record["outcome"]["error"]["name"] == "session_task_failed.network_connection_lost"
    (attempt,) = record["attempts"]
    assert attempt["error"] == "session_task_failed.network_connection_lost"
    assert ["X-A", "b"] in attempt["request"]["headers"]
    assert "response" not in attempt
    (hop,) = attempt["metrics"]
    assert hop["request_body_bytes"] == 1
    assert hop["first_byte_us"] is None
    assert set(record["timeline"]) == {*TIMES, *SPANS} - {"initial_response", "latency_us"}


def test_a_response_that_is_cut_is_told_with_what_had_come(wire: Wire, origin: ScriptedOrigin) -> None:
    def handler(exchange: Exchange) -> None:
        exchange.reply(200, b"half", [("X-A", "b")], length=8)
        exchange.close()

    record = whole(wire, {"url": origin.on("/half", handler), "serialize": "string"})
    assert record["outcome"]["error"]["name"] == "session_task_failed.network_connection_lost"
    assert "value" not in record["outcome"]
    assert record["response"]["status"] == record["attempts"][0]["response"]["status"] == 200
    assert record["body"] == {"text": "half", "size_bytes": 4}


def test_nothing_is_told_of_what_did_not_happen(wire: Wire, origin: ScriptedOrigin) -> None:
    failed = whole(wire, {"url": "nonsense"})
    assert (failed["response"], failed["metrics"]) == (None, None)
    assert failed["attempts"] == [{"error": failed["outcome"]["error"]["name"], "metrics": []}]
    refused = whole(wire, {"url": origin.url, "interceptor": [{"oauth2": {"token_url": origin.url}}]})
    (attempt,) = refused["attempts"]
    assert attempt["error"] == "request_adaptation_failed"
    assert attempt["request"]["url"] == origin.url
    assert attempt["metrics"] == []
    request = wire.call("request.submit", url=origin.url, start="manual")["request"]
    wire.call("request.cancel", request=request)
    cancelled = wire.call("request.response", request=request)
    assert (cancelled["state"], cancelled["attempts"], cancelled["metrics"]) == ("cancelled", [], None)
    assert origin.requests == []


def test_the_body_is_there_whatever_became_of_the_response(wire: Wire, origin: ScriptedOrigin) -> None:
    url = statuses(origin, 404, 200, body=b"{")
    refused = whole(wire, {"url": url, "validate": True, "serialize": "json"})
    assert refused["outcome"]["error"]["name"] == "response_validation_failed.unacceptable_status_code"
    assert refused["body"]["text"] == "{"
    unread = whole(wire, {"url": url, "serialize": "json"})
    assert unread["outcome"]["error"]["name"] == "response_serialization_failed.json_serialization_failed"
    assert unread["body"]["text"] == "{"


def test_serializers_tell_what_they_took(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/json", lambda exchange: exchange.reply(body=b"[1]"))
    record = whole(wire, {"url": url, "serialize": ["json", "none", "string"]})
    values = record["outcome"]["values"]
    assert [(value["serializer"], value.get("value")) for value in values] == [
        ("json", [1]), ("none", None), ("string", "[1]"),
    ]  # fmt: skip
    assert values[1]["duration_us"] == 0
    assert sum(value["duration_us"] for value in values) <= record["timeline"]["serialization_duration_us"]


def test_a_record_is_read_as_often_as_wanted_and_by_others(daemon: Daemon, origin: ScriptedOrigin) -> None:
    with daemon.wire() as one, daemon.wire() as other:
        request = one.call("request.submit", url=statuses(origin, 200, body=b"[1]"))["request"]
        first = one.call("request.response", request=request)
        assert other.call("request.response", request=request) == first
        assert other.call("request.response", request=request, serialize="json")["outcome"]["value"] == [1]
        usual = one.call("request.wait", request=request)
        assert usual.keys() == first.keys() - {"method", "url", "timeline"}
        assert "headers" not in usual["attempts"][0]["request"]
        performed = one.call("request.perform", url=origin.url)["request"]
        with pytest.raises(RemoteError) as caught:
            one.call("request.response", request=performed)
        assert caught.value.name == "request.not_found"
        assert len(origin.requests) == 2


@pytest.mark.parametrize("attempts", [1, 12])
def test_a_record_too_long_for_the_line_keeps_its_form(wire: Wire, origin: ScriptedOrigin, attempts: int) -> None:
    fields = [(f"X-Field-{number}", "v" * 1000) for number in range(40)]
    remaining = iter([503] * (attempts - 1) + [200])
    url = origin.on("/h", lambda exchange: exchange.reply(next(remaining), b"b" * 40_000, fields))
    retry = {"retry_policy": {"scale_ms": 1, "max_delay_ms": 1, "limit": 20, "without_validation": True}}
    request = wire.call("request.submit", url=url, interceptor=[retry], headers={"X-Long": "l" * 5_000})["request"]
    wire.request("request.response", request=request)
    line = wire.receive_bytes()
    assert len(line) < 65_536
    record = json.loads(line)["result"]
    assert set(record) - {"warnings"} == MEMBERS
    assert record["response"]["truncated"] is True
    assert len(record["attempts"]) == attempts
    assert all(attempt["response"]["truncated"] for attempt in record["attempts"])
    assert all("headers" in attempt["request"] for attempt in record["attempts"])
    assert record["body"]["file"]
    wire.call("request.dismiss", request=request)
