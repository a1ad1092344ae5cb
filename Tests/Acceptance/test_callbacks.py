"""Callbacks: which client is called, what an answer does, and how a callback without an answer ends (D-21)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.wire import CONTENT_LENGTH, SEQUENCE, Wire
from origins.scripted import ScriptedOrigin

BODY = b"the body"


@pytest.fixture
def place(origin: ScriptedOrigin) -> ScriptedOrigin:
    """An origin with a path for each kind of callback."""
    origin.on("/good", lambda exchange: exchange.reply(body=BODY))
    origin.on("/bad", lambda exchange: exchange.reply(503))
    origin.on("/moved", lambda exchange: exchange.reply(302, b"moved", [("Location", "/good")]))
    return origin


def asking(kind: str, origin: ScriptedOrigin, **callback: Any) -> dict[str, Any]:
    """Return the parameters of a request with a callback of that kind to the client called `c`."""
    asks = {"callback": {"name": "c", **callback}}
    handles = {"callback": {"name": "c", "handles": [kind], **callback}}
    parameters: dict[str, dict[str, Any]] = {
        "adapt": {"url": f"{origin.url}/good", "interceptor": [handles]},
        "retry": {"url": f"{origin.url}/bad", "interceptor": [handles], "validate": True},
        "redirect": {"url": f"{origin.url}/moved", "redirect": asks},
        "validate": {"url": f"{origin.url}/good", "validate": [asks]},
        "preprocess": {"url": f"{origin.url}/good", "serialize": {"as": "string", "preprocess": asks}},
        "serialize": {"url": f"{origin.url}/good", "serialize": asks},
    }
    return parameters[kind]


KINDS = ["adapt", "retry", "redirect", "validate", "preprocess", "serialize"]


def name(record: dict[str, Any]) -> str | None:
    return record["outcome"]["error"]["name"] if "error" in record["outcome"] else None


def underlying(record: dict[str, Any]) -> dict[str, Any]:
    """Return the failure of the callback, at any depth of the error."""
    error: dict[str, Any] = record["outcome"]["error"]
    while error["name"] != "callback_failed":
        error = error["details"]["underlying"]
    return error


# Answers


def answer_adapt(wire: Wire, question: dict[str, Any]) -> None:
    assert question["params"]["url_request"]["method"] == "GET"
    body = {"json": {"b": [1.0, "é"]}}
    wire.reply(
        question, method="PUT", url=question["params"]["url_request"]["url"] + "?q", body=body,
        set_headers={"X-Set": "1"}, remove_headers=["accept-language"],
    )  # fmt: skip


def check_adapt(record: dict[str, Any], origin: ScriptedOrigin) -> None:
    (request,) = origin.requests
    assert (request.method, request.target, request.body) == ("PUT", "/good?q", '{"b":[1.0,"é"]}'.encode())
    assert (request.values("x-set"), request.values("accept-language")) == (["1"], [])


def answer_retry(wire: Wire, question: dict[str, Any]) -> None:
    assert question["params"]["error"]["name"] == "response_validation_failed.unacceptable_status_code"
    assert (question["params"]["response"]["status"], question["params"]["retry_count"]) == (503, 0)
    wire.reply(question, decision="retry", delay_ms=1)
    again = wire.question("retry")
    assert (again["params"]["retry_count"], again["params"]["attempt"]) == (1, 2)
    wire.reply(again, decision="do_not_retry_with_error", message="twice is enough")


def check_retry(record: dict[str, Any], origin: ScriptedOrigin) -> None:
    assert len(origin.requests) == 2
    details = record["outcome"]["error"]["details"]
    assert name(record) == "request_retry_failed"
    assert details["retry_error"]["message"] == "twice is enough"
    assert details["original_error"]["details"] == {"code": 503}


def answer_redirect(wire: Wire, question: dict[str, Any]) -> None:
    assert question["params"]["response"]["status"] == 302
    assert question["params"]["url_request"]["url"].endswith("/good")
    wire.reply(question, decision="follow", set_headers={"X-Hop": "1"}, method="DELETE")


def check_redirect(record: dict[str, Any], origin: ScriptedOrigin) -> None:
    assert [(request.method, request.values("x-hop")) for request in origin.requests] == [
        ("GET", []), ("DELETE", ["1"]),
    ]  # fmt: skip


def answer_validate(wire: Wire, question: dict[str, Any]) -> None:
    assert question["params"]["body"] == {"text": BODY.decode(), "size_bytes": len(BODY)}
    wire.reply(question, valid=False, message="not this one")


def check_validate(record: dict[str, Any], _: ScriptedOrigin) -> None:
    assert name(record) == "response_validation_failed.custom_validation_failed"
    refusal = record["outcome"]["error"]["details"]["underlying"]
    assert (refusal["name"], refusal["message"]) == ("client_refused", "not this one")
    assert record["body"]["text"] == BODY.decode()


def answer_preprocess(wire: Wire, question: dict[str, Any]) -> None:
    assert question["params"]["body"]["text"] == BODY.decode()
    wire.reply(question, base64="aMOp")


def check_preprocess(record: dict[str, Any], _: ScriptedOrigin) -> None:
    assert record["outcome"] == {"ok": True, "value": "hÃ©"}


def answer_serialize(wire: Wire, question: dict[str, Any]) -> None:
    assert question["params"]["response"]["status"] == 200
    wire.reply(question, value={"any": ["JSON", None]})


def check_serialize(record: dict[str, Any], _: ScriptedOrigin) -> None:
    assert record["outcome"] == {"ok": True, "value": {"any": ["JSON", None]}}


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_decides(wire: Wire, place: ScriptedOrigin, kind: str) -> None:
    call = wire.request("request.perform", asking(kind, place))
    question = wire.question()
    assert question["method"] == f"callback.{kind}"
    params = question["params"]
    assert (params["callback"], params["session"], params["attempt"]) == ("c", "default", 1)
    assert 9_000 < params["deadline_ms"] <= 10_000
    globals()[f"answer_{kind}"](wire, question)
    globals()[f"check_{kind}"](wire.result(call), place)


@pytest.mark.parametrize("framing", [CONTENT_LENGTH, SEQUENCE])
def test_callbacks_in_other_framings(daemon: Daemon, place: ScriptedOrigin, framing: str) -> None:
    with daemon.wire(framing) as wire:
        call = wire.request("request.perform", asking("serialize", place))
        wire.reply(wire.question(), value=1)
        assert wire.result(call)["outcome"]["value"] == 1


def test_answers_in_a_batch(wire: Wire, place: ScriptedOrigin) -> None:
    calls = [wire.request("request.perform", asking("serialize", place)) for _ in range(3)]
    questions = [wire.question() for _ in calls]
    replies: list[Any] = [
        {"jsonrpc": "2.0", "id": question["id"], "result": {"value": number}}
        for number, question in enumerate(questions)
    ]
    wire.send([*replies, {"jsonrpc": "2.0", "id": "p", "method": "daemon.ping"}])
    messages = [wire.receive() for _ in range(4)]
    (batch,) = [message for message in messages if isinstance(message, list)]
    assert [answer["id"] for answer in batch] == ["p"]
    assert {message["id"] for message in messages if isinstance(message, dict)} == set(calls)


def test_the_daemon_s_ids_and_the_client_s_are_apart(wire: Wire, place: ScriptedOrigin) -> None:
    call = wire.request("request.perform", asking("serialize", place))
    question = wire.question()
    wire.send({"jsonrpc": "2.0", "id": question["id"], "method": "daemon.ping"})
    assert wire.answer(question["id"])["result"]["pong"] is True
    wire.reply(question, value=1)
    assert wire.result(call)["outcome"]["value"] == 1


def test_ri_04_and_rh_03_refusals(wire: Wire, place: ScriptedOrigin) -> None:
    call = wire.request("request.perform", asking("adapt", place))
    wire.reply(wire.question(), fail={"message": "no key"})
    record = wire.result(call)
    assert name(record) == "request_adaptation_failed"
    refusal = record["outcome"]["error"]["details"]["underlying"]
    assert (refusal["name"], refusal["message"], refusal["details"]) == ("client_refused", "no key", {"callback": "c"})
    assert place.requests == []
    call = wire.request("request.perform", asking("redirect", place))
    wire.reply(wire.question(), decision="do_not_follow")
    record = wire.result(call)
    assert (record["response"]["status"], record["body"]["text"]) == (302, "moved")
    for kind in ("serialize", "preprocess"):
        call = wire.request("request.perform", asking(kind, place))
        wire.reply(wire.question(), fail={"message": "not mine"})
        record = wire.result(call)
        assert name(record) == "response_serialization_failed.custom_serialization_failed"
        assert record["outcome"]["error"]["details"]["underlying"]["message"] == "not mine"


def test_f_22_a_client_s_redirect_leaks_nothing_that_it_did_not_set(wire: Wire, place: ScriptedOrigin) -> None:
    """`localhost` is another origin than the address, on the same port."""
    elsewhere = place.url.replace("127.0.0.1", "localhost") + "/good"
    secrets = {"Authorization": "Bearer t", "Cookie": "a=b"}
    changes: list[dict[str, Any]] = [{}, {"set_headers": {"Authorization": "Bearer own"}}]
    for change, expected in zip(changes, ([], ["Bearer own"]), strict=True):
        call = wire.request("request.perform", {**asking("redirect", place), "headers": secrets})
        question = wire.question()
        assert ["Authorization", "Bearer t"] in question["params"]["url_request"]["headers"]
        wire.reply(question, decision="follow", url=elsewhere, **change)
        assert wire.result(call)["response"]["url"] == elsewhere
        last = place.requests[-1]
        assert (last.values("authorization"), last.values("cookie")) == (expected, [])


# No valid answer


def timed_out(wire: Wire, question: dict[str, Any]) -> None:
    """Do not answer: the deadline is short."""


def error(wire: Wire, question: dict[str, Any]) -> None:
    wire.send({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32000, "message": "broken here"}})


def invalid_answer(wire: Wire, question: dict[str, Any]) -> None:
    wire.send({"jsonrpc": "2.0", "id": question["id"], "result": {"what": 7}})


def disconnected(wire: Wire, question: dict[str, Any]) -> None:
    wire.close()


WAYS: list[Callable[[Wire, dict[str, Any]], None]] = [timed_out, error, invalid_answer, disconnected]

# kind, on_failure (None: the default), what the request ends with, its status and its value.
ENDS = [
    ("adapt", None, "request_adaptation_failed", None, None),
    ("adapt", "skip", None, 200, None),
    ("retry", None, "response_validation_failed.unacceptable_status_code", 503, None),
    ("retry", "skip", "response_validation_failed.unacceptable_status_code", 503, None),
    ("redirect", None, None, 302, None),
    ("redirect", "follow", None, 200, None),
    ("redirect", "fail", "callback_failed", 302, None),
    ("validate", None, "callback_failed", 200, None),
    ("validate", "pass", None, 200, None),
    ("preprocess", None, "callback_failed", 200, None),
    ("preprocess", "none", None, 200, BODY.decode()),
    ("serialize", None, "callback_failed", 200, None),
    ("serialize", "none", None, 200, None),
]


def check_end(record: dict[str, Any], end: tuple[Any, ...], reason: str) -> None:
    kind, _, expected, status, value = end
    assert name(record) == expected, record
    assert (record["response"] or {}).get("status") == status
    assert record["outcome"].get("value") == value
    if expected and kind != "retry":
        assert underlying(record)["details"]["reason"] == reason
        assert underlying(record)["details"]["callback"] == "c"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("end", ENDS, ids=lambda end: f"{end[0]}-{end[1]}")
def test_a_question_that_is_not_answered(
    daemon: Daemon, place: ScriptedOrigin, end: tuple[Any, ...], way: Callable[[Wire, dict[str, Any]], None]
) -> None:
    kind, on_failure, *_ = end
    options = {"on_failure": on_failure} if on_failure else {}
    if way is timed_out:
        options["deadline_ms"] = 20
    with daemon.wire() as asked, daemon.wire() as other:
        request = asked.call("request.submit", **asking(kind, place, **options))["request"]
        way(asked, asked.question(kind))
        check_end(other.call("request.wait", request=request), end, way.__name__)


@pytest.mark.parametrize("end", ENDS, ids=lambda end: f"{end[0]}-{end[1]}")
def test_a_question_to_nobody(daemon: Daemon, place: ScriptedOrigin, end: tuple[Any, ...]) -> None:
    kind, on_failure, *_ = end
    options = {"on_failure": on_failure} if on_failure else {}
    with daemon.wire() as gone, daemon.wire() as other:
        request = gone.call("request.submit", start="manual", **asking(kind, place, **options))["request"]
        gone.finish()
        assert gone.rest() == []
        other.call("request.resume", request=request)
        check_end(other.call("request.wait", request=request), end, "no_responder")


def test_a_client_that_is_half_closed_gets_its_answer_and_no_question(daemon: Daemon, place: ScriptedOrigin) -> None:
    gate = place.hold("/good", BODY)
    with daemon.wire() as wire:
        call = wire.request("request.perform", asking("validate", place))
        place.received(1)
        wire.finish()
        # One turn of the daemon's loop later it has read the end of the client's side.
        daemon.call("daemon.ping")
        gate.set()
        (answer,) = wire.rest()
        assert answer["id"] == call
        assert underlying(answer["result"])["details"]["reason"] == "no_responder"


def test_what_the_client_says_of_its_error_is_in_the_failure(wire: Wire, place: ScriptedOrigin) -> None:
    call = wire.request("request.perform", asking("validate", place))
    error(wire, wire.question())
    failed = underlying(wire.result(call))
    assert failed["details"] == {"callback": "c", "reason": "error", "message": "broken here"}


def test_a_client_that_is_away_is_retried_for_twice(daemon: Daemon, place: ScriptedOrigin) -> None:
    with daemon.wire() as wire:
        call = wire.request("request.perform", asking("retry", place, on_failure="retry"))
        error(wire, wire.question("retry"))
        # After 500 ms.
        wire.reply(wire.question("retry"), decision="do_not_retry")
        record = wire.result(call)
        assert len(record["attempts"]) == 2
        (first, second) = (attempt["metrics"][0]["fetch_start"] for attempt in record["attempts"])
        assert first < second


def test_an_adapter_that_is_away_is_asked_again(wire: Wire, place: ScriptedOrigin) -> None:
    interceptor = [{"callback": {"name": "c", "on_failure": "retry"}}]
    call = wire.request("request.perform", url=f"{place.url}/good", interceptor=interceptor)
    error(wire, wire.question("adapt"))
    wire.reply(wire.question("retry"), decision="retry")
    wire.reply(wire.question("adapt"))
    record = wire.result(call)
    assert record["outcome"]["ok"]
    assert [attempt.get("error") for attempt in record["attempts"]] == ["request_adaptation_failed", None]


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("adapt", {"url": "not a url"}),
        ("adapt", {"method": "A B"}),
        ("adapt", {"set_headers": {"X-A": "b\r\nX-C: d"}}),
        ("adapt", {"set_headers": {"Content-Length": "3"}}),
        ("adapt", {"headers": [["Host", "a"], ["Host", "b"]]}),
        ("adapt", {"body": {"base64": "%"}}),
        ("adapt", {"body": {"text": "a", "base64": "YQ=="}}),
        ("adapt", {"headerz": {}}),
        ("preprocess", {"base64": "a"}),
        ("preprocess", {}),
        ("serialize", {}),
        ("validate", {"valid": "yes"}),
        ("validate", []),
        ("validate", None),
    ],
)
def test_answers_that_are_none(wire: Wire, place: ScriptedOrigin, kind: str, answer: Any) -> None:
    call = wire.request("request.perform", asking(kind, place))
    wire.send({"jsonrpc": "2.0", "id": wire.question()["id"], "result": answer})
    assert underlying(wire.result(call))["details"]["reason"] == "invalid_answer"
    assert [request for request in place.requests if kind == "adapt"] == []


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","id":"%s"}',
        '{"jsonrpc":"2.0","id":"%s","result":{"valid":true},"error":{"code":1,"message":"m"}}',
        '{"jsonrpc":"1.0","id":"%s","result":{"valid":true}}',
    ],
)
def test_what_is_no_response_ends_the_callback_at_once(wire: Wire, place: ScriptedOrigin, text: str) -> None:
    """It is refused like any invalid message, and the request fails instead of waiting for the deadline."""
    call = wire.request("request.perform", asking("validate", place))
    question = wire.question()
    wire.send_text(text % question["id"])
    refusal = wire.receive()
    assert (refusal["id"], refusal["error"]["code"]) == (question["id"], -32600)
    assert underlying(wire.result(call))["details"]["reason"] == "invalid_answer"
