"""Which client answers a callback: the caller, or a client that declared the name; and disconnections."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.process import begin
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import RemoteError, Wire
from origins.scripted import ScriptedOrigin

BODY = b"the body"
CALLBACK = {"callback": {"name": "c"}}
ASK = {"validate": [CALLBACK]}


@pytest.fixture
def url(origin: ScriptedOrigin) -> str:
    return origin.on("/good", lambda exchange: exchange.reply(body=BODY))


def hello(wire: Wire, *names: str) -> None:
    wire.call("client.hello", name="test", callbacks=list(names))


def reason(record: dict[str, Any]) -> str:
    error = record["outcome"]["error"]
    while error["name"] != "callback_failed":
        error = error["details"]["underlying"]
    return str(error["details"]["reason"])


# Which client is called


def test_the_caller_is_asked_before_others_that_declared_the_name(daemon: Daemon, url: str) -> None:
    with daemon.wire() as caller, daemon.wire() as other:
        hello(other, "c")
        call = caller.request("request.perform", url=url, **ASK)
        caller.reply(caller.question(), valid=True)
        assert caller.result(call)["outcome"]["ok"]
        assert daemon.stats()["callbacks"]["asked"] == 1


def test_a_session_s_callbacks_are_answered_by_who_declared_the_name(daemon: Daemon, url: str) -> None:
    """The newest such connection; neither the creator of the session nor the caller of the request is called."""
    with daemon.wire() as maker, daemon.wire() as old, daemon.wire() as new, daemon.wire() as user:
        maker.call("session.create", name="judged", configuration=ASK)
        hello(old, "c", "b")
        hello(new, "a", "c")
        hello(user, "a")
        for _ in range(2):
            call = user.request("request.perform", url=url, session="judged")
            new.reply(new.question("validate"), valid=True)
            assert user.result(call)["outcome"]["ok"]
        hello(new, "a")
        call = user.request("request.perform", url=url, session="judged")
        old.reply(old.question("validate"), valid=True)
        assert user.result(call)["outcome"]["ok"]
        hello(old)
        assert reason(user.call("request.perform", url=url, session="judged")) == "no_responder"


def test_client_list_tells_who_answers_what(wire: Wire) -> None:
    hello(wire, "b", "a", "b")
    (client,) = wire.call("client.list")["clients"]
    assert client["callbacks"] == ["a", "b"]
    with pytest.raises(RemoteError) as caught:
        wire.call("client.hello", callbacks=["a", ""])
    assert caught.value.error["data"]["path"] == "params.callbacks[1]"
    assert wire.call("client.list")["clients"][0]["callbacks"] == ["a", "b"]


# When clients disconnect


def test_a_question_moves_once_to_another_client(daemon: Daemon, url: str) -> None:
    with daemon.wire() as caller, daemon.wire() as second, daemon.wire() as third, daemon.wire() as watcher:
        hello(second, "c")
        hello(third, "c")
        request = caller.call("request.submit", url=url, **ASK)["request"]
        first = caller.question()
        caller.close()
        moved = third.question("validate")
        assert moved["params"]["request"] == request
        assert moved["params"]["body"] == first["params"]["body"]
        assert moved["params"]["deadline_ms"] <= first["params"]["deadline_ms"]
        third.reply(moved, valid=True)
        assert watcher.call("request.wait", request=request)["outcome"]["ok"]
        request = third.call("request.submit", url=url, **ASK)["request"]
        third.question()
        third.close()
        second.question()
        # There is no third callback, though a client is left.
        hello(watcher, "c")
        second.close()
        assert reason(watcher.call("request.wait", request=request)) == "disconnected"


KILLED = """
import sys
import carpool

client = carpool.Client(sys.argv[1])

def asked(call):
    print(call.request_id, flush=True)
    sys.stdin.read()

