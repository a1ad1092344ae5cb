"""What programs that used requests or httpx write: it works as there, or the error has what to write instead."""

from __future__ import annotations

import enum
from typing import Any

import carpool
import pytest
import requests
from origins.scripted import ScriptedOrigin


class Sort(str, enum.Enum):  # noqa: UP042, what a StrEnum is not: one whose str() is another text
    NEW = "new est"


# MARK: Values


@pytest.mark.parametrize("given", [{"sort": Sort.NEW}, {Sort.NEW: [Sort.NEW, "b"]}, [("sort", Sort.NEW)]])
def test_a_member_of_an_enumeration_of_texts_is_its_text(
    client: carpool.Client, origin: ScriptedOrigin, given: Any
) -> None:
    for module in (requests, client):
        untyped: Any = module
        untyped.get(f"{origin.url}/", params=given)
        untyped.post(f"{origin.url}/", data=given)
    expected, form, seen, seen_form = origin.requests
    assert "new" in expected.target
    assert (seen.target, seen_form.body) == (expected.target, form.body)
    with pytest.raises(TypeError, match="of type Plain"):
        client.get(origin.url, params={"a": enum.Enum("Plain", {"A": 1})(1)})


def test_a_member_of_an_enumeration_is_a_whole_query(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.get(f"{origin.url}/", params=enum.Enum("Query", {"A": "x=1"}, type=str)("x=1"))
    assert origin.requests[-1].target == "/?x=1"


# MARK: Cookies


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        (["J=; Max-Age=0; Path=/", "J=new; Path=/"], {"J": "new"}),
        (["J=old; Path=/", "J=new; Path=/"], {"J": "new"}),
        (["J=new; Path=/", "J=; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Path=/"], {}),
        (["J=; Max-Age=-1"], {}),
        (["J=new; Path=/", "J=; Max-Age=0; Path=/x", "K=1; Max-Age=900"], {"J": "new", "K": "1"}),
    ],
)
def test_the_cookies_of_a_response_are_those_that_it_leaves(
    client: carpool.Client, origin: ScriptedOrigin, fields: list[str], values: dict[str, str]
) -> None:
    headers = [("Set-Cookie", field) for field in fields]
    url = origin.on("/", lambda exchange: exchange.reply(headers=headers))
    origin.on("/old", lambda exchange: exchange.reply(302, headers=[*headers, ("Location", "/")]))
    assert dict(client.get(url).cookies) == values
    assert dict(client.get(f"{origin.url}/old").history[0].cookies) == values
    assert dict(client.get(url, cookies={}).cookies) == values


# MARK: The methods of HTTP

METHODS = ["get", "options", "head", "post", "put", "patch", "delete"]


@pytest.mark.parametrize("method", METHODS)
def test_a_method_may_be_in_lower_case(client: carpool.Client, origin: ScriptedOrigin, method: str) -> None:
    client.request(method, origin.url)
    client.wait(client.submit(method, origin.url))
    client.stream(method, origin.url).__enter__().close()
    assert [received.method for received in origin.requests] == [method.upper()] * 3


def test_other_methods_are_sent_as_they_are(client: carpool.Client, origin: ScriptedOrigin) -> None:
    for method in ("PROPFIND", "propfind"):
        client.request(method, origin.url)
        assert origin.requests[-1].method == method
