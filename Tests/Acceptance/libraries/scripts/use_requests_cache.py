"""requests-cache: what is stored is not asked for again, what is stale is validated, and responses can be pickled."""

from __future__ import annotations

import gzip
import pickle
from typing import Any

from loopback import Origin, adapter, serving
from requests_cache import CachedSession


def responses(origin: Origin, session: CachedSession) -> None:
    text = "größe " * 50_000

    def packed(exchange: Any) -> None:
        exchange.reply(body=gzip.compress(text.encode()), headers=[
            ("Content-Encoding", "gzip"), ("Content-Type", "text/plain; charset=utf-8"), ("Set-Cookie", "a=b"),
        ])  # fmt: skip

    url = origin.on("/text", packed)
    first, second = session.get(url), session.get(url)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert first.text == second.text == text
    assert second.headers["content-type"] == "text/plain; charset=utf-8"
    assert first.raw.status == second.raw.status == 200
    assert len(origin.requests) == 1
    assert session.get(url, params={"q": "1"}).from_cache is False
    assert pickle.loads(pickle.dumps(second)).text == text

    streamed = session.get(url, params={"q": "2"}, stream=True)
    assert b"".join(streamed.iter_content(1000)) == text.encode()
    assert session.get(url, params={"q": "2"}).from_cache


def validation(origin: Origin, session: CachedSession) -> None:
    def tagged(exchange: Any) -> None:
        if exchange.request.values("if-none-match") == ['"v1"']:
            exchange.send(b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\nCache-Control: max-age=0\r\n\r\n')
        else:
            exchange.reply(body=b"data", headers=[("ETag", '"v1"'), ("Cache-Control", "max-age=0")])

    url = origin.on("/tagged", tagged)
    before = len(origin.requests)
    assert session.get(url).content == b"data"
    again = session.get(url)
    assert again.content == b"data" and again.from_cache and again.revalidated, again
    assert len(origin.requests) == before + 2


def redirects(origin: Origin, session: CachedSession) -> None:
    origin.on("/from", lambda exchange: exchange.reply(302, headers=[("Location", "/to")]))
    origin.on("/to", lambda exchange: exchange.reply(body=b"there"))
    before = len(origin.requests)
    for _ in range(2):
        response = session.get(f"{origin.url}/from")
        assert response.content == b"there" and [each.status_code for each in response.history] == [302]
    assert len(origin.requests) == before + 2


with serving() as origin, CachedSession("responses", backend="sqlite", use_temp=False) as session:
    session.mount("http://", adapter().CarpoolAdapter())
    responses(origin, session)
    redirects(origin, session)
    with CachedSession(backend="memory", cache_control=True) as careful:
        careful.mount("http://", adapter().CarpoolAdapter())
        validation(origin, careful)
