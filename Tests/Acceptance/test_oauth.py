"""The authentication interceptor: one credential for a session, refreshed once for all who wait for it."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from harness.waiting import eventually
from origins.scripted import Exchange, ScriptedOrigin
from origins.tokens import Tokens

REFUSED = "response_validation_failed.unacceptable_status_code"
OLD_MS = 240_000
"""Less than the five minutes of validity that a credential needs."""


def submit(client: carpool.Client, tokens: Tokens, count: int) -> list[str]:
    return [client.submit("GET", tokens.url, session="api") for _ in range(count)]


def failure(client: carpool.Client, url: str, **options: Any) -> carpool.RequestError:
    with pytest.raises(carpool.RequestError) as caught:
        client.get(url, **options)
    return caught.value


# Before a request is sent


def test_ai_01_a_good_credential_is_sent(client: carpool.Client, tokens: Tokens) -> None:
    client.create_session("api", tokens.session("v1"))
    assert client.get(tokens.url, session="api").text == "v1"
    assert tokens.refreshes == 0


def test_ai_01_a_client_may_be_asked_for_credentials(client: carpool.Client, tokens: Tokens) -> None:
    calls: list[carpool.RefreshCall] = []

    def refresh(call: carpool.RefreshCall) -> carpool.Credential:
        calls.append(call)
        return carpool.Credential("v1", expires_in=3600)

    client.register("login", refresh=refresh)
    credential = {"access_token": "v0", "refresh_token": "r0"}
    oauth2 = {"oauth2": {"callback": {"name": "login"}, "credential": credential}}
    client.create_session("api", {"interceptor": [oauth2], "validate": True})
    assert client.get(tokens.url, session="api").text == "v1"
    (call,) = calls
    assert (call.credential.access_token, call.credential.refresh_token) == ("v0", "r0")
    assert call.session == "api"


def test_ai_02_without_a_credential_nothing_is_sent(client: carpool.Client, tokens: Tokens) -> None:
    client.create_session("api", tokens.session(None))
    error = failure(client, tokens.url, session="api")
    assert error.name == "request_adaptation_failed"
    assert error.details["underlying"]["name"] == "authentication_error.missing_credential"
    assert tokens.seen == []


def test_ai_03_the_limit_of_bodies_is_not_that_of_the_token_endpoint(client: carpool.Client, tokens: Tokens) -> None:
    client.create_session("api", {**tokens.session("v0", expires_in_ms=0), "max_body_bytes": 2})
    assert client.get(tokens.url, session="api").text == "v1"


def test_ai_03_a_credential_that_runs_out_is_refreshed_first(client: carpool.Client, tokens: Tokens) -> None:
    oauth2 = {"client_id": "me", "client_secret": "s&cret", "scope": "read"}
    client.create_session("api", tokens.session("v0", expires_in_ms=0, **oauth2))
    assert client.get(tokens.url, session="api").text == "v1"
    form = {"grant_type": "refresh_token", "refresh_token": "r0", **oauth2}
    assert tokens.forms == [form]
    assert tokens.seen == ["v1"]


def test_ai_04_whoever_comes_meanwhile_waits(client: carpool.Client, tokens: Tokens) -> None:
    tokens.gate.clear()
    client.create_session("api", tokens.session("v0", expires_in_ms=0))
    requests = submit(client, tokens, 10)
    eventually(lambda: tokens.refreshes)
    tokens.gate.set()
    assert [client.wait(request).text for request in requests] == ["v1"] * 10
    assert tokens.refreshes == 1
    assert tokens.seen == ["v1"] * 10


def test_ai_05_a_refresh_after_a_refusal_holds_nobody_up(client: carpool.Client, tokens: Tokens) -> None:
    """Requests meanwhile are sent with the old token, and retried with the new one if they are refused."""
    tokens.gate.clear()
    client.create_session("api", tokens.session())
    (first,) = submit(client, tokens, 1)
    eventually(lambda: tokens.refreshes)
    (second,) = submit(client, tokens, 1)
    eventually(lambda: len(tokens.seen) == 2)
    assert tokens.seen == ["v0", "v0"]
    tokens.gate.set()
    assert [client.wait(request).text for request in (first, second)] == ["v1", "v1"]
    assert tokens.refreshes == 1


def test_ai_06_after_a_failed_refresh_the_next_request_tries_again(client: carpool.Client, tokens: Tokens) -> None:
    client.create_session("api", tokens.session("v0", expires_in_ms=0))
    tokens.refusal = (503, {})
    error = failure(client, tokens.url, session="api")
    assert error.name == "request_adaptation_failed"
    assert error.details["underlying"]["name"] == "authentication_error.refresh_failed"
    tokens.refusal = None
    assert client.get(tokens.url, session="api").text == "v2"
    assert tokens.refreshes == 2


def test_ai_14_five_minutes_have_to_be_left(client: carpool.Client, tokens: Tokens) -> None:
    tokens.good = "long"
    client.create_session("long", tokens.session("long", expires_in_ms=OLD_MS + 120_000))
    client.get(tokens.url, session="long")
    assert tokens.refreshes == 0
    client.create_session("short", tokens.session("short", expires_in_ms=OLD_MS))
    client.get(tokens.url, session="short")
    client.create_session("shorter", tokens.session("v1", expires_in_ms=OLD_MS, refresh_before_ms=60_000))
    client.get(tokens.url, session="shorter")
    assert tokens.seen == ["long", "v1", "v1"]
    assert tokens.refreshes == 1


# After a refusal


def test_ai_07_other_failures_do_not_refresh(client: carpool.Client, tokens: Tokens, origin: ScriptedOrigin) -> None:
    client.create_session("api", tokens.session("v1"))
    error = failure(client, origin.on("/broken", lambda exchange: exchange.reply(500)), session="api")
    assert error.name == REFUSED
    assert error.details["code"] == 500
    lost = failure(client, "http://127.0.0.1:1/", session="api")
    assert lost.name == "session_task_failed.cannot_connect_to_host"
    assert tokens.refreshes == 0


def test_ai_07_an_answer_that_nobody_refuses_does_not_refresh(client: carpool.Client, tokens: Tokens) -> None:
    client.create_session("api", tokens.session() | {"validate": False})
    assert client.get(tokens.url, session="api").status_code == 401
    assert tokens.refreshes == 0


def test_ai_07_a_credential_that_was_taken_away_ends_the_request(
    client: carpool.Client, tokens: Tokens, origin: ScriptedOrigin
) -> None:
    gate = threading.Event()

    def held(exchange: Exchange) -> None:
        gate.wait(60)
        exchange.reply(401)

    client.create_session("api", tokens.session())
    request = client.submit("GET", origin.on("/held", held), session="api")
    origin.received(1, "/held")
    client.set_credential("api", None)
    gate.set()
    error = client.wait(request).error
    assert error is not None
    assert error.name == "request_retry_failed"
    assert error.details["retry_error"]["name"] == "authentication_error.missing_credential"
    assert error.details["original_error"]["name"] == REFUSED


def test_ai_07_a_refusal_of_another_host_does_not_refresh(
    client: carpool.Client, tokens: Tokens, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    """It did not get the token."""
    away = [("Location", other.on("/theirs", lambda exchange: exchange.reply(401)))]
    client.create_session("api", tokens.session("v1"))
    error = failure(client, origin.on("/away", lambda exchange: exchange.reply(302, headers=away)), session="api")
    assert (error.name, error.details["code"]) == (REFUSED, 401)
    assert [request.values("Authorization") for request in other.requests] == [[]]
    assert tokens.refreshes == 0


def test_ai_08_a_request_with_an_older_credential_is_sent_again(
    client: carpool.Client, tokens: Tokens, origin: ScriptedOrigin
) -> None:
    gate = threading.Event()

    def late(exchange: Exchange) -> None:
        if exchange.request.values("Authorization") == ["Bearer v0"]:
            gate.wait(60)
            exchange.reply(401)
        exchange.reply(200)

    client.create_session("api", tokens.session())
    request = client.submit("GET", origin.on("/late", late), session="api")
    origin.received(1, "/late")
    assert client.get(tokens.url, session="api").text == "v1"
    gate.set()
    response = client.response(request)
    assert response.status_code == 200
    assert len(response.attempts) == 2
    assert tokens.refreshes == 1


def test_ai_09_ai_10_ten_refusals_are_one_refresh(client: carpool.Client, tokens: Tokens) -> None:
    tokens.gate.clear()
    client.create_session("api", tokens.session())
    requests = submit(client, tokens, 10)
    eventually(lambda: len(tokens.seen) == 10)
    tokens.gate.set()
    responses = [client.response(request) for request in requests]
    assert [response.text for response in responses] == ["v1"] * 10
    assert [len(response.attempts) for response in responses] == [2] * 10
    assert tokens.refreshes == 1


def test_ai_11_a_refresh_that_fails_fails_all_who_wait(client: carpool.Client, tokens: Tokens) -> None:
    tokens.gate.clear()
    tokens.refusal = (400, {"error": "invalid_grant", "error_description": "r0 is not good, neither is s3cret"})
    client.create_session("api", tokens.session(client_secret="s3cret"))
    requests = submit(client, tokens, 10)
    eventually(lambda: len(tokens.seen) == 10)
    tokens.gate.set()
    for request in requests:
        error = client.wait(request).error
        assert error is not None
        assert error.name == "request_retry_failed"
        reason = error.details["retry_error"]
        assert reason["name"] == "authentication_error.refresh_failed"
        assert reason["details"]["error"] == "invalid_grant"
        assert "r0" not in str(reason), "a secret is disclosed"
        assert "s3cret" not in str(reason), "a secret is disclosed"
        assert error.details["original_error"]["details"]["code"] == 401
    assert tokens.refreshes == 1


def test_ai_11_a_refresh_that_does_not_end_fails_them_too(client: carpool.Client, tokens: Tokens) -> None:
    tokens.gate.clear()
    client.create_session("api", tokens.session("v0", expires_in_ms=0, refresh_timeout_ms=50))
    error = failure(client, tokens.url, session="api")
    underlying = error.details["underlying"]["name"]
    assert underlying in {"authentication_error.refresh_timed_out", "authentication_error.refresh_failed"}
    assert tokens.seen == []


def test_ai_12_five_refreshes_are_enough(client: carpool.Client, tokens: Tokens) -> None:
    tokens.takes_none = True
    client.create_session("api", tokens.session())
    error = failure(client, tokens.url, session="api")
    assert error.name == "request_retry_failed"
    assert error.details["retry_error"]["name"] == "authentication_error.excessive_refresh"
    assert tokens.refreshes == 5
    assert tokens.seen == ["v0", "v1", "v2", "v3", "v4", "v5"]


@pytest.mark.parametrize(("window", "refreshes"), [({"attempts": 0}, 0), ({"attempts": 2}, 2), (None, 20)])
def test_ai_12_another_window(client: carpool.Client, tokens: Tokens, window: Any, refreshes: int) -> None:
    """Without a window the maximum of requests that servers cause ends it."""
    tokens.takes_none = True
    client.create_session("api", tokens.session(window=window))
    failure(client, tokens.url, session="api")
    assert tokens.refreshes == refreshes


def test_ai_12_the_window_moves_on(client: carpool.Client, tokens: Tokens) -> None:
    """Alamofire counts refreshes forever; the window drops them when it has passed."""
    tokens.expires_in = 0
    client.create_session("api", tokens.session("v0", expires_in_ms=0, window={"interval_ms": 1, "attempts": 1}))
    for _ in range(7):
        eventually(lambda: client.call("request.perform", url=tokens.url, session="api")["outcome"]["ok"])
    assert tokens.refreshes == 7


def test_ai_13_a_credential_that_is_set_counts_at_once(client: carpool.Client, tokens: Tokens) -> None:
    client.create_session("api", tokens.session(None))
    client.set_credential("api", carpool.Credential("v1"))
    assert client.get(tokens.url, session="api").text == "v1"
    client.set_credential("api", None)
    error = failure(client, tokens.url, session="api")
    assert error.details["underlying"]["name"] == "authentication_error.missing_credential"
    assert tokens.refreshes == 0


def test_ai_13_it_ends_the_state_of_failure(client: carpool.Client, tokens: Tokens) -> None:
    tokens.refusal = (400, {"error": "invalid_grant"})
    client.create_session("api", tokens.session())
    assert failure(client, tokens.url, session="api").name == "request_retry_failed"
    client.set_credential("api", carpool.Credential("v1", "r1"))
    assert client.get(tokens.url, session="api").text == "v1"


def test_ai_13_those_who_wait_go_by_it(client: carpool.Client, tokens: Tokens) -> None:
    tokens.gate.clear()
    client.create_session("api", tokens.session("v0", expires_in_ms=0))
    requests = submit(client, tokens, 3)
    eventually(lambda: tokens.refreshes)
    client.set_credential("api", carpool.Credential("v1", "r1"))
    assert [client.wait(request).text for request in requests] == ["v1"] * 3


# Many programs


@pytest.mark.parametrize("is_known", [True, False], ids=["it is known", "the origin refuses it"])
def test_ten_clients_with_a_hundred_requests_each_refresh_once(daemon: Daemon, tokens: Tokens, is_known: bool) -> None:
    tokens.gate.clear()
    options = {"expires_in_ms": 0} if is_known else {}
    with ExitStack() as stack:
        wires = [stack.enter_context(daemon.wire()) for _ in range(10)]
        wires[0].call("session.create", name="api", configuration=tokens.session("v0", **options))
        params = {"url": tokens.url, "session": "api"}
        calls = [[wire.request("request.perform", params) for _ in range(100)] for wire in wires]
        eventually(lambda: tokens.refreshes)
        tokens.gate.set()
        for wire, numbers in zip(wires, calls, strict=True):
            waiting = set(numbers)
            while waiting:
                answer = wire.receive()
                waiting.remove(answer["id"])
                assert answer["result"]["outcome"] == {"ok": True}, answer
                assert answer["result"]["response"]["status"] == 200
                assert answer["result"]["body"]["text"] == "v1"
    assert tokens.refreshes == 1
    assert tokens.seen.count("v1") == 1000
    if is_known:
        assert set(tokens.seen) == {"v1"}


# F6: an unnecessary refresh


def test_f6_a_token_of_five_minutes_is_used(client: carpool.Client, tokens: Tokens) -> None:
    """One refresh for all of them: the window before the end is at most a tenth of a token's life."""
    tokens.expires_in = 300
    client.create_session("api", tokens.session("v0", expires_in_ms=0))
    for _ in range(10):
        assert client.get(tokens.url, session="api").text == "v1"
    assert tokens.refreshes == 1


