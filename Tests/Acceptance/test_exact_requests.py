"""Requests that reach the origin byte by byte as their caller wrote them, and the raw heads of responses."""

from __future__ import annotations

import time
from typing import Any

import pytest
from harness.outputs import Pair
from harness.wire import RemoteError, Wire
from origins import linepages
from origins.authority import Authority
from origins.nghttpd import Nghttpd
from origins.scripted import Exchange, Received, ScriptedOrigin

CHUNKED = ["Transfer-Encoding", "chunked"]
HEADS = {"response_body": {"fd": 0, "heads": True}}
INLINE = {"response_body": {"fd": 0, "heads": True, "inline_bytes": 1_000}}


def perform(wire: Wire, **params: Any) -> Any:
    """Make a request without default fields and return its record."""
    return wire.call("request.perform", default_headers=False, **params)


def refused(wire: Wire, **params: Any) -> Any:
    """Make a call that is refused, and return its error."""
    call = wire.request("request.perform", {"default_headers": False, **params})
    return wire.answer(call)["error"]


def sent(wire: Wire, origin: ScriptedOrigin, path: str = "/a", **params: Any) -> Received:
    """Make a request and return what the origin has received."""
    count = len(origin.requests)
    record = perform(wire, url=origin.url + path, **params)
    assert record["outcome"] == {"ok": True}
    (received,) = origin.received(count + 1)[count:]
    return received


def head(origin: ScriptedOrigin, first: str, *fields: str) -> bytes:
    """Return the head with these lines, and the Host field of the origin."""
    host = f"Host: {origin.url.removeprefix('http://')}"
    return "".join(f"{line}\r\n" for line in (f"{first} HTTP/1.1", host, *fields, "")).encode()


# default_headers


def test_a_request_without_fields_has_a_host_alone(wire: Wire, origin: ScriptedOrigin) -> None:
    assert sent(wire, origin).head == head(origin, "GET /a")


def test_fields_keep_their_order_their_case_and_their_repetitions(wire: Wire, origin: ScriptedOrigin) -> None:
    fields = [["b", "1"], ["ACCEPT", "*/*"], ["b", "2"], ["x-Empty", ""], ["cookie", "a=b"], ["x", "é"]]
    expected = ["b: 1", "ACCEPT: */*", "b: 2", "x-Empty:", "cookie: a=b", "x: é"]
    assert sent(wire, origin, headers=fields).head == head(origin, "GET /a", *expected)


def test_a_name_with_a_colon_keeps_the_blanks_of_its_value(wire: Wire, origin: ScriptedOrigin) -> None:
    fields = [["A:", "1"], ["b:", "  2\t "], ["C:", "\t3"], ["D:", " 4"], ["E:", " \t"], ["F:", "a: b"], ["G", " 5 "]]
    expected = ["A:1", "b:  2\t ", "C:\t3", "D: 4", "E:", "F:a: b", "G: 5"]
    assert sent(wire, origin, headers=fields).head == head(origin, "GET /a", *expected)
    for given, kept in [("chunked", "chunked"), (" \tchunked", " chunked")]:
        fields = [["Transfer-Encoding:", given], ["Content-Length:", "3"]]
        received = sent(wire, origin, method="POST", headers=fields, body={"text": "body"})
        assert received.head == head(origin, "POST /a", f"Transfer-Encoding:{kept}")
    for name, value in [(":", "x"), ("A::", "x"), ("A :", "x"), ("A:", "x\ry"), ("Host:", "a b"), ("TE", "x\0")]:
        assert refused(wire, url=origin.url, headers=[[name, value]])["code"] == -32602, (name, value)
    assert refused(wire, url=origin.url, headers=[["A:", "1"]], default_headers=True)["code"] == -32602


def test_the_session_adds_nothing(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("session.create", name="own", configuration={"headers": {"X-Session": "1"}, "languages": ["de"]})
    assert sent(wire, origin, session="own").head == head(origin, "GET /a")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "OWN"])
def test_a_method_without_a_body_has_no_length(wire: Wire, origin: ScriptedOrigin, method: str) -> None:
    assert sent(wire, origin, method=method).head == head(origin, f"{method} /a")


