"""Callbacks of the daemon and answers of the clients, with both clients and a daemon of a few lines."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asking import PARAMS, Asking, question
from both_clients import Connect, Start, result

import carpool


def asked(start: Start, connect: Connect, kind: str, handler: Callable[..., Any], **params: Any) -> dict[str, Any]:
    """Send one callback in the middle of a request, and return its answer."""
    daemon = Asking(question(kind, **params))
    client = connect(start(daemon).path)
    client.run("register", "mine", **{kind: handler})
    client.run("get", "http://a/")
    return daemon.answers["cb_1"]


def refuse(_: Any) -> Any:
    raise carpool.Refuse("why not")


def fail(_: Any) -> Any:
    raise KeyError("a secret")


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("adapt", None, {}),
        ("adapt", carpool.Changes(), {}),
        ("adapt", carpool.Changes(method="PUT", url="http://b/"), {"method": "PUT", "url": "http://b/"}),
        ("adapt", carpool.Changes(headers={"A": "2"}), {"headers": [["A", "2"]]}),
        ("adapt", carpool.Changes(headers=[("A", "2"), ("A", "3")]), {"headers": [["A", "2"], ["A", "3"]]}),
        ("adapt", carpool.Changes(set_headers={"B": "2"}), {"set_headers": {"B": "2"}}),
        ("adapt", carpool.Changes(remove_headers=["A"]), {"remove_headers": ["A"]}),
        ("adapt", carpool.Changes(body=b"\xff"), {"body": {"base64": "/w=="}}),
        ("adapt", carpool.Changes(body=""), {"body": {"text": ""}}),
        ("adapt", carpool.Changes(json=[1]), {"body": {"json": [1]}}),
        ("retry", None, {"decision": "do_not_retry"}),
        ("retry", False, {"decision": "do_not_retry"}),
        ("retry", True, {"decision": "retry"}),
        ("retry", 1.5, {"decision": "retry", "delay_ms": 1500}),
        ("retry", 0, {"decision": "retry", "delay_ms": 0}),
        ("redirect", None, {"decision": "follow"}),
        ("redirect", True, {"decision": "follow"}),
        ("redirect", False, {"decision": "do_not_follow"}),
        ("redirect", carpool.Changes(method="GET"), {"decision": "follow", "method": "GET"}),
        ("validate", None, {"valid": True}),
        ("validate", True, {"valid": True}),
        ("validate", False, {"valid": False}),
        ("authenticate", None, {"action": "default"}),
        ("authenticate", False, {"action": "reject"}),
        ("authenticate", ("ada", "x"), {"credential": {"username": "ada", "password": "x"}}),
        (
            "authenticate",
            carpool.DigestAuth("ada", "x"),
            {"credential": {"username": "ada", "password": "x", "schemes": ["digest"]}},
        ),
        ("serialize", {"a": [1]}, {"value": {"a": [1]}}),
        ("serialize", None, {"value": None}),
        ("preprocess", "[1]", {"text": "[1]"}),
        ("preprocess", b"\xff", {"base64": "/w=="}),
        ("destination", "/tmp/a", {"path": "/tmp/a"}),
        ("destination", Path("/tmp/a"), {"path": "/tmp/a"}),
        ("destination", None, {"spool": True}),
        ("body", "text", {"text": "text"}),
        ("body", b"\xff", {"base64": "/w=="}),
        ("body", Path("/tmp/a"), {"file": "/tmp/a"}),
        ("cache", None, {"decision": "cache"}),
        ("cache", True, {"decision": "cache"}),
        ("cache", False, {"decision": "do_not_cache"}),
        ("cache", carpool.CacheChanges(), {"decision": "modify"}),
        (
            "cache",
            carpool.CacheChanges(ttl=1.5, storage="memory"),
            {"decision": "modify", "ttl_ms": 1500, "storage": "memory"},
        ),
        (
            "cache",
            carpool.CacheChanges(set_headers={"A": "1"}, remove_headers=["B"], body=b"\xff"),
            {"decision": "modify", "set_headers": {"A": "1"}, "remove_headers": ["B"], "body": {"base64": "/w=="}},
        ),
        ("refresh", carpool.Credential("new"), {"credential": {"access_token": "new"}}),
        (
            "refresh",
            carpool.Credential("new", "r2", 3600),
            {"credential": {"access_token": "new", "refresh_token": "r2", "expires_in_ms": 3_600_000}},
        ),
    ],
)
def test_what_a_handler_gives_is_its_answer(
    start: Start, connect: Connect, kind: str, given: Any, expected: dict[str, Any]
) -> None:
    assert asked(start, connect, kind, lambda _: given) == {"jsonrpc": "2.0", "id": "cb_1", "result": expected}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("adapt", {"fail": {"message": "why not"}}),
        ("retry", {"decision": "do_not_retry_with_error", "message": "why not"}),
        ("redirect", {"decision": "do_not_follow"}),
        ("validate", {"valid": False, "message": "why not"}),
        ("authenticate", {"action": "cancel", "message": "why not"}),
        ("serialize", {"fail": {"message": "why not"}}),
        ("preprocess", {"fail": {"message": "why not"}}),
        ("destination", {"fail": {"message": "why not"}}),
        ("body", {"fail": {"message": "why not"}}),
        ("cache", {"decision": "do_not_cache"}),
        ("refresh", {"fail": {"message": "why not"}}),
    ],
)
def test_a_handler_can_refuse(start: Start, connect: Connect, kind: str, expected: dict[str, Any]) -> None:
    assert asked(start, connect, kind, refuse)["result"] == expected


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        ("adapt", {"set_headers": {}}, "TypeError"),
        ("retry", "later", "TypeError"),
        ("retry", float("nan"), "ValueError"),
        ("redirect", "/b", "TypeError"),
        ("validate", 1, "TypeError"),
        ("serialize", {1, 2}, "TypeError"),
        ("serialize", float("inf"), "ValueError"),
        ("serialize", "x" * (1 << 20), "ValueError"),
        ("authenticate", True, "TypeError"),
        ("authenticate", ("ada",), "ValueError"),
        ("authenticate", "ada:x", "TypeError"),
        ("preprocess", None, "TypeError"),
        ("destination", True, "TypeError"),
        ("body", None, "TypeError"),
        ("cache", "memory", "TypeError"),
        ("cache", carpool.CacheChanges(ttl=float("nan")), "ValueError"),
        ("refresh", {"access_token": "new"}, "TypeError"),
    ],
)
def test_what_is_no_answer_is_told(start: Start, connect: Connect, kind: str, given: Any, told: str) -> None:
    answer = asked(start, connect, kind, lambda _: given)
    assert answer["error"] == {"code": -32603, "message": told}


def test_an_exception_is_told_by_its_type_and_logged_with_its_traceback(
    start: Start, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    assert asked(start, connect, "adapt", fail)["error"] == {"code": -32603, "message": "KeyError"}
    (entry,) = caplog.records
    assert (entry.name, entry.levelno) == ("carpool", logging.ERROR)
    assert "a secret" in caplog.text


@pytest.mark.parametrize(("kind", "name"), [("adapt", "other"), ("validate", "mine"), ("trust", "mine")])
def test_what_nobody_is_registered_for_is_told(start: Start, connect: Connect, kind: str, name: str) -> None:
    daemon = Asking(question(kind, name=name))
    client = connect(start(daemon).path)
    client.run("register", "mine", adapt=lambda _: None)
    client.run("get", "http://a/")
    assert daemon.answers["cb_1"]["error"]["code"] == -32601


def test_an_interceptor_with_one_half_leaves_the_other_alone(start: Start, connect: Connect) -> None:
    daemon = Asking(question("adapt", 1), question("retry", 2, name="other"))
    client = connect(start(daemon).path)
    client.run("register", "mine", retry=lambda _: True)
    client.run("register", "other", adapt=lambda _: None)
    client.run("get", "http://a/")
    assert daemon.answers["cb_1"]["result"] == {}
    assert daemon.answers["cb_2"]["result"] == {"decision": "do_not_retry"}


def test_handlers_are_told_what_is_asked(start: Start, connect: Connect, tmp_path: Path) -> None:
    calls: list[Any] = []

    def answer(value: Any) -> Callable[[Any], Any]:
        return lambda call: calls.append(call) or value  # type: ignore[func-returns-value]

    (tmp_path / "body").write_bytes(b"large")
    daemon = Asking(
        *(question(kind, number) for number, kind in enumerate(PARAMS)),
        question("preprocess", 17, body={"file": str(tmp_path / "body"), "size_bytes": 5}),
        question("preprocess", 18, body={"file": str(tmp_path / "none"), "size_bytes": 5}),
        question(
            "adapt", 19, url_request={"method": "PUT", "url": "http://a/", "headers": [], "body": {"size_bytes": 5}}
        ),
    )
    client = connect(start(daemon).path)
    client.run(
        "register",
        "mine",
        adapt=answer(None),
        retry=answer(True),
        redirect=answer(None),
        validate=answer(True),
        serialize=answer(1),
        preprocess=answer(""),
        authenticate=answer(None),
        destination=answer(None),
        body=answer(""),
        cache=answer(None),
        refresh=answer(carpool.Credential("new")),
    )
    client.run("get", "http://a/")
    adapt, retry, redirect, validate, serialize, preprocess, authenticate, destination, body, *others = calls
    cache, refresh, *bodies = others
    large, gone, file = bodies
    assert (adapt.callback, adapt.session, adapt.request_id, adapt.attempt, adapt.deadline) == (
        "mine",
        "default",
        "r_1",
        1,
        10,
    )
    assert (adapt.request.method, adapt.request.url, adapt.request.content) == ("POST", "http://a/", b"hi")
    assert adapt.request.headers["a"] == "1"
    assert isinstance(retry.error, carpool.RequestTimeoutError)
    assert (retry.error.retryable, retry.error.request_id, retry.retry_count, retry.response.status_code) == (
        True,
        "r_1",
        1,
        302,
    )
    assert (redirect.response.headers["location"], redirect.request.method) == ("/b", "POST")
    assert (validate.response.url, validate.content, serialize.response.status_code) == ("http://a/", b"[]", 302)
    assert (serialize.content, preprocess.content) == (b"\xff", b"while(1);[1]")
    assert (authenticate.host, authenticate.port, authenticate.realm) == ("a", 80, "r")
    assert (authenticate.scheme, authenticate.is_proxy, authenticate.previous_failure_count) == ("digest", True, 1)
    assert (cache.request.method, cache.response.status_code, cache.size_bytes) == ("POST", 302, 2)
    assert (cache.ttl, cache.storage) == (1.5, "disk")
    assert carpool.CacheCall({"proposed": {"storage": "memory"}}).ttl is None
    assert (refresh.credential.access_token, refresh.credential.refresh_token) == ("old", "r1")
    assert refresh.credential.expires_in < 0
    assert "old" not in repr(refresh.credential)
    assert (large.content, gone.content, file.request.content) == (b"large", None, None)
    assert carpool.RefreshCall({"credential": {"access_token": "a"}}).credential.expires_in is None
    assert carpool.RetryCall({"retry_count": 0}).response is None
    assert (destination.response.status_code, destination.suggested_name, body.request.method) == (302, "a.zip", "POST")
    assert carpool.AdaptCall({"url_request": {}}).request.content == b""
    assert (carpool.RefreshCall({}).request_id, carpool.RefreshCall({}).attempt) == (None, 0)
    assert carpool.RefreshCall({}).deadline is None


def test_the_daemon_is_told_the_names_when_they_change(start: Start, connect: Connect) -> None:
    daemon = start(lambda message: [] if message["method"] == "daemon.shutdown" else result({})(message))
    client = connect(daemon.path)
    client.run("register", "one", adapt=refuse)
    client.run("register", "two", retry=refuse)
    client.run("register", "one", validate=refuse)
    client.run("unregister", "one")
    with pytest.raises(carpool.ConnectionLostError):
        client.run("call", "daemon.shutdown")
    client.run("call", "daemon.ping")
    assert [(message["method"], message["params"]) for message in daemon.received] == [
        ("client.hello", {"callbacks": ["one"]}),
        ("client.hello", {"callbacks": ["one", "two"]}),
        ("client.hello", {"callbacks": ["two"]}),
        ("daemon.shutdown", {}),
        ("client.hello", {"callbacks": ["two"]}),
        ("daemon.ping", {}),
    ]


def test_a_name_that_the_daemon_does_not_take_is_not_registered(start: Start, connect: Connect) -> None:
    error = {"code": -32602, "message": "too long", "data": {"name": "invalid_params"}}
    daemon = start(
        lambda message: [{"id": message["id"], **({"error": error} if len(daemon.received) == 1 else {"result": 1})}]
    )
    client = connect(daemon.path)
    with pytest.raises(carpool.InvalidParamsError):
        client.run("register", "x" * 65, adapt=refuse)
    client.run("register", "mine", adapt=refuse)
    assert daemon.received[1]["params"] == {"callbacks": ["mine"]}


def test_a_name_needs_a_handler(connect: Connect, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no handler"):
        connect(tmp_path / "none.sock").run("register", "mine")
    with pytest.raises(TypeError, match="no function"):
        connect(tmp_path / "none.sock").run("register", "mine", trust="judge")


def test_a_question_about_a_server_has_no_session_and_no_request() -> None:
    call = carpool.TrustCall({"callback": "judge", "deadline_ms": 1500, "host": "a", "port": 443, "certificates": []})
    assert (call.session, call.request_id, call.attempt, call.deadline) == ("", None, 0, 1.5)


def test_a_name_is_not_kept_when_there_is_no_daemon(start: Start, connect: Connect, tmp_path: Path) -> None:
    client = connect(tmp_path / "carpool.sock")
    with pytest.raises(carpool.DaemonUnreachableError):
        client.run("register", "mine", adapt=refuse)
    daemon = start(result(1))
    client.run("call", "daemon.ping")
    assert [message["method"] for message in daemon.received] == ["daemon.ping"]


def asking_after_hello(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
    """Send one callback after the introduction, and close the connection when it is answered."""
    return [{"id": message["id"], "result": {}}, question("adapt")] if "method" in message else []


def test_a_client_can_serve_until_the_connection_is_lost(start: Start, connect: Connect) -> None:
    daemon = start(asking_after_hello)
    client = connect(daemon.path)
    client.run("register", "mine", adapt=lambda _: None)
    with pytest.raises(carpool.ConnectionLostError):
        client.run("serve")
    assert daemon.received[-1] == {"jsonrpc": "2.0", "id": "cb_1", "result": {}}


def test_a_client_can_serve_for_some_time(start: Start, connect: Connect) -> None:
    client = connect(start(result({})).path)
    client.run("register", "mine", adapt=lambda _: None)
    client.run("serve", timeout=0)
    assert client.run("call", "daemon.ping") == {}


def test_callbacks_are_answered_while_events_are_waited_for(start: Start, connect: Connect) -> None:
    def answer(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
        if "method" in message:
            return asking_after_hello(message)
        return [{"method": "event", "params": {"type": "request.did_finish"}}]

    client = connect(start(answer).path)
    client.run("register", "mine", adapt=lambda _: None)
    assert [event.params["type"] for event in client.notified(1, timeout=10)] == ["request.did_finish"]
