"""What is sent of a URL: percent-encoding (F5), and host names with letters beyond ASCII (F17)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import carpool
import httpx
import httpx2
import pytest
import requests
from carpool import httpx as httpx_transports
from carpool import httpx2 as httpx2_transports
from carpool.requests import CarpoolAdapter
from harness.command import Run
from harness.daemon import Daemon
from harness.vectors import rows
from harness.wire import Wire
from origins.scripted import Exchange, ScriptedOrigin

ROWS = list(rows("urls"))
PLACE = "/from"


def sent(origin: ScriptedOrigin) -> bytes:
    """Return the target of the last request, as bytes."""
    return origin.requests[-1].target.encode("latin-1")


def to(location: bytes) -> Any:
    def handler(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: %s\r\n\r\n" % location)

    return handler


def outcome(record: dict[str, Any]) -> str:
    error = record["outcome"].get("error")
    return error["name"] if error else "ok"


@pytest.mark.parametrize("row", ROWS, ids=[row["note"] for row in ROWS])
@pytest.mark.parametrize("encoding", [None, "percent", "as_is"])
def test_f5_what_is_sent_of_a_url(
    wire: Wire, origin: ScriptedOrigin, row: dict[str, Any], encoding: str | None
) -> None:
    options = {"url_encoding": encoding} if encoding else {}
    record = wire.call("request.perform", url=origin.url + row["given"], **options)
    expected = row[encoding or "percent"]
    if expected is None:
        assert outcome(record) == "invalid_url"
        assert "%20" in record["outcome"]["error"]["message"]
        assert origin.requests == []
        return
    assert outcome(record) == "ok"
    assert sent(origin) == expected.encode()
    assert record["response"]["url"].partition("#")[0] in {
        origin.url + expected,
        origin.url + row["given"].partition("#")[0],
    }


@pytest.mark.parametrize("row", ROWS, ids=[row["note"] for row in ROWS])
def test_f5_a_location_is_encoded_like_a_url(wire: Wire, origin: ScriptedOrigin, row: dict[str, Any]) -> None:
    given = row["given"].rstrip(" ")
    expected = row["percent"] if given == row["given"] else row["percent"].removesuffix("%20")
    for prefix in ("", origin.url, origin.url.removeprefix("http:")):
        wire.call("request.perform", url=origin.on(PLACE, to((prefix + given).encode())))
        assert sent(origin) == expected.encode()


def test_f5_a_location_in_another_charset_keeps_its_bytes(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("request.perform", url=origin.on(PLACE, to(b"/caf\xe9?\xfc")))
    assert sent(origin) == b"/caf%E9?%FC"


@pytest.mark.parametrize(
    "authority",
    ["127.0.0.1:{port}\\@evil.test", "evil.test\\@127.0.0.1:{port}", "me\\@127.0.0.1:{port}", "\\127.0.0.1"],
)
@pytest.mark.parametrize("encoding", ["percent", "as_is"])
def test_f5_a_backslash_before_the_path_is_refused(
    wire: Wire, origin: ScriptedOrigin, authority: str, encoding: str
) -> None:
    place = authority.format(port=origin.port)
    record = wire.call("request.perform", url=f"http://{place}/x", url_encoding=encoding)
    assert outcome(record) == "invalid_url"
    assert "backslash" in record["outcome"]["error"]["message"]
    record = wire.call("request.perform", url=origin.on(PLACE, to(f"//{place}/x".encode())))
    assert "backslash" in record["outcome"]["error"]["message"]
    assert [request.target for request in origin.requests] == [PLACE]


def test_f5_what_no_encoding_can_send_is_refused(wire: Wire, origin: ScriptedOrigin) -> None:
    for encoding in ("percent", "as_is"):
        for bad in ("\r\nX: y", "\n", "\x00", "\x7f", "\t"):
            record = wire.call("request.perform", url=f"{origin.url}/a{bad}", url_encoding=encoding)
            assert outcome(record) == "invalid_url", (encoding, bad)
    assert origin.requests == []


def test_f5_the_session_says_what_its_requests_do_not(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("session.create", name="raw", configuration={"url_encoding": "as_is"})
    assert wire.call("session.get", session="raw")["configuration"]["url_encoding"] == "as_is"
    wire.call("request.perform", url=f"{origin.url}/[1]", session="raw")
    assert sent(origin) == b"/[1]"
    wire.call("request.perform", url=f"{origin.url}/[1]", session="raw", url_encoding="percent")
    assert sent(origin) == b"/%5B1%5D"


def test_f5_what_adapters_and_parameters_make_is_encoded_once(client: carpool.Client, origin: ScriptedOrigin) -> None:
    rewrite: carpool.InterceptorOptions = {"rewrite": {"query": {"set": {"k": "ü"}}}}
    client.get(f"{origin.url}/[1]?a=%20", params={"b": [1]}, encoding="form", interceptor=[rewrite])
    assert sent(origin) == b"/%5B1%5D?a=%20&b%5B%5D=1&k=%C3%BC"


# An empty query, which libcurl does not send


def test_an_empty_query_is_sent(wire: Wire, origin: ScriptedOrigin) -> None:
    for url, target in (
        (f"{origin.url}?", "/?"),
        (f"{origin.url}?#a", "/?"),
        (f"http://me:x@127.0.0.1:{origin.port}/x?", "/x?"),
    ):
        wire.call("request.perform", url=url)
        assert sent(origin) == target.encode()
    for location, target in ((b"?", "/from?"), (b"/x?#a", "/x?"), (b"y?", "/y?")):
        record = wire.call("request.perform", url=origin.on(PLACE, to(location)))
        assert sent(origin) == target.encode()
        assert record["response"]["url"].partition("#")[0] == f"{origin.url}{target}"
    proxy = {"all": origin.url}
    wire.call("request.perform", url="http://A.test:80/x?#a", proxy=proxy)
    assert sent(origin) == b"http://a.test/x?"


def test_an_empty_query_is_part_of_a_digest_and_of_the_key_of_a_stored_response(
    wire: Wire, origin: ScriptedOrigin
) -> None:
    def challenge(exchange: Exchange) -> None:
        if exchange.request.values("authorization"):
            return exchange.reply()
        return exchange.reply(401, headers=[("WWW-Authenticate", 'Digest realm="a", nonce="b", qop="auth"')])

    credential = {"username": "me", "password": "x"}
    record = wire.call("request.perform", url=origin.on("/secret", challenge) + "?", credential=credential)
    assert record["response"]["status"] == 200
    assert 'uri="/secret?"' in origin.requests[-1].values("authorization")[0]

    def fresh(exchange: Exchange) -> None:
        exchange.reply(headers=[("Cache-Control", "max-age=60")], body=exchange.request.target.encode())

    stored = origin.on("/stored", fresh)
    for url in (stored, f"{stored}?", stored, f"{stored}?"):
        assert wire.call("request.perform", url=url)["response"]["status"] == 200
    assert [each.target for each in origin.requests if "stored" in each.target] == ["/stored", "/stored?"]


def test_libraries_and_commands_send_an_empty_query_as_they_do_themselves(
    daemon: Daemon, origin: ScriptedOrigin, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    session = requests.Session()
    session.mount("http://", CarpoolAdapter())
    url = f"{origin.url}/x?"
    pairs: list[tuple[Callable[[str], object], Callable[[str], object]]] = [
        (requests.get, session.get),
        (httpx.get, httpx.Client(transport=httpx_transports.CarpoolTransport()).get),
        (httpx2.get, httpx2.Client(transport=httpx2_transports.CarpoolTransport()).get),
    ]
    for own, through_carpool in pairs:
        own(url)
        expected = sent(origin)
        through_carpool(url)
        assert sent(origin) == expected
    assert expected == b"/x?"
    run("get", url)
    assert sent(origin) == b"/x?"
    run("curl", "-s", url)
    assert sent(origin) == b"/x"


@pytest.mark.parametrize(
    "target",
    [
        "/%zz[ ]?q=%zz[ ]",
        '/|{}"<>^`\\?|{}"<>^`\\',
        "/%c3%a9?%c3",
        "/ü?ü",
        "/p?",
        "/p?a#b[ ]",
        "//x",
        "/;,!$&'()*+:@-._~",
    ],
)
def test_the_url_of_a_redirect_and_one_that_was_set_are_encoded_as_by_requests(
    daemon: Daemon, origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    with requests.Session() as plain, requests.Session() as session:
        session.mount("http://", CarpoolAdapter())
        for each in (plain, session):
            each.get(origin.on(PLACE, to(origin.url.encode() + target.encode())))
            prepared = requests.Request("GET", origin.url).prepare()
            prepared.url = origin.url + target
            each.send(prepared)
            prepared.url = f"http://a.test{target}"
            each.send(prepared, proxies={"http": origin.url})
    sent = [request.target for request in origin.requests]
    assert sent[:4] == sent[4:]


# F17: names of hosts


@pytest.fixture
def hosts() -> Iterator[list[str]]:
    """Names below `localhost`, which every resolver resolves to this machine (RFC 6761)."""
    yield ["bücher.localhost", "BÜCHER.localhost", "b\u0075\u0308cher.localhost", "%62%C3%BCcher.localhost"]


@pytest.mark.own_daemon
def test_f17_a_host_beyond_ascii_goes_by_its_a_labels(wire: Wire, origin: ScriptedOrigin, hosts: list[str]) -> None:
    ascii_host = "xn--bcher-kva.localhost"
    for host in hosts:
        record = wire.call("request.perform", url=f"http://{host}:{origin.port}/x")
        assert outcome(record) == "ok", record["outcome"]
        assert record["response"]["url"] == f"http://{ascii_host}:{origin.port}/x"
        assert origin.requests[-1].values("host") == [f"{ascii_host}:{origin.port}"]
    pools = {entry["origin"] for entry in wire.call("pool.stats")["origins"]}
    assert pools == {f"http://{ascii_host}:{origin.port}"}


def test_f17_a_redirect_to_such_a_host(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on(PLACE, to(f"http://bücher.localhost:{origin.port}/ü".encode()))
    record = wire.call("request.perform", url=url)
    assert record["response"]["url"] == f"http://xn--bcher-kva.localhost:{origin.port}/%C3%BC"


@pytest.mark.parametrize(
    "host", ["ex\u2100mple.localhost", "a\uff0fb.localhost", "a\uff20b.localhost", "\u00ad", "\u202e.test"]
)
def test_f17_what_is_no_name_is_refused(wire: Wire, origin: ScriptedOrigin, host: str) -> None:
    record = wire.call("request.perform", url=f"http://{host}:{origin.port}/")
    assert outcome(record) == "invalid_url"
    assert origin.requests == []


def test_f17_a_rewritten_host(wire: Wire, origin: ScriptedOrigin) -> None:
    rewrite = {"rewrite": {"host": "bücher.localhost"}}
    wire.call("request.perform", url=f"{origin.url}/x", interceptor=[rewrite])
    assert origin.requests[-1].values("host") == [f"xn--bcher-kva.localhost:{origin.port}"]
