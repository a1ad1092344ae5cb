"""How much of a request its response has in the Python client: `detail`, and `history` with the fields of redirects."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from origins.scripted import Exchange, ScriptedOrigin

Ask = Callable[[carpool.Client, str, Path], carpool.Response]


@pytest.fixture(autouse=True)
def socket(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))


@pytest.fixture
def url(origin: ScriptedOrigin) -> str:
    """Return a URL with two redirects, the first with cookies and a field of its own."""

    def first(exchange: Exchange) -> None:
        fields = [("Location", "second?a=b"), ("Set-Cookie", "a=1"), ("set-cookie", "b=2; Path=/x"), ("X-Other", "x")]
        exchange.reply(302, b"moved", headers=fields)

    origin.on("/in/first", first)
    origin.on("/in/second", lambda exchange: exchange.reply(307, headers=[("location", f"{origin.url}/end")]))
    origin.on("/end", lambda exchange: exchange.reply(headers=[("Set-Cookie", "c=3")], body=b"end"))
    return f"{origin.url}/in/first"


def submitted(client: carpool.Client, url: str, _: Path) -> carpool.Response:
    return client.wait(client.submit("GET", url))


def whole(client: carpool.Client, url: str, _: Path) -> carpool.Response:
    return client.response(client.submit("GET", url))


def streamed(client: carpool.Client, url: str, _: Path) -> carpool.Response:
    with client.stream("GET", url) as stream:
        history = stream.head.history
        assert stream.read() == b"end"
        response = client.wait(stream.request_id)
        assert history == response.history
        return response


def asynchronous(client: carpool.Client, url: str, _: Path) -> carpool.Response:
    async def run() -> carpool.Response:
        async with carpool.AsyncClient(os.environ["CARPOOL_SOCKET"]) as own:
            return await own.get(url)

    return asyncio.run(run())


WAYS: dict[str, Ask] = {
    "get": lambda client, url, _: client.get(url),
    "get in full": lambda client, url, _: client.get(url, detail="full"),
    "a jar": lambda client, url, _: client.get(url, cookies={}),
    "a body in pieces": lambda client, url, _: client.request("OPTIONS", url, data=iter([b"a"])),
    "asynchronous": asynchronous,
    "submitted": submitted,
    "whole": whole,
    "streamed": streamed,
    "downloaded": lambda client, url, folder: client.download(url, folder / "file"),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_history_has_where_it_leads_and_the_cookies(
    client: carpool.Client, origin: ScriptedOrigin, url: str, folder: Path, way: str
) -> None:
    response = WAYS[way](client, url, folder)
    first, second = response.history
    assert first.headers.pairs == [("Location", "second?a=b"), ("Set-Cookie", "a=1"), ("set-cookie", "b=2; Path=/x")]
    assert second.headers.pairs == [("location", f"{origin.url}/end")]
    assert (first.status_code, first.url, first.http_version, first.content) == (302, url, "http/1.1", b"")
    assert (second.status_code, second.url) == (307, f"{origin.url}/in/second?a=b")
    assert dict(first.cookies) == {"a": "1", "b": "2"}
    assert [each["path"] for each in first.cookies.list] == ["/in", "/x"]
    assert {each["domain"] for each in first.cookies.list} == {"127.0.0.1"}
    assert dict(second.cookies) == {}
    assert (response.url, response.status_code) == (f"{origin.url}/end", 200)
    expected = {"a": "1", "b": "2", "c": "3"} if way == "a jar" else {"c": "3"}
    assert dict(response.cookies) == expected


def test_the_history_is_that_of_the_last_attempt(client: carpool.Client, origin: ScriptedOrigin) -> None:
    statuses = iter([503, 200])
    origin.on("/a", lambda exchange: exchange.reply(301, headers=[("Location", "/b")]))
    origin.on("/b", lambda exchange: exchange.reply(next(statuses)))
    response = client.get(f"{origin.url}/a", retry={"scale_ms": 1, "without_validation": True})
    assert [hop.url for hop in response.history] == [f"{origin.url}/a"]
    assert (response.status_code, response.record["metrics"]["attempts"]) == (200, 2)


def test_a_challenge_is_no_redirect(client: carpool.Client, origin: ScriptedOrigin) -> None:
    def ask(exchange: Exchange) -> None:
        if exchange.request.values("authorization"):
            exchange.reply(body=b"in")
        else:
            exchange.reply(401, headers=[("WWW-Authenticate", 'Basic realm="a"'), ("Location", "/b")])

    response = client.get(origin.on("/a", ask), credential={"username": "ada", "password": "pw"}, detail="full")
    assert [hop["status"] for hop in response.metrics] == [401, 200]
    assert (response.text, response.history) == ("in", [])


FULL: dict[str, Ask] = {
    **{name: WAYS[name] for name in ("get in full", "whole")},
    "a body in pieces": lambda client, url, _: client.request("OPTIONS", url, data=iter([b"a"]), detail="full"),
    "downloaded": lambda client, url, folder: client.download(url, folder / "file", detail="full"),
}


@pytest.mark.parametrize("way", FULL)
def test_a_full_response_has_the_attempts(client: carpool.Client, url: str, folder: Path, way: str) -> None:
    response = FULL[way](client, url, folder)
    (attempt,) = response.attempts
    assert attempt["request"]["url"] == url
    assert "User-Agent" in dict(attempt["request"]["headers"])
    assert [hop["status"] for hop in response.metrics] == [302, 307, 200]
    assert (response.timeline or {})["total_duration_us"] > 0


@pytest.mark.parametrize("way", [name for name in WAYS if name not in FULL and name != "get in full"])
def test_the_others_say_how_to_have_them(client: carpool.Client, url: str, folder: Path, way: str) -> None:
    response = WAYS[way](client, url, folder)
    for name in ("attempts", "metrics", "timeline"):
        with pytest.raises(carpool.CarpoolError, match=f"{name}: the record of r_.* is short; pass detail='full'"):
            getattr(response, name)
    assert repr(response).startswith("<Response 200 GET http://") or way == "a body in pieces"


def test_a_wrong_detail_sends_nothing(client: carpool.Client, origin: ScriptedOrigin, folder: Path) -> None:
    wrong: Any = "all"
    calls: list[Callable[[], object]] = [
        lambda: client.get(origin.url, detail=wrong),
        lambda: client.download(origin.url, folder / "file", detail=wrong),
        lambda: client.post(origin.url, data=iter([b"a"]), detail=wrong),
    ]
    for call in calls:
        with pytest.raises(ValueError, match='detail: expected "short" or "full", not \'all\''):
            call()
    with pytest.raises(TypeError, match="detail: not an argument of submit"):
        client.submit("GET", origin.url, detail="full")
    client.get(f"{origin.url}/last")
    assert [request.target for request in origin.requests] == ["/last"]


def test_the_log_hides_the_cookies_of_redirects(
    client: carpool.Client, origin: ScriptedOrigin, caplog: pytest.LogCaptureFixture
) -> None:
    fields = [("Location", "/b?token=s3cret"), ("Set-Cookie", "a=s3cret")]
    origin.on("/a", lambda exchange: exchange.reply(302, headers=fields))
    caplog.set_level(logging.DEBUG, "carpool")
    assert client.get(f"{origin.url}/a?token=s3cret").history[0].cookies["a"] == "s3cret"
    text = caplog.records[-1].getMessage()
    assert "s3cret" not in text
    shown = json.loads(text.partition(": ")[2])
    assert shown["url"] == f"{origin.url}/a?token=(hidden)"
    assert shown["redirects"][0]["headers"] == [["Location", "/b?token=(hidden)"], ["Set-Cookie", "(hidden)"]]


def test_a_stream_has_its_details_from_its_end_to_that_of_the_block(client: carpool.Client, url: str) -> None:
    with client.stream("GET", url) as stream:
        assert stream.read() == b"end"
        assert [hop["status"] for hop in client.response(stream.request_id).metrics] == [302, 307, 200]
        assert client.wait(stream.request_id).elapsed.total_seconds() > 0
    for ask in (client.wait, client.response):
        with pytest.raises(carpool.ObjectError, match="no such request"):
            ask(stream.request_id)


@pytest.mark.parametrize("detail", ["full", "short"])
def test_a_stream_has_no_detail(client: carpool.Client, origin: ScriptedOrigin, detail: Any) -> None:
    words = r"detail: not an argument of a stream, .*: read the stream to its end, and call client.response\("

    async def ask() -> None:
        async with carpool.AsyncClient() as own:
            with pytest.raises(TypeError, match=words):
                await own.get(origin.url, stream=True, detail=detail)

    with pytest.raises(TypeError, match=words), client.stream("GET", origin.url, detail=detail):
        pass
    for get in (client.get, carpool.get):
        with pytest.raises(TypeError, match=words):
            get(origin.url, stream=True, detail=detail)
    asyncio.run(ask())
    assert origin.requests == []
    with client.get(origin.url, stream=True, detail=None) as stream:
        assert stream.status_code == 200