def test_f6_a_window_that_is_used_up_fails_no_request_with_a_good_token(client: carpool.Client, tokens: Tokens) -> None:
    tokens.good = "long"
    client.create_session("api", tokens.session("long", expires_in_ms=OLD_MS, window={"attempts": 0}))
    for _ in range(3):
        assert client.get(tokens.url, session="api").text == "long"
    assert tokens.refreshes == 0


def test_f6_a_refresh_that_fails_fails_no_request_with_a_good_token(client: carpool.Client, tokens: Tokens) -> None:
    tokens.good = "long"
    tokens.refusal = (500, {"error": "server_error"})
    client.create_session("api", tokens.session("long", expires_in_ms=OLD_MS))
    assert client.get(tokens.url, session="api").text == "long"
    assert tokens.refreshes == 1
    client.create_session("ended", tokens.session("long", expires_in_ms=0))
    error = failure(client, tokens.url, session="ended")
    assert error.name == "request_adaptation_failed"


def test_f6_the_message_says_what_is_wrong_with_the_token(client: carpool.Client, tokens: Tokens) -> None:
    tokens.takes_none = True
    client.create_session("api", tokens.session())
    error = failure(client, tokens.url, session="api").details["retry_error"]
    assert error["name"] == "authentication_error.excessive_refresh"
    assert "rejected" in error["message"]
