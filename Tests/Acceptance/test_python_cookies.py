"""Cookies of the Python client: the argument `cookies`, and `response.cookies`."""

from __future__ import annotations

import http.cookiejar
import time
from collections.abc import Iterator, Mapping
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from origins.scripted import ScriptedOrigin

SET = [
    ("Set-Cookie", "srv=1"),
    ("Set-Cookie", "keep=2; Max-Age=3600; Path=/"),
    ("Set-Cookie", "h=3; HttpOnly; Path=/x"),
]


@pytest.fixture
def client(daemon: Daemon, origin: ScriptedOrigin) -> Iterator[carpool.Client]:
    origin.on("/set", lambda exchange: exchange.reply(headers=SET))
    origin.on("/away", lambda exchange: exchange.reply(302, headers=[*SET, ("Location", "/end")]))
    with daemon.client() as client:
        yield client


def sent(origin: ScriptedOrigin) -> list[str]:
    return sorted("; ".join(origin.requests[-1].values("cookie")).split("; "))


def cookie(name: str, value: str | None, domain: str = "127.0.0.1", **members: Any) -> http.cookiejar.Cookie:
    values: dict[str, Any] = {"path": "/", "secure": False, "expires": None, "rest": {}, "domain_specified": False}
    values |= members
    return http.cookiejar.Cookie(
        0, name, value, None, False, domain, values["domain_specified"], domain.startswith("."), values["path"], True,
        values["secure"], values["expires"], values["expires"] is None, None, None, values["rest"],
    )  # fmt: skip


def test_cookies_by_name(client: carpool.Client, origin: ScriptedOrigin) -> None:
    response = client.get(f"{origin.url}/away", cookies={"a": "b", "set": "x", "import": "y"})
    assert sent(origin) == ["a=b", "import=y", "keep=2", "set=x", "srv=1"]
    assert dict(response.cookies) == {"srv": "1", "keep": "2", "h": "3"}
    assert response.cookies["keep"] == "2"
    assert [each["http_only"] for each in response.cookies.list if each["name"] == "h"] == [True]
    assert "secret" not in repr(
        client.get(origin.url, cookies=[{"name": "n", "value": "secret", "domain": "a.b"}]).cookies
    )
    with pytest.raises(KeyError):
        response.cookies["a"]


def test_cookies_are_those_of_one_call(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.call("session.create", name="kept", configuration={"cookies": {}})
    assert dict(client.get(f"{origin.url}/set", cookies={}).cookies) == {"srv": "1", "keep": "2", "h": "3"}
    assert dict(client.get(f"{origin.url}/set").cookies) == {"srv": "1", "keep": "2", "h": "3"}
    client.get(f"{origin.url}/set", cookies={"a": "b"}, session="kept")
    assert client.call("cookies.list", session="kept")["cookies"] == []
    client.get(origin.url, session="kept")
    assert sent(origin) == [""]


def test_cookies_of_a_response_are_those_of_the_next(client: carpool.Client, origin: ScriptedOrigin) -> None:
    first = client.get(f"{origin.url}/set", cookies={})
    client.get(f"{origin.url}/x/y", cookies=first.cookies.list)
    assert sent(origin) == ["h=3", "keep=2", "srv=1"]


def test_cookies_of_a_response_are_sent_only_where_they_may_be(client: carpool.Client, origin: ScriptedOrigin) -> None:
    brought = [
        {"name": "sid", "value": "1", "domain": "shop.example", "path": "/in", "secure": True, "http_only": True},
        {"name": "all", "value": "2", "domain": "shop.example", "host_only": False, "expires": int(time.time()) + 900},
    ]
    response = client.get(origin.url, cookies=brought)
    assert dict(response.cookies) == {"sid": "1", "all": "2"}
    # To another host.
    client.get(origin.url, cookies=response.cookies)
    assert sent(origin) == [""]
    addresses = {"connect_to": [f"::127.0.0.1:{origin.port}"]}
    for url, names in [("http://shop.example/in", ["all=2"]), ("http://a.shop.example/", ["all=2"])]:
        again = client.get(url, cookies=response.cookies, addresses=addresses)
        assert sent(origin) == names
        assert again.cookies.list == response.cookies.list


def test_cookies_are_carried_from_response_to_response(client: carpool.Client, origin: ScriptedOrigin) -> None:
    origin.on("/login", lambda exchange: exchange.reply(302, headers=[("Set-Cookie", "login=1"), ("Location", "/end")]))
    origin.on("/cart", lambda exchange: exchange.reply(headers=[("Set-Cookie", "cart=2")]))
    response = client.get(f"{origin.url}/login", cookies={})
    response = client.get(f"{origin.url}/cart", cookies=response.cookies)
    client.get(origin.url, cookies=response.cookies)
    assert sent(origin) == ["cart=2", "login=1"]


def test_a_jar_that_is_a_mapping_too_is_a_jar(client: carpool.Client, origin: ScriptedOrigin) -> None:
    class Jar(http.cookiejar.CookieJar, Mapping[str, str]):  # type: ignore[misc]
        def __getitem__(self, name: str) -> str:
            return next(str(each.value) for each in http.cookiejar.CookieJar.__iter__(self) if each.name == name)

    jar = Jar()
    jar.set_cookie(cookie("here", "1"))
    jar.set_cookie(cookie("other", "2", domain=".example.com", domain_specified=True))
    client.get(origin.url, cookies=jar)
    assert sent(origin) == ["here=1"]


def test_a_jar_of_the_standard_library(client: carpool.Client, origin: ScriptedOrigin) -> None:
    jar = http.cookiejar.CookieJar()
    for each in [
        cookie("plain", "1"),
        cookie("nameless", None),
        cookie("anywhere", "2", domain=""),
        cookie("below", "3", path="/below"),
        cookie("hidden", "4", rest={"HttpOnly": None}),
        cookie("later", "5", expires=int(time.time()) + 1_000),
        cookie("over", "6", expires=1),
        cookie("secure", "7", secure=True),
        cookie("other", "8", domain=".example.com", domain_specified=True),
        cookie("local", "9", domain="localhost.local"),
    ]:
        jar.set_cookie(each)
    before = len(jar)
    response = client.get(f"{origin.url}/set", cookies=jar)
    # A secure cookie is sent to this machine without TLS too.
    assert sent(origin) == ["anywhere=2", "hidden=4", "later=5", "nameless", "plain=1", "secure=7"]
    assert len(jar) == before
    assert {"srv", "other", "hidden"} <= set(response.cookies)
    client.get(f"{origin.url.replace('127.0.0.1', 'localhost')}/below", cookies=jar)
    assert sent(origin) == ["anywhere=2", "local=9"]
    client.get(f"{origin.url}/below/it", cookies=jar)
    assert "below=3" in sent(origin)


@pytest.mark.parametrize(
    ("cookies", "error"),
    [
        ("a=b", TypeError),
        (5, TypeError),
        ([{"name": "a"}], TypeError),
        ({"a": "b;c"}, carpool.InvalidParamsError),
    ],
)
def test_what_are_no_cookies_is_refused(
    client: carpool.Client, origin: ScriptedOrigin, cookies: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        client.get(origin.url, cookies=cookies)
    assert not origin.requests
