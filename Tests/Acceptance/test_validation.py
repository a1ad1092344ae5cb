"""Which responses are accepted: statuses, content types, and a client's own validators."""

from __future__ import annotations

from typing import Any

import carpool
import pytest
from harness.vectors import rows
from harness.wire import Wire
from origins.httpbin import Httpbin
from origins.scripted import Exchange, ScriptedOrigin

STATUS = "response_validation_failed.unacceptable_status_code"
TYPE = "response_validation_failed.unacceptable_content_type"
NO_TYPE = "response_validation_failed.missing_content_type"
CUSTOM = "response_validation_failed.custom_validation_failed"


def serve(origin: ScriptedOrigin, status: int = 200, body: bytes = b"body", kind: str | None = None) -> str:
    """Serve this response, and return its URL."""
    headers = [] if kind is None else [("Content-Type", kind)]
    return origin.on("/served", lambda exchange: exchange.reply(status, body, headers))


def failure(client: carpool.Client | Wire, url: str, validate: Any, **params: Any) -> tuple[str, dict[str, Any]] | None:
    """Return why the response is not accepted; None if it is."""
    record = client.call("request.perform", url=url, validate=validate, **params)
    if record["outcome"]["ok"]:
        return None
    error = record["outcome"]["error"]
    return error["name"], error.get("details", {})


