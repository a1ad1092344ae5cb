"""The most requests that servers can cause within one call, by every answer that asks for another request."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.command import TRANSFER_FAILED, Run
from harness.downloads import SIZE, broken, download, is_whole
from harness.wire import Wire
from origins.ranges import Resource
from origins.scripted import Exchange, ScriptedOrigin
from origins.tokens import Tokens

TOO_MANY = "session_task_failed.too_many_hops"
TOO_MANY_CHALLENGES = "session_task_failed.too_many_challenges"
MAXIMUM = 40
TARGET = "http://origin.example/0"
"""Reached only by a proxy."""
CREDENTIAL = {"username": "ada", "password": "secret", "schemes": ["digest"]}
FIELDS = {407: ("Proxy-Authenticate", "Proxy-Authorization"), 401: ("WWW-Authenticate", "Authorization")}


class Asking:
    """A proxy and the origin behind it in one, which ask for Digest with a new nonce each time."""

    def __init__(self) -> None:
        self._nonces = itertools.count(1)
        self._turns = itertools.cycle(FIELDS)
        self._issued: dict[tuple[str, int], str] = {}

    def ask(self, exchange: Exchange, status: int) -> None:
        nonce = self._issued[exchange.request.target, status] = f"n{next(self._nonces)}"
        challenge = f'Digest realm="{status}", qop="auth", nonce="{nonce}"'
        exchange.reply(status, b"no", [(FIELDS[status][0], challenge)])

    def is_answered(self, exchange: Exchange, status: int) -> bool:
        """Whether the request answers what was asked last at its URL."""
        nonce = self._issued.get((exchange.request.target, status))
        return any(f'nonce="{nonce}"' in value for value in exchange.request.values(FIELDS[status][1]))

    def in_turn(self, exchange: Exchange) -> None:
        """407, 401, 407 ... whatever comes."""
        self.ask(exchange, next(self._turns))

    def both(self, exchange: Exchange) -> bool:
        """Ask for what is missing; whether nothing is."""
        missing = next((status for status in FIELDS if not self.is_answered(exchange, status)), None)
        if missing is not None:
            self.ask(exchange, missing)
        return missing is None


def through(origin: ScriptedOrigin) -> dict[str, Any]:
    """Parameters of a request by this proxy, with a credential for both servers."""
    return {"url": TARGET, "credential": CREDENTIAL, "proxy": {"all": {"url": origin.url, **CREDENTIAL}}}


def redirect_to_next(exchange: Exchange) -> None:
    """Redirect from /1 to /2, and so on."""
    number = int(exchange.request.target.rpartition("/")[2])
    exchange.reply(302, headers=[("Location", f"/{number + 1}")])


def failure(record: dict[str, Any]) -> dict[str, Any]:
    error: dict[str, Any] = record["outcome"]["error"]
    return error


@pytest.mark.parametrize("has_default_fields", [True, False])
def test_a_server_that_asks_as_proxy_and_as_origin_in_turn(
    wire: Wire, origin: ScriptedOrigin, has_default_fields: bool
) -> None:
    """Each has one answer that was right: asked again, the credential is wrong, and the challenge is the response."""
    origin.on(TARGET, Asking().in_turn)
    record = wire.call("request.perform", **through(origin), default_headers=has_default_fields)
    assert record["response"]["status"] == 407
    assert len(origin.requests) == 3


@pytest.mark.parametrize("has_default_fields", [True, False])
def test_a_proxy_and_an_origin_that_both_ask_get_both_answers(
    wire: Wire, origin: ScriptedOrigin, has_default_fields: bool
) -> None:
    asking = Asking()
    origin.on(TARGET, lambda exchange: exchange.reply(body=b"in") if asking.both(exchange) else None)
    record = wire.call("request.perform", **through(origin), default_headers=has_default_fields)
    assert record["response"]["status"] == 200
    assert len(origin.requests) == 3


@pytest.mark.parametrize(("max_hops", "maximum"), [(None, 25), (1, 6), (32, 25)])
def test_sixteen_challenges_are_answered_whatever_is_between_them(
    wire: Wire, origin: ScriptedOrigin, max_hops: int | None, maximum: int
) -> None:
    """The proxy and the origin ask at each URL, which then redirects to the next."""
    asking = Asking()

    def next_url(exchange: Exchange) -> None:
        if asking.both(exchange):
            redirect_to_next(exchange)

    for number in range(64):
        origin.on(TARGET.replace("/0", f"/{number}"), next_url)
    redirect = {} if max_hops is None else {"redirect": {"max_hops": max_hops}}
    record = wire.call("request.perform", **through(origin), **redirect)
    assert len(origin.requests) == maximum
    if max_hops == 1:
        assert failure(record)["name"] == "session_task_failed.http_too_many_redirects"
        return
    assert failure(record)["name"] == TOO_MANY_CHALLENGES
    assert failure(record)["details"]["limit"] == 16
    assert not failure(record)["retryable"]


def test_an_end_of_a_file_that_moves(wire: Wire, origin: ScriptedOrigin, folder: Path) -> None:
    """416 with the first byte that was asked for as the length: the byte before it is asked for, and so on."""
    resource = Resource(SIZE)
    url = origin.on("/resource", resource)
    token = broken(wire, url, resource, folder / "a")
    origin.forget()

    def shorter(exchange: Exchange) -> None:
        start = exchange.request.values("Range")[0].removeprefix("bytes=").removesuffix("-")
        exchange.reply(416, headers=[("Content-Range", f"bytes */{start}")])

    origin.on("/resource", shorter)
    record = download(wire, url, resume_data=token)
    assert failure(record)["name"] == TOO_MANY
    assert failure(record)["details"]["limit"] == failure(record)["details"]["repeats"] + 1 == MAXIMUM
    assert len(origin.requests) == MAXIMUM
    # The next download does not believe in that end.
    origin.on("/resource", resource)
    record = download(wire, url, folder / "a", resume_data=record["resume_data"])
    assert is_whole(record, resource, folder / "a")


@pytest.fixture
def tokens(origin: ScriptedOrigin, other: ScriptedOrigin) -> Iterator[Tokens]:
    service = Tokens(origin, other)
    yield service
    service.gate.set()


def test_refreshes_of_tokens_that_are_never_good_enough(client: carpool.Client, tokens: Tokens) -> None:
    """Without a window for refreshes, the requests with new tokens and the refreshes count."""
    tokens.takes_none = True
    client.create_session("api", tokens.session(window=None))
    with pytest.raises(carpool.RequestError) as caught:
        client.get(tokens.url, session="api")
    assert caught.value.name == "request_retry_failed"
    assert caught.value.details["retry_error"]["name"] == TOO_MANY
    assert tokens.refreshes + len(tokens.seen) == MAXIMUM


def test_each_retry_of_a_policy_has_the_whole_maximum(wire: Wire, origin: ScriptedOrigin) -> None:
    """What a caller sets is the caller's: three attempts with 16 redirects each are more than one call can cause."""
    for number in range(16):
        origin.on(f"/{number}", redirect_to_next)
    origin.on("/16", lambda exchange: exchange.reply(503))
    policy = {"retry_policy": {"limit": 2, "scale_ms": 1, "without_validation": True}}
    record = wire.call("request.perform", url=f"{origin.url}/0", interceptor=[policy])
    assert record["response"]["status"] == 503
    assert len(origin.requests) == 3 * 17


