"""Cookies: the methods `cookies.*`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import StartDaemon
from harness.cookies import SECRET, exported, jar, perform, place, sent, setting
from harness.declared import refused
from harness.wire import Wire
from origins.scripted import ScriptedOrigin


def test_cookies_set_list_remove(wire: Wire, origin: ScriptedOrigin) -> None:
    session = jar(wire)
    host = "127.0.0.1"
    cookies = [
        {"name": "a", "value": SECRET, "domain": host, "path": "/x"},
        {"name": "b", "value": "2", "domain": "example.com", "secure": True, "expires": 4_000_000_000},
        {"name": "c", "value": "3", "domain": host, "host_only": True, "http_only": True, "same_site": "Lax"},
    ]
    assert wire.call("cookies.set", session=session, cookies=cookies) == {"cookies": 3}
    listed = wire.call("cookies.list", session=session)
    assert [(cookie["domain"], cookie["name"]) for cookie in listed["cookies"]] == [
        (host, "a"),
        ("example.com", "b"),
        (host, "c"),
    ]
    assert SECRET not in json.dumps(listed)
    named = wire.call("cookies.list", session=session, url=f"{origin.url}/x/y")["cookies"]
    assert [cookie["name"] for cookie in named] == ["a", "c"]
    perform(wire, f"{origin.url}/x/y", session=session)
    assert sent(origin) == f"a={SECRET}; c=3"
    assert wire.call("cookies.remove", session=session, domain=host, name="a") == {"removed": 1, "cookies": 2}
    assert wire.call("cookies.remove", session=session) == {"removed": 2, "cookies": 0}


def test_pages_of_cookies_have_each_of_them_once(wire: Wire) -> None:
    session = jar(wire)
    cookies = [{"name": f"n{number}", "value": "x" * 900, "domain": f"h{number}.test"} for number in range(300)]
    for first in range(0, 300, 100):
        wire.call("cookies.set", session=session, cookies=cookies[first : first + 100])
    for method, member in (("cookies.list", "cookies"), ("cookies.export", "list"), ("cookies.export", "text")):
        params: dict[str, Any] = {"session": session, "limit": 120}
        if method == "cookies.export":
            params["format"] = "json" if member == "list" else "netscape"
        found: list[str] = []
        while True:
            page = wire.call(method, **params)
            lines = page[member].splitlines() if member == "text" else page[member]
            found += [str(line) for line in lines if "Netscape HTTP" not in str(line)]
            if page["next"] is None:
                break
            params["next"] = page["next"]
        assert (len(found), len(set(found))) == (300, 300)


@pytest.mark.parametrize(
    ("cookie", "member"),
    [
        ({"name": "a", "value": "b;c", "domain": "h.test"}, "value"),
        ({"name": "a=", "value": "b", "domain": "h.test"}, "name"),
        ({"name": "a", "value": "b\r\nX: y", "domain": "h.test"}, "value"),
        ({"name": "", "value": "", "domain": "h.test"}, "name"),
        ({"name": "a", "value": "x" * 4_096, "domain": "h.test"}, "value"),
        ({"name": "a", "value": " b", "domain": "h.test"}, "value"),
        ({"name": "a", "value": "b", "domain": "co.uk", "host_only": False}, "domain"),
        ({"name": "a", "value": "b", "domain": "h.test/x"}, "domain"),
        ({"name": "a", "value": "b", "domain": ""}, "domain"),
        ({"name": "a", "value": "b", "domain": "h.test", "path": "x"}, "path"),
        ({"name": "__Secure-a", "value": "b", "domain": "h.test"}, "name"),
        ({"name": "__Host-a", "value": "b", "domain": "h.test", "secure": True}, "name"),
        ({"name": "a", "value": "b", "domain": "h.test", "same_site": "lax"}, "same_site"),
        ({"name": "a", "value": "b", "domain": "h.test", "expires": -1}, "expires"),
    ],
)
def test_an_invalid_cookie_is_refused_by_its_member(wire: Wire, cookie: dict[str, Any], member: str) -> None:
    session = jar(wire)
    good = {"name": "good", "value": "1", "domain": "h.test"}
    error = refused(wire, "cookies.set", session=session, cookies=[good, cookie])
    assert place(error) == f"params.cookies[1].{member}"
    assert wire.call("cookies.list", session=session)["cookies"] == []
    error = refused(wire, "request.perform", url="http://127.0.0.1:1/", cookies={"set": [good, cookie]})
    assert place(error) == f"params.cookies.set[1].{member}"


def test_a_jar_is_limited_and_keeps_what_was_used_last(start: StartDaemon) -> None:
    """3,000 cookies, 180 of a domain, and the bytes of a user."""
    daemon = start(config={"limits": {"cookie_bytes_per_user": 400_000}})
    with daemon.wire() as wire:
        wire.call("client.hello", max_line_bytes=1_048_576)
        session = jar(wire)
        text = "".join(f"h{number}.test\tFALSE\t/\tFALSE\t0\tn\t{number}\n" for number in range(400))
        assert wire.call("cookies.import", session=session, text=text) == {"imported": 400, "cookies": 400}
        text = "".join(f"h.test\tFALSE\t/\tFALSE\t0\tn{number}\t\n" for number in range(200))
        assert wire.call("cookies.import", session=session, text=text)["cookies"] == 569
        text = "".join(f"k{number}.test\tFALSE\t/\tFALSE\t0\tn\t{'x' * 100}\n" for number in range(1_000))
        count = wire.call("cookies.import", session=session, text=text)["cookies"]
        assert 200 < count < 800
        names = {cookie["domain"] for cookie in exported(wire)}
        assert ("k999.test" in names, "h0.test" in names) == (True, False)
        assert wire.call("cookies.remove", session=session)["cookies"] == 0


def test_changes_are_what_responses_have_changed(wire: Wire, origin: ScriptedOrigin) -> None:
    url = setting(
        origin, "/set", "new=1; Path=/", "same=2; Path=/", "gone=; Max-Age=0; Path=/", "own=; Max-Age=0; Path=/"
    )
    host = {"domain": "127.0.0.1", "host_only": True}
    brought = [
        {"name": "same", "value": "2", **host},
        {"name": "gone", "value": "3", **host},
        {"name": "kept", "value": "4", **host},
        {"name": "own", "value": "5"},
        {"name": "mine", "value": "6"},
    ]
    own = {"set": brought, "export": "changes"}
    record = wire.call("request.perform", url=url, cookies=own)
    changes = record["cookies"]["changes"]
    expected = [("new", "1", None), ("gone", "", 0), ("own", "", 0)]
    assert [(each["name"], each["value"], each["expires"]) for each in changes] == expected
    assert all(each["domain"] == "127.0.0.1" and each["host_only"] for each in changes)
    assert wire.call("request.perform", url=origin.url, cookies=own)["cookies"] == {"changes": []}
    # Also before the body, and in pages.
    held = wire.call("request.perform", url=url, cookies=own, hold_for_headers=True)
    assert held["cookies"]["changes"] == changes
    request = wire.call("request.submit", url=url, cookies=own)["request"]
    assert wire.call("request.wait", request=request)["cookies"]["changes"] == changes
    assert wire.call("cookies.export", request=request, format="json", limit=2)["list"] == changes[:2]
