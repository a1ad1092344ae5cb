"""The words of the Python client that users of requests and httpx know, as origins see them."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS
from origins.httpbin import Httpbin
from origins.scripted import Received, ScriptedOrigin, statuses

# The query and the body


@pytest.mark.parametrize(
    ("params", "target"),
    [
        ({"q": "car pool", "page": 2}, "/p?q=car+pool&page=2"),
        ({"a": ["x", 1, None, 1.5], "b": None, "c": True, "d": b"\xff"}, "/p?a=x&a=1&a=1.5&c=true&d=%FF"),
        ([("a", "1"), ("b", "2"), ("a", "3")], "/p?a=1&b=2&a=3"),
        ("raw=%20&x", "/p?raw=%20&x"),
        (b"raw=1", "/p?raw=1"),
        ({"a": None}, "/p"),
        ({}, "/p"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_params_are_in_the_query_whatever_the_method_is(
    client: carpool.Client, origin: ScriptedOrigin, method: str, params: Any, target: str
) -> None:
    client.request(method, f"{origin.url}/p#part", params=params)
    assert (origin.requests[-1].target, origin.requests[-1].body) == (target, b"")


def test_params_are_added_to_a_query(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.get(f"{origin.url}?a=1", params={"b": "2"})
    assert origin.requests[-1].target == "/?a=1&b=2"


def test_with_an_encoding_the_daemon_encodes_params(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.post(origin.url, params={"a": {"b": [True]}}, encoding="form")
    assert origin.requests[-1].body == b"a%5Bb%5D%5B%5D=1"
    client.post(origin.url, params={"a": {"b": [True]}}, encoding="json")
    assert origin.requests[-1].body == b'{"a":{"b":[true]}}'


@pytest.mark.parametrize(
    "data", [{"a": ["1", 2], "b": None, "c d": "é"}, [("a", "1"), ("a", 2), ("c d", "é")]], ids=["mapping", "pairs"]
)
def test_data_of_names_is_a_form(client: carpool.Client, httpbin: Httpbin, data: Any) -> None:
    seen = client.post(f"{httpbin.url}/anything", data=data).json()
    assert seen["form"] == {"a": ["1", "2"], "c d": "é"}
    assert seen["headers"]["Content-Type"] == "application/x-www-form-urlencoded"


def test_a_form_may_have_a_content_type_of_its_own(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.post(origin.url, data={"a": "b"}, headers={"content-type": "text/x"})
    assert origin.requests[-1].values("Content-Type") == ["text/x"]


def test_a_large_form_arrives_whole(client: carpool.Client, httpbin: Httpbin) -> None:
    assert client.post(f"{httpbin.url}/anything", data={"a": "é" * 200_000}).json()["form"] == {"a": "é" * 200_000}


@pytest.mark.parametrize("json_body", [{"a": [1, None]}, 0, [], False, ""])
def test_json_is_a_body_of_its_type(client: carpool.Client, origin: ScriptedOrigin, json_body: Any) -> None:
    client.post(origin.url, json=json_body)
    assert json.loads(origin.requests[-1].body) == json_body
    assert origin.requests[-1].values("Content-Type") == ["application/json"]


@pytest.mark.parametrize("nothing", [{"json": None}, {"data": None}, {"data": {}}, {"data": []}, {"files": {}}])
def test_nothing_is_no_body(client: carpool.Client, origin: ScriptedOrigin, nothing: dict[str, Any]) -> None:
    client.post(origin.url, **nothing)
    assert (origin.requests[-1].body, origin.requests[-1].values("Content-Type")) == (b"", [])


def test_an_iterator_and_a_list_of_pieces_are_a_body(client: carpool.Client, origin: ScriptedOrigin) -> None:
    for pieces in (iter([b"a", b"b"]), [b"a", b"b"], io.BytesIO(b"ab")):
        client.post(origin.url, data=pieces)
        assert origin.requests[-1].body == b"ab"


# Files


def parts(request: Received) -> list[tuple[bytes, bytes]]:
    """Return the parts of a form: the header fields without `Content-Disposition: form-data; `, and the content."""
    boundary = request.values("Content-Type")[0].partition("boundary=")[2].encode()
    found = []
    for part in request.body.split(b"--" + boundary)[1:-1]:
        head, _, content = part.removeprefix(b"\r\n").removesuffix(b"\r\n").partition(b"\r\n\r\n")
        found.append((head.removeprefix(b"Content-Disposition: form-data; "), content))
    return found


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.png"
    path.write_bytes(b"\x89png")
    return path


PHOTO = (b'name="f"; filename="photo.png"\r\nContent-Type: image/png', b"\x89png")


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda _: "text", (b'name="f"; filename="f"', b"text")),
        (lambda _: b"\x00", (b'name="f"; filename="f"', b"\x00")),
        (lambda path: path, PHOTO),
        (lambda path: ("a.txt", "text"), (b'name="f"; filename="a.txt"', b"text")),
        (lambda path: ("a.txt", b"x", "text/x"), (b'name="f"; filename="a.txt"\r\nContent-Type: text/x', b"x")),
        (
            lambda path: ("a", io.BytesIO(b"x"), None, {"Content-Type": "text/y"}),
            (b'name="f"; filename="a"\r\nContent-Type: text/y', b"x"),
        ),
        (lambda _: (None, "field"), (b'name="f"', b"field")),
        (lambda path: (None, path), (b'name="f"', b"\x89png")),
        (lambda path: ("b.png", path), (b'name="f"; filename="b.png"\r\nContent-Type: image/png', b"\x89png")),
        (lambda _: {"json": {"a": 1}}, (b'name="f"\r\nContent-Type: application/json', b'{"a":1}')),
    ],
)
@pytest.mark.parametrize("form", [dict, list], ids=["mapping", "pairs"])
def test_files_have_the_forms_of_requests(
    client: carpool.Client,
    origin: ScriptedOrigin,
    photo: Path,
    form: Callable[[Any], Any],
    make: Callable[[Path], Any],
    part: tuple[bytes, bytes],
) -> None:
    client.post(origin.url, files=form([("f", make(photo))]))
    assert parts(origin.requests[-1]) == [part]


def test_an_open_file_is_sent_from_where_it_is(client: carpool.Client, origin: ScriptedOrigin, photo: Path) -> None:
    with photo.open("rb") as file:
        client.post(origin.url, files={"f": file})
        assert parts(origin.requests[-1]) == [PHOTO]
        file.seek(1)
        client.post(origin.url, files={"f": ("photo.png", file)})
        assert parts(origin.requests[-1])[0][1] == b"png"
        photo.unlink()
        client.post(origin.url, files={"f": file})
        assert parts(origin.requests[-1])[0][1] == b"png"


def test_fields_of_a_form_come_before_its_files(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.post(origin.url, data={"a": ["1", 2], "n": None}, files=[("f", b"x"), ("f", b"y")])
    assert [(head.split(b";")[0], content) for head, content in parts(origin.requests[-1])] == [
        (b'name="a"', b"1"),
        (b'name="a"', b"2"),
        (b'name="f"', b"x"),
        (b'name="f"', b"y"),
    ]


def test_large_files_in_memory_arrive_whole(client: carpool.Client, origin: ScriptedOrigin) -> None:
    files: Any = {"a": bytes(400_000), "b": io.BytesIO(b"b" * 900_000), "c": b"c"}
    client.post(origin.url, files=files)
    assert [content for _, content in parts(origin.requests[-1])] == [bytes(400_000), b"b" * 900_000, b"c"]
    with pytest.raises(ValueError, match="give it the name of a file"):
        client.post(origin.url, files={"a": (None, bytes(600_000))})


def test_files_may_be_parts_in_the_format_of_the_daemon(client: carpool.Client, origin: ScriptedOrigin) -> None:
    form: Any = [{"name": "a", "text": "b", "file_name": "c"}, {"name": "d", "json": 1}]
    client.post(origin.url, files=form)
    assert [content for _, content in parts(origin.requests[-1])] == [b"b", b"1"]


# The other arguments


def test_a_redirect_is_followed_unless_told_otherwise(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/old", lambda exchange: exchange.reply(302, headers=[("Location", "/new")]))
    assert client.get(url).url == f"{origin.url}/new"
    for name in ("allow_redirects", "follow_redirects"):
        stays: Any = {name: False}
        response = client.get(url, **stays)
        assert (response.status_code, response.is_redirect, response.history) == (302, True, [])


def test_time_limits(client: carpool.Client, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    limits: list[Any] = [{"timeout": 0.05}, {"timeout": (PATIENCE_SECONDS, 0.05)}, {"total": 0.05, "timeout": None}]
    for limit in limits:
        with pytest.raises(carpool.RequestTimeoutError):
            client.get(f"{origin.url}/held", **limit)
    client.create_session("hasty", {"timeout_ms": 50})
    with pytest.raises(carpool.RequestTimeoutError):
        client.get(f"{origin.url}/held", session="hasty")
    request = client.submit("GET", f"{origin.url}/held?patient", session="hasty", timeout=None)
    origin.received(1, "/held?patient")
    with pytest.raises(carpool.RequestTimeoutError):
        client.get(f"{origin.url}/held", session="hasty")  # it began later, and would have ended later
    gate.set()
    assert client.wait(request, timeout=PATIENCE_SECONDS).text == "released"


@pytest.mark.parametrize("daemon_retry", [{"scale_ms": 1, "without_validation": True, "limit": 2}, 1])
def test_retries_include_error_statuses(client: carpool.Client, origin: ScriptedOrigin, daemon_retry: Any) -> None:
    url = origin.on("/", statuses(503, 200, body=b"there"))
    assert client.get(url, retry=daemon_retry).text == "there"
    assert len(origin.requests) == 2


def test_the_response_of_the_last_retry_is_returned(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/", lambda exchange: exchange.reply(503, b"gone"))
    policy = {"limit": 1, "scale_ms": 1, "without_validation": True}
    response = client.get(url, retry=policy)  # type: ignore[arg-type]
    assert (response.status_code, response.text, len(origin.requests)) == (503, "gone", 2)
    with pytest.raises(carpool.ValidationError):
        client.get(url, retry=policy, validate=True)  # type: ignore[arg-type]


def test_what_the_session_refuses_is_refused_with_retries_too(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/", lambda exchange: exchange.reply(404))
    client.create_session("strict", {"validate": True})
    with pytest.raises(carpool.ValidationError):
        client.get(url, session="strict", retry=2)
    assert len(origin.requests) == 1


# Responses


def test_what_a_response_has(client: carpool.Client, origin: ScriptedOrigin) -> None:
    fields = [("Content-Type", "text/plain; charset=latin-1"), ("Set-Cookie", "sid=1; Path=/; HttpOnly")]
    url = origin.on("/", lambda exchange: exchange.reply(404, "é\nb".encode(), fields))
    response = client.get(url)
    assert (response.status_code, response.reason, response.ok) == (404, "Not Found", False)
    assert (response.is_success, response.is_error, response.is_redirect) == (False, True, False)
    assert (response.encoding, response.text) == ("iso8859-1", "Ã©\nb")
    response.encoding = "utf-8"
    assert (response.text, list(response.iter_lines())) == ("é\nb", ["é", "b"])
    response.encoding = None
    assert response.encoding == "iso8859-1"
    with pytest.raises(LookupError, match="none-such"):
        response.encoding = "none-such"
    assert list(response.iter_bytes(2)) == ["é".encode(), b"\nb"]
    assert list(response.iter_bytes()) == ["é\nb".encode()]
    assert timedelta() < response.elapsed < timedelta(seconds=PATIENCE_SECONDS)
    assert dict(response.cookies) == {"sid": "1"}
    assert repr(response).startswith("<Response 404 ")
    with pytest.raises(carpool.HTTPStatusError, match="answered 404"):
        response.raise_for_status()


def test_json_has_the_options_of_the_module(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/", lambda exchange: exchange.reply(body=b'{"a": 1.5}'))
    assert client.get(url).json(parse_float=str) == {"a": "1.5"}


def test_a_status_without_a_phrase(client: carpool.Client, origin: ScriptedOrigin) -> None:
    assert client.get(origin.on("/", lambda exchange: exchange.reply(599))).reason == ""


def test_the_history_has_the_redirects(client: carpool.Client, origin: ScriptedOrigin) -> None:
    origin.on("/a", lambda exchange: exchange.reply(301, headers=[("Location", "/b"), ("X", "1")]))
    origin.on("/b", lambda exchange: exchange.reply(307, headers=[("Location", f"{origin.url}/c?d=e")]))
    response = client.get(f"{origin.url}/a")
    assert [(hop.status_code, hop.url, hop.headers["LOCATION"]) for hop in response.history] == [
        (301, f"{origin.url}/a", "/b"),
        (307, f"{origin.url}/b", f"{origin.url}/c?d=e"),
    ]
    assert [(hop.content, hop.history, hop.reason) for hop in response.history] == [
        (b"", [], "Moved Permanently"),
        (b"", [], "Temporary Redirect"),
    ]
    assert response.url == f"{origin.url}/c?d=e"


def test_cookies_that_a_response_sets(client: carpool.Client, origin: ScriptedOrigin) -> None:
    fields = [
        ("Set-Cookie", "here=1; Path=/in; Secure"),
        ("Set-Cookie", "away=2; Domain=other.example"),
        ("Set-Cookie", "far=3; Domain=.shop.example; Max-Age=900"),
        ("Set-Cookie", "old=4; Expires=Wed, 21-Oct-2015 07:28:00 GMT"),
    ]
    origin.on("/x/set", lambda exchange: exchange.reply(headers=fields))
    addresses = {"connect_to": [f"::127.0.0.1:{origin.port}"]}
    response = client.get("http://www.shop.example/x/set", addresses=addresses)
    assert dict(response.cookies) == {"here": "1", "far": "3"}
    assert [(each["domain"], each["host_only"], each["path"]) for each in response.cookies.list] == [
        ("www.shop.example", True, "/in"),
        ("shop.example", False, "/x"),
    ]
    client.get("http://a.shop.example/x", cookies=response.cookies, addresses=addresses)
    assert origin.requests[-1].values("Cookie") == ["far=3"]


# Earlier names


@pytest.mark.parametrize(("old", "new"), [("parameters", "params"), ("multipart", "files"), ("content", "data")])
def test_an_earlier_name_of_an_argument_is_refused_with_the_new_one(
    client: carpool.Client, origin: ScriptedOrigin, old: str, new: str
) -> None:
    arguments: Any = {old: {"a": "b"}}
    with pytest.raises(TypeError, match=f"takes {new}, not {old}"):
        client.post(origin.url, **arguments)
    assert not origin.requests


def test_an_earlier_name_of_an_attribute_is_refused_with_the_new_one(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    with client.stream("GET", origin.url) as stream:
        objects: list[Any] = [stream, client.get(origin.url)]
    for each in objects:
        with pytest.raises(AttributeError, match=rf"{type(each).__name__} has no attribute 'status': use status_code"):
            _ = each.status
        with pytest.raises(AttributeError, match="no attribute 'iter_content': use iter_bytes"):
            _ = each.iter_content
        with pytest.raises(AttributeError, match=r"no attribute 'none'$"):
            _ = each.none
    for name in ("iter_sse", "iter_json", "iter_text"):
        assert hasattr(objects[0], name)
        with pytest.raises(AttributeError, match=f"Response has no attribute '{name}': use .*stream=True and {name}"):
            getattr(objects[1], name)


# Streams


def test_stream_is_an_argument_too(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/", lambda exchange: exchange.reply(body=b"ab\ncd"))
    with client.get(url, stream=True) as stream:
        assert (stream.status_code, stream.reason, stream.ok, stream.url) == (200, "OK", True, url)
        assert list(stream.iter_lines()) == ["ab", "cd"]
    stream = client.request("POST", url, stream=True)
    assert list(stream.iter_bytes(chunk_size=3)) == [b"ab\n", b"cd"]
    stream.close()
    assert client.get(url, stream=True).read() == b"ab\ncd"
    assert client.get(url, stream=False).content == b"ab\ncd"
    with client.stream("GET", url) as stream:
        assert stream.read() == b"ab\ncd"


def test_a_stream_is_not_retried(daemon: Daemon, origin: ScriptedOrigin) -> None:
    url = origin.on("/", statuses(503, 200, body=b"a"))
    with daemon.client(retry=2) as client:
        with client.get(url, stream=True) as stream:
            assert (stream.status_code, stream.read()) == (503, b"a")
        with pytest.raises(ValueError, match="retry: a stream is not retried"):
            client.get(url, stream=True, retry=1)
    assert len(origin.requests) == 1


def test_the_other_members_of_a_stream_are_those_of_its_head(client: carpool.Client, origin: ScriptedOrigin) -> None:
    with client.stream("GET", origin.url) as stream:
        untyped: Any = stream
        with pytest.raises(AttributeError, match=r"Stream has no attribute 'content': use read\(\)"):
            _ = untyped.content
        with pytest.raises(AttributeError, match=r"no attribute 'http_version': use head\.http_version"):
            _ = untyped.http_version
        assert stream.head.http_version == "http/1.1"


def test_stream_is_an_argument_of_the_asynchronous_client(daemon: Daemon, origin: ScriptedOrigin) -> None:
    url = origin.on("/", lambda exchange: exchange.reply(body=b"abc"))

    async def main() -> list[bytes]:
        async with carpool.AsyncClient(daemon.socket) as client:
            async with await client.get(url, stream=True) as stream:
                found = [piece async for piece in stream.iter_bytes(2)]
            return [*found, await (await client.get(url, stream=True)).read()]

    assert asyncio.run(main()) == [b"ab", b"c", b"abc"]
