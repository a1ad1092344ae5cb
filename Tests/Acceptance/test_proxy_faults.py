"""Proxies that answer late, or in pieces."""

from __future__ import annotations

import socket
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


CHALLENGES = {
    "digest": 'Digest realm="r", nonce="n", qop="auth"',
    "basic": 'Basic realm="r"',
}


class Closing:
    """A proxy that closes each connection after its answer, and tunnels nothing."""

    def __init__(self, scheme: str, way: str, accepts: bool = True) -> None:
        self.scheme, self.way, self.accepts = scheme, way, accepts
        self.seen: list[str] = []

    def __call__(self, exchange: Exchange) -> None:
        credentials = exchange.request.values("proxy-authorization")
        self.seen.append(credentials[0].partition(" ")[0] if credentials else "")
        if credentials and self.accepts:
            exchange.reply(503)
        else:
            fields = [("Proxy-Authenticate", CHALLENGES[self.scheme])]
            if "announced" in self.way:
                fields.append(("Connection", "close"))
            body = b"x" * 10 if "body" in self.way else b""
            exchange.reply(407, body, fields)
        if "reset" in self.way:
            exchange.reset()
        exchange.close()


WAYS = ["announced", "announced, body", "closed", "closed, body", "reset"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scheme", list(CHALLENGES))
def test_a_proxy_that_closes_after_its_challenge(
    client: carpool.Client, origin: ScriptedOrigin, scheme: str, way: str
) -> None:
    """The credential is sent over another connection, and the proxy's answer to it is the outcome."""
    proxy = Closing(scheme, way)
    origin.on(TARGET, proxy)
    server = {"url": origin.url, "username": USER, "password": PASSWORD, "schemes": ["digest", "basic"]}
    record = perform(client, f"https://{TARGET}/", proxy={"all": server}, timeout_ms=10_000)
    assert record["outcome"]["error"]["name"] == "session_task_failed.proxy.connect_refused", record
    assert "(503)" in record["outcome"]["error"]["message"]
    assert proxy.seen == ["", scheme.capitalize()]
    assert origin.connections >= 2


@pytest.mark.parametrize("way", WAYS)
def test_a_proxy_that_refuses_the_credential_and_closes(
    client: carpool.Client, origin: ScriptedOrigin, way: str
) -> None:
    proxy = Closing("digest", way, accepts=False)
    origin.on(TARGET, proxy)
    server = {"url": origin.url, "username": USER, "password": PASSWORD, "schemes": ["digest"]}
    record = perform(client, f"https://{TARGET}/", proxy={"all": server}, timeout_ms=10_000)
    error = record["outcome"]["error"]
    assert error["name"] == NEEDS_USER
    assert "refuses the user or the password (407)" in error["message"]
    assert proxy.seen[0] == ""
    assert set(proxy.seen[1:]) == {"Digest"}


def test_a_proxy_that_is_gone_after_its_challenge(client: carpool.Client, origin: ScriptedOrigin) -> None:
    """No connection for the credential: it was not refused."""

    def talk(exchange: Exchange) -> None:
        if exchange.request.values("proxy-authorization"):
            exchange.reset()
        exchange.reply(407, headers=[("Proxy-Authenticate", CHALLENGES["digest"]), ("Connection", "close")])
        exchange.close()

    origin.on(TARGET, talk)
    server = {"url": origin.url, "username": USER, "password": PASSWORD, "schemes": ["digest"]}
    error = perform(client, f"https://{TARGET}/", proxy={"all": server}, timeout_ms=10_000)["outcome"]["error"]
    assert error["name"] == "session_task_failed.network_connection_lost", error
    assert "refuses" not in error["message"]


def test_a_proxy_that_listens_no_more_after_its_challenge(client: carpool.Client) -> None:
    """It does not answer: nothing is known of the password."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]

    def serve() -> None:
        connection, _ = listener.accept()
        listener.close()
        with connection:
            while b"\r\n\r\n" not in connection.recv(65_536):
                pass
            challenge = f"Proxy-Authenticate: {CHALLENGES['digest']}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            connection.sendall(b"HTTP/1.1 407 Reason\r\n" + challenge.encode())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    server = {"url": f"http://127.0.0.1:{port}", "username": USER, "password": PASSWORD, "schemes": ["digest"]}
    error = perform(client, f"https://{TARGET}/", proxy={"all": server}, timeout_ms=10_000)["outcome"]["error"]
    assert error["name"] == "session_task_failed.proxy.cannot_connect_to_host", error
    thread.join()


def test_a_proxy_that_offers_no_scheme_for_the_credential(client: carpool.Client, origin: ScriptedOrigin) -> None:
    origin.on(TARGET, lambda exchange: exchange.reply(407, headers=[("Proxy-Authenticate", "Negotiate")]))
    server = {"url": origin.url, "username": USER, "password": PASSWORD, "schemes": ["digest"]}
    error = perform(client, f"https://{TARGET}/", proxy={"all": server}, timeout_ms=10_000)["outcome"]["error"]
    assert error["name"] == NEEDS_USER
    assert "offers no authentication scheme" in error["message"]


@pytest.mark.parametrize("way", WAYS)
def test_a_proxy_that_closes_after_its_challenge_to_a_request(
    client: carpool.Client, origin: ScriptedOrigin, way: str
) -> None:
    """Without a tunnel the request itself is challenged."""
    proxy = Closing("digest", way)
    origin.on("http://origin.test/", proxy)
    origin.handler = proxy
    server = {"url": origin.url, "username": USER, "password": PASSWORD, "schemes": ["digest"]}
    record = perform(client, "http://origin.test/", proxy={"all": server}, timeout_ms=10_000)
    assert record["response"]["status"] == 503, record
    assert proxy.seen == ["", "Digest"]
