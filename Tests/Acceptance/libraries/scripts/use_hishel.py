"""hishel: its caches over the transports of httpx2, blocking and from tasks, and over the adapter of requests."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import requests
from carpool.requests import CarpoolAdapter
from hishel.httpx2 import AsyncCacheTransport, CacheTransport
from hishel.requests import CacheAdapter
from loopback import Origin, adapter, serving

BODY = "größe " * 30_000


class CachingAdapter(CacheAdapter, CarpoolAdapter):
    """What hishel sends goes to the next class: the adapter of Carpool."""


def tagged(exchange: Any) -> None:
    lines = [("ETag", '"v1"'), ("Cache-Control", "max-age=0"), ("Content-Type", "text/plain; charset=utf-8")]
    if exchange.request.values("if-none-match") == ['"v1"']:
        exchange.send(b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\nCache-Control: max-age=0\r\n\r\n')
    else:
        exchange.reply(body=BODY.encode(), headers=lines)


def fresh(exchange: Any) -> None:
    exchange.reply(body=BODY.encode(), headers=[("Cache-Control", "max-age=60")])


def blocking(origin: Origin) -> None:
    with httpx2.Client(transport=CacheTransport(adapter().CarpoolTransport(), rfc=True)) as client:
        before = len(origin.requests)
        assert [client.get(f"{origin.url}/fresh?1").text == BODY for _ in range(3)] == [True] * 3
        assert len(origin.requests) == before + 1
        first, second = client.get(f"{origin.url}/tagged?1"), client.get(f"{origin.url}/tagged?1")
        assert first.text == second.text == BODY and second.extensions["caching"]["revalidated"]
        assert len(origin.requests) == before + 3
        # A response that is not read to its end is not stored, and its connection is given back.
        with client.stream("GET", f"{origin.url}/fresh?2") as response:
            assert next(response.iter_raw())
        assert client.get(f"{origin.url}/fresh?2").text == BODY


def with_requests(origin: Origin) -> None:
    with requests.Session() as session:
        session.mount("http://", CachingAdapter(rfc=True))
        before = len(origin.requests)
        first, second = session.get(f"{origin.url}/fresh?3"), session.get(f"{origin.url}/fresh?3")
        assert first.content == second.content == BODY.encode()
        assert second.headers["x-hishel-from-cache"] == "true" and len(origin.requests) == before + 1
        session.get(f"{origin.url}/tagged?3")
        assert session.get(f"{origin.url}/tagged?3").headers["x-hishel-revalidated"] == "true"


async def from_tasks(origin: Origin) -> None:
    transport = AsyncCacheTransport(adapter().AsyncCarpoolTransport(), rfc=True)
    async with httpx2.AsyncClient(transport=transport) as client:
        before = len(origin.requests)
        assert (await client.get(f"{origin.url}/fresh?4")).text == BODY
        assert (await client.get(f"{origin.url}/fresh?4")).text == BODY
        assert len(origin.requests) == before + 1
        answers = await asyncio.gather(*(client.get(f"{origin.url}/tagged?{number}") for number in range(10, 20)))
        assert all(each.text == BODY for each in answers)


with serving() as origin:
    origin.on("/fresh", fresh)
    origin.on("/tagged", tagged)
    blocking(origin)
    with_requests(origin)
    asyncio.run(from_tasks(origin))