def test_the_command_says_which_limit_and_what_to_do(run: Run, origin: ScriptedOrigin) -> None:
    asking = Asking()

    def next_url(exchange: Exchange) -> None:
        if asking.is_answered(exchange, 401):
            return redirect_to_next(exchange)
        return asking.ask(exchange, 401)

    for number in range(64):
        origin.on(f"/{number}", next_url)
    done = run("get", "--max-redirs", "40", "--digest", "-u", "ada:secret", f"{origin.url}/0")
    assert done.returncode == TRANSFER_FAILED
    assert b"16 challenges" in done.stderr
    assert b"check the credential" in done.stderr


BROKEN_BODIES = {
    "no gzip": b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nmoved",
    "cut chunks": b"Transfer-Encoding: chunked\r\n\r\n5\r\nmov",
    "no chunks": b"Transfer-Encoding: chunked\r\n\r\nmoved",
    "a length that is too long": b"Content-Length: 50\r\n\r\nmoved",
}


@pytest.mark.parametrize("case", BROKEN_BODIES)
@pytest.mark.parametrize("head", [b"302 Found\r\nLocation: /end\r\n", b"401 No\r\nWWW-Authenticate: Basic realm=r\r\n"])
def test_the_body_of_a_hop_may_be_broken(wire: Wire, origin: ScriptedOrigin, head: bytes, case: str) -> None:
    """It is not read; curl follows too."""

    def broken(exchange: Exchange) -> None:
        if exchange.request.values("Authorization"):
            return exchange.reply(body=b"end")
        exchange.send(b"HTTP/1.1 " + head + BROKEN_BODIES[case])
        return exchange.close()

    origin.on("/end", lambda exchange: exchange.reply(body=b"end"))
    credential = {"username": "ada", "password": "secret"}
    record = wire.call("request.perform", url=origin.on("/", broken), credential=credential)
    assert record["outcome"]["ok"], record["outcome"]
    assert record["body"]["text"] == "end"
