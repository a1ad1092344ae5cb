"""The proxies of sessions as others see them."""

from __future__ import annotations

import json
from typing import Any

import carpool
import pytest

SECRET = "pass-of-the-session"


@pytest.mark.parametrize(
    ("proxy", "shown"),
    [
        ("proxy.test:3128", {"all": {"url": "http://proxy.test:3128"}}),
        (f"ada:{SECRET}@proxy.test", {"all": {"url": "http://proxy.test:1080", "username": "ada"}}),
        (
            {"http": f"socks5h://ada:{SECRET}@a", "https": "", "no_proxy": ["b", "10.0.0.0/8"]},
            {"http": {"url": "socks5h://a:1080", "username": "ada"}, "no_proxy": ["b", "10.0.0.0/8"]},
        ),
        (
            {"all": {"url": "https://a", "username": "ada", "password": SECRET, "schemes": ["digest"], "tunnel": True},
             "no_proxy": "a b, c"},
            {"all": {"url": "https://a:443", "username": "ada", "schemes": ["digest"], "tunnel": True},
             "no_proxy": "a b, c"},
        ),
        (
            {"https": {"url": "http://a:1", "preproxy": "socks5://b"}, "http": "http://c"},
            {"https": {"url": "http://a:1", "preproxy": "socks5://b:1080"}, "http": {"url": "http://c:1080"}},
        ),
        ({}, {}),
    ],
)  # fmt: skip
def test_a_session_shows_its_proxy_without_the_password(client: carpool.Client, proxy: Any, shown: Any) -> None:
    client.create_session("proxied", {"proxy": proxy})
    session = client.call("session.get", session="proxied")
    assert session["configuration"]["proxy"] == shown
    listed = client.call("session.list")["sessions"]
    assert [each["configuration"].get("proxy") for each in listed] == [None, shown]
    assert SECRET not in json.dumps([session, listed])
    # What is shown can be set.
    client.create_session("again", {"proxy": shown})
    assert client.call("session.get", session="again")["configuration"]["proxy"] == shown
