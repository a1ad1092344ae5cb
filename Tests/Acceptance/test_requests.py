"""Requests as the origin receives them: method, headers and body, byte for byte; and requests that are not sent."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "X-OWN"])
def test_any_method_reaches_the_origin(client: carpool.Client, origin: ScriptedOrigin, method: str) -> None:
    response = client.request(method, f"{origin.url}/here?a=1#fragment")
    assert response.status_code == 200
    (seen,) = origin.received(1)
    assert (seen.method, seen.target) == (method, "/here?a=1")
    assert (response.content == b"") == (method == "HEAD")


def test_headers_keep_order_case_and_duplicates(client: carpool.Client, origin: ScriptedOrigin) -> None:
    headers = [("X-B", "1"), ("X-A", "2"), ("x-b", "3"), ("X-Empty", ""), ("X-B", "4"), ("X-Text", "é, ü")]
    client.get(origin.url, headers=headers)
    head = origin.received(1)[0].head
    sent = [line.encode() for line in ("X-B: 1", "X-A: 2", "x-b: 3", "X-B: 4", "X-Text: é, ü")]
    places = [head.index(b"\r\n" + line + b"\r\n") for line in sent]
    assert places == sorted(places)
    assert origin.requests[0].values("X-Empty") == [""]


def test_headers_may_be_an_object_with_lists(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.call("request.perform", url=origin.url, headers={"Accept": "text/plain", "X-Two": ["1", "2"]})
    seen = origin.received(1)[0]
    assert seen.values("Accept") == ["text/plain"]
    assert seen.values("X-Two") == ["1", "2"]


def test_nothing_is_added_that_libcurl_would_add(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.post(origin.url, data=b"x" * 2000)
    seen = origin.received(1)[0]
    assert seen.values("Expect") == []
    assert seen.values("Content-Type") == []
    assert seen.values("Content-Length") == ["2000"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"text": "héllo\u0000"}, "héllo\u0000".encode()),
        ({"json": {"b": [1, 2.5, None, True], "a": "é"}}, '{"b":[1,2.5,null,true],"a":"é"}'.encode()),
        ({"base64": "AP/+"}, b"\x00\xff\xfe"),
        ({"text": ""}, b""),
    ],
)
def test_a_body_inside_the_message(
    client: carpool.Client, origin: ScriptedOrigin, body: dict[str, Any], expected: bytes
) -> None:
    client.call("request.perform", url=origin.url, method="POST", body=body)
    seen = origin.received(1)[0]
    assert seen.body == expected
    assert seen.values("Content-Length") == [str(len(expected))]


def test_a_body_from_a_file_whole_or_in_part(client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path) -> None:
    content = bytes(range(256)) * 1000
    path = tmp_path / "body"
    path.write_bytes(content)
    link = tmp_path / "link"
    link.symlink_to(path)
    for body, expected in [
        ({"file": str(path)}, content),
        ({"file": str(link)}, content),
        ({"file": str(path), "offset": 1000}, content[1000:]),
        ({"file": str(path), "offset": 1000, "length_bytes": 5}, content[1000:1005]),
        ({"file": str(path), "offset": len(content)}, b""),
    ]:
        client.call("request.perform", url=origin.url, method="PUT", body=body)
        assert origin.requests[-1].body == expected


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"file": "/none/such"}, "file.cannot_open"),
        ({"file": "/"}, "file.cannot_open"),
        ({"file": "/dev/zero"}, "file.cannot_open"),
        ({"file": "relative"}, "invalid_params"),
        ({"file": __file__, "offset": 1 << 40}, "invalid_params"),
        ({"file": __file__, "length_bytes": 1 << 40}, "invalid_params"),
        ({"base64": "!"}, "invalid_params"),
        ({"text": "a", "base64": "YQ=="}, "invalid_params"),
        ({"txt": "a"}, "invalid_params"),
        ("a", "invalid_params"),
    ],
)
def test_a_body_that_cannot_be_is_refused(client: carpool.Client, origin: ScriptedOrigin, body: Any, name: str) -> None:
    with pytest.raises(carpool.RPCError) as caught:
        client.call("request.perform", url=origin.url, method="POST", body=body)
    assert caught.value.name == name
    assert caught.value.data.get("path")
    assert origin.requests == []


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_no_body_is_told_to_the_origin(client: carpool.Client, origin: ScriptedOrigin, method: str) -> None:
    client.request(method, origin.url)
    assert origin.received(1)[0].values("Content-Length") == ["0"]


def test_a_get_must_not_have_a_body(client: carpool.Client, origin: ScriptedOrigin) -> None:
    with pytest.raises(carpool.RequestError) as caught:
        client.get(origin.url, data="body")
    assert caught.value.name == "url_request_validation_failed.body_data_in_get_request"
    assert origin.requests == []


@pytest.mark.parametrize("base", ["http", "https", "https1"])
def test_large_bodies_arrive_whole_in_both_directions(
    client: carpool.Client, nginx: Nginx, authority: Any, base: str
) -> None:
    url = f"{getattr(nginx, base)}/put/{base}.bin"
    source = nginx.directory / "files" / "16m.bin"
    stored = client.put(url, data=source, verify=authority.ca_file)
    assert stored.status_code in {201, 204}
    body = client.get(url, verify=authority.ca_file).content
    assert hashlib.sha256(body).hexdigest() == nginx.hashes["16m.bin"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-A", "a\r\nX-B: b"),
        ("X-A", "a\nb"),
        ("X-A", "a\rb"),
        ("X-A", "a\u0000b"),
        ("X A", "a"),
        ("X:A", "a"),
        ("", "a"),
        ("X-Ä", "a"),
        ("X\r\nA", "a"),
        ("Connection", "close"),
        ("Keep-Alive", "timeout=1"),
        ("Proxy-Connection", "keep-alive"),
        ("TE", "trailers"),
        ("Trailer", "X"),
        ("Transfer-Encoding", "chunked"),
        ("transfer-encoding", "chunked"),
        ("Upgrade", "h2c"),
        ("HTTP2-Settings", "AAMAAABk"),
        ("Host", "other.example/path"),
        ("Host", "a b"),
        ("Host", "user@other.example"),
        ("Host", ""),
        (":authority", "other.example"),
    ],
)
def test_headers_that_would_break_the_framing_are_refused_by_name(
    client: carpool.Client, origin: ScriptedOrigin, name: str, value: str
) -> None:
    with pytest.raises(carpool.InvalidParamsError) as caught:
        client.get(origin.url, headers=[("X-Good", "1"), (name, value)])
    assert caught.value.data["path"].startswith("params.headers")
    if name.isascii() and name.strip() and "\r" not in name:
        assert name.lower() in str(caught.value).lower()
    assert origin.requests == []


def test_a_host_that_is_the_url_s_own_is_accepted_once(client: carpool.Client, origin: ScriptedOrigin) -> None:
    authority = origin.url.removeprefix("http://")
    client.get(origin.url, headers={"Host": authority})
    assert origin.received(1)[0].values("Host") == [authority]


@pytest.mark.parametrize("method", ["", "GE T", "GET\r\nX: y", "GÉT", "CONNECT"])
def test_what_is_no_method_is_refused(client: carpool.Client, origin: ScriptedOrigin, method: str) -> None:
    with pytest.raises(carpool.InvalidParamsError) as caught:
        client.request(method, origin.url)
    assert caught.value.data["path"] == "params.method"
    assert origin.requests == []


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("ftp://127.0.0.1/", "session_task_failed.unsupported_url"),
        ("file:///etc/passwd", "session_task_failed.unsupported_url"),
        ("gopher://127.0.0.1/", "session_task_failed.unsupported_url"),
        ("127.0.0.1/", "invalid_url"),
        ("http://", "invalid_url"),
        ("http://a b/", "invalid_url"),
        ("http://127.0.0.1:99999/", "invalid_url"),
        ("http://127.0.0.1/\r\nX: y", "invalid_url"),
        ("", "invalid_url"),
    ],
)
def test_only_http_and_https_urls_are_requested(client: carpool.Client, url: str, name: str) -> None:
    with pytest.raises(carpool.RequestError) as caught:
        client.get(url)
    assert caught.value.name == name


def test_an_unknown_parameter_names_the_nearest_one_and_nothing_is_sent(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    with pytest.raises(TypeError, match=r"no argument 'timeout_msec'; did you mean timeout_ms\?"):
        client.get(origin.url, timeout_msec=5)  # type: ignore[arg-type]
    with pytest.raises(carpool.InvalidParamsError) as caught:
        client.call("request.perform", url=origin.url, timeout_msec=5)
    assert caught.value.data["path"] == "params.timeout_msec"
    assert caught.value.data["did_you_mean"] == "timeout_ms"
    assert origin.requests == []


def test_the_environment_s_proxies_and_passwords_are_not_used(
    start: StartDaemon, directory: Path, origin: ScriptedOrigin
) -> None:
    (directory / ".netrc").write_text("machine 127.0.0.1 login user password secret\n")
    dead = "http://127.0.0.1:1"
    daemon = start(variables={"http_proxy": dead, "HTTPS_PROXY": dead, "ALL_PROXY": dead, "no_proxy": ""})
    with daemon.client() as client:
        assert client.get(origin.url).ok
    assert origin.received(1)[0].values("Authorization") == []


def test_an_http_failure_is_data(client: carpool.Client, nginx: Nginx) -> None:
    record = client.call("request.perform", url=f"{nginx.http}/missing")
    assert record["outcome"] == {"ok": True}
    assert record["response"]["status"] == 404
    assert client.get(f"{nginx.http}/broken").text == "it broke\n"


def test_redirects_are_followed_unless_told_not_to(client: carpool.Client, nginx: Nginx) -> None:
    followed = client.get(f"{nginx.http}/moved", detail="full")
    assert (followed.status_code, followed.url, followed.text) == (200, f"{nginx.http}/hello.txt", "hello, world\n")
    assert len(followed.metrics) == 2
    kept = client.get(f"{nginx.http}/moved", redirect="do_not_follow")
    assert (kept.status_code, kept.headers["location"].endswith("/hello.txt")) == (302, True)


def test_a_redirect_loop_ends(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/loop", lambda exchange: exchange.reply(302, headers=[("Location", "/loop")]))
    with pytest.raises(carpool.TransferError) as caught:
        client.get(url, redirect={"max_hops": 3})
    assert caught.value.name == "session_task_failed.http_too_many_redirects"
    assert len(origin.requests) == 4


def test_the_client_s_own_kinds_of_body(client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(b"y" * 3_000_000)
    client.post(origin.url, json={"a": 1})
    client.post(origin.url, data="text")
    client.post(origin.url, data=b"z" * 2_000_000)
    client.post(origin.url, data=large)
    first, second, third, fourth = origin.received(4)
    assert (json.loads(first.body), first.values("content-type")) == ({"a": 1}, ["application/json"])
    assert second.body == b"text"
    assert third.body == b"z" * 2_000_000
    assert fourth.body == b"y" * 3_000_000


def test_one_connection_serves_requests_one_after_the_other(
    daemon: Daemon, client: carpool.Client, origin: ScriptedOrigin
) -> None:
    for _ in range(5):
        client.get(origin.url)
    with daemon.client() as another:
        another.get(origin.url)
    assert origin.connections == 1
