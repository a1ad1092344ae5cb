"""Requests that libcurl would repeat by itself, without end or without success."""

from __future__ import annotations

import itertools
from typing import Literal

import carpool
import pytest
from harness.wire import RemoteError, Wire
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import Exchange, GoneError, ScriptedOrigin

ADDRESS = "origin.example:443"
REFUSED = "session_task_failed.proxy.authentication_required"


@pytest.fixture
def stale_proxy(origin: ScriptedOrigin) -> dict[str, object]:
    """A proxy that finds every nonce too old: libcurl itself would answer without end."""
    nonces = itertools.count(1)

    def stale(exchange: Exchange) -> None:
        challenge = f'Digest realm="r", qop="auth", nonce="n{next(nonces)}", stale=true'
        exchange.reply(407, b"no", [("Proxy-Authenticate", challenge)])

    origin.on(ADDRESS, stale)
    return {"all": {"url": origin.url, "username": "ada", "password": "secret", "schemes": ["digest"]}}


def test_a_tunnel_whose_proxy_finds_every_nonce_too_old(
    wire: Wire, origin: ScriptedOrigin, stale_proxy: dict[str, object]
) -> None:
    record = wire.call("request.perform", url="https://origin.example/", proxy=stale_proxy)
    assert record["outcome"]["error"]["name"] == REFUSED
    assert len(origin.requests) == 6


def test_a_stream_whose_proxy_finds_every_nonce_too_old(
    wire: Wire, origin: ScriptedOrigin, stale_proxy: dict[str, object]
) -> None:
    wire.call("session.create", name="tunnels", configuration={"proxy": stale_proxy})
    with pytest.raises(RemoteError) as refusal:
        wire.call("stream.open", host="origin.example", port=443, session="tunnels")
    assert refusal.value.error["data"]["error"] == REFUSED
    assert len(origin.requests) == 6


def next_head(exchange: Exchange) -> bytes:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        piece = exchange.take(1)
        if not piece:
            raise GoneError
        head += piece
    return head


@pytest.mark.parametrize("size", [5, 300_000])
@pytest.mark.parametrize("version", ["1.1", "2"])
def test_an_expectation_that_nginx_refuses(
    client: carpool.Client, nginx: Nginx, authority: Authority, version: Literal["1.1", "2"], size: int
) -> None:
    target = f"/expects?{version}-{size}"
    response = client.put(
        nginx.https + target, data=b"z" * size, expect_continue=True, http_version=version, verify=authority.ca_file
    )
    assert response.text == str(size)
    log = nginx.log(2, lambda line: line.target == target)
    assert [line.status for line in log] == [417, 200]


@pytest.mark.parametrize("size", [5, 300_000])
def test_an_expectation_that_is_refused_on_a_connection_that_stays_open(
    client: carpool.Client, origin: ScriptedOrigin, size: int
) -> None:
    heads: list[bytes] = []

    def refuse(exchange: Exchange) -> bool:
        """417, which says nothing about the connection: the next request may come on it."""
        head = exchange.request.head
        while True:
            heads.append(head)
            if b"Expect" not in head:
                exchange.reply(200, str(len(exchange.take(size))).encode())
                return True
            exchange.reply(417)
            head = next_head(exchange)

    url = origin.on_head("/upload", refuse)
    assert client.put(url, data=b"z" * size, expect_continue=True).text == str(size)
    assert [b"Expect: 100-continue" in head for head in heads] == [True, False]
