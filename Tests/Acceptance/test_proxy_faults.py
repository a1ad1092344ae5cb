"""Proxies that answer late, or in pieces."""

from __future__ import annotations

import threading
from typing import Any

import carpool
import pytest
from origins.proxies import NEEDS_USER, PASSWORD, USER, hops, perform
from origins.scripted import Exchange, ScriptedOrigin

TARGET = "origin.test:443"
SHORT = {"connect_timeout_ms": 300}


@pytest.fixture
def released() -> Any:
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize("sent", [b"", b"abc"], ids=["no-byte", "some-bytes"])
@pytest.mark.parametrize(
    ("status", "fields", "name"),
    [
        (407, b'Proxy-Authenticate: Basic realm="r"\r\n', NEEDS_USER),
        (407, b'Proxy-Authenticate: Digest realm="r", nonce="n", qop="auth"\r\n', NEEDS_USER),
        (503, b"", "session_task_failed.proxy.connect_refused"),
    ],
)
def test_an_answer_to_connect_whose_body_is_slow(
    client: carpool.Client, origin: ScriptedOrigin, released: threading.Event, status: int, fields: bytes, name: str,
    sent: bytes,
) -> None:  # fmt: skip
    """The status says everything; no deadline hides it."""

    def refuse(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 %d Reason\r\nContent-Length: 1000\r\n%s\r\n%s" % (status, fields, sent))
        released.wait(60)

    origin.on(TARGET, refuse)
    server = {"url": origin.url, "username": USER, "password": PASSWORD}
    for timeout in [SHORT, {"timeout_ms": 300}, {"resource_timeout_ms": 300}]:
        record = perform(client, f"https://{TARGET}/", proxy={"all": server}, **timeout)
        assert record["outcome"]["error"]["name"] == name, timeout
        assert hops(record)[0]["proxy"] == origin.url


def test_a_proxy_that_does_not_answer_the_second_connect(
    client: carpool.Client, origin: ScriptedOrigin, released: threading.Event
) -> None:
    """The challenge before is answered, and not why there is no connection."""

    def answer(exchange: Exchange) -> None:
        if exchange.request.values("proxy-authorization"):
            released.wait(60)
        exchange.reply(407, headers=[("Proxy-Authenticate", 'Digest realm="r", nonce="n", qop="auth"')])

    origin.on(TARGET, answer)
    server = {"url": origin.url, "username": USER, "password": PASSWORD, "schemes": ["digest"]}
    record = perform(client, f"https://{TARGET}/", proxy={"all": server}, **SHORT)
    assert record["outcome"]["error"]["name"] == "session_task_failed.timed_out"


def test_an_interim_response_to_connect(client: carpool.Client, origin: ScriptedOrigin) -> None:
    """libcurl takes it for the answer: the failure is the proxy's, with its status."""

    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")
        exchange.close()

    origin.on(TARGET, answer)
    record = perform(client, f"https://{TARGET}/", proxy={"all": {"url": origin.url}}, **SHORT)
    assert record["outcome"]["error"]["name"] == "session_task_failed.proxy.connect_refused"
    assert "(100)" in record["outcome"]["error"]["message"]
