"""Faults of origins: each has its name, or the request is resent where that is safe, and the pool recovers."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable

import carpool
import pytest
from harness.daemon import Daemon
from harness.waiting import eventually
from harness.wire import Wire
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

HEAD = b"HTTP/1.1 200 OK\r\n"


def failure(client: carpool.Client, url: str, method: str = "GET", **arguments: object) -> str:
    with pytest.raises(carpool.RequestError) as caught:
        client.request(method, url, **arguments)  # type: ignore[arg-type]
    return caught.value.name.removeprefix("session_task_failed.")


def test_a_port_on_which_nobody_listens(client: carpool.Client) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        assert failure(client, f"http://127.0.0.1:{closed.getsockname()[1]}/") == "cannot_connect_to_host"


def test_a_host_that_has_no_address(client: carpool.Client) -> None:
    assert failure(client, "http://no-such-host.invalid/") in {"cannot_find_host", "not_connected_to_internet"}


def reset_in_the_body(exchange: Exchange) -> None:
    exchange.send(HEAD + b"Content-Length: 1000\r\n\r\nsome")
    exchange.reset()


def close_in_the_body(exchange: Exchange) -> None:
    exchange.send(HEAD + b"Content-Length: 1000\r\n\r\nsome")
    exchange.close()


def close_in_a_chunk(exchange: Exchange) -> None:
    exchange.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n10\r\nshort")
    exchange.close()


def close_without_the_last_chunk(exchange: Exchange) -> None:
    exchange.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n")
    exchange.close()


def close_at_once(exchange: Exchange) -> None:
    exchange.close()


def reset_at_once(exchange: Exchange) -> None:
    exchange.reset()


def no_http(exchange: Exchange) -> None:
    exchange.send(b"220 mail.example ESMTP\r\n")
    exchange.close()


def half_a_head(exchange: Exchange) -> None:
    exchange.send(HEAD + b"X-A: b\r\n")
    exchange.close()


def huge_head(exchange: Exchange) -> None:
    exchange.send(HEAD + b"".join(b"X-%d: %s\r\n" % (number, b"v" * 1000) for number in range(400)) + b"\r\n")
    exchange.close()


LOST = {"network_connection_lost"}
FAULTS: list[tuple[Callable[[Exchange], None], set[str]]] = [
    (reset_in_the_body, LOST),
    (close_in_the_body, LOST),
    (close_in_a_chunk, LOST),
    (close_without_the_last_chunk, LOST),
    (close_at_once, LOST),
    (reset_at_once, LOST),
    (no_http, {"bad_server_response"}),
    (half_a_head, {"bad_server_response", "cannot_parse_response", *LOST}),
    (huge_head, {"data_length_exceeds_maximum"}),
]


@pytest.mark.parametrize(("fault", "names"), FAULTS, ids=[fault.__name__ for fault, _ in FAULTS])
def test_each_fault_has_its_name_and_the_pool_serves_the_next_request(
    client: carpool.Client, origin: ScriptedOrigin, fault: Callable[[Exchange], None], names: set[str]
) -> None:
    assert failure(client, origin.on("/fault", fault)) in names
    assert client.get(f"{origin.url}/next").ok
    assert client.get(f"{origin.url}/next").ok
    assert origin.requests[-1].number == 2, "the connection that served the first one serves the second"


def test_a_body_until_the_end_of_the_connection_is_whole(client: carpool.Client, origin: ScriptedOrigin) -> None:
    def until_close(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it")
        exchange.close()

    assert client.get(origin.on("/close", until_close)).text == "all of it"
    assert client.get(f"{origin.url}/next").ok


def test_an_early_answer_to_an_upload_is_the_answer(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/refuse", lambda exchange: exchange.reply(413, b"too much", [("Connection", "close")]))
    response = client.post(url, data=b"x" * 400_000)
    assert (response.status_code, response.text) == (413, "too much")


def test_interim_answers_are_passed_over(client: carpool.Client, origin: ScriptedOrigin) -> None:
    def interim(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        exchange.reply(body=b"final", headers=[("X-Last", "1")])

    response = client.get(origin.on("/interim", interim))
    assert (response.status_code, response.text, "link" in response.headers) == (200, "final", False)


def test_a_pooled_connection_that_the_origin_closed_is_replaced_unseen(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    assert client.get(f"{origin.url}/1").ok
    origin.close_connections()
    assert client.get(f"{origin.url}/2").ok
    assert client.post(f"{origin.url}/3", data="once").ok
    assert [request.target for request in origin.requests] == ["/1", "/2", "/3"]
    assert origin.connections == 2


def close_when_reused(exchange: Exchange) -> None:
    """Behave like a server whose idle limit ends at the moment of the next request."""
    if exchange.request.number > 1:
        exchange.reset()
    exchange.reply(body=b"new")


def test_a_get_on_a_connection_that_died_is_repeated_once_unseen(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    url = origin.on("/dies", close_when_reused)
    assert client.get(url).text == "new"
    assert client.get(url).text == "new"
    assert [(request.connection, request.number) for request in origin.requests] == [(1, 1), (1, 2), (2, 1)]


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_what_may_not_be_repeated_reaches_the_origin_once(
    client: carpool.Client, origin: ScriptedOrigin, method: str
) -> None:
    url = origin.on("/dies", close_when_reused)
    assert client.get(url).text == "new"
    assert failure(client, url, method, data="pay") == "network_connection_lost"
    assert [request.method for request in origin.requests] == ["GET", method]
    assert client.request(method, f"{origin.url}/next", data="pay").ok


def test_a_client_that_went_away_takes_its_request_with_it(daemon: Daemon, origin: ScriptedOrigin) -> None:
    ended: list[bool] = []
    url = origin.on("/long", lambda exchange: ended.append(exchange.wait_for_peer_to_close()))
    with daemon.wire() as wire:
        wire.request("request.perform", url=url)
        origin.received(1)
    eventually(lambda: ended == [True])
    eventually(daemon.is_idle)


def test_a_request_that_was_detached_outlives_its_client(daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/long")
    with daemon.wire() as wire:
        wire.call("client.hello", name="detached")
        request = wire.call("request.submit", url=f"{origin.url}/long")["request"]
        origin.received(1)
    gate.set()
    with daemon.wire() as wire:
        assert wire.call("request.wait", request=request)["body"]["text"] == "released"


def test_a_slow_origin_does_not_delay_another(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    held = [wire.request("request.perform", url=f"{origin.url}/held") for _ in range(20)]
    origin.received(6)
    other = ScriptedOrigin()
    try:
        assert wire.call("request.perform", url=other.url)["outcome"]["ok"]
    finally:
        other.stop()
    assert len(origin.requests) == 6, "no more connections to a host than the limit"
    gate.set()
    answers = {wire.receive()["id"] for _ in held}
    assert answers == set(held)
    assert origin.connections == 6


# F8: one name and one rule for one cause


NO_HTTP = [
    b"220 mail.example ESMTP\r\n", b"rubbish and no end of it\r\n\r\n", bytes(range(256)),
    b"\x15\x03\x01\x00\x02\x02\x46",
    b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64", b"<html><body>hello</body></html>",
    b"HTTP/9.9 200 OK\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
]  # fmt: skip


@pytest.mark.parametrize("answer", NO_HTTP)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_f8_what_is_no_http_has_one_name_and_one_rule(
    wire: Wire, origin: ScriptedOrigin, answer: bytes, method: str
) -> None:
    def no_answer(exchange: Exchange) -> None:
        exchange.send(answer)
        exchange.close()

    url = origin.on("/fault", no_answer)
    seen = set()
    for is_pooled in (False, True):
        wire.call("pool.flush")
        if is_pooled:
            wire.call("request.perform", url=f"{origin.url}/fine")
        before = len(origin.requests)
        error = wire.call("request.perform", url=url, method=method)["outcome"]["error"]
        seen.add((error["name"], error["retryable"], len(origin.requests) - before))
    is_retryable = method == "GET" and b" 101 " not in answer
    assert seen == {("session_task_failed.bad_server_response", is_retryable, 1)}


@pytest.mark.parametrize("is_pooled", [False, True])
def test_f8_a_head_that_is_too_large_has_a_name(wire: Wire, origin: ScriptedOrigin, is_pooled: bool) -> None:
    url = origin.on("/fault", lambda exchange: exchange.send(HEAD + b"X: " + b"v" * 400_000 + b"\r\n\r\n"))
    if is_pooled:
        wire.call("request.perform", url=f"{origin.url}/fine")
    error = wire.call("request.perform", url=url)["outcome"]["error"]
    assert (error["name"], error["retryable"]) == ("session_task_failed.data_length_exceeds_maximum", False)
    assert "head" in error["message"] and "max_ratio" not in error.get("hint", "")


@pytest.mark.parametrize("version", ["1.1", "2"])
@pytest.mark.parametrize("path", ["fields", "more-fields"])
def test_f8_a_head_of_too_many_fields_has_one_name(
    wire: Wire, nginx: Nginx, authority: Authority, version: str, path: str
) -> None:
    params = {"trust": {"ca_file": str(authority.ca_file)}, "http_version": version}
    for _ in range(20):
        record = wire.call("request.perform", url=f"{nginx.https}/{path}", **params)
        error = record["outcome"]["error"]
        assert (error["name"], error["retryable"]) == ("session_task_failed.data_length_exceeds_maximum", False)
        assert "head" in error["message"] and "max_ratio" not in error["hint"]
        # The rest of the head does not reach the next request: it has another connection.
        following = wire.call("request.perform", url=f"{nginx.https}/hello.txt", detail="full", **params)
        assert following["outcome"]["ok"]
        assert following["attempts"][0]["metrics"][0]["reused"] is False


@pytest.mark.parametrize("is_folded", [False, True])
def test_f8_a_head_of_too_many_bytes_has_a_hint_of_its_own(wire: Wire, origin: ScriptedOrigin, is_folded: bool) -> None:
    """Many lines, none of which is too long."""
    line = (b" " if is_folded else b"X: ") + b"v" * 1_000 + b"\r\n"
    url = origin.on("/fault", lambda exchange: exchange.send(HEAD + b"X: v\r\n" + line * 400 + b"\r\n"))
    error = wire.call("request.perform", url=url)["outcome"]["error"]
    assert (error["name"], error["retryable"]) == ("session_task_failed.data_length_exceeds_maximum", False)
    assert "head" in error["hint"] and "max_ratio" not in error["hint"]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("body", [None, {"text": "x" * 300_000}])
def test_f8_a_server_that_wants_a_client_certificate_is_known_each_time(
    wire: Wire, authority: Authority, version: ssl.TLSVersion, body: dict[str, str] | None
) -> None:
    certificate = authority.issue("wants-certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain, certificate.key)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.ca_file)
    context.minimum_version = context.maximum_version = version
    rounds = 20
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        over = threading.Event()

        def serve() -> None:
            while not over.is_set():
                with contextlib.suppress(OSError, ssl.SSLError):
                    connection, _ = listener.accept()
                    with connection:
                        context.wrap_socket(connection, server_side=True).close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
            options = {"method": "POST", "body": body} if body else {}
            trust = {"ca_file": str(authority.ca_file)}
            errors = [
                wire.call("request.perform", url=url, trust=trust, **options)["outcome"]["error"] for _ in range(rounds)
            ]
        finally:
            over.set()
            thread.join()
    assert {(error["name"], error["retryable"]) for error in errors} == {
        ("session_task_failed.client_certificate.required", False)
    }
