"""Links of responses, and `pages` of a Python client, which reads one page after the other."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import carpool
import pytest
from harness.bothclients import KINDS, opened
from harness.daemon import Daemon
from origins.scripted import Exchange, ScriptedOrigin

# Makes a client of the kind of the test.
Open = Callable[..., Any]


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, daemon: Daemon) -> Open:
    return functools.partial(opened, request.param, daemon)


@pytest.fixture
def other() -> Iterator[ScriptedOrigin]:
    """Another origin: another port."""
    origin = ScriptedOrigin()
    yield origin
    origin.stop()


def linked(*fields: str, status: int = 200) -> Callable[[Exchange], None]:
    return lambda exchange: exchange.reply(status, headers=[("Link", field) for field in fields])


def answer(exchange: Exchange, value: Any) -> None:
    exchange.reply(200, json.dumps(value).encode(), headers=[("Content-Type", "application/json")])


def targets(origin: ScriptedOrigin) -> list[str]:
    return [each.target for each in origin.requests]


# MARK: Links


@pytest.mark.parametrize(
    ("fields", "links"),
    [
        (["</2>; rel=next"], {"next": {"url": "{o}/2", "rel": "next"}}),
        (
            ['<http://a.example/?page=2>; rel="next", <../last?a=b,c>; rel="last"; title="The \\"end\\", it is"'],
            {
                "next": {"url": "http://a.example/?page=2", "rel": "next"},
                "last": {"url": "{o}/last?a=b,c", "rel": "last", "title": 'The "end", it is'},
            },
        ),
        (
            ["</1>; rel=prev", "<3> ; REL = Next ;x"],
            {"prev": {"url": "{o}/1", "rel": "prev"}, "next": {"url": "{o}/d/3", "rel": "Next", "x": ""}},
        ),
        (
            ['</up>; rel="start up"; rel=no'],
            {"start": {"url": "{o}/up", "rel": "start up"}, "up": {"url": "{o}/up", "rel": "start up"}},
        ),
        (["</plain>; type=text/html"], {"{o}/plain": {"url": "{o}/plain", "type": "text/html"}}),
        (["<?b=c>; rel=next"], {"next": {"url": "{o}/d/page?b=c", "rel": "next"}}),
        (
            ["nonsense", "<unclosed; rel=next", "</1>; rel=a, nonsense, </2>; rel=b"],
            {"a": {"url": "{o}/1", "rel": "a"}, "b": {"url": "{o}/2", "rel": "b"}},
        ),
        (
            ["</1>; rel='next'; title='a, b; c', </2>;rel='prev'"],
            {
                "next": {"url": "{o}/1", "rel": "next", "title": "a, b; c"},
                "prev": {"url": "{o}/2", "rel": "prev"},
            },
        ),
        (["</1>; rel=it's; title='open"], {"it's": {"url": "{o}/1", "rel": "it's", "title": "'open"}}),
        (["</1>; rel=next, </2>; rel=next"], {"next": {"url": "{o}/2", "rel": "next"}}),
        ([], {}),
    ],
)
def test_links_are_parsed(
    daemon: Daemon, origin: ScriptedOrigin, fields: list[str], links: dict[str, dict[str, str]]
) -> None:
    origin.on("/d/page", linked(*fields))
    origin.on("/old", lambda exchange: exchange.reply(302, headers=[("Location", "/d/page")]))
    with daemon.client() as client:
        found = client.get(f"{origin.url}/old").links
    assert found == json.loads(json.dumps(links).replace("{o}", origin.url))


# MARK: Pages by their links


def test_pages_follow_the_link_to_the_next(make: Open, origin: ScriptedOrigin) -> None:
    origin.on("/items", linked('</items2?per=2&key=k>; rel="next", </items9>; rel="last"'))
    origin.on("/items2", linked('<items3>; rel="next"'))
    origin.on("/items3", linked('</items>; rel="first"'))
    with make(base_url=origin.url, params={"key": "k"}, headers={"X-One": "1"}) as client:
        pages = list(client.pages("items", params={"per": 2}, headers={"X-Two": "2"}))
    assert [page.url.removeprefix(origin.url) for page in pages] == targets(origin)
    # What a link has is not added again, and what is missing of the client is.
    assert targets(origin) == ["/items?key=k&per=2", "/items2?per=2&key=k", "/items3?key=k"]
    assert [(each.values("x-one"), each.values("x-two")) for each in origin.requests] == [(["1"], ["2"])] * 3


def test_pages_are_requested_one_by_one(daemon: Daemon, origin: ScriptedOrigin) -> None:
    origin.on("/a", linked("</b>; rel=next"))
    with daemon.client() as client:
        pages = client.pages(f"{origin.url}/a")
        assert origin.requests == []
        assert next(pages).url == f"{origin.url}/a"
        assert targets(origin) == ["/a"]


def test_pages_end_with_one_that_was_there(make: Open, origin: ScriptedOrigin) -> None:
    origin.on("/a", linked("</b>; rel=next"))
    origin.on("/b", linked("</a>; rel=next"))
    origin.on("/self", linked("</self>; rel=next"))
    with make() as client:
        assert len(list(client.pages(f"{origin.url}/a"))) == 2
        assert len(list(client.pages(f"{origin.url}/self"))) == 1


def test_pages_end_with_an_error_status(make: Open, origin: ScriptedOrigin) -> None:
    origin.on("/a", linked("</b>; rel=next"))
    origin.on("/b", linked("</c>; rel=next", status=500))
    with make() as client:
        assert [page.status_code for page in client.pages(f"{origin.url}/a")] == [200, 500]


def test_pages_have_a_maximum(make: Open, origin: ScriptedOrigin) -> None:
    def forever(exchange: Exchange) -> None:
        number = int(parse_qs(urlsplit(exchange.request.target).query).get("n", ["0"])[0])
        linked(f"<?n={number + 1}>; rel=next")(exchange)

    origin.on("/", forever)
    with make() as client:
        assert len(list(client.pages(f"{origin.url}/", max_pages=3))) == 3
        assert len(origin.requests) == 3
        with pytest.raises(carpool.CarpoolError, match=r"1,000 pages were read, and there are more: pass max_pages="):
            list(client.pages(f"{origin.url}/"))
        assert len(origin.requests) == 1_003


# MARK: Pages by members of their content


def test_pages_follow_a_member_with_the_url(make: Open, origin: ScriptedOrigin) -> None:
    origin.on("/a", lambda exchange: answer(exchange, {"paging": {"next": f"{origin.url}/b?x=1"}}))
    origin.on("/b", lambda exchange: answer(exchange, {"paging": {"next": "c"}}))
    origin.on("/c", lambda exchange: answer(exchange, {"paging": {"next": None}}))
    origin.on("/flat", lambda exchange: answer(exchange, {"next": "/a"}))
    origin.on("/list", lambda exchange: answer(exchange, [{"a/b": {"~": "/c"}}]))
    with make() as client:
        assert len(list(client.pages(f"{origin.url}/a", next_url="/paging/next"))) == 3
        assert targets(origin) == ["/a", "/b?x=1", "/c"]
        assert len(list(client.pages(f"{origin.url}/flat", next_url="next"))) == 2
        assert len(list(client.pages(f"{origin.url}/list", next_url="/0/a~1b/~0", max_pages=2))) == 2
        assert len(list(client.pages(f"{origin.url}/list", next_url="/5/x"))) == 1


def test_pages_send_a_cursor(make: Open, origin: ScriptedOrigin) -> None:
    cursors = {"": "one two", "one two": "3&", "3&": 4, "4": ""}

    def page(exchange: Exchange) -> None:
        query = parse_qs(urlsplit(exchange.request.target).query)
        answer(exchange, {"meta": {"cursor": cursors[query.get("after", [""])[0]]}})

    origin.on("/items", page)
    with make(params={"key": "k"}) as client:
        for params in ({"limit": 2}, [("limit", 2)], "limit=2"):
            before = len(origin.requests)
            found = client.pages(f"{origin.url}/items", params=params, cursor="/meta/cursor", cursor_param="after")
            assert len(list(found)) == 4
            queries = [parse_qs(urlsplit(target).query) for target in targets(origin)[before:]]
            expected = [None, "one two", "3&", "4"]
            assert queries == [
                {"key": ["k"], "limit": ["2"], **({"after": [after]} if after else {})} for after in expected
            ]
        url = f"{origin.url}/items?after=3%26&x=1"
        found = client.pages(url, method="POST", json={"q": 1}, cursor="/meta/cursor", cursor_param="after")
        assert len(list(found)) == 2
        assert targets(origin)[-2:] == ["/items?after=3%26&x=1&key=k", "/items?x=1&key=k&after=4"]
        assert [(each.method, each.body) for each in origin.requests[-2:]] == [("POST", b'{"q":1}')] * 2


def test_pages_end_with_a_cursor_that_was_there(make: Open, origin: ScriptedOrigin) -> None:
    origin.on("/items", lambda exchange: answer(exchange, {"cursor": "same"}))
    with make() as client:
        assert len(list(client.pages(f"{origin.url}/items", cursor="cursor", cursor_param="c"))) == 2


def test_pages_that_are_not_as_described_raise(make: Open, origin: ScriptedOrigin) -> None:
    origin.on("/text", lambda exchange: exchange.reply(200, b"text"))
    origin.on("/object", lambda exchange: answer(exchange, {"next": {"href": "/x"}}))
    with make() as client:
        with pytest.raises(json.JSONDecodeError):
            list(client.pages(f"{origin.url}/text", next_url="next"))
        with pytest.raises(carpool.CarpoolError, match=r"pages: next of http.* is of type dict, expected text"):
            list(client.pages(f"{origin.url}/object", next_url="next"))


@pytest.mark.parametrize("url", ["http://[::1", "//[", "http://a\u2100b/", "mailto:a@b", "http://a:99999/"])
def test_a_next_url_that_cannot_be_requested_raises(make: Open, origin: ScriptedOrigin, url: str) -> None:
    link = url.encode().decode("latin-1")
    origin.on("/link", linked(f"<{link}>; rel=next"))
    origin.on("/member", lambda exchange: answer(exchange, {"next": url}))
    with make() as client:
        for path, options in (("/link", {}), ("/member", {"next_url": "next"})):
            with pytest.raises(carpool.CarpoolError) as raised:
                list(client.pages(origin.url + path, **options))
            if "[" in url or "\u2100" in url:
                assert f"pages: the next page of {origin.url}{path} is no URL, {url!a}" in str(raised.value)
    assert targets(origin) == ["/link", "/member"]


def test_a_next_page_without_utf_8_raises(make: Open, origin: ScriptedOrigin) -> None:
    origin.on("/p", lambda exchange: answer(exchange, {"next": "/\ud800"}))
    with make() as client:
        for options in ({"next_url": "next"}, {"cursor": "next", "cursor_param": "c"}):
            with pytest.raises(
                carpool.CarpoolError, match=r"^pages: '.*\\ud800', the next page of http.*, has no UTF-8"
            ):
                list(client.pages(f"{origin.url}/p", **options))
        # The first URL fails as in any other request.
        with pytest.raises(carpool.RequestError):
            list(client.pages("http://[::1"))


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"cursor": "a"}, ValueError, "cursor and cursor_param belong together"),
        ({"cursor_param": "a"}, ValueError, "cursor and cursor_param belong together"),
        ({"cursor": "a", "cursor_param": "b", "next_url": "c"}, ValueError, "two ways to the next page"),
        ({"next_url": 5}, TypeError, "next_url: expected str, not int"),
        ({"max_pages": 0}, ValueError, "max_pages: expected at least 1 page, not 0"),
        ({"max_pages": "3"}, TypeError, "max_pages: expected a number of pages or None, not str"),
    ],
)
def test_wrong_arguments_of_pages_are_refused_at_once(
    make: Open, origin: ScriptedOrigin, options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with make() as client:
        with pytest.raises(error, match=text):
            client.pages(origin.url, **options)
        with pytest.raises(TypeError, match="a request takes"):
            list(client.pages(origin.url, query={}))
    assert origin.requests == []


# MARK: Credentials


SECRET = ("authorization", "cookie", "x-api-key", "x-plain", "x-own-token")


def test_another_origin_gets_no_credentials(make: Open, origin: ScriptedOrigin, other: ScriptedOrigin) -> None:
    origin.on("/a", linked(f"<{other.url}/b>; rel=next"))
    other.on("/b", linked(f"<{origin.url}/c>; rel=next"))
    common: dict[str, Any] = {"headers": {"X-Api-Key": "k", "X-Plain": "p"}, "params": {"key": "k"}}
    own: dict[str, Any] = {"headers": {"X-Own-Token": "t"}, "cookies": {"sid": "1"}}
    with make(auth=("ada", "pw"), **common) as client:
        assert len(list(client.pages(f"{origin.url}/a", **own))) == 3
    assert [other.requests[0].values(name) for name in SECRET] == [[], [], [], ["p"], []]
    assert (targets(other), targets(origin)) == (["/b"], ["/a?key=k", "/c?key=k"])
    assert origin.requests[0].values("authorization")
    # What was left out for one page is not sent to the first origin later either.
    assert origin.requests[1].values("x-plain") == ["p"]


@pytest.mark.parametrize(
    ("interceptor", "name"),
    [
        ({"bearer": {"token": "t"}}, "authorization"),
        ({"basic_auth": {"username": "ada", "password": "pw"}}, "authorization"),
        ({"set_header": {"name": "Authorization", "value": "k"}}, "authorization"),
    ],
)
def test_another_origin_gets_nothing_of_an_interceptor(
    make: Open, origin: ScriptedOrigin, other: ScriptedOrigin, interceptor: dict[str, Any], name: str
) -> None:
    origin.on("/a", linked(f"<{other.url}/b>; rel=next"))
    retry: dict[str, Any] = {"retry_policy": {"limit": 1}}
    with make() as client:
        list(client.pages(f"{origin.url}/a", interceptor=[interceptor, "offline", retry]))
    assert len(origin.requests[0].values(name)) == 1
    assert other.requests[0].values(name) == []


def test_a_function_is_not_called_for_another_origin(make: Open, origin: ScriptedOrigin, other: ScriptedOrigin) -> None:
    def sign(request: carpool.PreparedRequest) -> None:
        request.headers["X-Signature"] = "s"

    origin.on("/a", linked(f"<{other.url}/b>; rel=next"))
    with make(auth=sign) as client:
        list(client.pages(f"{origin.url}/a"))
    assert (origin.requests[0].values("x-signature"), other.requests[0].values("x-signature")) == (["s"], [])


def test_cookies_that_the_client_keeps_go_where_they_may(
    make: Open, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    origin.on(
        "/a", lambda exchange: exchange.reply(headers=[("Set-Cookie", "set=1"), ("Link", f"<{other.url}/b>; rel=next")])
    )
    with make(cookies={"mine": "2"}) as client:
        list(client.pages(f"{origin.url}/a"))
        assert sorted(client.cookies) == ["mine", "set"]
    # Cookies do not know ports.
    assert other.requests[0].values("cookie") == ["set=1"]


def test_a_body_is_not_sent_to_another_origin(make: Open, origin: ScriptedOrigin, other: ScriptedOrigin) -> None:
    origin.on("/a", linked(f"<{other.url}/b>; rel=next"))
    with make() as client, pytest.raises(carpool.CarpoolError, match="the next page is at another origin"):
        list(client.pages(f"{origin.url}/a", method="POST", json={"secret": 1}))
    assert other.requests == []


def test_functions_of_the_package(daemon: Daemon, origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch) -> None:
    origin.on("/a", linked("</b>; rel=next"))
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    before = carpool._functions.replace_client(None)
    try:
        assert len(list(carpool.pages(f"{origin.url}/a", max_pages=5))) == 2
    finally:
        made = carpool._functions.replace_client(before)
        if made is not None:
            made.close()
