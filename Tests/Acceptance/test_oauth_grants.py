"""Tokens that the daemon obtains by itself, once for all programs of a user: the command, Python and sessions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.command import HTTP_FAILURE, OK, TIMED_OUT, TRANSFER_FAILED, Run
from harness.daemon import CARPOOL, Daemon
from harness.declared import write
from harness.grants import BASIC, CLIENT, SECRET, failure, options
from harness.users import NOBODY, as_root, wire_as
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import Wire
from origins.tokens import Tokens

# Each test counts the requests to its origins.
CONFIG = {"cache": "no_store"}
# A program of its own, which gets the URL and its interceptor as arguments.
PROGRAM = """
import json, sys, carpool
with carpool.Client() as client:
    print(client.get(sys.argv[1], interceptor=json.loads(sys.argv[2])).text, end="")
"""


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    return write(tmp_path / "secret", SECRET + "\n")


def requests(daemon: Daemon) -> int:
    """Return how many requests of all programs wait or run."""
    return len(daemon.call("request.list", scope="all", state="resumed")["requests"])


# One token


def test_commands_programs_and_sessions_share_one_token(
    daemon: Daemon, client: carpool.Client, tokens: Tokens, secret: Path, variables: dict[str, str]
) -> None:
    tokens.gate.clear()
    interceptor = [tokens.grant(**CLIENT)]
    client.create_session("api", {"interceptor": interceptor})
    environment = {**os.environ, **variables}
    command = [CARPOOL, "get", *options(tokens, secret), tokens.url]
    program = [sys.executable, "-c", PROGRAM, tokens.url, json.dumps(interceptor)]
    started = [
        subprocess.Popen(line, env=environment, stdout=subprocess.PIPE) for line in [command] * 3 + [program] * 2
    ]
    ids = [client.submit("GET", tokens.url, session="api") for _ in range(10)]
    try:
        eventually(lambda: requests(daemon) == 15)
        assert tokens.refreshes == 1, "one request fetches the token, and the others wait"
        tokens.gate.set()
        outputs = [process.communicate(timeout=PATIENCE_SECONDS)[0] for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert outputs == [b"v1"] * 5
    assert [client.wait(request).text for request in ids] == ["v1"] * 10
    assert client.get(tokens.url, interceptor=interceptor).text == "v1"
    assert tokens.refreshes == 1
    assert tokens.forms == [{"grant_type": "client_credentials"}]
    assert tokens.authorizations == [f"Basic {BASIC}"]


def test_every_command_that_sends_a_request_sends_the_token(run: Run, tokens: Tokens, secret: Path) -> None:
    for command in ["get", "post", "put", "patch", "delete"]:
        done = run(command, *options(tokens, secret), *([] if command == "get" else ["-d", "x"]), tokens.url)
        assert (done.returncode, done.stdout) == (OK, b"v1"), done.stderr
    assert run("head", *options(tokens, secret), tokens.url).returncode == OK
    assert run("get", *options(tokens, secret), tokens.url, tokens.url, "--parallel", "2").stdout == b"v1v1"
    assert tokens.refreshes == 1


def test_what_differs_has_a_token_of_its_own(client: carpool.Client, tokens: Tokens) -> None:
    different: list[dict[str, Any]] = [
        CLIENT,
        {**CLIENT, "client_id": "other"},
        {**CLIENT, "client_secret": "other"},
        {**CLIENT, "scope": "read write"},
        {**CLIENT, "parameters": {"audience": "https://a.test/", "resource": ["1", "2"]}},
        {**CLIENT, "client_auth": "body"},
    ]
    for number, own in enumerate(different, 1):
        assert client.get(tokens.url, interceptor=[tokens.grant(**own)]).text == f"v{number}"
    assert tokens.forms[3:] == [
        {"grant_type": "client_credentials", "scope": "read write"},
        {"grant_type": "client_credentials", "audience": "https://a.test/", "resource": "1"},
        {"grant_type": "client_credentials", **CLIENT},
    ]
    assert tokens.authorizations[-1] == ""


def test_the_command_sends_scope_parameters_and_the_body(run: Run, tokens: Tokens, secret: Path) -> None:
    more = ["--oauth2-scope", "a b", "--oauth2-param", "audience=x=y", "--oauth2-client-auth", "body"]
    assert run("get", *options(tokens, secret, *more), tokens.url).stdout == b"v1"
    assert tokens.forms == [{"grant_type": "client_credentials", **CLIENT, "scope": "a b", "audience": "x=y"}]


def test_a_password_obtains_every_token(client: carpool.Client, tokens: Tokens) -> None:
    user = {"username": "ada", "password": "p w&", "client_id": "app"}
    interceptor = [tokens.grant("password", **user)]
    assert client.get(tokens.url, interceptor=interceptor).text == "v1"
    tokens.good = "revoked"
    assert client.get(tokens.url, interceptor=interceptor).text == "v2"
    assert tokens.forms == [{"grant_type": "password", **user}] * 2


@as_root
def test_another_user_has_a_token_of_its_own(start: StartDaemon, tokens: Tokens) -> None:
    daemon = start(config={"cache": "no_store", "access": {"uids": {str(NOBODY): "submit"}}})
    daemon.directory.chmod(0o755)
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        for number, wire in enumerate([owner, other], 1):
            record = wire.call("request.perform", url=tokens.url, interceptor=[tokens.grant(**CLIENT)])
            assert record["body"]["text"] == f"v{number}"
    assert tokens.refreshes == 2


# How many are kept


def long_tokens(tokens: Tokens) -> None:
    """Issue tokens of which three fit into 64 KiB."""
    tokens.name = "v" * 20_000


def use(wire: Wire, tokens: Tokens, scope: str) -> int:
    """Use the token of a scope, and return how many tokens have been obtained."""
    record = wire.call("request.perform", url=tokens.any(), interceptor=[tokens.grant(**CLIENT, scope=scope)])
    assert record["outcome"]["ok"]
    return tokens.refreshes


def test_the_tokens_of_a_user_have_a_limit(start: StartDaemon, tokens: Tokens) -> None:
    """The one that was used least recently is forgotten."""
    long_tokens(tokens)
    daemon = start(config={**CONFIG, "limits": {"token_bytes_per_user": 65_536}})
    with daemon.wire() as wire:
        assert [use(wire, tokens, scope) for scope in "abca"] == [1, 2, 3, 3]
        assert [use(wire, tokens, scope) for scope in "da"] == [4, 4]
        assert [use(wire, tokens, scope) for scope in "acbd"] == [4, 4, 5, 6]


@as_root
def test_the_tokens_of_all_users_have_a_limit(start: StartDaemon, tokens: Tokens) -> None:
    """The user with the most loses the half of them, and has at most the half of the limit from then on."""
    long_tokens(tokens)
    access = {"uids": {str(NOBODY): "submit"}}
    daemon = start(config={**CONFIG, "limits": {"token_bytes": 65_536}, "access": access})
    daemon.directory.chmod(0o755)
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        assert [use(owner, tokens, scope) for scope in "ab"] == [1, 2]
        assert use(other, tokens, "a") == 3
        assert [use(owner, tokens, scope) for scope in "ba"] == [3, 4]
        assert use(other, tokens, "a") == 4


# When a token is replaced


def test_a_token_is_obtained_again_when_it_has_expired(client: carpool.Client, tokens: Tokens) -> None:
    """However often: the window is for tokens that are refused."""
    tokens.expires_in = "0.3"
    interceptor = [tokens.grant(**CLIENT)]

    def number() -> int:
        return int(client.get(tokens.url, interceptor=interceptor).text.removeprefix("v"))

    eventually(lambda: number() > 8)
    numbers = [int(token.removeprefix("v")) for token in tokens.seen]
    assert numbers == sorted(numbers)
    assert numbers[-1] == tokens.refreshes
    assert len(set(numbers)) < len(numbers), "a token serves several requests"


@pytest.mark.parametrize("expires_in", [None, "soon", 10**30, 3600.5, True])
def test_a_token_without_a_usable_expiry_is_used_until_it_is_refused(
    client: carpool.Client, tokens: Tokens, expires_in: Any
) -> None:
    tokens.expires_in = expires_in
    for _ in range(3):
        assert client.get(tokens.url, interceptor=[tokens.grant(**CLIENT)]).text == "v1"
    assert tokens.refreshes == 1


def test_a_token_that_has_expired_when_it_comes_serves_those_who_wait(client: carpool.Client, tokens: Tokens) -> None:
    """Many requests in a row are no loop: each has its own token request."""
    tokens.expires_in = -5
    for number in range(1, 9):
        assert client.get(tokens.url, interceptor=[tokens.grant(**CLIENT)]).text == f"v{number}"
    assert tokens.refreshes == 8


def test_a_refused_token_is_replaced_once_for_all(client: carpool.Client, daemon: Daemon, tokens: Tokens) -> None:
    """Without a validator too: the caller did not choose the token."""
    client.create_session("api", {"interceptor": [tokens.grant(**CLIENT)]})
    assert client.get(tokens.url, session="api").text == "v1"
    tokens.good = "revoked"
    tokens.gate.clear()
    ids = [client.submit("GET", tokens.url, session="api") for _ in range(10)]
    eventually(lambda: tokens.seen == ["v1"] * 11)
    tokens.gate.set()
    assert [client.wait(request).text for request in ids] == ["v2"] * 10
    assert tokens.refreshes == 2


@pytest.mark.parametrize("validates", [False, True])
def test_an_origin_that_refuses_every_token_is_asked_twice(
    client: carpool.Client, tokens: Tokens, validates: bool
) -> None:
    tokens.takes_none = True
    asked: dict[str, Any] = {"interceptor": [tokens.grant(**CLIENT)], "validate": validates}
    if validates:
        error = failure(client, tokens.url, **asked)
        assert (error.name, error.details["code"]) == ("response_validation_failed.unacceptable_status_code", 401)
    else:
        response = client.get(tokens.url, **asked)
        assert (response.status_code, response.text) == (401, "v2")
    assert tokens.seen == ["v1", "v2"]
    assert tokens.refreshes == 2


def test_the_command_prints_a_last_refusal_as_any_response(run: Run, tokens: Tokens, secret: Path) -> None:
    tokens.takes_none = True
    done = run("get", *options(tokens, secret), tokens.url)
    assert (done.returncode, done.stdout) == (OK, b"v2")
    assert run("get", "-f", *options(tokens, secret), tokens.url).returncode == HTTP_FAILURE


def test_an_origin_that_refuses_every_token_uses_up_the_window(client: carpool.Client, tokens: Tokens) -> None:
    tokens.takes_none = True
    interceptor = [tokens.grant(**CLIENT, window={"attempts": 2})]
    for _ in range(2):
        assert client.get(tokens.url, interceptor=interceptor).status_code == 401
    error = failure(client, tokens.url, interceptor=interceptor)
    assert error.name == "request_retry_failed"
    assert error.details["retry_error"]["name"] == "authentication_error.excessive_refresh"
    assert tokens.refreshes == 3


def test_a_body_that_cannot_be_sent_again_gets_the_refusal(run: Run, tokens: Tokens, secret: Path) -> None:
    assert run("get", *options(tokens, secret), tokens.url).stdout == b"v1"
    tokens.good = "revoked"
    done = run("post", "-i", "-T", "-", *options(tokens, secret), tokens.url, stdin=bytes(2_000_000))
    assert (done.returncode, tokens.refreshes) == (OK, 1)
    assert done.stdout.startswith(b"HTTP/1.1 401")


def test_downloads_and_streams_get_the_response_to_the_new_token(
    run: Run, tokens: Tokens, secret: Path, tmp_path: Path
) -> None:
    tokens.good = "old"
    for number, more in enumerate([["-o", "file"], ["--stream"], ["--lines"], ["-f", "--lines"], ["-f"]], 1):
        done = run("get", *options(tokens, secret, *more), tokens.url)
        text = (tmp_path / "file").read_bytes() if "-o" in more else done.stdout
        assert (done.returncode, text.strip()) == (OK, f"v{number}".encode())
        tokens.good = "revoked"
    assert tokens.refreshes == 5


# What fails


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((401, {"error": "invalid_client", "error_description": "no such client"}), "invalid_client: no such client"),
        ((400, {"error": "invalid_scope"}), "invalid_scope"),
        ((503, "<html>"), "status 503"),
        ((302, ""), "status 302"),
        ((200, "no JSON"), "no access_token"),
        ((200, {"access_token": "n", "token_type": "mac"}), "another type than Bearer"),
    ],
)
def test_a_failing_endpoint_fails_those_who_wait_by_name(
    client: carpool.Client,
    daemon: Daemon,
    tokens: Tokens,
    secret: Path,
    run: Run,
    answer: tuple[int, dict[str, Any] | str],
    message: str,
) -> None:
    tokens.refusal = answer
    tokens.gate.clear()
    ids = [client.submit("GET", tokens.url, interceptor=[tokens.grant(**CLIENT)]) for _ in range(5)]
    eventually(lambda: requests(daemon) == 5 and tokens.refreshes)
    tokens.gate.set()
    for request in ids:
        error = client.wait(request).error
        assert error is not None
        assert error.name == "request_adaptation_failed"
        assert error.details["underlying"]["name"] == "authentication_error.refresh_failed"
        assert message in error.message
        if isinstance(answer[1], dict) and "error" in answer[1]:
            assert answer[1].items() <= error.details["underlying"]["details"].items()
    assert tokens.refreshes == 1
    done = run("get", *options(tokens, secret), tokens.url)
    assert (done.returncode, done.stdout) == (TRANSFER_FAILED, b"")
    assert message.encode() in done.stderr
    assert tokens.refreshes == 2, "the next request asks once more"
    assert tokens.seen == []


def test_many_failures_in_a_row_keep_their_reason(client: carpool.Client, tokens: Tokens) -> None:
    tokens.refusal = (400, {"error": "unauthorized_client"})
    for _ in range(8):
        assert "unauthorized_client" in failure(client, tokens.url, interceptor=[tokens.grant(**CLIENT)]).message
    tokens.refusal = None
    assert client.get(tokens.url, interceptor=[tokens.grant(**CLIENT)]).text == "v9"


def test_an_endpoint_that_fails_after_a_refusal_fails_the_request(client: carpool.Client, tokens: Tokens) -> None:
    interceptor = [tokens.grant(**CLIENT)]
    assert client.get(tokens.url, interceptor=interceptor).text == "v1"
    tokens.good = "revoked"
    tokens.refusal = (401, {"error": "invalid_client"})
    error = failure(client, tokens.url, interceptor=interceptor)
    assert error.name == "request_retry_failed"
    assert error.details["retry_error"]["details"]["error"] == "invalid_client"
    assert error.details["original_error"]["details"]["code"] == 401


def test_a_request_waits_no_longer_than_its_own_deadline(
    client: carpool.Client, daemon: Daemon, tokens: Tokens, secret: Path, run: Run
) -> None:
    tokens.gate.clear()
    patient = client.submit("GET", tokens.url, interceptor=[tokens.grant(**CLIENT)])
    eventually(lambda: tokens.refreshes)
    done = run("get", "--timeout", "200ms", *options(tokens, secret), tokens.url)
    assert done.returncode == TIMED_OUT
    tokens.gate.set()
    assert client.wait(patient).text == "v1"
    assert tokens.refreshes == 1


def test_an_endpoint_that_does_not_answer_fails_those_who_wait(client: carpool.Client, tokens: Tokens) -> None:
    tokens.gate.clear()
    interceptor = [tokens.grant(**CLIENT, refresh_timeout_ms=50)]
    ids = [client.submit("GET", tokens.url, interceptor=interceptor) for _ in range(3)]
    for request in ids:
        error = client.wait(request).error
        assert error is not None
        underlying = error.details["underlying"]["name"]
        assert underlying in {"authentication_error.refresh_timed_out", "authentication_error.refresh_failed"}
    assert tokens.seen == []


def test_the_request_that_asked_may_end_before_the_token_comes(client: carpool.Client, tokens: Tokens) -> None:
    """The token request is no request of a session that a client can end."""
    tokens.gate.clear()
    client.create_session("first", {"interceptor": [tokens.grant(**CLIENT)]})
    first = client.submit("GET", tokens.url, session="first")
    eventually(lambda: tokens.refreshes)
    second = client.submit("GET", tokens.url, interceptor=[tokens.grant(**CLIENT)])
    client.call("session.invalidate", session="first", mode="cancel")
    assert isinstance(client.wait(first).error, carpool.RequestCancelledError)
    tokens.gate.set()
    assert client.wait(second).text == "v1"
    assert tokens.refreshes == 1


def test_a_session_of_any_name_gets_no_events_of_token_requests(
    daemon: Daemon, client: carpool.Client, tokens: Tokens
) -> None:
    client.create_session("oauth2", {})
    with daemon.wire() as wire:
        wire.call("events.subscribe", types=["request.did_resume"], scope="all")
        assert client.get(tokens.url, interceptor=[tokens.grant(**CLIENT)]).text == "v1"
        assert client.get(tokens.url, session="oauth2").status_code == 401
        seen = [wire.event("request.did_resume")["session"] for _ in range(3)]
    assert sorted(seen) == ["(oauth2)", "default", "oauth2"]
    with pytest.raises(carpool.InvalidParamsError, match="not a session's name"):
        client.create_session("(oauth2)", {})
