"""A Python client that keeps cookies: `Client(cookies=True)` and `client.cookies`."""

from __future__ import annotations

import functools
import http.cookiejar
import json
import os
import pickle
import threading
import time
from collections.abc import Callable
from typing import Any

import carpool
import pytest
from harness.bothclients import KINDS, opened
from harness.daemon import Daemon
from origins.scripted import Exchange, ScriptedOrigin

# Makes a client of the kind of the test.
Open = Callable[..., Any]


def setting(*fields: str, status: int = 200, **more: Any) -> Callable[[Exchange], None]:
    headers = [("Set-Cookie", field) for field in fields] + [(name.title(), value) for name, value in more.items()]
    return lambda exchange: exchange.reply(status, headers=headers)


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, daemon: Daemon) -> Open:
    return functools.partial(opened, request.param, daemon)


@pytest.fixture(autouse=True)
def pages(origin: ScriptedOrigin) -> None:
    origin.on("/login", setting("sid=1; Path=/", "theme=dark; Path=/; Max-Age=3600"))
    origin.on("/away", setting("hop=1; Path=/", status=302, location="/landed"))
    origin.on("/landed", setting("end=2; Path=/"))
    origin.on("/logout", setting("sid=; Path=/; Max-Age=0"))


def sent(origin: ScriptedOrigin) -> list[str]:
    """The cookies of the last request."""
    fields = "; ".join(origin.requests[-1].values("cookie"))
    return sorted(fields.split("; ")) if fields else []


def test_cookies_are_kept_from_one_response_to_the_next_request(make: Open, origin: ScriptedOrigin) -> None:
    with make(cookies=True) as client:
        assert dict(client.cookies) == {}
        response = client.get(f"{origin.url}/login")
        assert dict(response.cookies) == {"sid": "1", "theme": "dark"}
        client.get(f"{origin.url}/page")
        assert sent(origin) == ["sid=1", "theme=dark"]
        assert dict(client.cookies) == {"sid": "1", "theme": "dark"}
        client.get(f"{origin.url}/logout")
        client.get(f"{origin.url}/page")
        assert sent(origin) == ["theme=dark"]
        assert "sid" not in client.cookies


