"""CacheControl: its adapter before that of Carpool, with bodies of each framing, validation, and a cache in files."""

from __future__ import annotations

import gzip
from email.utils import formatdate
from typing import Any

import requests
from cachecontrol import CacheControlAdapter
from cachecontrol.caches import FileCache
from loopback import Origin, adapter, serving

FRESH = [("Cache-Control", "max-age=60"), ("Date", formatdate(usegmt=True))]
TEXT = "größe " * 20_000


class CachingAdapter(CacheControlAdapter, adapter().CarpoolAdapter):  # type: ignore[misc]
    """What CacheControl sends goes to the next class: the adapter of Carpool."""


def chunked(exchange: Any) -> None:
    lines = "".join(f"{name}: {value}\r\n" for name, value in FRESH)
    exchange.send(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{lines}\r\n".encode())
    for piece in (TEXT[:100].encode(), TEXT[100:].encode()):
        exchange.send(b"%x\r\n%s\r\n" % (len(piece), piece))
    exchange.send(b"0\r\n\r\n")


def tagged(exchange: Any) -> None:
    if exchange.request.values("if-none-match") == ['"v1"']:
        exchange.send(b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n')
    else:
        exchange.reply(body=TEXT.encode(), headers=[("ETag", '"v1"'), ("Cache-Control", "max-age=0"), FRESH[1]])


def twice(origin: Origin, session: requests.Session, path: str) -> int:
    """Get a path twice, and return how many requests that took."""
    before = len(origin.requests)
    responses = [session.get(origin.url + path) for _ in range(2)]
    assert [response.content.decode() for response in responses] == [TEXT] * 2
    assert [response.from_cache for response in responses] == [False, True]
    return len(origin.requests) - before


with serving() as origin:
    packed = [*FRESH, ("Content-Encoding", "gzip")]
    origin.on("/plain", lambda exchange: exchange.reply(body=TEXT.encode(), headers=FRESH))
    origin.on("/packed", lambda exchange: exchange.reply(body=gzip.compress(TEXT.encode()), headers=packed))
    origin.on("/chunked", chunked)
    origin.on("/tagged", tagged)
    with requests.Session() as session:
        session.mount("http://", CachingAdapter(cache=FileCache("responses")))
        assert [twice(origin, session, path) for path in ("/plain", "/packed", "/chunked")] == [1, 1, 1]
        assert twice(origin, session, "/tagged") == 2
