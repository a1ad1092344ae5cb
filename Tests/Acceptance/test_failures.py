"""Every failure that a request can have, by name, with what it carries; one test for each row that can be reached."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from harness.daemon import ROOT
from harness.wire import Wire
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin


def failure(wire: Wire, **params: Any) -> dict[str, Any]:
    record = wire.call("request.perform", **params)
    assert record["outcome"]["ok"] is False, record
    error: dict[str, Any] = record["outcome"]["error"]
    assert error["code"] == 2000
    assert error["message"]
    return error


def serve(origin: ScriptedOrigin, body: bytes, content_type: str | None = None, status: int = 200) -> str:
    fields = [] if content_type is None else [("Content-Type", content_type)]
    return origin.on("/served", lambda exchange: exchange.reply(status, body, fields))


# Before anything is sent


def test_explicitly_cancelled(wire: Wire, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    request = wire.call("request.submit", url=f"{origin.url}/held")["request"]
    origin.received(1)
    wire.call("request.cancel", request=request)
    error = wire.call("request.wait", request=request)["outcome"]["error"]
    assert (error["name"], error["retryable"]) == ("explicitly_cancelled", False)


@pytest.mark.parametrize("url", ["", "nonsense", "http://", "//host/path", "http://a b/"])
def test_invalid_url(wire: Wire, url: str) -> None:
    error = failure(wire, url=url)
    assert error["name"] == "invalid_url"
    assert error["details"] == {"url": url}
    assert error["url_error_code"] == -1000


def test_url_request_validation_failed_body_data_in_get_request(wire: Wire, origin: ScriptedOrigin) -> None:
    name = "url_request_validation_failed.body_data_in_get_request"
    for body in ("b", ""):
        assert failure(wire, url=origin.url, body={"text": body})["name"] == name
    interceptor = [{"callback": {"name": "c", "handles": ["adapt"]}}]
    call = wire.request("request.perform", url=origin.url, interceptor=interceptor)
    wire.reply(wire.question("adapt"), body={"text": "b"})
    error = wire.result(call)["outcome"]["error"]
    assert error["name"] == "request_adaptation_failed"
    assert error["details"]["underlying"]["name"] == name
    assert origin.requests == []


def test_parameter_encoder_failed_encoder_failed(wire: Wire, origin: ScriptedOrigin) -> None:
    error = failure(wire, url=origin.url, parameters=[1], encoding="form")
    assert error["name"] == "parameter_encoder_failed.encoder_failed"
    assert error["details"]["underlying"]["name"] == "invalid_root_object"


def test_parameter_encoding_failed_property_list_encoding_failed(wire: Wire, origin: ScriptedOrigin) -> None:
    error = failure(wire, url=origin.url, method="POST", parameters={"a": None}, encoding="plist")
    assert error["name"] == "parameter_encoding_failed.property_list_encoding_failed"
    assert error["details"]["underlying"]["name"] == "invalid_property_list"


def test_request_adaptation_failed_carries_the_cause(wire: Wire, origin: ScriptedOrigin) -> None:
    causes: list[tuple[list[Any], str]] = [
        ([{"oauth2": {"token_url": origin.url}}], "authentication_error.missing_credential"),
        (
            [{"set_header": {"name": "Content-Encoding", "value": "x"}}, {"compress": {"min_bytes": 0}}],
            "duplicate_header",
        ),
    ]
    for interceptor, cause in causes:
        error = failure(wire, url=origin.url, method="POST", body={"text": "b" * 100}, interceptor=interceptor)
        assert error["name"] == "request_adaptation_failed"
        assert error["details"]["underlying"]["name"] == cause
    assert origin.requests == []


# After a response


def test_request_retry_failed_carries_both_errors(wire: Wire, origin: ScriptedOrigin) -> None:
    interceptor = [{"callback": {"name": "c", "handles": ["retry"]}}]
    url = serve(origin, b"{", status=503)
    call = wire.request("request.perform", url=url, interceptor=interceptor, validate=True)
    question = wire.question("retry")
    assert question["params"]["error"]["details"] == {"code": 503}
    wire.reply(question, decision="do_not_retry_with_error", message="enough")
    error = wire.result(call)["outcome"]["error"]
    assert error["name"] == "request_retry_failed"
    assert error["details"]["retry_error"]["name"] == "client_refused"
    assert error["details"]["retry_error"]["message"] == "enough"
    assert error["details"]["original_error"]["name"] == "response_validation_failed.unacceptable_status_code"
    call = wire.request("request.perform", url=url, interceptor=interceptor, serialize="json")
    wire.reply(wire.question("retry"), decision="do_not_retry_with_error", message="enough")
    error = wire.result(call)["outcome"]["error"]
    original = error["details"]["original_error"]
    assert original["name"] == "response_serialization_failed.json_serialization_failed"
    assert original["details"]["underlying"]["name"] == "invalid_json"


@pytest.mark.parametrize(
    ("content_type", "validate", "reason", "details"),
    [
        ("text/plain", [{"status": [201]}], "unacceptable_status_code", {"code": 200}),
        (
            None, [{"content_type": ["text/b", "text/a"]}], "missing_content_type",
            {"acceptable_content_types": ["text/a", "text/b"]},
        ),
        (
            "text/plain; charset=x", [{"content_type": ["text/b", "text/a"]}], "unacceptable_content_type",
            {"acceptable_content_types": ["text/a", "text/b"], "response_content_type": "text/plain"},
        ),
    ],
)  # fmt: skip
def test_response_validation_failed(
    wire: Wire, origin: ScriptedOrigin, content_type: str | None, validate: Any, reason: str, details: Any
) -> None:
    error = failure(wire, url=serve(origin, b"b", content_type), validate=validate)
    assert (error["name"], error["details"]) == (f"response_validation_failed.{reason}", details)


def test_response_validation_failed_custom_validation_failed(wire: Wire, origin: ScriptedOrigin) -> None:
    call = wire.request("request.perform", url=origin.url, validate=[{"callback": {"name": "c"}}])
    wire.reply(wire.question(), valid=False, message="no")
    error = wire.result(call)["outcome"]["error"]
    assert error["name"] == "response_validation_failed.custom_validation_failed"
    assert error["details"]["underlying"]["message"] == "no"


@pytest.mark.parametrize(
    ("body", "serialize", "reason"),
    [
        (b"", "string", "input_data_nil_or_zero_length"),
        (b"\xff", {"as": "string", "encoding": "utf-8"}, "string_serialization_failed"),
        (b"{", "json", "json_serialization_failed"),
        (b"<plist", "plist", "decoding_failed"),
    ],
)
def test_response_serialization_failed(
    wire: Wire, origin: ScriptedOrigin, body: bytes, serialize: Any, reason: str
) -> None:
    error = failure(wire, url=serve(origin, body), serialize=serialize)
    assert error["name"] == f"response_serialization_failed.{reason}"
    if reason == "string_serialization_failed":
        assert error["details"] == {"encoding": "utf-8"}
    if reason == "json_serialization_failed":
        assert error["details"]["underlying"]["details"]["line"] == 1
    if reason == "decoding_failed":
        assert error["details"]["underlying"]["name"]


def test_response_serialization_failed_of_a_file(wire: Wire, origin: ScriptedOrigin) -> None:
    def again(request: str) -> dict[str, Any]:
        record = wire.call("request.response", request=request, serialize="string")
        error: dict[str, Any] = record["outcome"]["error"]
        return error

    submitted = [
        wire.call("request.submit", url=serve(origin, b"body"), response_body="file")["request"] for _ in range(2)
    ]
    records = [wire.call("request.wait", request=request) for request in submitted]
    wire.call("body.release", request=submitted[0])
    assert again(submitted[0])["name"] == "response_serialization_failed.input_file_nil"
    path = Path(records[1]["body"]["file"])
    path.unlink()
    error = again(submitted[1])
    assert error["name"] == "response_serialization_failed.input_file_read_failed"
    assert error["details"] == {"path": str(path)}


def test_response_serialization_failed_custom_serialization_failed(wire: Wire, origin: ScriptedOrigin) -> None:
    for serialize in ({"callback": {"name": "c"}}, {"as": "string", "preprocess": {"callback": {"name": "c"}}}):
        call = wire.request("request.perform", url=serve(origin, b"b"), serialize=serialize)
        wire.reply(wire.question(), fail={"message": "no"})
        error = wire.result(call)["outcome"]["error"]
        assert error["name"] == "response_serialization_failed.custom_serialization_failed"
        assert error["details"]["underlying"]["message"] == "no"


# The session and the transport


def test_session_invalidated(wire: Wire, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    wire.call("session.create", name="brief")
    request = wire.call("request.submit", url=f"{origin.url}/held", session="brief")["request"]
    origin.received(1)
    wire.call("session.invalidate", session="brief", mode="cancel")
    assert wire.call("request.wait", request=request)["outcome"]["error"]["name"] == "session_invalidated"


def close(exchange: Exchange) -> None:
    exchange.close()


def garbage(exchange: Exchange) -> None:
    exchange.send(b"garbage\r\n\r\n")
    exchange.close()


def undecodable(exchange: Exchange) -> None:
    exchange.reply(body=b"no gzip", headers=[("Content-Encoding", "gzip")])


def loop(exchange: Exchange) -> None:
    exchange.reply(302, headers=[("Location", exchange.request.target)])


@pytest.mark.parametrize(
    ("handler", "options", "name", "code"),
    [
        (close, {}, "network_connection_lost", -1005),
        (garbage, {}, "bad_server_response", -1011),
        (undecodable, {}, "cannot_decode_content_data", -1016),
        (loop, {}, "http_too_many_redirects", -1007),
        (None, {"timeout_ms": 50}, "timed_out", -1001),
        (None, {"resource_timeout_ms": 50}, "timed_out", -1001),
        ("http://127.0.0.1:1/", {}, "cannot_connect_to_host", -1004),
        ("http://no-such-host.invalid/", {}, "cannot_find_host", -1003),
        ("ftp://example.com/", {}, "unsupported_url", -1002),
    ],
)
def test_session_task_failed(
    wire: Wire, origin: ScriptedOrigin, handler: Any, options: dict[str, Any], name: str, code: int
) -> None:
    if handler is None:
        origin.hold("/a")
    elif callable(handler):
        origin.on("/a", handler)
    if name == "cannot_find_host" and wire.call("reachability.get")["status"] != "satisfied":
        # On a machine without a network no name can be looked up.
        name, code = "not_connected_to_internet", -1009
    error = failure(wire, url=handler if isinstance(handler, str) else f"{origin.url}/a", **options)
    assert (error["name"], error["url_error_code"]) == (f"session_task_failed.{name}", code)


def test_session_task_failed_for_certificates(wire: Wire, nginx: Nginx, authority: Authority) -> None:
    error = failure(wire, url=nginx.https)
    assert error["name"] == "session_task_failed.server_certificate_has_unknown_root"
    assert (error["url_error_code"], error["curl"]["code"]) == (-1203, 60)


def test_every_name_that_these_tests_see_is_documented() -> None:
    page = (ROOT / "docs/failures.md").read_text()
    source = Path(__file__).read_text()
    names = re.findall(r'"((?:[a-z_]+_failed|authentication_error)\.[a-z_]+|invalid_[a-z_]+|duplicate_header)"', source)
    assert len(set(names)) > 15
    for name in set(names):
        last = name.removeprefix("session_task_failed")
        assert f"`{name}`" in page or f"`{last}`" in page, name