def test_cookies_of_redirects_retries_and_failures_are_kept(make: Open, origin: ScriptedOrigin) -> None:
    answers = iter([(503, "try=1; Path=/"), (200, "try=2; Path=/")])

    def again(exchange: Exchange) -> None:
        status, field = next(answers)
        exchange.reply(status, headers=[("Set-Cookie", field)])

    def broken(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nSet-Cookie: broken=1; Path=/\r\nContent-Length: 10\r\n\r\nabc")
        exchange.close()

    origin.on("/again", again)
    origin.on("/broken", broken)
    with make(cookies=True) as client:
        client.get(f"{origin.url}/away")
        assert origin.requests[-1].values("cookie") == ["hop=1"]
        assert dict(client.cookies) == {"hop": "1", "end": "2"}
        client.get(f"{origin.url}/again", retry={"limit": 1, "scale_ms": 1, "without_validation": True})
        assert "try=1" in sent(origin)
        assert client.cookies["try"] == "2"
        with pytest.raises(carpool.RequestError):
            client.get(f"{origin.url}/broken")
        assert client.cookies["broken"] == "1"


def test_two_clients_do_not_share_cookies(daemon: Daemon, make: Open, origin: ScriptedOrigin) -> None:
    jar = http.cookiejar.CookieJar()
    with make(cookies=jar) as one, make(cookies=jar) as other, daemon.client(cookies=one.cookies) as third:
        one.get(f"{origin.url}/login")
        for each in (other, third):
            each.get(f"{origin.url}/page")
            assert sent(origin) == []
            assert dict(each.cookies) == {}
        # Nor with a program that uses the same session.
        with daemon.client() as stranger:
            stranger.get(f"{origin.url}/page")
            assert sent(origin) == []
    assert len(jar) == 0


def test_each_kind_of_request_keeps_cookies(make: Open, origin: ScriptedOrigin, tmp_path: Any) -> None:
    def kept(client: Any) -> dict[str, str]:
        found = dict(client.cookies)
        client.cookies.clear()
        return found

    both = {"sid": "1", "theme": "dark"}
    with make(cookies=True) as client:
        client.post(f"{origin.url}/login", data=[b"in ", b"pieces"])
        assert kept(client) == both
        client.download(f"{origin.url}/login", tmp_path / "file")
        assert kept(client) == both
        client.upload(f"{origin.url}/login", b"body")
        assert kept(client) == both
        head = client.head_of_stream(f"{origin.url}/login")
        assert kept(client) == both == dict(head.cookies)
        request = client.submit("GET", f"{origin.url}/login")
        assert dict(client.cookies) == {}
        client.wait(request)
        assert kept(client) == both
        # Only the first answer has changed the jar.
        client.response(request)
        assert kept(client) == {}


def test_a_request_of_another_client_changes_nothing(daemon: Daemon, make: Open, origin: ScriptedOrigin) -> None:
    with daemon.client(cookies=True) as other, make(cookies=True) as client:
        request = other.submit("GET", f"{origin.url}/login")
        client.wait(request)
        assert dict(client.cookies) == {}
        other.wait(request)
        assert sorted(other.cookies) == ["sid", "theme"]


def test_cookies_are_set_read_and_cleared(make: Open, origin: ScriptedOrigin) -> None:
    with make(cookies={"own": "1"}) as client:
        client.cookies["more"] = "2"
        client.cookies.set("below", "3", path="/below")
        client.cookies.set("else", "4", domain="example.com")
        client.get(f"{origin.url}/below/page")
        assert sent(origin) == ["below=3", "more=2", "own=1"]
        client.get(f"{origin.url}/page")
        assert sent(origin) == ["more=2", "own=1"]
        assert client.cookies.get("else", domain="example.com") == "4"
        assert client.cookies.get("else", domain="example.org") is None
        assert list(client.cookies) == ["own", "more", "below", "else"]
        assert "secret" not in repr(client.cookies)
        del client.cookies["more"]
        client.cookies.set("own", None)
        client.cookies.clear(domain="example.com")
        assert list(client.cookies) == ["below"]
        with pytest.raises(KeyError):
            del client.cookies["more"]
        client.cookies.clear()
        assert client.cookies.list == []
        client.cookies = {"again": "5"}
        client.get(f"{origin.url}/page")
        assert sent(origin) == ["again=5"]


def test_a_cookie_that_a_server_sets_replaces_one_without_a_domain(make: Open, origin: ScriptedOrigin) -> None:
    with make(cookies={"sid": "mine", "theme": "light"}) as client:
        client.get(f"{origin.url}/login")
        assert dict(client.cookies) == {"sid": "1", "theme": "dark"}
        client.cookies["other"] = "x"
        origin.on("/other", setting("other=; Path=/; Max-Age=0"))
        client.get(f"{origin.url}/other")
        assert "other" not in client.cookies


def test_cookies_of_one_request_are_sent_with_it_alone(make: Open, origin: ScriptedOrigin) -> None:
    with make(cookies=True) as client:
        client.get(f"{origin.url}/login")
        response = client.get(f"{origin.url}/landed", cookies={"sid": "other", "once": "1"})
        assert sent(origin) == ["once=1", "sid=other", "theme=dark"]
        assert dict(response.cookies) == {"end": "2"}
        client.get(f"{origin.url}/page")
        assert sent(origin) == ["end=2", "sid=1", "theme=dark"]


def test_cookies_are_sent_only_where_they_may_be(make: Open, origin: ScriptedOrigin) -> None:
    addresses = {"connect_to": [f"::127.0.0.1:{origin.port}"]}
    origin.on("/set", setting("all=1; Domain=shop.example; Path=/", "one=2; Path=/", "deep=3; Path=/x"))
    with make(cookies=True) as client:
        client.get("http://a.shop.example/set", addresses=addresses)
        for url, names in [
            ("http://a.shop.example/", ["all=1", "one=2"]),
            ("http://a.shop.example/x", ["all=1", "deep=3", "one=2"]),
            ("http://b.shop.example/", ["all=1"]),
            ("http://shop.example/", ["all=1"]),
            ("http://shop.example.org/", []),
        ]:
            client.get(url, addresses=addresses)
            assert sent(origin) == names
        assert [(each["name"], each["domain"], each["host_only"]) for each in client.cookies.list] == [
            ("all", "shop.example", False),
            ("one", "a.shop.example", True),
            ("deep", "a.shop.example", True),
        ]


def test_a_jar_of_the_standard_library_is_copied(make: Open, origin: ScriptedOrigin) -> None:
    jar = http.cookiejar.CookieJar()
    host = "127.0.0.1"
    for name, path in (("a", "/"), ("b", "/below")):
        jar.set_cookie(
            http.cookiejar.Cookie(
                0, name, "1", None, False, host, False, False, path, True, False, int(time.time()) + 900, False, None,
                None, {},
            )
        )  # fmt: skip
    with make(cookies=jar) as client:
        client.get(f"{origin.url}/login")
        assert sent(origin) == ["a=1"]
        assert sorted(client.cookies) == ["a", "b", "sid", "theme"]
    assert len(jar) == 2


def test_cookies_are_stored_and_used_again(make: Open, origin: ScriptedOrigin) -> None:
    with make(cookies={"own": "0"}) as client:
        client.get(f"{origin.url}/login")
        stored = [json.loads(json.dumps(client.cookies.list)), pickle.loads(pickle.dumps(client.cookies))]
    for cookies in stored:
        with make(cookies=cookies) as client:
            client.get(f"{origin.url}/page")
            assert sent(origin) == ["own=0", "sid=1", "theme=dark"]
            assert client.cookies.list == stored[0]


def test_a_child_keeps_cookies_of_its_own(daemon: Daemon, origin: ScriptedOrigin) -> None:
    with daemon.client(cookies=True) as client:
        client.get(f"{origin.url}/login")
        # As if another thread changed them at this moment.
        with client.cookies._turn.lock:
            child = os.fork()
            if child == 0:
                client.cookies.clear()
                client.cookies["child"] = "1"
                os._exit(0 if list(client.cookies) == ["child"] else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert sorted(client.cookies) == ["sid", "theme"]


def test_a_session_with_a_jar_is_left_alone(daemon: Daemon, make: Open, origin: ScriptedOrigin) -> None:
    daemon.call("session.create", name="shop", configuration={"cookies": {}})
    with make(cookies=True, session="shop") as client:
        client.get(f"{origin.url}/login")
        assert dict(client.cookies) == {"sid": "1", "theme": "dark"}
    assert daemon.call("cookies.list", session="shop")["cookies"] == []


def test_expired_cookies_are_gone(make: Open, origin: ScriptedOrigin) -> None:
    with make(cookies=True) as client:
        client.cookies.set("old", "1", domain="127.0.0.1", host_only=True, expires=int(time.time()) - 1)
        client.cookies.set("new", "2", domain="127.0.0.1", host_only=True, expires=time.time() + 900)
        assert list(client.cookies) == ["new"]
        client.get(f"{origin.url}/page")
        assert sent(origin) == ["new=2"]


def test_a_full_jar_keeps_the_newest(make: Open, origin: ScriptedOrigin) -> None:
    many = [{"name": f"n{number}", "value": "v", "domain": f"h{number}.example", "host_only": True, "path": "/"}
            for number in range(3_100)]  # fmt: skip
    with make(cookies=many) as client:
        assert len(client.cookies.list) == 3_000
        client.get(f"{origin.url}/login")
        # Those of the daemon are for 2,700, and then those of the second cookie.
        assert len(client.cookies.list) == 2_701
        assert client.cookies["sid"] == "1"
        assert "n101" not in client.cookies


def test_large_cookies_of_many_responses_are_kept(make: Open, origin: ScriptedOrigin) -> None:
    value = "v" * 3_900
    for step in range(3):
        fields = [f"c{step}n{number}={value}; Path=/" for number in range(45)]
        more: dict[str, Any] = {"status": 302, "location": f"/step{step + 1}"} if step < 2 else {}
        origin.on(f"/step{step}", setting(*fields, **more))
    with make(cookies=True) as client:
        client.get(f"{origin.url}/step0")
        assert len(client.cookies) == 135
        client.cookies.clear()
        client.head_of_stream(f"{origin.url}/step0")
        assert len(client.cookies) == 135
    with make() as client:
        client.call("daemon.ping")
        client.cookies = True
        client.get(f"{origin.url}/step0")
        # The asynchronous client announces it on its next connection.
        assert len(client.cookies) == 135 or isinstance(client.client, carpool.AsyncClient)


def test_many_threads_lose_no_cookie(daemon: Daemon, origin: ScriptedOrigin) -> None:
    for number in range(40):
        origin.on(f"/{number}", setting(f"n{number}=1; Path=/"))
    with daemon.client(cookies=True) as client:

        def ask(part: int) -> None:
            for number in range(part, 40, 8):
                client.get(f"{origin.url}/{number}")

        threads = [threading.Thread(target=ask, args=(part,), daemon=True) for part in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(client.cookies) == 40


@pytest.mark.parametrize(
    ("cookies", "error"),
    [
        ("a=b", TypeError),
        (5, TypeError),
        ({"a": 1}, TypeError),
        ({"a": "b\nc"}, ValueError),
        ({"a": "b; c=d"}, ValueError),
        ([{"name": "a"}], TypeError),
        ([{"name": "a", "value": "b", "expires": "tomorrow"}], TypeError),
        ([{"name": "a", "value": "b", "hostonly": True}], TypeError),
        ({f"n{number}": "v" for number in range(181)}, ValueError),
    ],
)
def test_what_are_no_cookies_is_refused(make: Open, cookies: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="cookies: "):
        make(cookies=cookies).__enter__()
    with make(cookies=True) as client, pytest.raises(error, match="cookies: "):
        client.cookies = cookies


def test_a_client_keeps_no_cookies_by_default(make: Open, origin: ScriptedOrigin) -> None:
    with make() as client:
        client.get(f"{origin.url}/login")
        client.get(f"{origin.url}/page")
        assert sent(origin) == []
        with pytest.raises(AttributeError, match=r"keeps no cookies: pass cookies=True"):
            _ = client.cookies
        client.cookies = True
        client.get(f"{origin.url}/login")
        assert dict(client.cookies) == {"sid": "1", "theme": "dark"}
        client.cookies = None
        client.get(f"{origin.url}/page")
        assert sent(origin) == []