@pytest.mark.parametrize("written", ["0", "3", "5", "-1", "4, 4", "99999999999999999999"])
def test_the_length_is_that_of_the_body(wire: Wire, origin: ScriptedOrigin, written: str) -> None:
    """A wrong one would make a part of the body another request on a connection that others share."""
    fields = [["content-Length", written], ["X", "1"], ["CONTENT-LENGTH", "7"]]
    received = sent(wire, origin, method="POST", headers=fields, body={"text": "GET "})
    assert (received.head, received.body) == (head(origin, "POST /a", "content-Length: 4", "X: 1"), b"GET ")
    assert sent(wire, origin).head == head(origin, "GET /a")
    assert origin.connections == 1


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE"])
@pytest.mark.parametrize("fields", [[["Content-Length", "30"]], [CHUNKED], [CHUNKED, ["Content-Length", "30"]]])
def test_a_request_without_a_body_does_not_take_the_next_one_for_it(
    wire: Wire, origin: ScriptedOrigin, method: str, fields: list[list[str]]
) -> None:
    expected = ["Transfer-Encoding: chunked"] if CHUNKED in fields else ["Content-Length: 0"]
    # Older versions of libcurl would send no chunk, and the next request would be taken for one.
    if CHUNKED in fields and wire.call("daemon.info")["libcurl"]["profile"] != "multiplex":
        expected = []
    assert sent(wire, origin, method=method, headers=fields).head == head(origin, f"{method} /a", *expected)
    assert sent(wire, origin, "/next").head == head(origin, "GET /next")
    assert origin.connections == 1


def test_a_chunked_body_has_no_length(wire: Wire, origin: ScriptedOrigin) -> None:
    body = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    received = sent(wire, origin, method="POST", headers=[["Content-Length", "5"], CHUNKED], body={"text": body})
    assert received.head == head(origin, "POST /a", "Transfer-Encoding: chunked")
    assert received.body == body.encode()
    assert sent(wire, origin, "/next").head == head(origin, "GET /next")
    assert [request.target for request in origin.requests] == ["/a", "/next"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ([["Transfer-Encoding", "gzip, chunked"]], "the only transfer coding is chunked"),
        ([["transfer-encoding", "identity"]], "the only transfer coding is chunked"),
        ([["Transfer-Encoding", ""]], "the only transfer coding is chunked"),
        ([["Transfer-Encoding", "\tchunked"]], "the only transfer coding is chunked"),
        ([["Transfer-Encoding", "xchunked"]], "the only transfer coding is chunked"),
        ([CHUNKED, CHUNKED], "there is more than one Transfer-Encoding"),
        ([CHUNKED, ["transfer-encoding", "Chunked"]], "there is more than one Transfer-Encoding"),
        ([["Host", "a"], ["host", "b"]], "there is more than one Host"),
        ([["Host", ""]], "the value must be a host, with or without a port"),
        ([["Host", "a/b"]], "the value must be a host, with or without a port"),
        ([["Host", "a@b"]], "the value must be a host, with or without a port"),
        ([["X", "a\r\nY: b"]], "the value must not contain CR, LF, NUL or other control characters"),
        ([["X", "a\nY: b"]], "the value must not contain CR, LF, NUL or other control characters"),
        ([["X", "a\r\n\r\nGET / HTTP/1.1"]], "the value must not contain CR, LF, NUL or other control characters"),
        ([["X", "a\0b"]], "the value must not contain CR, LF, NUL or other control characters"),
        ([["Connection", "close\r\nX: y"]], "the value must not contain CR, LF, NUL or other control characters"),
        ([["X\r\nY", "b"]], "the name must be a token"),
        ([["X::", "b"]], "the name must be a token"),
        ([["Content-Length ", "1"]], "the name must be a token"),
        ([[" Transfer-Encoding", "chunked"]], "the name must be a token"),
        ([["", "b"]], "the name must be a token"),
        ([[":path", "/"]], "the name must be a token"),
    ],
)
def test_a_field_that_changes_what_the_request_is_is_refused(
    wire: Wire, origin: ScriptedOrigin, fields: list[list[str]], reason: str
) -> None:
    error = refused(wire, url=origin.url, headers=fields)
    assert (error["data"]["name"], reason in error["message"]) == ("invalid_params", True), error
    assert error["data"]["path"].startswith("params.headers")
    assert origin.connections == 0


def test_a_value_of_64_kib_is_sent_whole(wire: Wire, origin: ScriptedOrigin) -> None:
    value = "v" * 65_536
    assert sent(wire, origin, headers=[["X", value]]).head == head(origin, "GET /a", f"X: {value}")


