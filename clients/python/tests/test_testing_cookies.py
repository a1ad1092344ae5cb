"""Cookies, pages, links and functions with a fake daemon."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import carpool
from carpool import testing
from carpool.testing import Reply

HOST = "https://shop.example.com"


def setting(*fields: str, **more: Any) -> Reply:
    return Reply(headers=[("Set-Cookie", field) for field in fields], **more)


def sent(fake: testing.FakeDaemon) -> list[str]:
    field = fake.requests[-1].headers.get("cookie", "")
    return sorted(field.split("; ")) if field else []


def test_a_client_keeps_cookies(fake: testing.FakeDaemon) -> None:
    fake.route("GET", f"{HOST}/login", setting("sid=1; Path=/; Secure", "all=2; Domain=example.com; Path=/"))
    fake.route("GET", f"{HOST}/logout", setting("sid=; Max-Age=0; Path=/"))
    away = Reply(302, headers=[("Set-Cookie", "hop=3; Path=/"), ("Location", "/page")])
    fake.route("GET", f"{HOST}/away", away)
    for host in (HOST, "https://other.example.com", "https://example.org", "http://shop.example.com"):
        fake.route("GET", f"{host}/page", content="page")
    with carpool.Client(fake.socket, cookies={"own": "0"}) as client:
        client.get(f"{HOST}/login")
        client.get(f"{HOST}/page")
        assert sent(fake) == ["all=2", "own=0", "sid=1"]
        client.get("https://other.example.com/page")
        assert sent(fake) == ["all=2", "own=0"]
        client.get("https://example.org/page")
        assert sent(fake) == ["own=0"]
        client.get("http://shop.example.com/page")
        assert "sid=1" not in sent(fake)
        client.get(f"{HOST}/away")
        assert sent(fake) == ["all=2", "hop=3", "own=0", "sid=1"]
        client.get(f"{HOST}/logout")
        assert sorted(client.cookies) == ["all", "hop", "own"]
        with client.stream("GET", f"{HOST}/login") as stream:
            stream.read()
        assert client.cookies["sid"] == "1"


def test_cookies_of_one_request(fake: testing.FakeDaemon, client: carpool.Client) -> None:
    fake.route("GET", f"{HOST}/set", setting("a=1; Path=/"))
    response = client.get(f"{HOST}/set", cookies={"b": "2"})
    assert sent(fake) == ["b=2"]
    assert dict(response.cookies) == {"a": "1"}
    client.get(f"{HOST}/set", cookies=response.cookies, headers={"Cookie": "c=3"})
    assert sent(fake) == ["c=3"]


def test_pages_links_functions_and_hooks(fake: testing.FakeDaemon) -> None:
    fake.route("GET", f"{HOST}/items", headers={"Link": '<?page=2>; rel="next"'}, json=[1])
    fake.route("GET", f"{HOST}/items?page=2", json=[2])

    def authorize(request: carpool.PreparedRequest) -> carpool.PreparedRequest:
        request.headers["X-Key"] = "k"
        return request

    seen: list[str] = []
    with carpool.Client(fake.socket, auth=authorize, hooks={"response": lambda r: seen.append(r.url)}) as client:
        assert [page.json() for page in client.pages(f"{HOST}/items")] == [[1], [2]]
        assert client.get(f"{HOST}/items").links["next"]["url"] == f"{HOST}/items?page=2"
    assert seen[:2] == [f"{HOST}/items", f"{HOST}/items?page=2"]
    assert {request.headers["x-key"] for request in fake.requests} == {"k"}


def test_asynchronous_hooks_are_awaited(fake: testing.FakeDaemon) -> None:
    fake.route("GET", f"{HOST}/", json=1)

    async def replace(response: carpool.Response) -> carpool.Response:
        await asyncio.sleep(0)
        response.encoding = "latin-1"
        return response

    async def main() -> str:
        async with carpool.AsyncClient(fake.socket, hooks={"response": replace}) as client:
            return (await client.get(f"{HOST}/")).encoding

    assert asyncio.run(main()) == "iso8859-1"
    with carpool.Client(fake.socket) as client, pytest.raises(TypeError, match="use an AsyncClient"):
        client.get(f"{HOST}/", hooks={"response": replace})
