"""Tokens that the daemon obtains: what is refused, where they come from and go, and that no client reads them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.command import OK, RPC_ERROR, USAGE, Run
from harness.daemon import CARPOOL
from harness.declared import declaring, reload, write
from harness.grants import BASIC, CLIENT, ID, SECRET, failure, options
from harness.story import Story
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import RemoteError, Wire
from origins.authority import Authority
from origins.scripted import ScriptedOrigin
from origins.tokens import Tokens

# Each test counts the requests to its origins.
CONFIG = {"cache": "no_store"}


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    return write(tmp_path / "secret", SECRET + "\n")


# What is refused


def test_wrong_options_are_refused_before_anything_is_sent(
    run: Run, wire: Wire, tokens: Tokens, secret: Path, tmp_path: Path
) -> None:
    two = write(tmp_path / "two", "a\nb\n")
    url, me = ["--oauth2-token-url", tokens.token_url], ["--oauth2-client-id", ID]
    for arguments, named in [
        (me, "--oauth2-token-url"),
        (url, "--oauth2-client-id"),
        ([*url, *me, "-u", "ada:pw"], "--user"),
        ([*url, *me, "--oauth2-client-secret", "@"], "--oauth2-client-secret"),
        ([*url, *me, "--oauth2-client-secret", "@nowhere"], "--oauth2-client-secret"),
        ([*url, *me, "--oauth2-client-secret", f"@{two}"], "--oauth2-client-secret"),
        ([*url, *me, "--oauth2-client-auth", "header"], "--oauth2-client-auth"),
        ([*url, *me, "--oauth2-param", "audience"], "--oauth2-param"),
    ]:
        done = run("get", *arguments, tokens.url)
        assert (done.returncode, done.stdout) == (USAGE, b""), arguments
        assert named.encode() in done.stderr
    # What the daemon refuses has the name of the option too.
    for arguments, message in [
        (["--oauth2-token-url", "ftp://a.test/", *me], b"--oauth2-token-url: the scheme must be http"),
        ([*url, *me, "--oauth2-param", "scope=a"], b"--oauth2-param: is not a further parameter"),
        ([*url, "--oauth2-client-id", "x" * 5_000], b"--oauth2-client-id: "),
    ]:
        done = run("get", *arguments, tokens.url)
        assert (done.returncode, done.stdout) == (RPC_ERROR, b"")
        assert message in done.stderr
    with pytest.raises(RemoteError) as caught:
        wire.call("request.perform", url=tokens.url, interceptor=[tokens.grant(client_secret=SECRET)])
    assert caught.value.error["data"]["path"] == "params.interceptor[0].oauth2.client_id"
    assert SECRET not in str(caught.value)
    assert (tokens.refreshes, tokens.seen) == (0, [])


def test_no_credential_can_be_set_where_the_daemon_obtains_it(client: carpool.Client, tokens: Tokens) -> None:
    client.create_session("api", {"interceptor": [tokens.grant(**CLIENT)]})
    with pytest.raises(carpool.CarpoolError, match="whose credential can be set"):
        client.set_credential("api", carpool.Credential("mine"))


def test_a_dry_run_obtains_no_token(run: Run, tokens: Tokens, secret: Path) -> None:
    done = run("get", "--dry-run", *options(tokens, secret), tokens.url)
    assert done.returncode == OK
    assert b"Authorization: (hidden)" in done.stdout
    assert (tokens.refreshes, tokens.seen) == (0, [])


# Where the token comes from, and where it goes


def test_the_token_is_requested_with_the_trust_of_the_request(
    client: carpool.Client, run: Run, origin: ScriptedOrigin, authority: Authority, secret: Path
) -> None:
    """Those that reach the endpoint in another way have a token of their own: it may come from another server."""
    server = ScriptedOrigin(authority.issue("tokens"))
    try:
        tokens = Tokens(origin, server)
        interceptor = [tokens.grant(**CLIENT)]
        trust = {"ca_file": str(authority.ca_file)}
        assert "certificate" in failure(client, tokens.url, interceptor=interceptor).message
        assert tokens.refreshes == 0
        client.create_session("own", {"interceptor": interceptor, "trust": trust})
        assert client.get(tokens.url, session="own").text == "v1"
        assert client.get(tokens.url, interceptor=interceptor, trust=trust).text == "v1"
        more = ["--cacert", str(authority.ca_file)]
        assert run("get", *options(tokens, secret, *more), tokens.url).stdout == b"v1"
        assert run("get", *options(tokens, secret, "-k"), tokens.url).stdout == b"v2"
        assert tokens.refreshes == 2
    finally:
        server.stop()


def test_the_token_is_requested_through_the_proxy_of_the_request(
    run: Run, tokens: Tokens, secret: Path, other: ScriptedOrigin
) -> None:
    other.on(tokens.token_url, tokens.answer)
    done = run("get", "-x", other.url, "--noproxy", "resource.test", *options(tokens, secret), tokens.url)
    assert done.returncode == OK
    assert [request.target for request in other.requests] == [tokens.token_url, tokens.url]
    assert run("get", *options(tokens, secret), tokens.url).stdout == b"v2"
    assert len(other.requests) == 2


def test_fields_and_cookies_of_the_session_stay_away_from_the_endpoint(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    tokens = Tokens(origin)
    configuration = {"interceptor": [tokens.grant(**CLIENT)], "headers": {"X-Own": "1"}, "cookies": {}}
    client.create_session("api", configuration)
    assert client.get(tokens.url, session="api").text == "v1"
    asked = next(request for request in origin.requests if request.target == "/token")
    assert (asked.method, asked.values("X-Own"), asked.values("Cookie")) == ("POST", [], [])


def test_another_host_gets_no_token_and_its_refusal_replaces_none(
    client: carpool.Client, tokens: Tokens, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    theirs = other.on("/theirs", lambda exchange: exchange.reply(401))
    url = origin.on("/away", lambda exchange: exchange.reply(302, headers=[("Location", theirs)]))
    response = client.get(url, interceptor=[tokens.grant(**CLIENT)])
    assert response.status_code == 401
    assert [request.values("Authorization") for request in other.requests] == [[]]
    assert tokens.refreshes == 1
    here = origin.on("/here", lambda exchange: exchange.reply(302, headers=[("Location", tokens.url)]))
    assert client.get(here, interceptor=[tokens.grant(**CLIENT)]).text == "v1", "the same host gets it"


# What is shown


def test_neither_the_secret_nor_a_token_is_shown(start: StartDaemon, tokens: Tokens, run: Run, secret: Path) -> None:
    """To the client that makes the request neither, and not if the token endpoint repeats them."""
    daemon = start("--log-level", "debug", config=CONFIG)
    tokens.name = "t0ken-of-the-daemon-"
    password = "p4ss word"
    grants = [tokens.grant(**CLIENT), tokens.grant("password", username="ada", password=password, **CLIENT)]
    told: list[Any] = []
    with daemon.wire() as wire, daemon.wire() as watcher:
        start_cursor = watcher.call("events.next", types=["*", "notification.*"], timeout_ms=0)["cursor"]
        story = Story(wire, types=["*", "notification.*"])
        for number, grant in enumerate(grants):
            told.append(story.call("session.create", name=f"s{number}", configuration={"interceptor": [grant]}))
            told.append(story.call("session.get", session=f"s{number}"))
            # Without the body, which is the origin's own.
            quiet = tokens.quiet(number)
            request = story.submit(quiet, session=f"s{number}")
            told += [story.wait(request), story.call("request.response", request=request)]
            told.append(story.call("request.curl", request=request, reveal=True))
            echo = f"{SECRET} {password} {BASIC} {tokens.good}"
            tokens.refusal = (401, {"error": "invalid_client", "error_description": echo})
            tokens.good = "revoked"
            failed = story.submit(quiet, session=f"s{number}")
            told += [story.wait(failed), story.call("request.response", request=failed)]
            tokens.refusal = None
        told += [story.events, watcher.call("events.next", types=["*", "notification.*"], since=start_cursor, max=256)]
        told += [wire.call("request.list", scope="all"), wire.call("daemon.stats")]
    everything = json.dumps(told) + daemon.log.read_text()
    assert '"authentication_error.refresh_failed"' in everything
    assert '["Authorization", "(hidden)"]' in everything
    for hidden in [SECRET, "s3cret%26of", BASIC, password, "p4ss%20word", tokens.name]:
        assert hidden not in everything, hidden


def test_no_option_shows_the_secret(
    run: Run, tokens: Tokens, secret: Path, variables: dict[str, str], tmp_path: Path
) -> None:
    tokens.name = "t0ken-of-the-daemon-"
    url = tokens.quiet()
    for more in [["-v"], ["-v", "--retry", "1"], ["-w", "%{header_json}%{json}"], ["--dry-run"]]:
        done = run("get", *more, *options(tokens, secret), url)
        assert done.returncode == OK, done.stderr
        assert SECRET.encode() not in done.stdout + done.stderr
        assert tokens.name.encode() not in done.stdout + done.stderr
    # A secret on the command line is hidden in the list of processes.
    tokens.gate.clear()
    tokens.good = "revoked"
    line = [CARPOOL, "get", *options(tokens, secret)[:4], "--oauth2-client-secret", SECRET, url]
    line[-1:-1] = ["--oauth2-param", f"client_assertion={SECRET}", f"--oauth2-param=assertion={SECRET}"]
    with subprocess.Popen(line, env=variables, stdout=subprocess.PIPE) as process:
        try:
            eventually(lambda: tokens.refreshes == 2)
            assert SECRET.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
        finally:
            tokens.gate.set()
            process.communicate(timeout=PATIENCE_SECONDS)


# The configuration file


def test_a_declared_session_has_its_secret_in_a_file(
    start: StartDaemon, tokens: Tokens, secret: Path, tmp_path: Path
) -> None:
    file = {"file": str(secret)}
    grant = tokens.grant(client_id=ID, client_secret=file)
    config = {**CONFIG, **declaring(api={"interceptor": [grant]})}
    daemon = start(config=config)
    with daemon.client() as client:
        assert client.get(tokens.url, session="api").text == "v1"
        # The same client of a program.
        assert client.get(tokens.url, interceptor=[tokens.grant(**CLIENT)]).text == "v1"
        assert SECRET not in json.dumps(client.call("session.get", session="api"))
        assert tokens.authorizations == [f"Basic {BASIC}"]
        # Another secret is another token.
        write(secret, "changed\n")
        assert reload(daemon, config) == ["sessions.api"]
        assert client.get(tokens.url, session="api").text == "v2"
        user = {"username": "ada", "password": file, "parameters": {"api_key": file}}
        assert reload(daemon, {**CONFIG, **declaring(api={"interceptor": [tokens.grant("password", **user)]})})
        assert client.get(tokens.url, session="api").text == "v3"
    assert tokens.forms[-1] == {
        "grant_type": "password", "username": "ada", "password": "changed", "api_key": "changed",
    }  # fmt: skip


@pytest.mark.parametrize("way", ["headers", "set_headers"])
def test_a_callback_that_returns_the_fields_that_it_got_sends_the_token(
    client: carpool.Client, tokens: Tokens, way: str
) -> None:
    """It sees no token, and the request keeps it."""
    seen: list[list[str]] = []

    def adapt(call: carpool.AdaptCall) -> carpool.Changes:
        seen.append(call.request.headers.get_list("Authorization"))
        fields = [*call.request.headers.items(), ("X-Own", "(hidden)")]
        return carpool.Changes(headers=fields) if way == "headers" else carpool.Changes(set_headers=dict(fields))

    client.register("adapt", adapt=adapt)
    interceptor = [tokens.grant(**CLIENT), {"callback": {"name": "adapt", "handles": ["adapt"]}}]
    assert client.get(tokens.url, interceptor=interceptor).text == "v1"
    assert seen == [["(hidden)"]]
    assert tokens.seen == ["v1"]