client.register("c", validate=asked)
client.submit("GET", sys.argv[2], validate=[{"callback": {"name": "c"}}])
client.serve()
"""


@pytest.mark.parametrize("has_heir", [False, True])
def test_a_client_that_is_killed_inside_a_callback(daemon: Daemon, wire: Wire, url: str, has_heir: bool) -> None:
    if has_heir:
        hello(wire, "c")
    asked = begin(
        [sys.executable, "-c", KILLED, str(daemon.socket), url],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=daemon.environment | {"PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    try:
        assert asked.stdout
        request = asked.stdout.readline().decode().strip()
        assert request
    finally:
        asked.kill()
        asked.communicate(timeout=PATIENCE_SECONDS)
    call = wire.request("request.wait", request=request)
    if has_heir:
        wire.reply(wire.question(), valid=True)
        assert wire.result(call)["outcome"]["ok"]
    else:
        assert reason(wire.result(call)) == "disconnected"


@pytest.mark.own_daemon
def test_perform_ends_with_its_client_and_so_do_its_questions(daemon: Daemon, url: str) -> None:
    with daemon.wire() as wire, daemon.wire() as other:
        hello(other, "c")
        wire.request("request.perform", url=url, **ASK)
        wire.question()
        wire.close()
        eventually(daemon.is_idle)
        # No other client was called: no request needs the answer any more.
        assert daemon.stats()["callbacks"]["asked"] == 1
        assert other.call("daemon.ping")["pong"]
        assert daemon.stats()["callbacks"]["waiting"] == 0


# Whose answer counts


@pytest.mark.own_daemon
def test_answers_that_nobody_waits_for_are_counted_and_change_nothing(daemon: Daemon, url: str) -> None:
    with daemon.wire() as wire, daemon.wire() as foreign:
        call = wire.request("request.perform", url=url, **ASK)
        question = wire.question()
        foreign.reply(question, valid=False)
        foreign.call("daemon.ping")
        for wrong in ("cb_999", "cb_", "cb_01", 7, None):
            wire.reply({"id": wrong}, valid=False)
        wire.reply(question, valid=True)
        wire.reply(question, valid=False)
        assert wire.result(call)["outcome"]["ok"]
        stats = daemon.stats()["callbacks"]
        assert stats == {"waiting": 0, "asked": 1, "answered": 1, "failed": 0, "ignored": stats["ignored"]}
        assert stats["ignored"] >= 6


@pytest.mark.own_daemon
def test_a_late_answer_is_ignored(wire: Wire, daemon: Daemon, url: str) -> None:
    call = wire.request("request.perform", url=url, validate=[{"callback": {"name": "c", "deadline_ms": 20}}])
    question = wire.question()
    assert reason(wire.result(call)) == "timed_out"
    wire.reply(question, valid=True)
    wire.call("daemon.ping")
    stats = daemon.stats()["callbacks"]
    assert (stats["failed"], stats["ignored"]) == (1, 1)


def test_every_question_is_answered_though_no_more_calls_are_taken(
    wire: Wire, origin: ScriptedOrigin, url: str
) -> None:
    origin.hold("/held")
    held = wire.call("request.submit", url=f"{origin.url}/held")["request"]
    call = wire.request("request.perform", url=url, **ASK)
    question = wire.question()
    for _ in range(255):
        wire.request("request.wait", request=held)
    with pytest.raises(RemoteError) as caught:
        wire.call("daemon.ping")
    assert caught.value.name == "too_many_in_flight"
    wire.reply(question, valid=True)
    assert wire.result(call)["outcome"]["ok"]
    wire.call("request.cancel", request=held)


def test_hundreds_of_questions_at_a_time(wire: Wire, daemon: Daemon, url: str) -> None:
    calls = {wire.request("request.perform", url=url, **ASK) for _ in range(200)}
    questions = [wire.question() for _ in calls]
    for question in reversed(questions):
        wire.reply(question, valid=True)
    answers = [wire.receive() for _ in calls]
    assert {answer["id"] for answer in answers} == calls
    assert all(answer["result"]["outcome"]["ok"] for answer in answers)
    assert daemon.stats()["callbacks"]["waiting"] == 0


# Cancelling


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("/good", {"interceptor": [CALLBACK]}),
        ("/bad", {"interceptor": [{"callback": {"name": "c", "handles": ["retry"]}}], "validate": True}),
        ("/moved", {"redirect": CALLBACK}),
        ("/good", ASK),
        ("/good", {"serialize": {"as": "string", "preprocess": CALLBACK}}),
        ("/good", {"serialize": CALLBACK}),
    ],
    ids=["adapt", "retry", "redirect", "validate", "preprocess", "serialize"],
)
def test_a_request_that_is_cancelled_inside_a_callback_ends_at_once(
    wire: Wire, daemon: Daemon, origin: ScriptedOrigin, url: str, path: str, parameters: dict[str, Any]
) -> None:
    origin.on("/bad", lambda exchange: exchange.reply(503))
    origin.on("/moved", lambda exchange: exchange.reply(302, b"moved", [("Location", "/good")]))
    request = wire.call("request.submit", url=origin.url + path, **parameters)["request"]
    question = wire.question()
    assert wire.call("request.cancel", request=request) == {"changed": True, "state": "cancelled"}
    record = wire.call("request.wait", request=request)
    assert record["outcome"]["error"]["name"] == "explicitly_cancelled"
    assert record["state"] == "cancelled"
    assert daemon.stats()["callbacks"]["waiting"] == 0
    wire.reply(question, decision="retry")
    assert wire.call("request.wait", request=request)["state"] == "cancelled"
    assert len(origin.requests) <= 1


def test_a_refresh_outlives_the_request_that_began_it(wire: Wire, url: str) -> None:
    interceptor = [{"oauth2": CALLBACK}]
    wire.call("session.create", name="api", configuration={"interceptor": interceptor})
    hello(wire, "c")
    wire.call(
        "session.set_credential",
        session="api",
        credential={"access_token": "old", "refresh_token": "r", "expires_in_ms": 1},
    )
    first, second = (wire.call("request.submit", url=url, session="api")["request"] for _ in range(2))
    question = wire.question("refresh")
    assert "request" not in question["params"]
    assert question["params"]["credential"]["refresh_token"] == "r"
    wire.call("request.cancel", request=first)
    assert wire.call("request.wait", request=first)["state"] == "cancelled"
    wire.reply(question, credential={"access_token": "new", "expires_in_ms": 3_600_000})
    assert wire.call("request.wait", request=second)["outcome"]["ok"]


@pytest.mark.parametrize("way", ["timed_out", "error", "invalid_answer", "refusal", "no_responder"])
def test_a_refresh_without_an_answer_fails_who_waits_for_it(
    wire: Wire, origin: ScriptedOrigin, url: str, way: str
) -> None:
    callback = {"callback": {"name": "c", "deadline_ms": 20 if way == "timed_out" else 10_000}}
    wire.call("session.create", name="api", configuration={"interceptor": [{"oauth2": callback}]})
    if way != "no_responder":
        hello(wire, "c")
    wire.call(
        "session.set_credential",
        session="api",
        credential={"access_token": "s3cret", "refresh_token": "r", "expires_in_ms": 0},
    )
    request = wire.call("request.submit", url=url, session="api")["request"]
    if way != "no_responder":
        question = wire.question("refresh")
        if way == "error":
            wire.send({"jsonrpc": "2.0", "id": question["id"], "error": {"code": 1, "message": "no"}})
        elif way == "invalid_answer":
            wire.reply(question, credential={"access_token": ""})
        elif way == "refusal":
            wire.reply(question, fail={"message": "logged out"})
    record = wire.call("request.wait", request=request)
    assert record["outcome"]["error"]["name"] == "request_adaptation_failed"
    if way == "refusal":
        assert "logged out" in str(record["outcome"]["error"])
    else:
        assert reason(record) == way
    assert "s3cret" not in str(record)
    assert origin.requests == []


# Bodies in callbacks


def test_a_body_too_long_for_the_line_is_a_file(wire: Wire, origin: ScriptedOrigin) -> None:
    body = b"x" * 200_000
    parameters = {
        "url": origin.on("/large", lambda exchange: exchange.reply(body=body)),
        "method": "POST",
        "body": {"text": "y" * 100_000},
        "interceptor": [{"callback": {"name": "c", "handles": ["adapt"]}}],
        **ASK,
    }
    told: list[dict[str, Any]] = []
    for line_bytes in (65_536, 1_000_000):
        wire.call("client.hello", max_line_bytes=line_bytes)
        call = wire.request("request.perform", parameters)
        question = wire.question("adapt")
        told.append(question["params"]["url_request"]["body"])
        wire.reply(question)
        question = wire.question("validate")
        # Always a file: another client, with a smaller line limit, may have to answer.
        assert Path(question["params"]["body"]["file"]).read_bytes() == body
        assert question["params"]["body"]["size_bytes"] == len(body)
        wire.reply(question, valid=True)
        assert wire.result(call)["outcome"]["ok"]
    assert told == [{"size_bytes": 100_000}, {"text": "y" * 100_000, "size_bytes": 100_000}]
