"""Requests that are sent as the caller has written them, and heads as they were received.

`default_headers: false`, `url_encoding: "exact"` and `response_body.heads`: what `carpool curl` is made of.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from harness.outputs import perform
from harness.wire import RemoteError, Wire
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

EXACT: dict[str, Any] = {"default_headers": False, "url_encoding": "exact"}


def lines(origin: ScriptedOrigin) -> list[str]:
    """The head of the last request, without the empty line."""
    return origin.requests[-1].head.decode("latin-1").split("\r\n")[:-2]


def host(origin: ScriptedOrigin) -> str:
    return origin.url.removeprefix("http://")


# Fields


def test_only_the_fields_of_the_caller_are_sent_in_their_order_and_case(wire: Wire, origin: ScriptedOrigin) -> None:
    given = [["X-zULU", "1"], ["accept", "*/*"], ["x-alpha", "a  b"], ["X-Zulu", "2"], ["Empty", ""]]
    record = wire.call("request.perform", url=origin.url, headers=given, **EXACT)
    assert record["outcome"]["ok"]
    assert lines(origin) == [
        "GET / HTTP/1.1",
        f"Host: {host(origin)}",
        "X-zULU: 1",
        "accept: */*",
        "x-alpha: a  b",
        "X-Zulu: 2",
        "Empty:",
    ]


def test_without_fields_there_is_only_the_host(wire: Wire, origin: ScriptedOrigin) -> None:
    assert wire.call("request.perform", url=origin.url, default_headers=False)["outcome"]["ok"]
    assert lines(origin) == ["GET / HTTP/1.1", f"Host: {host(origin)}"]


def test_the_fields_of_the_session_are_not_added(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("session.create", name="own", configuration={"headers": [["X-Session", "1"]]})
    assert wire.call("request.perform", url=origin.url, session="own")["outcome"]["ok"]
    assert "X-Session: 1" in lines(origin)
    assert wire.call("request.perform", url=origin.url, session="own", **EXACT)["outcome"]["ok"]
    assert lines(origin) == ["GET / HTTP/1.1", f"Host: {host(origin)}"]


@pytest.mark.parametrize("length", ["0", "3", "5", "99999", "-1", "4, 4", "x"])
def test_the_length_is_always_that_of_the_body(wire: Wire, origin: ScriptedOrigin, length: str) -> None:
    """A length that is wrong would make the next request on the connection a part of this one."""
    fields = [["Content-Length", length], ["X-After", "1"]]
    try:
        record = wire.call(
            "request.perform", url=origin.url, method="POST", headers=fields, body={"text": "four"}, **EXACT
        )
    except RemoteError as error:
        assert "ontent-" in str(error)
        return
    assert record["outcome"]["ok"]
    assert origin.requests[-1].body == b"four"
    assert origin.requests[-1].values("content-length") == ["4"]
    assert wire.call("request.perform", url=origin.url, **EXACT)["outcome"]["ok"]
    assert [request.method for request in origin.requests] == ["POST", "GET"]


@pytest.mark.parametrize(
    "fields",
    [
        [["Transfer-Encoding", "gzip"]],
        [["Transfer-Encoding", "chunked, identity"]],
        [["Transfer-Encoding", "xchunked"]],
        [["Transfer-Encoding", "chunked"], ["Transfer-Encoding", "identity"]],
    ],
)
def test_no_other_transfer_coding_is_sent(wire: Wire, origin: ScriptedOrigin, fields: list[list[str]]) -> None:
    with pytest.raises(RemoteError, match="ransfer-"):
        wire.call("request.perform", url=origin.url, method="POST", headers=fields, body={"text": "four"}, **EXACT)
    assert not origin.requests


def test_a_chunked_body_has_no_length(wire: Wire, origin: ScriptedOrigin) -> None:
    fields = [["Transfer-Encoding", "chunked"], ["Content-Length", "4"]]
    record = wire.call("request.perform", url=origin.url, method="POST", headers=fields, body={"text": "four"}, **EXACT)
    assert record["outcome"]["ok"]
    assert origin.requests[-1].body == b"four"
    assert origin.requests[-1].values("content-length") == []
    assert wire.call("request.perform", url=origin.url, **EXACT)["outcome"]["ok"]


@pytest.mark.parametrize("name", ["X-Bad", "Host", "Content-Length", "User-Agent", "Expect", "Connection"])
@pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "a\nX-Injected: 1", "a\rX-Injected: 1", "a\0b"])
def test_nothing_can_be_injected_by_a_value(wire: Wire, origin: ScriptedOrigin, name: str, value: str) -> None:
    with pytest.raises(RemoteError, match="headers"):
        wire.call("request.perform", url=origin.url, headers=[[name, value]], **EXACT)
    assert not origin.requests


@pytest.mark.parametrize("name", ["", "A B", "A:", "A\r\nB", "A\0", "é", "GET / HTTP/1.1\r\nA"])
def test_nothing_can_be_injected_by_a_name(wire: Wire, origin: ScriptedOrigin, name: str) -> None:
    with pytest.raises(RemoteError, match="headers"):
        wire.call("request.perform", url=origin.url, headers=[[name, "a"]], **EXACT)
    assert not origin.requests


def test_fields_of_a_connection_may_be_given(wire: Wire, origin: ScriptedOrigin) -> None:
    fields = [["Connection", "close"], ["TE", "trailers"], ["Upgrade", "x"], ["Keep-Alive", "timeout=5"]]
    assert wire.call("request.perform", url=origin.url, headers=fields, **EXACT)["outcome"]["ok"]
    assert lines(origin)[2:] == ["Connection: close", "TE: trailers", "Upgrade: x", "Keep-Alive: timeout=5"]
    # Without the parameter they are refused.
    with pytest.raises(RemoteError):
        wire.call("request.perform", url=origin.url, headers=[["Connection", "close"]])


# URLs


@pytest.mark.parametrize(
    "target",
    [
        "/a%2fb%2F/%7Euser/%zz/%",
        "/a//b/;c=d,e'(f)!*$&+",
        "/?a=b&&c==d?e/f",
        "/?q=\\^`{}|[]<>\"'",
        "/?x=\u20ac",
        "/a/./b/../c",
        "/a%0d%0ab",
    ],
)
def test_the_bytes_of_the_url_are_sent_as_they_are(wire: Wire, origin: ScriptedOrigin, target: str) -> None:
    record = wire.call("request.perform", url=origin.url + target, **EXACT)
    assert record["outcome"]["ok"], record["outcome"]
    assert origin.requests[-1].head.split(b"\r\n")[0] == f"GET {target} HTTP/1.1".encode()


# The same as curl: what libcurl changes in a URL for curl, it changes here.
@pytest.mark.parametrize(("given", "sent"), [("/caf\u00e9", "/caf%c3%a9"), ("/a?", "/a"), ("/?", "/")])
def test_what_curl_changes_is_changed(wire: Wire, origin: ScriptedOrigin, given: str, sent: str) -> None:
    assert wire.call("request.perform", url=origin.url + given, **EXACT)["outcome"]["ok"]
    assert lines(origin)[0] == f"GET {sent} HTTP/1.1"


def test_a_fragment_is_not_sent(wire: Wire, origin: ScriptedOrigin) -> None:
    assert wire.call("request.perform", url=f"{origin.url}/a#b?c", **EXACT)["outcome"]["ok"]
    assert lines(origin)[0] == "GET /a HTTP/1.1"


@pytest.mark.parametrize("sign", [" ", "\t", "\r\n", "\0", "\x7f", "\x1f"])
@pytest.mark.parametrize("place", ["{}/a{sign}b", "{}/?a{sign}b", "{}{sign}/"])
def test_no_url_can_inject(wire: Wire, origin: ScriptedOrigin, sign: str, place: str) -> None:
    url = place.format(origin.url, sign=sign)
    try:
        record = wire.call("request.perform", url=url, **EXACT)
    except RemoteError as error:
        assert "url" in str(error)
    else:
        assert record["outcome"]["error"]["name"] == "invalid_url"
    assert not origin.requests


# Heads


def heads_of(data: bytes) -> tuple[bytes, bytes]:
    """The heads and the body of what came through the descriptor."""
    assert data[8:9] == b"\n"
    length = int(data[:8], 16)
    return data[9 : 9 + length], data[9 + length :]


def through_a_pipe(wire: Wire, url: str, **params: Any) -> tuple[dict[str, Any], bytes]:
    """Perform a request whose body goes into a pipe with its heads; returns the record and the bytes."""
    ours, theirs = os.pipe()
    body = {"fd": 0, "heads": True, **params.pop("body_to", {})}
    try:
        record = perform(wire, [theirs], url=url, response_body=body, **EXACT, **params)
    finally:
        os.close(theirs)
    with os.fdopen(ours, "rb") as file:
        return record, file.read()


def test_heads_come_first_as_they_were_received(wire: Wire, origin: ScriptedOrigin) -> None:
    head = (
        b"HTTP/1.1 299 A  Reason \r\nx-lower: 1\r\nX-UPPER:2\r\nFolded: \xe9\r\nx-lower: 3\r\nContent-Length: 4\r\n\r\n"
    )
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    url = origin.on("/raw", lambda exchange: exchange.send(early + head + b"body"))
    record, data = through_a_pipe(wire, url)
    assert record["outcome"]["ok"]
    assert heads_of(data) == (early + head, b"body")
    assert "raw_heads" not in record


def test_a_record_has_the_heads_if_nothing_is_written(wire: Wire, origin: ScriptedOrigin) -> None:
    head = "HTTP/1.1 200 Fine\r\nX-A: 1\r\nContent-Length: 4\r\n\r\n"
    url = origin.on("/inline", lambda exchange: exchange.send(head.encode() + b"body"))
    record, data = through_a_pipe(wire, url, body_to={"inline_bytes": 100})
    assert (record["raw_heads"], record["body"]["text"], data) == (head, "body", b"")


def test_trailers_are_in_the_record(wire: Wire, origin: ScriptedOrigin) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = b"4\r\nbody\r\n0\r\nX-Trailer: 1\r\nx-other:2\r\n\r\n"
    url = origin.on("/trailers", lambda exchange: exchange.send(head + body))
    record, data = through_a_pipe(wire, url)
    assert heads_of(data) == (head, b"body")
    assert record["raw_trailers"] == "X-Trailer: 1\r\nx-other:2\r\n"


def test_heads_of_http2_have_its_form(wire: Wire, nginx: Nginx, authority: Authority) -> None:
    url = f"{nginx.https}/hello.txt"
    record, data = through_a_pipe(wire, url, trust={"ca_file": str(authority.ca_file)}, http_version="2")
    if record["response"]["http_version"] != "h2":
        pytest.skip("this libcurl does not multiplex")
    heads, body = heads_of(data)
    assert heads.startswith(b"HTTP/2 200 \r\nserver: nginx") and heads.endswith(b"\r\n\r\n")
    assert body == b"hello, world\n"


def test_a_redirect_that_is_followed_has_its_head_too(wire: Wire, origin: ScriptedOrigin) -> None:
    origin.on("/to", lambda exchange: exchange.reply(body=b"there"))
    url = origin.on("/from", lambda exchange: exchange.reply(302, headers=[("Location", "/to")]))
    _, data = through_a_pipe(wire, url)
    heads, body = heads_of(data)
    assert [line for line in heads.split(b"\r\n") if line.startswith(b"HTTP/")][-1] == b"HTTP/1.1 200 Reason"
    assert body == b"there"


# Repetitions


def test_what_changes_something_is_sent_once(wire: Wire, origin: ScriptedOrigin) -> None:
    def leave(exchange: Exchange) -> None:
        exchange.close()

    url = origin.on("/gone", leave)
    for method, times in (("GET", 2), ("POST", 1), ("PUT", 1), ("DELETE", 1), ("PATCH", 1)):
        assert wire.call("request.perform", url=origin.url)["outcome"]["ok"]
        before = len(origin.requests)
        record = wire.call("request.perform", url=url, method=method, **EXACT)
        assert record["outcome"]["error"]["name"] == "session_task_failed.network_connection_lost"
        assert len(origin.requests) == before + times, method