@pytest.mark.parametrize("value", ["close", "Close", "x, CLOSE ,y"])
def test_a_connection_on_which_close_was_sent_is_not_used_again(wire: Wire, origin: ScriptedOrigin, value: str) -> None:
    """RFC 9112, section 9.6: the origin may close it at any time, and the next request would be lost."""
    received = sent(wire, origin, headers=[["connection", value]])
    assert received.head == head(origin, "GET /a", f"connection: {value}")
    assert [received.connection, sent(wire, origin).connection] == [1, 2]


@pytest.mark.parametrize("value", ["keep-alive", "Keep-Alive, x-close", "TE"])
def test_another_value_of_connection_keeps_it(wire: Wire, origin: ScriptedOrigin, value: str) -> None:
    received = sent(wire, origin, headers=[["Connection", value]])
    assert [received.connection, sent(wire, origin).connection] == [1, 1]


def test_what_cannot_be_repeated_uses_no_connection_that_was_idle_for_long(wire: Wire, origin: ScriptedOrigin) -> None:
    """The pauses are lower bounds: libcurl counts whole seconds, and a longer one changes nothing."""
    connections = [sent(wire, origin).connection]
    for method in ("GET", "POST"):
        time.sleep(3.1)
        connections.append(sent(wire, origin, method=method).connection)
    assert connections == [1, 1, 2]


def test_a_host_of_the_caller_s_has_its_own_connection(wire: Wire, origin: ScriptedOrigin) -> None:
    received = sent(wire, origin, headers=[["X", "1"], ["hOST", "other.example"]])
    assert received.head.startswith(b"GET /a HTTP/1.1\r\n")
    assert received.values("host") == ["other.example"]
    assert [received.connection, sent(wire, origin).connection] == [1, 2]


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_drops_the_body_drops_the_fields_of_its_transfer(
    wire: Wire, origin: ScriptedOrigin, status: int
) -> None:
    """RFC 9110, section 10.1.1: no `Expect: 100-continue` without content."""
    url = origin.on("/from", lambda exchange: exchange.reply(status, headers=[("Location", "/to")]))
    fields = [CHUNKED, ["Expect", "100-continue"], ["Content-Type", "a/b"], ["X", "1"]]
    perform(wire, url=url, method="POST", headers=fields, body={"text": "x"}, redirect="follow")
    assert origin.received(2)[1].head == head(origin, "GET /to", "X: 1")


