"""An origin with the pages that command lines of curl meet."""

from __future__ import annotations

import base64
import gzip
import threading
from collections import Counter
from functools import partial

from origins.authority import Certificate
from origins.scripted import Exchange, Handler, ScriptedOrigin

_EXPIRES = "Expires=Thu, 01 Jan 2099 00:00:00 GMT"
_TEN = b"0123456789"


class CurlPages(ScriptedOrigin):
    """Pages are `/status/N`, `/redirect/N/PATH`, `/flaky/N` (503 N times), and those below; others echo the request."""

    def __init__(self, certificate: Certificate | None = None) -> None:
        super().__init__(certificate)
        self._asked: Counter[str] = Counter()
        for name in (*_PAGES, "/echo", "/"):
            self.on_head(name, _continue)
        for name, page in _PAGES.items():
            self.on(name, page)
        for status in (200, 201, 202, 203, 204, 404, 500):
            self.on(f"/status/{status}", partial(_status, status))
        for status in (301, 302, 303, 307, 308):
            for to in ("/echo", "/basic", "/cookie", "/script", "/loop", "/status/200", "/redirect/302/echo"):
                self.on(f"/redirect/{status}{to}", partial(_redirect, status, to))
        for count in (1, 2):
            self.on(f"/flaky/{count}", partial(self._flaky, count))

    def forget(self) -> None:
        """Begin again to count the requests of `/flaky`."""
        self._asked.clear()

    def _flaky(self, count: int, exchange: Exchange) -> None:
        self._asked[exchange.request.target] += 1
        asked = self._asked[exchange.request.target]
        exchange.reply(503, f"busy {asked}\n".encode()) if asked <= count else exchange.reply(200, b"fine\n")


def _status(status: int, exchange: Exchange) -> None:
    exchange.reply(status, f"status {status}\n".encode())


def _redirect(status: int, to: str, exchange: Exchange) -> None:
    exchange.reply(status, b"moved\n", [("Location", to)])


def _continue(exchange: Exchange) -> None:
    if exchange.request.values("expect") and exchange.request.target != "/417":
        exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")


def _partial(exchange: Exchange) -> None:
    exchange.reply(200, _TEN, length=100)
    exchange.close()


def _range(exchange: Exchange) -> None:
    asked = exchange.request.values("range")
    if not asked:
        return exchange.reply(200, _TEN)
    first, _, last = asked[0].removeprefix("bytes=").partition("-")
    start, end = int(first), int(last) if last else len(_TEN) - 1
    if start >= len(_TEN):
        return exchange.reply(416, b"", [("Content-Range", "bytes */10")])
    return exchange.reply(206, _TEN[start : end + 1], [("Content-Range", f"bytes {start}-{end}/10")])


def _etag(exchange: Exchange) -> None:
    if exchange.request.values("if-none-match") == ['"v1"']:
        return exchange.send(b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n')
    return exchange.reply(200, b"tagged\n", [("ETag", '"v1"'), ("Last-Modified", "Wed, 01 Jan 2020 00:00:00 GMT")])


def _basic(exchange: Exchange) -> None:
    wanted = "Basic " + base64.b64encode(b"u:p").decode()
    if exchange.request.values("authorization") == [wanted]:
        return exchange.reply(200, b"in\n")
    return exchange.reply(401, b"out\n", [("WWW-Authenticate", 'Basic realm="r"')])


def _digest(exchange: Exchange) -> None:
    if any(value.startswith("Digest ") for value in exchange.request.values("authorization")):
        return exchange.reply(200, b"in\n")
    return exchange.reply(401, b"out\n", [("WWW-Authenticate", 'Digest realm="r", nonce="abc", qop="auth"')])


def _slow(exchange: Exchange) -> None:
    threading.Event().wait(4)
    exchange.reply(200, b"slow\n")


def _drip(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")
    threading.Event().wait(0.2)
    exchange.send(b"def")


def _expectation(exchange: Exchange) -> None:
    if exchange.request.values("expect"):
        return exchange.reply(417)
    return exchange.reply(200, f"got {len(exchange.request.body)}\n".encode())


def _raw(data: bytes, *, closes: bool = False) -> Handler:
    def page(exchange: Exchange) -> None:
        exchange.send(data)
        if closes:
            exchange.close()

    return page


_PAGES: dict[str, Handler] = {
    "/loop": lambda exchange: exchange.reply(302, b"", [("Location", "/loop")]),
    "/cookie": lambda exchange: exchange.reply(
        200, b"set\n", [("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", f"b=2; Path=/; {_EXPIRES}")]
    ),
    "/partial": _partial,
    "/empty": lambda exchange: exchange.close(),
    "/reset": lambda exchange: exchange.reset(),
    "/chunked": _raw(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n"
        b"5\r\nhello\r\n6\r\n world\r\n0\r\nX-T: t\r\n\r\n"
    ),
    "/early": _raw(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"),
    "/close": _raw(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil close\n", closes=True),
    "/gzip": lambda exchange: exchange.reply(
        200, gzip.compress(b"plain text\n", mtime=0), [("Content-Encoding", "gzip")]
    ),
    "/zeros": lambda exchange: exchange.reply(
        200, gzip.compress(bytes(4_000_000), mtime=0), [("Content-Encoding", "gzip")]
    ),
    "/big": lambda exchange: exchange.reply(200, b"x" * 300_000),
    "/range": _range,
    "/etag": _etag,
    "/disposition": lambda exchange: exchange.reply(
        200, b"named\n", [("Content-Disposition", 'attachment; filename="given.txt"')]
    ),
    "/basic": _basic,
    "/digest": _digest,
    "/slow": _slow,
    "/drip": _drip,
    "/417": _expectation,
    "/binary": lambda exchange: exchange.reply(200, bytes(range(256))),
    "/badcl": _raw(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nabc"),
    "/nocontent": _raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "/utf8": _raw(b"HTTP/1.1 200 OK\r\nX-Bytes: caf\xe9\r\nContent-Length: 2\r\n\r\nx\n"),
    "/script": lambda exchange: exchange.reply(200, b"echo installed\n"),
}