def validations(wire: Wire, **params: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Make a request and return the events of its validations, and its outcome."""
    wire.call("events.subscribe", types=["request.did_validate", "request.did_finish"])
    call = wire.request("request.perform", params)
    events: list[dict[str, Any]] = []
    while True:
        message = wire.receive()
        if message.get("id") == call:
            outcome: dict[str, Any] = message["result"]["outcome"]
            return events, outcome
        if message["params"]["type"] == "request.did_validate":
            events.append(message["params"])


def test_va_01_every_status_is_a_success_unless_it_is_validated(client: carpool.Client, origin: ScriptedOrigin) -> None:
    for status in (400, 404, 500, 503):
        record = client.call("request.perform", url=serve(origin, status), serialize="string")
        assert record["outcome"] == {"ok": True, "value": "body"}
        assert record["response"]["status"] == status
        assert failure(client, serve(origin, status), validate=False) is None


def test_va_01_a_session_may_validate_and_its_request_may_not(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.create_session("strict", {"validate": True})
    record = client.call("request.perform", url=serve(origin, 404), session="strict")
    assert record["outcome"]["error"]["name"] == STATUS
    assert failure(client, serve(origin, 404), validate=False, session="strict") is None
    assert failure(client, serve(origin, 404), validate=[], session="strict") is None


def test_va_02_statuses_from_200_to_299(client: carpool.Client, origin: ScriptedOrigin) -> None:
    for status in (200, 201, 226, 299):
        assert failure(client, serve(origin, status), validate=True) is None
    for status in (300, 304, 400, 404, 500, 599):
        assert failure(client, serve(origin, status), validate=True) == (STATUS, {"code": status})


@pytest.mark.parametrize(
    ("accept", "kind", "refused"),
    [
        (None, "text/plain", False),
        (None, None, False),
        ("text/plain", "text/plain; charset=utf-8", False),
        ("application/json, text/*;q=0.5", "text/html", False),
        ("*/*", None, False),
        ("application/json,text/html", "text/plain", True),
        ("application/json", None, True),
    ],
)
def test_va_02_the_types_of_the_request_s_accept(
    client: carpool.Client, origin: ScriptedOrigin, accept: str | None, kind: str | None, refused: bool
) -> None:
    headers = {"Accept": accept} if accept else {}
    assert (failure(client, serve(origin, kind=kind), validate=True, headers=headers) is not None) == refused


def test_va_02_is_two_validations(wire: Wire, origin: ScriptedOrigin) -> None:
    events, outcome = validations(wire, url=serve(origin, kind="text/plain"), validate=True)
    assert outcome == {"ok": True}
    assert [(event["data"]["validator"], event["data"]["index"], event["data"]["ok"]) for event in events] == [
        ("status", 0, True),
        ("content_type", 1, True),
    ]


def test_va_03_any_list_of_statuses(client: carpool.Client, origin: ScriptedOrigin) -> None:
    accepted: list[int | str] = ["200-204", 304, "400-499"]
    for status, good in [(200, True), (204, True), (205, False), (304, True), (399, False), (404, True), (500, False)]:
        found = failure(client, serve(origin, status), validate=[{"status": accepted}])
        assert found == (None if good else (STATUS, {"code": status}))
    assert failure(client, serve(origin), validate=[{"status": []}]) == (STATUS, {"code": 200})


def test_va_03_httpbin_s_statuses(client: carpool.Client, httpbin: Httpbin) -> None:
    assert failure(client, f"{httpbin.url}/status/418", validate=[{"status": [418]}]) is None
    assert failure(client, f"{httpbin.url}/status/418", validate=True) == (STATUS, {"code": 418})


@pytest.mark.parametrize("status", ["299-200", "20-299", "200-", "abc", "+20-299", "200-1000", 99, 1000, 200.5])
def test_va_03_what_is_no_status_is_refused_before_anything_is_sent(
    client: carpool.Client, origin: ScriptedOrigin, status: Any
) -> None:
    with pytest.raises(carpool.InvalidParamsError) as caught:
        failure(client, origin.url, validate=[{"status": [200, status]}])
    assert caught.value.data["path"].startswith("params.validate")
    assert origin.requests == []


def test_va_04_content_types_by_the_vectors(client: carpool.Client, origin: ScriptedOrigin) -> None:
    table = list(rows("mime"))
    assert len(table) > 50
    for row in table:
        url = serve(origin, kind=row["content_type"])
        found = failure(client, url, validate=[{"content_type": row["acceptable"]}])
        if row["error"] is None:
            assert found is None, row
            continue
        details: dict[str, Any] = {"acceptable_content_types": sorted(row["acceptable"])}
        if "response_content_type" in row:
            details["response_content_type"] = row["response_content_type"]
        assert found == (f"response_validation_failed.{row['error']}", details), row


@pytest.mark.parametrize("kind", [None, "text/plain", "text"])
@pytest.mark.parametrize("status", [200, 204])
def test_va_04_an_empty_body_has_any_type(
    client: carpool.Client, origin: ScriptedOrigin, status: int, kind: str | None
) -> None:
    def handler(exchange: Exchange) -> None:
        field = f"Content-Type: {kind}\r\n" if kind else ""
        length = "" if status == 204 else "Content-Length: 0\r\n"
        exchange.send(f"HTTP/1.1 {status} Reason\r\n{field}{length}\r\n".encode())

    url = origin.on("/empty", handler)
    assert failure(client, url, validate=[{"content_type": ["application/json"]}, {"content_type": []}]) is None


def test_va_04_a_head_has_no_body_to_judge(client: carpool.Client, httpbin: Httpbin) -> None:
    only_json = [{"content_type": ["application/json"]}]
    assert failure(client, f"{httpbin.url}/html", validate=only_json, method="HEAD") is None
    assert failure(client, f"{httpbin.url}/html", validate=only_json) == (
        TYPE,
        {"acceptable_content_types": ["application/json"], "response_content_type": "text/html"},
    )


def test_va_05_a_body_without_a_type_needs_a_wildcard(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = serve(origin)
    found = failure(client, url, validate=[{"content_type": ["text/plain", "application/json"]}])
    assert found == (NO_TYPE, {"acceptable_content_types": ["application/json", "text/plain"]})
    assert failure(client, url, validate=[{"content_type": ["application/json", "*/*"]}]) is None


def test_va_06_a_mismatch_tells_the_sorted_list_and_the_bare_type(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    url = serve(origin, kind="application/json; charset=utf-8")
    assert failure(client, url, validate=[{"content_type": ["text/plain", "image/*"]}]) == (
        TYPE,
        {"acceptable_content_types": ["image/*", "text/plain"], "response_content_type": "application/json"},
    )


def test_va_07_a_client_s_own_validator(client: carpool.Client, origin: ScriptedOrigin) -> None:
    asked: list[tuple[int, bytes | None]] = []

    def validate(call: carpool.ValidateCall) -> bool:
        asked.append((call.response.status_code, call.content))
        if call.content == b"refused":
            raise carpool.Refuse("the list is empty")
        return call.content == b"good"

    client.register("judge", validate=validate)
    own = [{"callback": {"name": "judge"}}]
    assert failure(client, serve(origin, 201, b"good"), validate=own) is None
    for body, message in [(b"bad", "it is not valid"), (b"refused", "the list is empty")]:
        found = failure(client, serve(origin, body=body), validate=own)
        assert found is not None
        name, details = found
        assert (name, details["underlying"]["name"]) == (CUSTOM, "client_refused")
        assert details["underlying"]["message"] == message
    assert asked == [(201, b"good"), (200, b"bad"), (200, b"refused")]


@pytest.mark.parametrize(("on_failure", "name"), [("fail", "callback_failed"), ("pass", None)])
def test_va_07_a_validator_that_breaks_or_is_not_there(
    client: carpool.Client, origin: ScriptedOrigin, on_failure: str, name: str | None
) -> None:
    def validate(_: carpool.ValidateCall) -> bool:
        raise RuntimeError("broken")

    client.register("broken", validate=validate)
    for callback in ("broken", "nobody"):
        found = failure(client, serve(origin), validate=[{"callback": {"name": callback, "on_failure": on_failure}}])
        assert (found[0] if found else None) == name


def test_va_08_the_first_that_refuses_is_the_last_that_is_asked(wire: Wire, origin: ScriptedOrigin) -> None:
    events, outcome = validations(wire, url=serve(origin, 500), validate=True)
    assert [(event["data"]["validator"], event["data"]["ok"]) for event in events] == [("status", False)]
    assert events[0]["data"]["error"]["name"] == outcome["error"]["name"] == STATUS


def test_va_08_validators_run_in_their_order(wire: Wire, origin: ScriptedOrigin) -> None:
    validate = [{"content_type": ["text/*"]}, {"status": [500]}, {"status": [200]}, {"status": []}]
    events, outcome = validations(wire, url=serve(origin, 500, kind="text/html"), validate=validate)
    assert [(event["data"]["index"], event["data"]["ok"]) for event in events] == [(0, True), (1, True), (2, False)]
    assert outcome["error"]["details"] == {"code": 500}


def test_va_08_without_a_response_nothing_is_validated(wire: Wire, origin: ScriptedOrigin) -> None:
    for url in ("http://127.0.0.1:1/", origin.on("/closed", lambda exchange: exchange.close())):
        events, outcome = validations(wire, url=url, validate=True)
        assert (events, outcome["error"]["name"].partition(".")[0]) == ([], "session_task_failed")


def test_va_09_each_attempt_is_validated_anew(wire: Wire, origin: ScriptedOrigin) -> None:
    statuses = iter([500, 503, 200])
    url = origin.on("/third", lambda exchange: exchange.reply(next(statuses), b"body"))
    retry = [{"retry_policy": {"scale_ms": 0}}]
    events, outcome = validations(wire, url=url, validate=True, interceptor=retry)
    assert outcome == {"ok": True}
    assert [(event["attempt"], event["data"]["validator"], event["data"]["ok"]) for event in events] == [
        (1, "status", False),
        (2, "status", False),
        (3, "status", True),
        (3, "content_type", True),
    ]


def test_va_10_what_is_no_type_is_missing(client: carpool.Client, origin: ScriptedOrigin) -> None:
    for kind in ("text", "", " ; charset=utf-8"):
        url = serve(origin, kind=kind)
        assert failure(client, url, validate=[{"content_type": ["text/plain"]}]) == (
            NO_TYPE,
            {"acceptable_content_types": ["text/plain"]},
        )
        assert failure(client, url, validate=[{"content_type": ["*/*"]}]) is None
    trimmed = serve(origin, kind=" text/plain ;x=y")
    assert failure(client, trimmed, validate=[{"content_type": [" text/plain; a=b"]}]) is None


def test_a_response_that_is_refused_keeps_its_body(client: carpool.Client, origin: ScriptedOrigin) -> None:
    problem = b'{"title": "no such car"}'
    url = serve(origin, 404, problem, "application/problem+json")
    record = client.call("request.perform", url=url, validate=True, serialize="json")
    assert "value" not in record["outcome"]
    assert (record["response"]["status"], record["body"]["text"]) == (404, problem.decode())


def test_the_python_client_raises_what_was_refused(client: carpool.Client, httpbin: Httpbin) -> None:
    with pytest.raises(carpool.ValidationError) as caught:
        client.get(f"{httpbin.url}/status/503", validate=True)
    assert (caught.value.name, caught.value.details) == (STATUS, {"code": 503})
    assert caught.value.record["response"]["status"] == 503