def test_an_answer_of_101_that_nobody_asked_for_ends_the_connection(wire: Wire, origin: ScriptedOrigin) -> None:
    def switch(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
        exchange.close()

    fields = [["Connection", "Upgrade"], ["Upgrade", "x"]]
    perform(wire, url=origin.on("/switch", switch), headers=fields)
    assert sent(wire, origin).connection == 2


@pytest.mark.parametrize("name", ["Connection", "Keep-Alive", "Proxy-Connection", "Upgrade", "Transfer-Encoding", "TE"])
def test_http2_is_not_disturbed_by_fields_of_a_connection(
    wire: Wire, nghttpd: Nghttpd, authority: Authority, name: str
) -> None:
    """RFC 9113, section 8.2.2: a server treats such a request as malformed."""
    params = {"url": f"{nghttpd.https}/hello.txt", "trust": {"ca_file": str(authority.ca_file)}, "http_version": "2"}
    value = {"Transfer-Encoding": "chunked", "Connection": "close", "TE": "gzip"}.get(name, "1")
    record = perform(wire, headers=[[name, value]], **params)
    assert (record["outcome"], record["response"]["http_version"]) == ({"ok": True}, "h2")


def test_a_credential_waits_for_the_challenge_of_each_request(wire: Wire, origin: ScriptedOrigin) -> None:
    linepages.serve(origin)
    credential = {"username": "ada", "password": "secret", "schemes": ["digest"]}
    for has_defaults, expected in ((False, [[], [True], [], [True]]), (True, [[], [True], [True]])):
        origin.forget()
        linepages.serve(origin)
        for _ in range(2):
            params = {"default_headers": has_defaults, "credential": credential}
            assert wire.call("request.perform", url=f"{origin.url}/digest", **params)["response"]["status"] == 200
        sent = [[bool(value) for value in request.values("Authorization")] for request in origin.requests]
        assert sent == expected


# response_body.heads

FIRST = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
LAST = b"HTTP/1.1 302 Gone  Away\r\nLocation:   /b\r\nx-odd:a\r\nContent-Length: 4\r\n\r\n"


def raw(origin: ScriptedOrigin, answer: bytes) -> str:
    return origin.on("/raw", lambda exchange: exchange.send(answer))


def test_the_heads_come_before_the_body_as_they_were_received(wire: Wire, origin: ScriptedOrigin) -> None:
    pair = Pair()
    record = pair.perform(wire, url=raw(origin, FIRST + LAST + b"body"), redirect="do_not_follow", **HEADS)
    assert pair.received == b"%08x\n" % len(FIRST + LAST) + FIRST + LAST + b"body"
    assert record["body"] == {"fd": True, "size_bytes": 4}
    assert "raw_heads" not in record and "raw_trailers" not in record


def test_a_short_response_has_its_heads_in_the_record(wire: Wire, origin: ScriptedOrigin) -> None:
    pair = Pair()
    record = pair.perform(wire, url=raw(origin, FIRST + LAST + b"body"), redirect="do_not_follow", **INLINE)
    assert pair.received == b""
    assert record["raw_heads"] == (FIRST + LAST).decode()
    assert record["body"] == {"text": "body", "size_bytes": 4}


def test_long_heads_do_not_go_into_the_record(wire: Wire, origin: ScriptedOrigin) -> None:
    lines = b"HTTP/1.1 200 OK\r\nX: " + b"y" * 5_000 + b"\r\nContent-Length: 4\r\n\r\n"
    pair = Pair()
    record = pair.perform(wire, url=raw(origin, lines + b"body"), **INLINE)
    assert pair.received == b"%08x\n" % len(lines) + lines + b"body"
    assert record["body"] == {"fd": True, "size_bytes": 4}
    assert "raw_heads" not in record


@pytest.mark.parametrize("output", [HEADS, INLINE])
def test_trailers_are_in_the_record(wire: Wire, origin: ScriptedOrigin, output: dict[str, Any]) -> None:
    lines = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    trailers = b"X-Sum: 1\r\nx-Sum:  2\r\n"
    pair = Pair()
    answer = lines + b"4\r\nbody\r\n0\r\n" + trailers + b"\r\n"
    record = pair.perform(wire, url=raw(origin, answer), **output)
    assert record["raw_trailers"].encode().removesuffix(b"\r\n") in {trailers, trailers.removesuffix(b"\r\n")}
    assert pair.received == (b"%08x\n" % len(lines) + lines + b"body" if output is HEADS else b"")


@pytest.mark.parametrize("status", [204, 304])
def test_a_response_without_a_body_has_heads(wire: Wire, origin: ScriptedOrigin, status: int) -> None:
    lines = b"HTTP/1.1 %d X\r\nETag: y\r\n\r\n" % status
    pair = Pair()
    pair.perform(wire, url=raw(origin, lines), **HEADS)
    assert pair.received == b"%08x\n" % len(lines) + lines


def test_bytes_that_are_not_utf_8_stay(wire: Wire, origin: ScriptedOrigin) -> None:
    lines = b"HTTP/1.1 200 \xff\r\nX: \xe9\r\nContent-Length: 0\r\n\r\n"
    pair = Pair()
    pair.perform(wire, url=raw(origin, lines), **HEADS)
    assert pair.received == b"%08x\n" % len(lines) + lines


def test_followed_redirects_have_all_their_heads(wire: Wire, origin: ScriptedOrigin) -> None:
    first = b"HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 0\r\n\r\n"
    last = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
    origin.on("/end", lambda exchange: exchange.send(last + b"ok"))
    pair = Pair()
    pair.perform(wire, url=raw(origin, first), redirect="follow", **HEADS)
    size, _, rest = bytes(pair.received).partition(b"\n")
    assert rest.endswith(last + b"ok")
    assert int(size, 16) == len(rest) - 2


def test_heads_have_a_limit(wire: Wire, origin: ScriptedOrigin) -> None:
    lines = b"HTTP/1.1 200 OK\r\n" + b"".join(b"X%d: y\r\n" % number for number in range(300)) + b"\r\n"
    pair = Pair()
    record = pair.perform(wire, url=raw(origin, lines), **HEADS)
    assert record["outcome"]["error"]["name"] == "session_task_failed.data_length_exceeds_maximum"
    assert pair.received == b""


def test_http2_has_heads_too(wire: Wire, nghttpd: Nghttpd, authority: Authority) -> None:
    pair = Pair()
    params = {"url": f"{nghttpd.https}/hello.txt", "trust": {"ca_file": str(authority.ca_file)}, "http_version": "2"}
    pair.perform(wire, **params, **HEADS)
    size, _, rest = bytes(pair.received).partition(b"\n")
    lines = rest[: int(size, 16)]
    assert lines.startswith(b"HTTP/2 200 \r\n") and lines.endswith(b"\r\n\r\n")
    assert rest[len(lines) :] == b"hello, world\n"


# url_encoding


@pytest.mark.parametrize(
    ("written", "target"),
    [
        ("", "/"),
        ("?q", "/?q"),
        ("#f", "/"),
        ("/a/../b/./c/..", "/a/../b/./c/.."),
        ("/%2e%2E/%2f%zz%", "/%2e%2E/%2f%zz%"),
        ("//x", "//x"),
        ("/a\\b|\"<>^`{}'", "/a\\b|\"<>^`{}'"),
        ("/a?b?c&d=/../#f?g", "/a?b?c&d=/../"),
        ("/a?%0d%0aX:%20y", "/a?%0d%0aX:%20y"),
        ("/é", "/%c3%a9"),
    ],
)
def test_the_target_is_that_of_the_url(wire: Wire, origin: ScriptedOrigin, written: str, target: str) -> None:
    assert sent(wire, origin, written, url_encoding="exact").head == head(origin, f"GET {target}")


@pytest.mark.parametrize(
    "written",
    ["/a b", "/a\r\nX: y", "/a\nb", "/a\0b", "/a\tb", "/a\x7fb", "/\x01", "/a#\r\nb", "\r\n/a", "/a HTTP/1.1"],
)
def test_characters_that_would_end_the_request_line_are_refused(
    wire: Wire, origin: ScriptedOrigin, written: str
) -> None:
    record = perform(wire, url=origin.url + written, url_encoding="exact")
    assert record["outcome"]["error"]["name"] == "invalid_url"
    assert origin.connections == 0


def test_the_user_of_the_url_is_a_credential(wire: Wire, origin: ScriptedOrigin) -> None:
    perform(wire, url=origin.url.replace("://", "://u%20:p@") + "/a", url_encoding="exact")
    assert origin.received(1)[0].head == head(origin, "GET /a", "Authorization: Basic dSA6cA==")


def test_two_readings_of_the_host_are_refused(wire: Wire, origin: ScriptedOrigin) -> None:
    for url in (f"http://a@b@127.0.0.1:{origin.port}/", f"http://127.0.0.1:{origin.port}\\@x/"):
        assert perform(wire, url=url, url_encoding="exact")["outcome"]["error"]["name"] == "invalid_url"
    assert origin.connections == 0


def test_an_international_host_is_converted(wire: Wire, origin: ScriptedOrigin) -> None:
    addresses = {"connect_to": [f"::127.0.0.1:{origin.port}"]}
    perform(wire, url="http://bücher.example/ü", url_encoding="exact", addresses=addresses)
    received = origin.received(1)[0]
    assert (received.target, received.values("host")) == ("/%c3%bc", ["xn--bcher-kva.example"])


# Injection


@pytest.mark.parametrize("name", ["X-Bad", "Host", "Content-Length", "User-Agent", "Expect", "Connection"])
@pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "a\nX-Injected: 1", "a\rX-Injected: 1", "a\0b"])
def test_nothing_can_be_injected_by_a_value(wire: Wire, origin: ScriptedOrigin, name: str, value: str) -> None:
    with pytest.raises(RemoteError, match="headers"):
        wire.call("request.perform", url=origin.url, headers=[[name, value]], default_headers=False)
    assert not origin.requests


@pytest.mark.parametrize("name", ["", "A B", "A::", "A\r\nB", "A\0", "é", "GET / HTTP/1.1\r\nA"])
def test_nothing_can_be_injected_by_a_name(wire: Wire, origin: ScriptedOrigin, name: str) -> None:
    with pytest.raises(RemoteError, match="headers"):
        wire.call("request.perform", url=origin.url, headers=[[name, "a"]], default_headers=False)
    assert not origin.requests
